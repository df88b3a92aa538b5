"""Test: run the repository's tests, or write new ones, in the sandbox. Only pytest is run."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repopilot import i18n
from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.editor import edit_with_model
from repopilot.agents.coding.places import choose, last_files, named_paths
from repopilot.agents.coding.render import changes_sentence
from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.testing.loop_tests import run_shown, write_tests_by_loop
from repopilot.agents.testing.render import additions_text, failure_list, point_list, report_text, run_points
from repopilot.agents.testing.writing.authoring import write_tests
from repopilot.agents.testing.writing.subjects import found_subjects, named_subjects
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.impact.covering_tests import all_tests, covering_tests
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.results import Answer, TestReport
from repopilot.retrieval.query.parse import reply_language
from repopilot.tools.file_change import Changes, texts_of
from repopilot.trace import Step
from repopilot.workspace import Workspace

MOST_RUN = 40
"""Test files run at once."""
_RUN = re.compile(
    r"^\W*(?:please |now |and |can you |could you |just |peux-tu )*(?:re-?run|run|execute|pytest|tox|"
    r"(?:re)?lance|exécute|do (?:the|all) tests|are (?:the|all) tests|show me the failing|"
    r"which tests (?:fail|are failing)|check (?:that |if )?the tests|les tests passent|est-ce que les tests)\b",
    re.I,
)
_WRITE = re.compile(r"\b(?:write|add|create|generate|cover|missing|écri\w*|ajoute\w*|crée\w*|génère)\b", re.I)


async def test(question: str, workspace: Workspace, step: Step) -> Answer:
    """Run tests when the question asks for that, else write a test file for its subject and run it.

    Args:
        question: as the user asked it.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The answer, its `result` a TestReport.

    Raises:
        GenerationFailed: there is nothing to test, or the model's tests can't be used.
        ModelError: the model failed.
        SandboxError: nothing can be run.
    """
    if _RUN.search(question) and not _WRITE.search(question):
        return await run_existing(question, workspace, step)
    language = reply_language(question, workspace.settings)
    subjects = named_subjects(question, workspace)
    found = None
    if not subjects:
        found = await explore(question, workspace, step)
        subjects = found_subjects(found, workspace)
    if workspace.uses_tools:
        changes, report = await write_tests_by_loop(question, subjects, workspace, step)
    elif subjects and all(subject.path.endswith(".py") for subject in subjects):
        changes, report = await write_tests(question, subjects, workspace, step, language)
    else:
        found = found or await explore(question, workspace, step)
        changes, report = await _other_language(question, found, workspace, step)
    return await _answer(_written_text(changes, report, language), report, step, changes)


def _written_text(changes: Changes, report: TestReport, language: str) -> str:
    """What is said of written tests: the files, the run, what they catch."""
    said = [changes_sentence(changes, language)]
    if changes and report.run is None:
        said.append(i18n.text("testing.offered_untested", language))
    if not changes and report.mutants:
        said.append(i18n.text("testing.smaller_task", language))
    points = point_list(run_points(report, language))
    paragraphs = [" ".join(filter(None, said)), points, "\n".join(failure_list(report, language))]
    return "\n\n".join(filter(None, [*paragraphs, additions_text(report, language)]))


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
    drafts = texts_of(last_files(workspace.turns))
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


async def _other_language(
    question: str, found: Exploration, workspace: Workspace, step: Step
) -> tuple[Changes, TestReport]:
    """A test file that is not run, for a file in another language than Python."""
    named = [p for p in named_paths(question, workspace.index) if not is_test_path(p)]
    target = next(iter(choose(named[0] if named else question, workspace, found)), None)
    if target is None or not target.shown.strip():
        missing = i18n.message("testing.no_subject", path=target.path if target else question)
        raise GenerationFailed(missing, i18n.message("testing.no_subject_hint"))
    stem, _, suffix = target.path.rpartition(".")
    path = f"{stem}_test.{suffix}" if suffix in ("go", "rs", "dart") else f"{stem}.test.{suffix}"
    task = f"{question}\nWrite tests for {target.path} into {path}: one behaviour a test, with plain assertions."
    language = reply_language(question, workspace.settings)
    request = EditRequest(task, found, (path,), {target.path: target.shown}, language=language)
    async with step.child("generate", "agent", task) as writing:
        changes = (await edit_with_model(request, workspace, writing)).changes
        await writing.write(shown_diffs(changes))
    not_run = i18n.message("testing.only_pytest")
    step.degrade(not_run)
    return changes, TestReport(tests=texts_of(changes), stopped_because=not_run)


async def _answer(text: str, report: TestReport, step: Step, changes: Changes = ()) -> Answer:
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, files=changes, result=report)
