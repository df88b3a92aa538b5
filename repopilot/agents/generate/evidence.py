"""The evidence on changed code: analysers, tests in the sandbox, public names."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from repopilot import i18n
from repopilot.agents.coding.checks.preserve import unrequested_removals
from repopilot.agents.generate.scoring import ChangeEvidence
from repopilot.code.changed_definitions import ChangedDefinition, changed_definitions
from repopilot.code.languages import file_kind, is_test_path
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.repo.paths.runs_elsewhere import unasked
from repopilot.results import TestReport
from repopilot.sandbox.failures import missing_modules
from repopilot.tools.file_change import Changes, generated_in, syntax_error
from repopilot.tools.test_suites import TestSelection, run_selected
from repopilot.tools.verifying.check import unrun_tools, uses_left_behind
from repopilot.tools.verifying.type_errors import TypeCheck
from repopilot.tools.working_copy import StateBefore, working_copy
from repopilot.trace import Step, result_or_none
from repopilot.types import Finding, TestRun
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ChangeContext:
    """What stays the same while versions of a change are examined.

    Attributes:
        task: what the change is for.
        workspace: the repository.
        inputs: the repository as a folder for the sandbox, None where nothing can be run in it.
        language: the language of the messages.
        by_code: no model took part in the change.
        refactoring: the change is right when tests pass as before, see `EditOutcome.is_refactoring`.
        left: places that the edit left for the user.
        interpreted: a small model said which edit the task means.
        before: known runs of tests without the change; their durations set the time limit of further runs.
        types: the type checker's results by version, filled as versions are checked.
        left_behind: what `uses_left_behind` found in versions that the loop checked.
        checked_by: the names of the programs that the tool `check` ran on the version.
    """

    task: str
    workspace: Workspace
    inputs: Path | None = None
    language: str = "en"
    by_code: bool = False
    refactoring: bool = False
    left: tuple[str, ...] = ()
    interpreted: bool = False
    before: Mapping[tuple[str, ...], StateBefore] = field(default_factory=dict)
    types: dict[Changes, TypeCheck] = field(default_factory=dict)
    left_behind: Mapping[Changes, tuple[Finding, ...]] = field(default_factory=dict)
    checked_by: tuple[str, ...] = ()


async def gather_evidence(
    context: ChangeContext, changes: Changes, report: TestReport | None, typed: TypeCheck, step: Step
) -> ChangeEvidence:
    """All that is known about a version.

    Args:
        context: the task and the repository.
        changes: the version.
        report: what its tests say, None when they could not be run at all.
        typed: what the type checker says of it.
        step: the step of the work.

    Returns:
        The evidence, without the Critic's objection.
    """
    workspace = context.workspace
    report = report or TestReport()
    work = i18n.message("generate.work.analysers")
    found = await result_or_none(find_new_findings(changes, workspace, step), work, step) or ()
    work = i18n.message("generate.work.uses")
    found += await result_or_none(find_broken_uses(context, changes, typed.files, step), work, step) or ()
    before = old_texts(changes, workspace)
    faults = _syntax_errors({c.path: c.content for c in changes if c.change != "deleted"})
    known = _syntax_errors({path: before[path] for path in faults if path in before})
    removed = [
        name
        for c in changes
        if c.path in before
        for name in unrequested_removals(c.path, c.content, before[c.path], context.task)
    ]
    refactored = context.refactoring and not context.by_code
    # Where a tool made the edit, it updated the uses of a definition: its old name may go if the task mentions it.
    if refactored or context.by_code:
        removed = [name for name in removed if not re.search(rf"\b{name.rpartition('.')[2]}\b", context.task)]
    missing = missing_modules(report.run, [c.path for c in changes]) if report.run else []
    changed = definitions_changed(changes, workspace)
    ran = (*context.checked_by, typed.name)
    return ChangeEvidence(
        problem="; ".join(f"{path}: {said}" for path, said in faults.items() if path not in known),
        left=context.left,
        findings=(*found, *typed.findings),
        report=report,
        missing=tuple(dict.fromkeys(missing)),
        removed=tuple(removed),
        changed=tuple(d.name for d in changed),
        by_code=context.by_code,
        interpreted=context.interpreted,
        refactored=refactored,
        generated=tuple(generated_in(changes, workspace.index.text)),
        automatic=() if context.by_code else tuple(c.path for c in changes if unasked(c.path, context.task)),
        unrun=() if context.by_code else tuple(unrun_tools(changes, workspace.index, ran)),
        unparsed=tuple(faults),
    )


def _syntax_errors(texts: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with the syntax of each file that doesn't parse, by path."""
    found = {path: syntax_error(path, text) for path, text in texts.items()}
    return {path: fault.message for path, fault in found.items() if fault is not None}


def definitions_changed(changes: Changes, workspace: Workspace) -> tuple[ChangedDefinition, ...]:
    """What a change adds or alters outside tests: definitions in Python, entire files in other languages."""
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
    from repopilot.agents.review.engine import analyse
    from repopilot.agents.review.findings import DOMAINS, merged
    from repopilot.agents.review.scope import of_changes

    targets = of_changes(changes, old_texts(changes, workspace)).targets
    async with step.child("analysers", "tool", ", ".join(c.path for c in changes)) as analysing:
        parts = [await analyse(domain, targets, analysing) for domain in DOMAINS]
        new = merged(f for part in parts for f in part.new)
        analysing.note(findings=len(new))
    return tuple(new)


async def find_broken_uses(
    context: ChangeContext, changes: Changes, typed: Collection[str], step: Step
) -> tuple[Finding, ...]:
    """The uses elsewhere that a change broke, see `uses_left_behind`; a known result is reused.

    Args:
        context: the task and the repository.
        changes: the generated files.
        typed: files in which a type checker judged every use.
        step: the step of the work.
    """
    if changes in context.left_behind:
        return context.left_behind[changes]
    async with step.child("uses elsewhere", "tool", ", ".join(c.path for c in changes)) as comparing:
        async with working_copy(context.workspace) as copy:
            await asyncio.to_thread(copy.write, changes)
            found = await asyncio.to_thread(uses_left_behind, changes, copy, typed)
        comparing.note(findings=len(found))
    return found


def old_texts(changes: Changes, workspace: Workspace) -> dict[str, str]:
    """The texts of modified files before the change, by path. They are taken as stored: the index's texts lack secrets,
    which would all look new."""
    modified = (each for each in changes if each.change == "modified")
    texts = {each.path: before_change(each) or workspace.index.text(each.path) for each in modified}
    return {path: text for path, text in texts.items() if text is not None}


async def run_tests(
    context: ChangeContext,
    files: Mapping[str, str],
    tests: TestSelection,
    name: str,
    step: Step,
    *,
    verify: bool = True,
) -> TestRun:
    """Run tests on a version, in a step of their own; nothing is repaired.

    Args:
        context: the task and the repository, as a folder.
        files: texts of the version by path; none for the repository as it is.
        tests: the tests to run.
        name: of the step.
        step: its parent.
        verify: as in `run_pytest`.

    Returns:
        The run; not verified in languages other than Python.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    workspace = context.workspace
    inputs = context.inputs
    seconds = max((state.run.seconds_needed for state in context.before.values()), default=0.0)
    async with step.child(name, "tool", str(tests)) as testing:
        run = await run_selected(replace(tests, seconds=seconds), files, workspace, inputs, verify=verify)
        testing.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        verified = i18n.text("testing.verified", context.language)
        await testing.write(verified if run.genuine else run.output[-4000:])
    return run
