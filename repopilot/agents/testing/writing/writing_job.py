"""One job of writing tests, and what has come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repopilot.agents.testing.writing.keeping import Kept
from repopilot.agents.testing.writing.placing import TestPlace
from repopilot.agents.testing.writing.samples import TestDraft
from repopilot.agents.testing.writing.subjects import TestSubject
from repopilot.code.mutation.mutants import Mutant
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TestJob:
    """Tests of one definition to write.

    Attributes:
        subject: the definition.
        place: where its tests go.
        mutants: of the subject.
        existing: tests of it that there are, as (class or '', name).
        files: texts by path that differ from the snapshot.
        folder: the rest of the repository.
        workspace: the repository, the model and the conversation.
        wish: the request, where it says more than what is to be tested.
    """

    __test__ = False

    subject: TestSubject
    place: TestPlace
    mutants: tuple[Mutant, ...]
    existing: frozenset[tuple[str, str]]
    files: Mapping[str, str]
    folder: Path
    workspace: Workspace
    wish: str = ""


@dataclass(slots=True)
class JobProgress:
    """What has come of a job so far.

    Attributes:
        kept: the tests that are kept.
        known: numbers of the mutants that existing tests notice.
        measured: numbers of the mutants that were run.
        rejected: how many tests were not kept, by reason.
        tried: the tests that the model wrote.
        obstacle: a message that says why nothing can be run, '' while nothing stands in the way.
    """

    kept: list[Kept] = field(default_factory=list)
    known: frozenset[int] = frozenset()
    measured: frozenset[int] = frozenset()
    rejected: Counter[str] = field(default_factory=Counter)
    tried: list[TestDraft] = field(default_factory=list)
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A finished job."""

    job: TestJob
    progress: JobProgress
