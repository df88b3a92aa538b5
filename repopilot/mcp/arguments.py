"""The arguments of the tools that only MCP clients have, and of the tools that can use every repository at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from repopilot.errors import UsageError, validation_problems
from repopilot.i18n import message
from repopilot.results import ImpactReport
from repopilot.retrieval.requested_pack import PackRequest
from repopilot.tools import result_types
from repopilot.tools.registry import Arguments
from repopilot.tools.verifying.check import NoArguments

Model = TypeVar("Model", bound=BaseModel)
RANGE = "BASE..HEAD, or BASE...HEAD from where HEAD branched off"
Path = Annotated[str, StringConstraints(max_length=1_000)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]


class Question(Arguments):
    """A question about a repository."""

    model_config = ConfigDict(strict=True)

    question: Text


class PackArguments(PackRequest):
    """What a context pack is made for."""

    model_config = ConfigDict(strict=True)


class QuestionOfAll(Question):
    """A question about every repository."""

    all: Literal[True]


class QueryOfAll(Arguments):
    """A search in every repository."""

    model_config = ConfigDict(strict=True)

    all: Literal[True]
    query: Text
    k: Annotated[int, Field(ge=1, le=20)] = 8


class ReviewArguments(Arguments):
    """What is reviewed: a diff, files, all files, or the pull request whose address is the source."""

    model_config = ConfigDict(strict=True)

    diff: Annotated[str, Field(max_length=500, description=RANGE)] = ""
    paths: list[Path] = Field(default_factory=list, max_length=500, description="files and folders; empty for all")


class ImpactArguments(Arguments):
    """A change: exactly one of targets, diff and patch."""

    model_config = ConfigDict(strict=True)

    targets: list[Path] = Field(default_factory=list, max_length=100, description="path, path:Symbol or Symbol")
    diff: Annotated[str, Field(max_length=500, description=RANGE)] = ""
    patch: Annotated[str, Field(max_length=900_000, description="a unified diff")] = ""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(map(bool, (self.targets, self.diff, self.patch))) != 1:
            raise ValueError("give exactly one of targets, diff and patch")
        return self


class OverviewArguments(Arguments):
    """Nothing but the repository."""


OWN: dict[str, tuple[type[BaseModel], type]] = {
    "ask": (Question, result_types.Answered),
    "context": (PackArguments, result_types.Packed),
    "review": (ReviewArguments, result_types.Reviewed),
    "impact": (ImpactArguments, ImpactReport),
    "overview": (OverviewArguments, result_types.RepositoryOverview),
    "apply": (NoArguments, result_types.Applied),
}
"""Argument and result types of the tools that only MCP clients have."""
OF_ALL: dict[str, type[BaseModel]] = {"search": QueryOfAll, "ask": QuestionOfAll}
"""Argument types of the tools that take `all` instead of `source`."""


def checked(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """Validate the arguments of a tool. Raises UsageError, which says what is wrong with them."""
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        raise UsageError(message("mcp.malformed", problem=validation_problems(error.errors()))) from error
