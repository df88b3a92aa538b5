"""The evidence on generated code: analysers, tests in the sandbox with repair, public names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repopilot.agents.generate import edits
from repopilot.agents.generate.preserve import unrequested_removals
from repopilot.agents.generate.scoring import ChangeEvidence
from repopilot.agents.testing.coverage import Touched, entrances, touched, unexercised
from repopilot.agents.testing.selection import covering_tests, is_test_file
from repopilot.code.languages import file_kind, is_test_path
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.sandbox.run import missing_modules
from repopilot.trace import Step, result_or_none
from repopilot.types import FileChange, Finding, TestRun
from repopilot.workspace import Workspace

Changes = tuple[FileChange, ...]
_NAMELESS = "nothing changed that a test could call by name"
_BROKE = "what was repaired for them fails the repository's tests, so it is not kept"


@dataclass(frozen=True, slots=True)
class Tested:
    """What the tests say of `changes` (the version they ended with: repair may have changed a file). `protected`:
    they are the repository's. `tests` are their texts by path; `report` is the document for people. `written` is the
    same for tests written of what the first ones don't call."""

    changes: Changes
    run: TestRun | None = None
    protected: bool = False
    tests: Mapping[str, str] | None = None
    report: Mapping[str, Any] | None = None
    written: Tested | None = None

    @property
    def passing(self) -> tuple[str, ...]:
        """The texts of tests that passed under control."""
        own = tuple((self.tests or {}).values()) if self.run and self.run.genuine else ()
        return own + (self.written.passing if self.written else ())

    @property
    def own_tests(self) -> Mapping[str, str] | None:
        """The tests that were written for the change, to run them on another version."""
        return self.written.tests if self.written else None if self.protected else self.tests


async def evidence_on(
    task: str,
    changes: Changes,
    tested: Tested | None,
    workspace: Workspace,
    step: Step,
    passing: Sequence[str] = (),
) -> ChangeEvidence:
    """All that is known about a version of a task, without its tests when those failed to run at all. `passing` are
    further tests that passed under control."""
    found = await result_or_none(findings(changes, workspace, step), "the analysers", step) or ()
    before = old_texts(changes, workspace)
    removed = [
        n for c in changes if c.path in before for n in unrequested_removals(c.path, c.content, before[c.path], task)
    ]
    tested = tested or Tested(changes)
    written = tested.written.run if tested.written else None
    missing = [m for run in (tested.run, written) if run for m in missing_modules(run, [c.path for c in changes])]
    anew = touched_by(changes, workspace)
    return ChangeEvidence(
        findings=found,
        tests=tested.run,
        protected=tested.protected,
        missing=tuple(dict.fromkeys(missing)),
        removed=tuple(removed),
        changed=tuple(t.name for t in anew),
        beside=unexercised(anew, (tested.tests or {}).values()),
        written=written,
        unexercised=unexercised(anew, (*tested.passing, *passing)),
    )


def touched_by(changes: Changes, workspace: Workspace) -> tuple[Touched, ...]:
    """What the changed code does anew: definitions of Python files, whole files of other languages; tests aside."""
    before = old_texts(changes, workspace)
    found: list[Touched] = []
    for change in changes:
        if change.change == "deleted" or is_test_path(change.path) or file_kind(change.path) != "code":
            continue
        if change.path.endswith(".py"):
            found += touched(change.path, before.get(change.path, ""), change.content)
        else:
            found.append(Touched(change.path))
    return tuple(found)


async def findings(changes: Changes, workspace: Workspace, step: Step) -> tuple[Finding, ...]:
    """What the analysers of security, performance and style find new in the changed lines."""
    from repopilot.review.engine import analyse
    from repopilot.review.findings import DOMAINS, merged
    from repopilot.review.scope import of_changes

    targets = of_changes(changes, old_texts(changes, workspace)).targets
    async with step.child("analysers", "tool", ", ".join(c.path for c in changes)) as analysing:
        parts = [await analyse(domain, targets, analysing) for domain in DOMAINS]
        new = merged(f for part in parts for f in part.new)
        analysing.note(findings=len(new))
    return tuple(new)


def old_texts(changes: Changes, workspace: Workspace) -> dict[str, str]:
    """The indexed texts of the files that are changed, by path; new files are not in it."""
    texts = {c.path: workspace.index.text(c.path) for c in changes if c.change == "modified"}
    return {path: text for path, text in texts.items() if text is not None}


def lost_names(change: FileChange, before: str) -> set[str]:
    """Public names of the old text that the new one lacks."""
    return edits.public_names(change.path, before) - edits.public_names(change.path, change.content)


