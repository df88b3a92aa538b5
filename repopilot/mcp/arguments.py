"""The arguments of the tools that only MCP clients have, and of those that can be asked of every repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.retrieval.requested_pack import PackRequest
from repopilot.tools.check import NoArguments
from repopilot.tools.registry import Arguments
from repopilot.validation import problems

Model = TypeVar("Model", bound=BaseModel)
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


OWN: dict[str, type[BaseModel]] = {"ask": Question, "context": PackArguments, "apply": NoArguments}
OF_ALL: dict[str, type[BaseModel]] = {"search": QueryOfAll, "ask": QuestionOfAll}
"""What can be asked of all repositories, instead of a `source`."""


def checked(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """The arguments as the tool takes them. Raises UsageError, which says what is wrong with them."""
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        raise UsageError(message("mcp.malformed", problem=problems(error.errors()))) from error
