"""What has come of writing tests: the changed modules and the report. Pure but for reading the old modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.testing.writing.assembly import assembled, module_change
from repopilot.agents.testing.writing.keeping import MOST_KEPT
from repopilot.agents.testing.writing.samples import TestDraft
from repopilot.agents.testing.writing.writing_job import FinishedJob, JobProgress, TestJob
from repopilot.results import MutantOutcome, TestReport, WrittenTest
from repopilot.tools.file_change import Changes
from repopilot.types import TestRun
from repopilot.workspace import Workspace


def changes_of(done: Sequence[FinishedJob], workspace: Workspace) -> Changes:
    """The changed test modules.

    Args:
        done: the jobs, of which the last may still be under way.
        workspace: the repository.

    Returns:
        Each module with the tests that are kept; where nothing could be run, with some that were not.
    """
    texts: dict[str, str] = {}
    for written in done:
        if drafts := _offered(written.progress):
            texts[written.job.place.path] = assembled(
                written.job.place, drafts, workspace.index, written.job.subject.text
            )
    return tuple(module_change(path, text, workspace) for path, text in texts.items())


def _offered(progress: JobProgress) -> list[TestDraft]:
    return progress.tried[:MOST_KEPT] if progress.obstacle else [kept.draft for kept in progress.kept]


def report_of(done: Sequence[FinishedJob], run: TestRun | None) -> TestReport:
    """What is known of written tests.

    Args:
        done: the jobs.
        run: the verified run of the tests that are kept, None for none.
    """
    rejected: Counter[str] = Counter()
    for written in done:
        rejected.update(written.progress.rejected)
    obstacle = next((w.progress.obstacle for w in done if w.progress.obstacle), "")
    nothing = not obstacle and not any(w.progress.kept for w in done)
    return TestReport(
        run,
        stopped_because=i18n.message("testing.no_test_kept") if nothing else obstacle,
        additions=tuple(_addition(w.job, draft) for w in done for draft in _offered(w.progress)),
        mutants=tuple(outcome for w in done for outcome in _mutant_outcomes(w)),
        rejected=tuple((reason, count) for reason, count in rejected.items() if count > 0),
    )


def _addition(job: TestJob, draft: TestDraft) -> WrittenTest:
    name = f"{job.place.owner}::{draft.name}" if job.place.owner else draft.name
    return WrittenTest(job.place.path, name, job.subject.symbol, draft.origin, draft.expected)


def _mutant_outcomes(written: FinishedJob) -> list[MutantOutcome]:
    job, progress = written.job, written.progress
    return [
        MutantOutcome(
            job.subject.path,
            mutant.line,
            short(mutant.before),
            short(mutant.after),
            tuple(kept.draft.name for kept in progress.kept if number in kept.caught),
            number in progress.known,
        )
        for number, mutant in enumerate(job.mutants)
        if number in progress.measured
    ]


def short(text: str) -> str:
    """Code on one line, its end left out where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= 48 else line[:45] + "…"