async def run_tests(
    task: str,
    changes: Changes,
    workspace: Workspace,
    step: Step,
    inputs: Path | None,
    written: Mapping[str, str] | None = None,
) -> Tested:
    """Run the repository's tests that cover the changed Python code, then tests of what those don't call: the ones the
    change brings, else `written` before, else new ones by the model. What fails is repaired.

    Only one file is repaired: the one that changed most. Raises SandboxError and what the model raises.
    """
    python = [c for c in changes if c.path.endswith(".py") and c.change != "deleted"]
    own = {c.path: c.content for c in python if is_test_file(c.path) and is_test_path(c.path)}
    code = [c for c in python if not is_test_path(c.path)]
    if not code and not own:
        step.degrade("running tests is out of reach: only Python is run")
        return Tested(changes)
    if not code:
        run = await _run(changes, own, workspace, inputs, "tests", step)
        return Tested(changes, run, False, own)
    main = max(code, key=lambda c: c.diff.count("\n+"))
    anew = touched_by(tuple(code), workspace)
    names = {t.name.rpartition(".")[2] for t in anew}
    covering = {p: workspace.index.text(p) or "" for p in covering_tests(workspace.index, main.path, names)}
    covering = {path: text for path, text in covering.items() if path not in own}
    suite = _Suite(task, main, workspace, inputs)
    none = Tested(changes, report={"stopped_because": _NAMELESS})
    first = await _refined(suite, changes, covering, True, (), "tests", step) if covering else none
    left = unexercised(anew, covering.values())
    focus = entrances([t for t in touched_by((main,), workspace) if t.name in left])
    failing = covering and not (first.run and first.run.genuine)
    if failing or not (focus or own):
        return first
    name = "tests of what is new" if covering else "tests"
    more = await _refined(suite, first.changes, own or written, False, focus, name, step)
    if not covering:
        return more
    if more.changes != first.changes:
        again = await _run(more.changes, covering, workspace, inputs, "tests again", step)
        if not again.genuine:
            more = replace(more, changes=first.changes, run=None, report={"stopped_because": _BROKE})
    return replace(first, changes=more.changes, written=more)


@dataclass(frozen=True, slots=True)
class _Suite:
    """What stays the same for all tests of a version; `main` is the file that may be repaired."""

    task: str
    main: FileChange
    workspace: Workspace
    inputs: Path | None


async def _refined(
    suite: _Suite,
    changes: Changes,
    tests: Mapping[str, str] | None,
    protected: bool,
    focus: tuple[str, ...],
    name: str,
    step: Step,
) -> Tested:
    """One round of test and repair; the repaired file is kept when its tests pass under control."""
    from repopilot.agents.testing.repair import refine, refined_json

    main = next(c for c in changes if c.path == suite.main.path)
    others = {c.path: c.content for c in changes if c is not main and c.change != "deleted"}
    async with step.child(name, "agent", ", ".join(tests or focus)) as testing:
        done = await refine(
            main.content, tests or None, suite.task, suite.workspace.model, suite.workspace.settings, testing,
            name=main.path, protected_tests=protected, context_files=others, inputs=suite.inputs, focus=focus,
        )  # fmt: skip
        testing.note(protected=protected, genuine=done.genuine_pass)
        await testing.write(done.stopped_because)
    texts = {main.path: done.code, **done.tests} if done.genuine_pass else {}
    return Tested(_with(changes, texts, suite.workspace), done.test, protected, done.tests, refined_json(done))


async def _run(
    changes: Changes, tests: Mapping[str, str], workspace: Workspace, inputs: Path | None, name: str, step: Step
) -> TestRun:
    """One run of tests over the changes, nothing repaired."""
    files = {c.path: c.content for c in changes if c.change != "deleted"}
    async with step.child(name, "tool", ", ".join(tests)) as testing:
        run = await run_in_sandbox({**files, **tests}, list(tests), workspace.settings, inputs)
        testing.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        await testing.write("passed under control" if run.genuine else run.output[-4000:])
    return run


def _with(changes: Changes, texts: Mapping[str, str], workspace: Workspace) -> Changes:
    """The changes with other texts of their files: repaired code, tests without the wrong ones."""
    from repopilot.agents.generate.places import stored_text

    def other(change: FileChange) -> FileChange:
        text = texts.get(change.path, change.content)
        same = change.change == "deleted" or text == change.content
        return change if same else edits.change(change.path, text, stored_text(change.path, workspace))

    return tuple(other(change) for change in changes)
