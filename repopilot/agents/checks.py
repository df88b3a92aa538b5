"""The evidence on generated code: analysers, tests in the sandbox with repair, public names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repopilot.agents import edits
from repopilot.agents.covering import covering_tests
from repopilot.agents.scoring import Evidence
from repopilot.agents.steps import surviving
from repopilot.code.languages import is_test_path
from repopilot.sandbox.run import missing_modules
from repopilot.trace import Step
from repopilot.types import FileChange, Finding, TestRun
from repopilot.workspace import Workspace

Changes = tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class Tested:
    """What the tests say of `changes` (the version they ended with: repair may have changed a file). `protected`:
    they are the repository's. `tests` are their texts by path; `report` is the document for people."""

    changes: Changes
    run: TestRun | None = None
    protected: bool = False
    tests: Mapping[str, str] | None = None
    report: Mapping[str, Any] | None = None


async def evidence_on(changes: Changes, tested: Tested | None, workspace: Workspace, step: Step) -> Evidence:
    """All that is known about a version, without its tests when those failed to run at all."""
    found = await surviving(findings(changes, workspace, step), "the analysers", step) or ()
    before = old_texts(changes, workspace)
    removed = [n for c in changes if c.path in before for n in sorted(lost_names(c, before[c.path]))]
    run = tested.run if tested else None
    missing = missing_modules(run, [c.path for c in changes]) if run else ()
    return Evidence(
        findings=found, tests=run, protected=bool(tested and tested.protected), missing=missing, removed=tuple(removed)
    )


async def findings(changes: Changes, workspace: Workspace, step: Step) -> tuple[Finding, ...]:
    """What the analysers of security, performance and style find new in the changed lines."""
    from repopilot.review.analysers import analyse
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


async def run_tests(task: str, changes: Changes, workspace: Workspace, step: Step, inputs: Path | None) -> Tested:
    """Run the tests that cover the changed Python code, else tests the model writes, and repair what fails.

    Only one file is repaired: the one that changed most. Raises SandboxError and what the model raises.
    """
    from repopilot.agents.refine import refine, refined_json

    code = [c for c in changes if c.path.endswith(".py") and c.change != "deleted" and not is_test_path(c.path)]
    if not code:
        step.degrade("running tests is out of reach: only Python is run")
        return Tested(changes)
    main = max(code, key=lambda c: c.diff.count("\n+"))
    covering = {p: workspace.index.text(p) or "" for p in covering_tests(workspace.index, main.path)}
    others = {c.path: c.content for c in changes if c is not main and c.change != "deleted"}
    async with step.child("tests", "agent", ", ".join(covering) or "generated") as testing:
        done = await refine(
            main.content, covering or None, task, workspace.model, workspace.settings, testing,
            name=main.path, protected_tests=bool(covering), context_files=others, inputs=inputs,
        )  # fmt: skip
        testing.note(protected=bool(covering), genuine=done.genuine_pass)
        await testing.write(done.stopped_because)
    kept = _with(changes, main, done.code, workspace) if done.genuine_pass else changes
    return Tested(kept, done.test, bool(covering), done.tests, refined_json(done))


def _with(changes: Changes, main: FileChange, code: str, workspace: Workspace) -> Changes:
    """The changes with a repaired text of `main`."""
    from repopilot.agents.targets import stored_text

    if code == main.content:
        return changes
    repaired = edits.change(main.path, code, stored_text(main.path, workspace))
    return tuple(repaired if c is main else c for c in changes)
