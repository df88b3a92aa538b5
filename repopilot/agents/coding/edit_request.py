"""What is asked of an edit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from repopilot.agents.exploration import Exploration
from repopilot.types import FileChange


@dataclass(frozen=True, slots=True)
class Calls:
    """What a failing test ran: for each (path, first line, plain name) of a function the order of its last call, the
    latest last."""

    order: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test of the repository that fails: `id` is `path::Class::name`, `text` its definition, `error` the last lines
    of what it says, `calls` what it ran."""

    id: str
    text: str
    error: str
    calls: Calls


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A change to make.

    Attributes:
        task: what to write or change.
        found: what the exploration of the repository found, None for nothing.
        feedback: reasons to write another version, for the model.
        failing: a test that fails and is to pass.
        passes: whether a version makes it pass; None where nothing can be run.
        seed: of the sampling; 0 for the first version.
    """

    task: str
    found: Exploration | None = None
    feedback: tuple[str, ...] = ()
    failing: FailingTest | None = None
    passes: Callable[[tuple[FileChange, ...]], Awaitable[bool]] | None = None
    seed: int = 0
