"""The exception hierarchy. `message` says what happened, `hint` what the user can do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_MOST_PROBLEMS = 5


class RepoPilotError(Exception):
    """Base class of all errors that RepoPilot raises. `str()` gives message and hint in English, for the user."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(RepoPilotError):
    """Invalid arguments: the command line exits with status 2."""


class SeveralFit(UsageError):
    """A tool got a name that several places have. `choices` are these places, as `path:Symbol`."""

    def __init__(self, message: str, hint: str = "", choices: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.choices = choices


class SourceError(RepoPilotError):
    """The repository's address is invalid, or it can't be reached or read."""


class SourceMalformed(SourceError):
    """The text names no repository, or is no patch."""


class SourceRefused(SourceError):
    """The address could be used, but the settings or the rules against misuse forbid it."""


class SourceUnreachable(SourceError):
    """The host can't be reached, doesn't answer in time, or doesn't speak as a git server does."""


class CredentialsNeeded(SourceError):
    """The remote asks for credentials, or refuses the ones given."""


class StorageError(RepoPilotError):
    """The data directory can't be used: it is full, locked or unreadable."""


class IndexFailed(RepoPilotError):
    """An index build ended without a usable index."""


class ClusterError(RepoPilotError):
    """A Ray cluster can't be reached, is lost, or lost a task."""


class Cancelled(RepoPilotError):
    """The user stopped the work. What was already published stays."""


class ModelError(RepoPilotError):
    """A language or embedding model can't be reached or failed. `partial` is the text streamed until then."""

    def __init__(self, message: str, hint: str = "", partial: str = "") -> None:
        super().__init__(message, hint)
        self.partial = partial


class ModelRefused(ModelError):
    """A model server answers, but refuses the request. `status` is the status of its answer."""

    status = 0


class ModelSilent(ModelError):
    """A model sends nothing for longer than allowed."""


class ToolsRefused(ModelError):
    """The model's server doesn't accept tools."""


class SandboxError(RepoPilotError):
    """The sandbox could not be set up, or consent to a weaker one is missing."""


class NoRunner(SandboxError):
    """No known test runner can run the tests."""


class LanguageServerError(SandboxError):
    """A language server can't be started, doesn't answer, or has ended."""


class EnvironmentFailed(RepoPilotError):
    """The environment that a repository's tests need can't be built or used."""


class ForgeError(RepoPilotError):
    """A host of issues and pull requests refuses something, can't be reached, or has changed meanwhile."""


class ForgeUnreachable(ForgeError):
    """A host of issues and pull requests can't be reached, has a fault, or takes no more requests for now."""


class GenerationFailed(RepoPilotError):
    """No usable change could be made: the task can't be carried out here, or the model's reply can't be used."""


class PlaceAmbiguous(GenerationFailed):
    """Several places fit the task. `choices` are the places as `path:Symbol`, which the task may mention with an @."""

    def __init__(self, message: str, hint: str = "", choices: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.choices = choices


def validation_problems(errors: Iterable[Mapping[str, Any]]) -> str:
    """The first problems that pydantic found, in one line, each with its place where it has one. Pure.

    Args:
        errors: as pydantic and FastAPI list them.
    """
    return "; ".join(": ".join(filter(None, (_place(each), _said(each)))) for each in list(errors)[:_MOST_PROBLEMS])


def _place(error: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in error["loc"] if part != "body")


def _said(error: Mapping[str, Any]) -> str:
    return str(error["msg"]).removeprefix("Value error, ")
