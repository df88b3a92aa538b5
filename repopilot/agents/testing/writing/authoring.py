"""Writes tests for definitions: cheap samples, each run on the code and on mutants of it; the telling ones are kept.

Everything is a step of the trace: the place, the mutants, the samples, the runs. What is kept is published at once, so
that Stop leaves it.
"""

from __future__ import annotations

import asyncio
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repopilot import i18n
from repopilot.agents.coding.places import last_files
from repopilot.agents.testing.writing.aims import Aim, aims_of
from repopilot.agents.testing.writing.assembly import free_name
from repopilot.agents.testing.writing.doctests import doctest_body
from repopilot.agents.testing.writing.judging import ENOUGH, judge
from repopilot.agents.testing.writing.placing import place_of, tests_of_subject
from repopilot.agents.testing.writing.samples import SampleRequest, TestDraft, head_of, is_copy, sample
from repopilot.agents.testing.writing.subjects import TestSubject
from repopilot.agents.testing.writing.suite import only_tests
from repopilot.agents.testing.writing.writing_job import FinishedJob, JobProgress, TestJob
from repopilot.agents.testing.writing.written_report import changes_of, report_of, short
from repopilot.code.mutation.mutants import mutants
from repopilot.errors import GenerationFailed, ModelError
from repopilot.llm.model import Model
from repopilot.results import Answer, TestReport
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, texts_of
from repopilot.trace import Step
from repopilot.types import TestRun
from repopilot.workspace import Workspace

FRUITLESS_S = 120.0
"""Without a test worth keeping the work ends after this many seconds."""
_PER_ROUND, _ROUNDS = 3, 3
_MOST_EXISTING = 12
_PLAIN_REQUEST = 9
"""A request with no more words says only what is to be tested."""
_PROMPT_TOKENS, _REPLY_TOKENS, _RUN_S = 700, 70, 3.0
"""What a round usually takes, for the estimate."""


async def write_tests(
    question: str, subjects: Sequence[TestSubject], workspace: Workspace, step: Step, language: str
) -> tuple[Changes, TestReport]:
    """Write tests for definitions into the modules in which their neighbours are tested.

    Args:
        question: as the user asked it.
        subjects: the definitions.
        workspace: the repository, the model and the conversation.
        step: the step of the work.
        language: of the texts in the steps.

    Returns:
        The changed test modules, none where no test is worth keeping; and the report.

    Raises:
        GenerationFailed: there is neither a model nor a doctest to make tests of.
        ModelError: the model failed before any test was kept.
    """
    started = time.monotonic()
    drafts = texts_of(last_files(workspace.turns))
    done: list[FinishedJob] = []
    async with checked_out(workspace) as folder:
        for subject in subjects:
            if done and time.monotonic() - started > FRUITLESS_S:
                step.degrade(i18n.message("testing.out_of_time", names=subject.symbol))
                break
            changed = texts_of(changes_of(done, workspace))
            job = await _prepare(subject, workspace, step, language, {**drafts, **changed}, folder, question)
            progress = JobProgress()
            done.append(FinishedJob(job, progress))
            await _work(job, progress, step, started, lambda: _publish(done, workspace, step, language))
            if progress.obstacle:
                break
        run = await _verified_run(done, workspace, folder, step)
    return changes_of(done, workspace), report_of(done, run)


async def _prepare(
    subject: TestSubject,
    workspace: Workspace,
    step: Step,
    language: str,
    files: Mapping[str, str],
    folder: Path,
    wish: str,
) -> TestJob:
    async with step.child("place", "tool", subject.symbol) as placing:
        place = await asyncio.to_thread(place_of, subject, workspace, dict(files))
        where = f"{place.path}::{place.owner}" if place.owner else place.path
        placing.note(path=place.path, owner=place.owner, call=place.call, fixtures=list(place.fixtures))
        await placing.write(i18n.text("testing.place", language, subject=subject.symbol, place=where))
        if seconds := _estimate(workspace):
            placing.note(estimated_s=seconds)
            await placing.write(" " + i18n.text("testing.estimate", language, seconds=seconds))
    async with step.child("mutants", "tool", subject.symbol) as mutating:
        made = await asyncio.to_thread(mutants, subject.text, subject.symbol)
        await mutating.write("\n".join(f"{m.line}: `{short(m.before)}` → `{short(m.after)}`" for m in made))
    existing = tests_of_subject(place.suite, subject)[:_MOST_EXISTING]
    names = frozenset((test.owner, test.name) for test in existing)
    return TestJob(
        subject, place, made, names, files, folder, workspace, wish if len(wish.split()) > _PLAIN_REQUEST else ""
    )


def _estimate(workspace: Workspace) -> int:
    """Seconds that a first round probably takes, 0 where the model's speed isn't known."""
    model = workspace.coder or workspace.model
    if model is None or model.speed is None:
        return 0
    writing = _PROMPT_TOKENS / model.speed.prompt + _PER_ROUND * _REPLY_TOKENS / model.speed.generation
    return round(writing + 2 * _RUN_S)


