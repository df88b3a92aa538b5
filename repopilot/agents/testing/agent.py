"""Test: run the repository's tests, or write new ones, in the sandbox. Only pytest is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict

from repopilot import i18n
from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.generate.evidence import Changes, Tested
from repopilot.agents.generate.generator import GenerationRequest, generate_files
from repopilot.agents.generate.places import choose, last_files, named_paths
from repopilot.agents.generate.render import GenerationOutcome, answer_text, details_of, tests_text
from repopilot.agents.generate.scoring import failed, no_worse
from repopilot.agents.testing.checkout import checked_out
from repopilot.agents.testing.coverage import touched, unexercised
from repopilot.agents.testing.selection import all_tests, covering_tests, test_path_for
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed, ModelError
from repopilot.results import Answer
from repopilot.retrieval.query import parse
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.trace import Step
from repopilot.types import TestRun
from repopilot.workspace import Workspace

MOST_RUN = 40
_RUN = re.compile(
    r"^\W*(?:please |now |and |can you |could you |just |peux-tu )*(?:re-?run|run|execute|pytest|tox|"
    r"(?:re)?lance|exécute|do (?:the|all) tests|are (?:the|all) tests|show me the failing|"
    r"which tests (?:fail|are failing)|check (?:that |if )?the tests|les tests passent|est-ce que les tests)\b",
    re.I,
)
_WRITE = re.compile(r"\b(?:write|add|create|generate|cover|missing|écri\w*|ajoute\w*|crée\w*|génère)\b", re.I)


async def test(question: str, workspace: Workspace, step: Step) -> Answer:
    """Run tests when the question asks for that, else write a test file for its subject and run it.

    Raises GenerationFailed, ModelError, SandboxError.
    """
    if _RUN.search(question) and not _WRITE.search(question):
        return await run_existing(question, workspace, step)
    found = await explore(question, workspace, step)
    subject, path, reading = _subject(question, workspace, found)
    outcome = await _written(question, subject, path, reading, found, workspace, step)
    return await _answered(answer_text(outcome), details_of(outcome), step, outcome.changes)


async def run_existing(question: str, workspace: Workspace, step: Step) -> Answer:
    """Run the tests a question names, those of the last generated files, or all (at most MOST_RUN files)."""
    drafts = {f.path: f.content for f in last_files(workspace.turns) if f.change != "deleted"}
    chosen = _chosen(question, workspace, drafts)
    language = parse(question).language
    if not chosen:
        text = i18n.text("testing.no_tests", language)
        return await _answered(text, {"tests": None}, step)
    if len(chosen) > MOST_RUN:
        step.degrade(f"only the first {MOST_RUN} of {len(chosen)} test files are run")
    run = await _run(chosen[:MOST_RUN], drafts, workspace, step)
    tested = Tested((), run, protected=True)
    return await _answered(tests_text(tested, language), {"tests": asdict(run)}, step)


def _chosen(question: str, workspace: Workspace, drafts: Mapping[str, str]) -> list[str]:
    named = [p for p in named_paths(question, workspace.index) if is_test_path(p)]
    about = [t for p in drafts for t in ([p] if is_test_path(p) else covering_tests(workspace.index, p))]
    subjects = [t for p in named_paths(question, workspace.index) for t in covering_tests(workspace.index, p)]
    return list(dict.fromkeys(named or subjects or about)) or all_tests(workspace.index)


def _subject(question: str, workspace: Workspace, found: Exploration) -> tuple[str, str, dict[str, str]]:
    """What is tested: its path, the path of the test file to write, and its text. Raises GenerationFailed."""
    drafts = [f for f in last_files(workspace.turns) if not is_test_path(f.path) and f.change != "deleted"]
    named = [p for p in named_paths(question, workspace.index) if not is_test_path(p)]
    if drafts and not named:
        subject, text = drafts[0].path, drafts[0].content
    else:
        target = choose(named[0] if named else question, workspace, found)[0]
        subject, text = target.path, target.shown
    if not text.strip():
        raise GenerationFailed(f"There is no {subject} to test.", "Name a file or function of the repository.")
    return subject, _test_path(subject, workspace), {subject: text}


def _test_path(subject: str, workspace: Workspace) -> str:
    if subject.endswith(".py"):
        return test_path_for(workspace.index, subject)
    stem, _, suffix = subject.rpartition(".")
    return f"{stem}_test.{suffix}" if suffix in ("go", "rs", "dart") else f"{stem}.test.{suffix}"


async def _written(
    question: str,
    subject: str,
    path: str,
    reading: Mapping[str, str],
    found: Exploration,
    workspace: Workspace,
    step: Step,
) -> GenerationOutcome:
    """A test file, run; when something in it fails, one more version with the failing assertions, the better kept."""
    kind = "pytest tests" if subject.endswith(".py") else "tests"
    task = f"{question}\nWrite {kind} for {subject} into {path}: one behaviour a test, with plain assertions."
    request = GenerationRequest(task, found, paths=(path,), reading=reading)
    async with step.child("generate", "agent", task) as writing:
        changes = await generate_files(request, workspace, writing)
        await writing.write("\n".join(c.diff for c in changes))
    if not subject.endswith(".py"):
        step.degrade("the tests are not run: only pytest is")
        return GenerationOutcome(changes=changes, language=parse(question).language)
    drafts = {f.path: f.content for f in last_files(workspace.turns) if f.change != "deleted"}
    run = await _run([path], drafts | _texts(changes), workspace, step)
    if failed(run) or run.errors:
        changes, run = await _again(request, changes, run, drafts, workspace, step)
    tests = {path: text for path, text in _texts(changes).items() if is_test_path(path)}
    tested = Tested(changes, run, tests=tests)
    left = _left_out(subject, reading[subject], tested)
    return GenerationOutcome(changes=changes, tested=tested, unexercised=left, language=parse(question).language)


def _left_out(subject: str, text: str, tested: Tested) -> tuple[str, ...]:
    """The public names of the subject when tests pass that call none of them; () when they call some."""
    if not tested.passing:
        return ()
    public = [t for t in touched(subject, "", text) if not t.name.rpartition(".")[2].startswith("_")]
    left = unexercised(public, tested.passing)
    return left if len(left) == len(public) else ()


async def _again(
    request: GenerationRequest,
    changes: Changes,
    run: TestRun,
    drafts: Mapping[str, str],
    workspace: Workspace,
    step: Step,
) -> tuple[Changes, TestRun]:
    reasons = tuple(f"{f.test_id} fails: {f.assertion[:300]}" for f in run.failures[:3]) or (run.output[-600:],)
    second = GenerationRequest(
        request.task, request.found, reading=request.reading, feedback=reasons, drafts=changes, seed=1
    )
    try:
        async with step.child("correct the tests", "agent", "\n".join(reasons)) as correcting:
            newer = await generate_files(second, workspace, correcting)
        rerun = await _run([c.path for c in newer], drafts | _texts(newer), workspace, step)
    except (GenerationFailed, ModelError) as error:
        step.degrade(f"the tests were not corrected: {error}")
        return changes, run
    return (newer, rerun) if no_worse(rerun, run) else (changes, run)


def _texts(changes: Changes) -> dict[str, str]:
    return {c.path: c.content for c in changes if c.change != "deleted"}


async def _run(tests: list[str], files: Mapping[str, str], workspace: Workspace, step: Step) -> TestRun:
    async with step.child("tests", "tool", ", ".join(tests)) as running, checked_out(workspace) as folder:
        run = await run_in_sandbox(files, tests, workspace.settings, folder)
        running.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        await running.write(run.output[-4000:])
    return run


async def _answered(text: str, details: Mapping[str, object], step: Step, changes: Changes = ()) -> Answer:
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, files=changes, details=details)
