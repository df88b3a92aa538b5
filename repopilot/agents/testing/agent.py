"""Test: run the repository's tests in the sandbox; an agent model also writes new ones."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from repopilot import i18n
from repopilot.agents.coding.places import named_paths
from repopilot.agents.coding.render import changes_sentence
from repopilot.agents.testing.loop_tests import run_shown, write_tests_by_loop
from repopilot.agents.testing.pasted import pasted_code, repair_pasted, stands_alone
from repopilot.agents.testing.render import failure_list, mutants_text, point_list, report_text, run_points
from repopilot.code.languages import is_test_path
from repopilot.resolve.uses.covering_tests import all_tests, covering_tests
from repopilot.results import Answer, TestReport
from repopilot.retrieval.query.asked import likeliest
from repopilot.retrieval.query.parse import reply_language
from repopilot.tools.file_change import Changes, texts_of
from repopilot.trace import Step
from repopilot.workspace import Workspace

MOST_RUN = 40
"""Test files run at once."""
MOST_LISTED = 12
"""How many definitions that no test mentions are named."""


async def test(question: str, workspace: Workspace, step: Step) -> Answer:
    """Test and repair code that the question holds and that stands alone; run tests where it asks for that, else let an
    agent model write some.

    Args:
        question: as the user asked it.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The answer, its `result` a TestReport. Without an agent model it says what would write the tests, and which
        definitions of the named files no test mentions.

    Raises:
        GenerationFailed: the model wrote no tests.
        ModelError: the model failed.
        SandboxError: nothing can be run.
    """
    pasted = pasted_code(question)
    if pasted is not None and await asyncio.to_thread(stands_alone, pasted, workspace.index):
        return await repair_pasted(pasted, workspace, step)
    if likeliest(question)[0] == "run tests":
        return await run_existing(question, workspace, step)
    language = reply_language(question, workspace.settings)
    if not workspace.uses_tools:
        report = TestReport(stopped_because=i18n.message("testing.needs_agent_model"))
        return await _answer(_not_written(question, workspace, language), report, step)
    changes, report = await write_tests_by_loop(question, workspace, step)
    return await _answer(_written_text(changes, report, language), report, step, changes)


def _written_text(changes: Changes, report: TestReport, language: str) -> str:
    """The text about written tests: their files, their run, and the faults that they catch."""
    points = point_list(run_points(report, language))
    failures = "\n".join(failure_list(report, language))
    parts = (changes_sentence(changes, language), points, failures, mutants_text(report, language))
    return "\n\n".join(filter(None, parts))


def _not_written(question: str, workspace: Workspace, language: str) -> str:
    """Why no tests are written, and which definitions in the files that the question names no test mentions."""
    said = [i18n.text("testing.needs_agent_model", language)]
    for path in named_paths(question, workspace.index):
        names = [] if is_test_path(path) else _unmentioned(path, workspace)
        if names:
            shown = ", ".join(f"`{name}`" for name in names[:MOST_LISTED])
            said.append(i18n.text("testing.unmentioned", language, path=path, names=shown, count=len(names)))
    return "\n\n".join(said)


def _unmentioned(path: str, workspace: Workspace) -> list[str]:
    """The public functions and methods of a file whose names occur in none of the tests that cover it."""
    tests = covering_tests(workspace.index, path)
    words = {word for test in tests for word in re.findall(r"\w+", workspace.index.text(test) or "")}
    symbols = [s for s in workspace.index.outline(path) if s.kind in ("function", "method")]
    return [s.qualified for s in symbols if s.name not in words and not s.name.startswith("_")]


async def run_existing(question: str, workspace: Workspace, step: Step) -> Answer:
    """Run the tests a question names, those of the last generated files, or all of them, at most MOST_RUN files.

    Args:
        question: as the user asked it.
        workspace: the repository and the conversation.
        step: the step of the work.

    Returns:
        The answer; its `result` is a TestReport.

    Raises:
        SandboxError: nothing can be run.
    """
    drafts = texts_of(next((turn.files for turn in reversed(workspace.turns) if turn.files), ()))
    chosen = _tests_meant(question, workspace, drafts)
    language = reply_language(question, workspace.settings)
    if not chosen:
        report = TestReport(protected=True, stopped_because=i18n.message("testing.no_tests"))
        return await _answer(i18n.text("testing.no_tests", language), report, step)
    if len(chosen) > MOST_RUN:
        step.degrade(i18n.message("testing.first_only", count=MOST_RUN, total=len(chosen)))
    run = await run_shown(chosen[:MOST_RUN], drafts, workspace, step)
    report = TestReport(run, protected=True)
    return await _answer(report_text(report, language), report, step)


def _tests_meant(question: str, workspace: Workspace, drafts: Mapping[str, str]) -> list[str]:
    named = [p for p in named_paths(question, workspace.index) if is_test_path(p)]
    of_drafts = [t for p in drafts for t in ([p] if is_test_path(p) else covering_tests(workspace.index, p))]
    of_named = [t for p in named_paths(question, workspace.index) for t in covering_tests(workspace.index, p)]
    return list(dict.fromkeys(named or of_named or of_drafts)) or all_tests(workspace.index)


async def _answer(text: str, report: TestReport, step: Step, changes: Changes = ()) -> Answer:
    await step.answer(text)
    return Answer(text, files=changes, result=report)