def _publish(done: Sequence[FinishedJob], workspace: Workspace, step: Step, language: str) -> None:
    """Hand over the tests that are kept so far."""
    count = sum(len(finished.progress.kept) for finished in done)
    if count:
        text = i18n.text("testing.so_far", language, count=count)
        step.publish(Answer(text, files=changes_of(done, workspace), result=report_of(done, None)))


async def _work(job: TestJob, progress: JobProgress, step: Step, started: float, publish: Callable[[], None]) -> None:
    """Rounds of samples, until there are enough tests, no aims are left, or the time is over."""
    if exact := _from_doctest(job):
        progress.tried += exact
        await judge(job, exact, progress, step)
        publish()
    model = job.workspace.coder or job.workspace.model
    if model is None:
        if not progress.kept and not progress.obstacle:
            raise GenerationFailed(i18n.message("generate.no_model"), i18n.message("generate.no_model_hint"))
        step.degrade(i18n.message("testing.doctest_only"))
        return
    aims = aims_of(job.subject.text, job.subject.symbol)
    for number in range(_ROUNDS):
        late = time.monotonic() - started > FRUITLESS_S
        if progress.obstacle or len(progress.kept) >= ENOUGH or late:
            break
        chosen = aims[number * _PER_ROUND : (number + 1) * _PER_ROUND] or aims[:_PER_ROUND]
        drafts = await _samples(job, chosen, progress, model, step, number, started)
        if drafts:
            await judge(job, drafts, progress, step)
            publish()


def _from_doctest(job: TestJob) -> list[TestDraft]:
    body = doctest_body(job.subject.text, job.subject.symbol, job.place.call)
    if not body or job.place.is_unittest:
        return []
    name = free_name(f"{_base_name(job)}_examples", _taken(job, ()))
    bare = replace(job.place, fixtures=())
    draft = TestDraft(name, f"{head_of(name, bare)}\n{textwrap.indent(body, '    ')}\n", "doctest")
    return [] if is_copy(draft.source, job.place.suite.tests, ()) else [draft]


async def _samples(
    job: TestJob,
    aims: Sequence[Aim],
    progress: JobProgress,
    model: Model,
    step: Step,
    seed: int,
    started: float,
) -> list[TestDraft]:
    """One test for each aim that isn't a copy of another test."""
    drafts: list[TestDraft] = []
    async with step.child("samples", "agent", job.subject.symbol) as sampling:
        for aim in aims:
            if drafts and time.monotonic() - started > FRUITLESS_S:
                break
            name = free_name(
                "_".join(filter(None, [_base_name(job), aim.slug])), _taken(job, [*progress.tried, *drafts])
            )
            request = SampleRequest(job.subject, job.place, aim, name, seed, job.wish)
            try:
                found = await sample(request, model, sampling)
            except ModelError as error:
                if not progress.kept:
                    raise
                step.degrade(error.message)
                break
            progress.rejected["no_test"] += not found
            for draft in found:
                if is_copy(draft.source, job.place.suite.tests, [*progress.tried, *drafts]):
                    progress.rejected["copy"] += 1
                else:
                    drafts.append(draft)
        sampling.note(tests=[draft.name for draft in drafts])
    progress.tried += drafts
    return drafts


def _base_name(job: TestJob) -> str:
    words = [part.strip("_") for part in job.subject.symbol.split(".")]
    inside = job.place.owner.lower().replace("_", "")
    own = [word for word in words[:-1] if word.lower() not in inside] + words[-1:]
    return "test_" + "_".join(_snake(word) for word in own)


def _snake(word: str) -> str:
    return "".join(
        f"_{c.lower()}" if c.isupper() and n and not word[n - 1].isupper() else c.lower() for n, c in enumerate(word)
    )


def _taken(job: TestJob, drafts: Sequence[TestDraft]) -> set[str]:
    return {test.name for test in job.place.suite.tests} | {draft.name for draft in drafts}


async def _verified_run(done: Sequence[FinishedJob], workspace: Workspace, folder: Path, step: Step) -> TestRun | None:
    """The kept tests once more, with the verification of their pass; None without any."""
    if not any(written.progress.kept for written in done):
        return None
    files: dict[str, str] = {}
    for path, text in texts_of(changes_of(done, workspace)).items():
        jobs = [written for written in done if written.job.place.path == path]
        files[path] = only_tests(text, {(w.job.place.owner, k.draft.name) for w in jobs for k in w.progress.kept})
    code = {written.job.subject.path: written.job.subject.text for written in done}
    async with step.child("tests", "tool", ", ".join(files)) as running:
        run = await run_in_sandbox(
            {**done[0].job.files, **code, **files}, list(files), workspace.settings, folder, workspace.environment
        )
        running.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        await running.write(run.output[-2000:])
    return run
