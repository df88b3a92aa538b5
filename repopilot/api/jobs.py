"""The state of each repository that a client asked to open: its progress, or why it failed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from repopilot import i18n
from repopilot.api.work import error_facts, failed
from repopilot.errors import Cancelled, RepoPilotError, UsageError
from repopilot.repo.source import split_token
from repopilot.types import OnProgress, Progress

MOST = 1_000
"""Most openings remembered; the oldest that nobody waits for are dropped first."""
State = Literal["running", "ready", "failed", "cancelled"]


class UnknownRepository(UsageError):
    """No client asked for a repository with that id."""


@dataclass(slots=True)
class RepositoryJob:
    """The latest opening of a repository.

    Attributes:
        source: as the client named it, without its token.
        ref: a branch, tag or commit, '' for none.
        state: where it stands; a repository that is open stays `ready` while it is brought up to date.
        waiting: requests that wait for it.
        progress: the latest, None before the first.
        error: why it failed.
    """

    source: str
    ref: str
    state: State = "running"
    waiting: int = 0
    progress: Progress | None = None
    error: RepoPilotError | None = None

    def document(self) -> dict:
        """{source, ref, state, phase, percentage, error}: the percentage is that of the phase, null while unknown."""
        moment = self.progress if self.state == "running" else None
        share = min(100, 100 * moment.done // moment.total) if moment and moment.total else None
        return {
            "source": self.source,
            "ref": self.ref,
            "state": self.state,
            "phase": moment.phase if moment else "",
            "percentage": 100 if self.state == "ready" else share,
            "error": error_facts(self.error) if self.error else None,
        }


class RepositoryJobs:
    """The openings of this process, by the login that asked ('' without a login) and their id."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], RepositoryJob] = {}

    def of(self, owner: str, id: str) -> RepositoryJob:
        """The opening with an id; a caller without a login also finds those of logins. Raises UnknownRepository."""
        others = (each for (_, known), each in self._found.items() if known == id and not owner)
        found = self._found.get((owner, id)) or next(others, None)
        if found is None:
            raise UnknownRepository(i18n.message("api.no_repository", id=id), i18n.message("api.no_repository_hint"))
        return found

    def states(self) -> list[State]:
        """The state of each."""
        return [each.state for each in self._found.values()]

    @contextmanager
    def follow(self, owner: str, source: str, ref: str, progress: OnProgress) -> Iterator[OnProgress]:
        """Follow the work of opening a repository within the context.

        Args:
            owner: the login that asks.
            source: as the client named it.
            ref: a branch, tag or commit, '' for none.
            progress: also receives the progress.

        Yields:
            The callback that receives the progress of the work.
        """
        opening = self.begin(owner, source, ref)
        opening.waiting += 1

        def told(moment: Progress) -> None:
            opening.progress = moment
            progress(moment)

        state: State = "cancelled"
        try:
            yield told
            state = "ready"
            opening.error = None
        except Cancelled:
            raise
        except RepoPilotError as error:
            state = "failed"
            opening.error = error
            raise
        except Exception:
            state = "failed"
            opening.error = failed()
            raise
        finally:
            opening.waiting -= 1
            if state != "cancelled" or not (opening.waiting or opening.state == "ready"):
                opening.state = state

    def begin(self, owner: str, source: str, ref: str) -> RepositoryJob:
        """Register a repository that is about to be opened, and return its opening."""
        key = owner, repository_id(source, ref)
        opening = self._found.pop(key, None) or RepositoryJob(split_token(source)[0], ref)
        if opening.state != "ready" and not opening.waiting:
            opening.state = "running"
            opening.progress = None
            opening.error = None
        ended = [each for each, job in self._found.items() if not job.waiting]
        for each in ended[: max(0, len(self._found) + 1 - MOST)]:
            del self._found[each]
        self._found[key] = opening
        return opening


def repository_id(source: str, ref: str) -> str:
    """The id of a repository: depends on source and ref, but not on the token."""
    return hashlib.sha256(f"{split_token(source)[0]}\0{ref}".encode()).hexdigest()[:16]
