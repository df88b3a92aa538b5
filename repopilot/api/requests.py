"""What the API takes: one model for each of its bodies."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from repopilot.retrieval.requested_pack import PackRequest

Text = Annotated[str, Field(max_length=20_000)]
Path = Annotated[str, Field(max_length=1_000)]


class OfRepository(BaseModel):
    """A request about a repository."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Annotated[str, Field(min_length=1, max_length=2_000, description="An https URL, or a path on the server.")]
    ref: Annotated[str, Field(max_length=250, description="Branch, tag or commit.")] = ""


class OfAny(OfRepository):
    """A request about a repository, or about all that are indexed."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["source"]}, {"required": ["all"]}]})

    source: Annotated[str, Field(max_length=2_000)] = ""
    all: bool = False

    @model_validator(mode="after")
    def _one_or_all(self) -> Self:
        if bool(self.source) == self.all:
            raise ValueError("give either source or all")
        return self


class SearchBody(OfAny):
    """A search."""

    query: Annotated[Text, Field(min_length=1)]
    k: Annotated[int, Field(ge=1, le=100)] = 10


class ContextBody(PackRequest, OfRepository):
    """A context pack, for a question or of whole folders."""


class AskBody(OfAny):
    """A question."""

    question: Annotated[Text, Field(min_length=1)]


class GenerateBody(OfRepository):
    """A task. Nothing is written: the reply has the files."""

    task: Annotated[Text, Field(min_length=1)]


class ReviewBody(OfRepository):
    """A review: of a diff, of files, or of a pull request by its address as `source`."""

    diff: Annotated[str, Field(max_length=500, description="BASE..HEAD")] = ""
    paths: Annotated[list[Path], Field(max_length=500)] = []


class ImpactBody(OfRepository):
    """What a change touches: exactly one of targets, diff and patch."""

    targets: Annotated[list[Path], Field(max_length=100)] = []
    diff: Annotated[str, Field(max_length=500)] = ""
    patch: Annotated[str, Field(max_length=900_000)] = ""


class ToolCallBody(OfRepository):
    """A call of a tool. Nothing is written: the reply has the changes."""

    arguments: dict[str, Any] = {}
