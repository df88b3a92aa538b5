"""The evidence on changed code: analysers, tests in the sandbox, public names."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from repopilot import i18n
from repopilot.agents.coding.checks.preserve import unrequested_removals
from repopilot.agents.generate.scoring import ChangeEvidence
from repopilot.code.languages import file_kind, is_test_path
from repopilot.impact.changed_definitions import ChangedDefinition, changed_definitions
from repopilot.repo.runs_elsewhere import unasked
from repopilot.results import TestReport
from repopilot.sandbox.failures import missing_modules
from repopilot.tools import file_change
from repopilot.tools.check import uses_left_behind
from repopilot.tools.file_change import Changes, generated_in
from repopilot.tools.test_suites import TestSelection, run_selected
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step, result_or_none
from repopilot.types import FileChange, Finding, TestRun
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Examination:
    """What stays the same while versions of a change are examined.

    Attributes:
        task: what the change is for.
        workspace: the repository.
        inputs: the repository as a folder for the sandbox, None where nothing can be run in it.
        language: the language of the messages.
        by_code: no model took part in the change.
        refactoring: the change is right when tests pass as before, see `EditOutcome.is_refactoring`.
        revise_until: no further version is begun from then on, in seconds of `time.monotonic()`.
        left: places that the edit left for the user.
        test_seconds: what tests took before the change, which the time limit of a run follows; 0 where nobody knows.
        type_errors: what the type checker found in versions, as they are checked.
        left_behind: what `uses_left_behind` found in versions that the loop checked.
    """

    task: str
    workspace: Workspace
    inputs: Path | None = None
    language: str = "en"
    by_code: bool = False
    refactoring: bool = False
    revise_until: float = math.inf
    left: tuple[str, ...] = ()
    test_seconds: float = 0.0
    type_errors: dict[Changes, tuple[Finding, ...]] = field(default_factory=dict)
    left_behind: Mapping[Changes, tuple[Finding, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TestedChanges:
    """The version that its tests chose, and what they say of it."""

    __test__ = False

    changes: Changes
    report: TestReport = field(default_factory=TestReport)


async def gather_evidence(
    examination: Examination, changes: Changes, report: TestReport | None, step: Step
) -> ChangeEvidence:
    """All that is known about a version.

    Args:
        examination: the task and the repository.
        changes: the version.
        report: what its tests say, None when they could not be run at all.
        step: the step of the work.

    Returns:
        The evidence, without the Critic's objection.
    """
    workspace, report = examination.workspace, report or TestReport()
    work = i18n.message("generate.work.analysers")
    found = await result_or_none(find_new_findings(changes, workspace, step), work, step) or ()
    work = i18n.message("generate.work.uses")
    found += await result_or_none(find_broken_uses(examination, changes, step), work, step) or ()
    before = old_texts(changes, workspace)
    broken = [problem for c in changes if (problem := _newly_unparsed(c, before.get(c.path))) is not None]
    removed = [
        name
        for c in changes
        if c.path in before
        for name in unrequested_removals(c.path, c.content, before[c.path], examination.task)
    ]
    refactored = examination.refactoring and not examination.by_code
    if refactored:  # the uses of what was renamed followed, so that it is enough for the task to name it
        removed = [name for name in removed if not re.search(rf"\b{name.rpartition('.')[2]}\b", examination.task)]
    missing = missing_modules(report.run, [c.path for c in changes]) if report.run else []
    changed = definitions_changed(changes, workspace)
    return ChangeEvidence(
        problem="; ".join(broken),
        left=examination.left,
        findings=found,
        tests=report.run,
        missing=tuple(dict.fromkeys(missing)),
        removed=tuple(removed),
        changed=tuple(d.name for d in changed),
        unexercised=report.unexercised,
        red_before=report.red_before,
        by_code=examination.by_code,
        refactored=refactored,
        unbroken=report.unbroken,
        added=len(report.added),
        generated=tuple(generated_in(changes, workspace.index.text)),
        automatic=() if examination.by_code else tuple(c.path for c in changes if unasked(c.path, examination.task)),
        unparsed=tuple(
            c.path for c in changes if c.change != "deleted" and file_change.syntax_error(c.path, c.content) is not None
        ),
    )


def _newly_unparsed(change: FileChange, before: str | None) -> str | None:
    fault = file_change.syntax_error(change.path, change.content) if change.change != "deleted" else None
    if fault is None or (before is not None and file_change.syntax_error(change.path, before) is not None):
        return None
    return f"{change.path}: {fault.message}"


def definitions_changed(changes: Changes, workspace: Workspace) -> tuple[ChangedDefinition, ...]:
    """What changed code adds or alters: definitions in Python, entire files in other languages. Tests aside."""
    before = old_texts(changes, workspace)
    found: list[ChangedDefinition] = []
    for change in changes:
        if change.change == "deleted" or is_test_path(change.path) or file_kind(change.path) != "code":
            continue
        if change.path.endswith(".py"):
            found += changed_definitions(change.path, before.get(change.path, ""), change.content)
        else:
            found.append(ChangedDefinition(change.path, change.path, partial(before.get, change.path)))
    return tuple(found)


async def find_new_findings(changes: Changes, workspace: Workspace, step: Step) -> tuple[Finding, ...]:
    """Run the analysers of security, performance and style on generated files.

    Args:
        changes: the generated files.
        workspace: the repository before the change.
        step: the step of the work; the analysers get one below it.

    Returns:
        The findings on changed lines that were not there before.
    """
    from repopilot.review.engine import analyse
    from repopilot.review.findings import DOMAINS, merged
    from repopilot.review.scope import of_changes

    targets = of_changes(changes, old_texts(changes, workspace)).targets
    async with step.child("analysers", "tool", ", ".join(c.path for c in changes)) as analysing:
        parts = [await analyse(domain, targets, analysing) for domain in DOMAINS]
        new = merged(f for part in parts for f in part.new)
        analysing.note(findings=len(new))
    return tuple(new)


async def find_broken_uses(examination: Examination, changes: Changes, step: Step) -> tuple[Finding, ...]:
    """What a change leaves behind elsewhere, see `uses_left_behind`; remembered where it was asked before.

    Args:
        examination: the task and the repository.
        changes: the generated files.
        step: the step of the work.
    """
    if changes in examination.left_behind:
        return examination.left_behind[changes]
    async with step.child("uses elsewhere", "tool", ", ".join(c.path for c in changes)) as comparing:
        async with working_copy(examination.workspace) as copy:
            await asyncio.to_thread(copy.write, changes)
            found = await asyncio.to_thread(uses_left_behind, changes, copy)
        comparing.note(findings=len(found))
    return found


def old_texts(changes: Changes, workspace: Workspace) -> dict[str, str]:
    """The indexed texts of the files that are changed, by path; without new files."""
    texts = {c.path: workspace.index.text(c.path) for c in changes if c.change == "modified"}
    return {path: text for path, text in texts.items() if text is not None}


async def run_tests(
    examination: Examination,
    files: Mapping[str, str],
    tests: TestSelection,
    name: str,
    step: Step,
    left_out: Sequence[str] = (),
    *,
    verify: bool = True,
) -> TestRun:
    """Run tests over a version, in a step of their own; nothing is repaired.

    Args:
        examination: the task and the repository, as a folder.
        files: texts of the version by path; none for the repository as it is.
        tests: which.
        name: of the step.
        step: its parent.
        left_out: ids of tests of Python that are not run.
        verify: as in `run_pytest`.

    Returns:
        The run; of another language than Python not verified.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    workspace, inputs, seconds = examination.workspace, examination.inputs, examination.test_seconds
    async with step.child(name, "tool", str(tests)) as testing:
        run = await run_selected(tests, files, workspace, inputs, left_out=left_out, seconds=seconds, verify=verify)
        testing.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        verified = i18n.text("testing.verified", examination.language)
        await testing.write(verified if run.genuine else run.output[-4000:])
    return run
