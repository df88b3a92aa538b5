"""The error tree. A message says what happened; `hint` says what the user can do about it."""

from __future__ import annotations


class RepoPilotError(Exception):
    """Base of every error we raise on purpose. `str()` gives message and hint, fit to show to the user."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(RepoPilotError):
    """Wrong use: the command line exits with 2."""


class SourceError(RepoPilotError):
    """The repository can't be named, reached or read."""


class CredentialsNeeded(SourceError):
    """The remote asks for credentials, or refuses the ones given."""


class StorageError(RepoPilotError):
    """The data directory can't be used: full, locked, unreadable."""


class IndexFailed(RepoPilotError):
    """An index build ended without a usable index."""


class Cancelled(RepoPilotError):
    """The user stopped it. Nothing is lost that was already published."""


class ModelError(RepoPilotError):
    """A language or embedding model can't be reached or answered badly. `partial` keeps what was streamed."""

    def __init__(self, message: str, hint: str = "", partial: str = "") -> None:
        super().__init__(message, hint)
        self.partial = partial


class SandboxError(RepoPilotError):
    """The sandbox could not be set up or was refused."""


class GenerationFailed(RepoPilotError):
    """The model produced nothing that parses, after repair."""
