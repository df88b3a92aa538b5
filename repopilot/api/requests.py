"""The request bodies of the API, one model each."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from repopilot.retrieval.requested_pack import WHOLE, PackRequest

Text = Annotated[str, Field(max_length=20_000)]
Path = Annotated[str, Field(max_length=1_000)]

Fetched = Annotated[bool, Field(description="Fetch the packages that the repository's tests need first: wheels only.")]
Agreed = Annotated[
    bool, Field(description="Let the model run commands of the repository, in a strong sandbox without network.")
]
_SOURCE = r"^(\w[^\u0000-\u0020]*|[/.~]{1,3}\w[^\u0000-\u001f]*)$"
"""The schema's pattern for a source: one line, with spaces only in a path."""
Range = Annotated[
    str,
    Field(
        max_length=500,
        description="A..B for the difference of two revisions, A...B for what B changed since it branched off from A",
        json_schema_extra={"pattern": r"^([^\s.][^\u0000]*)?$"},
    ),
]


def _one_of(*names: str) -> dict[str, Any]:
    """For the schema: exactly one of these fields is given, and it isn't empty."""
    given = {
        "targets": {"minItems": 1},
        "folders": {"minItems": 1},
        "query": {"pattern": r"\S"},
        "all": {"const": True},
    }
    left = {"targets": {"maxItems": 0}, "folders": {"maxItems": 0}, "all": {"const": False}}

    def alone(name: str) -> dict[str, Any]:
        others = {other: left.get(other, {"maxLength": 0}) for other in names if other != name}
        return {"required": [name], "properties": {name: given.get(name, {"minLength": 1}), **others}}

    return {"oneOf": [alone(name) for name in names]}


class OfRepository(BaseModel):
    """A request about a repository."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Annotated[
        str,
        Field(
            min_length=1,
            max_length=2_000,
            description="An https URL, or a path on the server.",
            json_schema_extra={"pattern": _SOURCE},
        ),
    ]
    ref: Annotated[str, Field(max_length=250, description="Branch, tag or commit.")] = ""


class OpenBody(OfRepository):
    """A repository to open."""

    wait: Annotated[bool, Field(description="Answer when it is open; else at once, with 202 and its id.")] = True


class OfAny(OfRepository):
    """A request about a repository, or about all that are indexed."""

    model_config = ConfigDict(json_schema_extra=_one_of("source", "all"))

    source: Annotated[str, Field(max_length=2_000, json_schema_extra={"pattern": f"^$|{_SOURCE}"})] = ""
    all: bool = False

    @model_validator(mode="after")
    def _one_or_all(self) -> Self:
        if bool(self.source) == self.all:
            raise ValueError("give either source or all")
        return self


class SearchBody(OfAny):
    """A search."""

    query: Annotated[Text, Field(min_length=1)]
    k: Annotated[int, Field(ge=1, le=100), WHOLE] = 10


class ContextBody(PackRequest, OfRepository):
    """A context pack, for a question or of whole folders."""

    model_config = ConfigDict(json_schema_extra=_one_of("query", "folders"))


class AskBody(OfAny):
    """A question."""

    question: Annotated[Text, Field(min_length=1)]


class GenerateBody(OfRepository):
    """A task. Nothing is written: the reply has the files."""

    task: Annotated[Text, Field(min_length=1)]
    environment: Fetched = False
    commands: Agreed = False


class ReviewBody(OfRepository):
    """A review: of a diff, of files, or of a pull request by its address as `source`."""

    diff: Range = ""
    paths: Annotated[list[Path], Field(max_length=500)] = []


class ImpactBody(OfRepository):
    """What a change touches: exactly one of targets, diff and patch."""

    model_config = ConfigDict(json_schema_extra=_one_of("targets", "diff", "patch"))

    targets: Annotated[list[Path], Field(max_length=100)] = []
    diff: Range = ""
    patch: Annotated[str, Field(max_length=900_000)] = ""


class ToolCallBody(OfRepository):
    """A call of a tool. Nothing is written: the reply has the changes."""

    arguments: dict[str, Any] = {}
    environment: Fetched = False
    commands: Agreed = False
