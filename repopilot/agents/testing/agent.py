"""Test: run the repository's tests, or write new ones, in the sandbox. Only pytest is run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.editor import edit_files
from repopilot.agents.editing.edits import Changes, texts_of
from repopilot.agents.editing.places import choose, last_files, named_paths
from repopilot.agents.editing.render import changes_sentence
from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.testing.attempts import no_worse, some_failed
from repopilot.agents.testing.checkout import checked_out
from repopilot.agents.testing.coverage import changed_definitions, unexercised
from repopilot.agents.testing.render import failure_list, report_text, run_sentences, unexercised_sentence
from repopilot.agents.testing.selection import all_tests, covering_tests, test_path_for
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed, ModelError
from repopilot.results import Answer, TestReport
from repopilot.retrieval.query.parse import reply_language
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.trace import Step
from repopilot.types import TestRun
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
    found = await explore(question, workspace, step)
    language = reply_language(question, workspace.settings)
    subject = _subject(question, workspace, found)
    changes, report = await _write_tests(question, subject, found, workspace, step)
    said = [
        changes_sentence(changes, language),
        unexercised_sentence(report.unexercised, language),
        run_sentences(report, language) if report.run else "",
    ]
    paragraphs = [" ".join(filter(None, said)), "\n".join(failure_list(report, language))]
    return await _answer("\n\n".join(filter(None, paragraphs)), report, step, changes)


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
    run = await _run(chosen[:MOST_RUN], drafts, workspace, step)
    report = TestReport(run, protected=True)
    return await _answer(report_text(report, language), report, step)


def _tests_meant(question: str, workspace: Workspace, drafts: Mapping[str, str]) -> list[str]:
    named = [p for p in named_paths(question, workspace.index) if is_test_path(p)]
    of_drafts = [t for p in drafts for t in ([p] if is_test_path(p) else covering_tests(workspace.index, p))]
    of_named = [t for p in named_paths(question, workspace.index) for t in covering_tests(workspace.index, p)]
    return list(dict.fromkeys(named or of_named or of_drafts)) or all_tests(workspace.index)


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is tested: its path, its text, and the path of the test file to write."""

    path: str
    text: str
    test_path: str

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")


def _subject(question: str, workspace: Workspace, found: Exploration) -> _Subject:
    """The last generated file, or the one the question means. Raises GenerationFailed."""
    drafts = [f for f in last_files(workspace.turns) if not is_test_path(f.path) and f.change != "deleted"]
    named = [p for p in named_paths(question, workspace.index) if not is_test_path(p)]
    if drafts and not named:
        path, text = drafts[0].path, drafts[0].content
    else:
        target = choose(named[0] if named else question, workspace, found)[0]
        path, text = target.path, target.shown
    if not text.strip():
        raise GenerationFailed(i18n.message("testing.no_subject", path=path), i18n.message("testing.no_subject_hint"))
    return _Subject(path, text, _test_path(path, workspace))


def _test_path(subject: str, workspace: Workspace) -> str:
    if subject.endswith(".py"):
        return test_path_for(workspace.index, subject)
    stem, _, suffix = subject.rpartition(".")
    return f"{stem}_test.{suffix}" if suffix in ("go", "rs", "dart") else f"{stem}.test.{suffix}"


async def _write_tests(
    question: str, subject: _Subject, found: Exploration, workspace: Workspace, step: Step
) -> tuple[Changes, TestReport]:
    """A test file, run. When a test fails, one more version with the failing assertions; the better one is returned."""
    kind = "pytest tests" if subject.is_python else "tests"
    task = (
        f"{question}\nWrite {kind} for {subject.path} into {subject.test_path}: one behaviour a test, with plain "
        "assertions."
    )
    language = reply_language(question, workspace.settings)
    reading = {subject.path: subject.text}
    request = EditRequest(task, found, (subject.test_path,), reading, language=language)
    async with step.child("generate", "agent", task) as writing:
        changes = (await edit_files(request, workspace, writing)).changes
        await writing.write("\n".join(c.diff for c in changes))
    if not subject.is_python:
        not_run = i18n.message("testing.only_pytest")
        step.degrade(not_run)
        return changes, TestReport(tests=texts_of(changes), stopped_because=not_run)
    drafts = texts_of(last_files(workspace.turns))
    run = await _run([subject.test_path], drafts | texts_of(changes), workspace, step)
    if some_failed(run) or run.errors:
        changes, run = await _correct(request, changes, run, workspace, step)
    report = TestReport(run, tests={p: text for p, text in texts_of(changes).items() if is_test_path(p)})
    return changes, replace(report, unexercised=_nothing_called(subject, report))


def _nothing_called(subject: _Subject, report: TestReport) -> tuple[str, ...]:
    """The public names of the subject when tests pass that call none of them; () when they call some."""
    if not report.verified_tests:
        return ()
    definitions = changed_definitions(subject.path, "", subject.text)
    public = [d for d in definitions if not d.name.rpartition(".")[2].startswith("_")]
    left = unexercised(public, report.verified_tests)
    return left if len(left) == len(public) else ()


async def _correct(
    request: EditRequest, changes: Changes, run: TestRun, workspace: Workspace, step: Step
) -> tuple[Changes, TestRun]:
    """Another version of failing tests and its run where it does no worse, else the first one."""
    reasons = tuple(f"{f.test_id} fails: {f.assertion[:300]}" for f in run.failures[:3]) or (run.output[-600:],)
    second = replace(request, paths=(), feedback=reasons, drafts=changes, seed=1)
    drafts = texts_of(last_files(workspace.turns))
    try:
        async with step.child("correct the tests", "agent", "\n".join(reasons)) as correcting:
            newer = (await edit_files(second, workspace, correcting)).changes
        rerun = await _run([c.path for c in newer], drafts | texts_of(newer), workspace, step)
    except (GenerationFailed, ModelError) as error:
        step.degrade(i18n.message("testing.not_corrected", error=i18n.reason(error)))
        return changes, run
    return (newer, rerun) if no_worse(rerun, run) else (changes, run)


async def _run(tests: Sequence[str], files: Mapping[str, str], workspace: Workspace, step: Step) -> TestRun:
    async with step.child("tests", "tool", ", ".join(tests)) as running, checked_out(workspace) as folder:
        run = await run_in_sandbox(files, tests, workspace.settings, folder, workspace.environment)
        running.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        await running.write(run.output[-4000:])
    return run


async def _answer(text: str, report: TestReport, step: Step, changes: Changes = ()) -> Answer:
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, files=changes, result=report)
