"""Runs drafts of tests in the sandbox, on the code and on its mutants, and keeps the telling ones."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.testing.writing.assembly import assembled
from repopilot.agents.testing.writing.keeping import keep
from repopilot.agents.testing.writing.mutation_run import KillMatrix, kill_matrix, mutant_run
from repopilot.agents.testing.writing.observed_values import observed, observing
from repopilot.agents.testing.writing.samples import TestDraft
from repopilot.agents.testing.writing.suite import only_tests
from repopilot.agents.testing.writing.writing_job import JobProgress, TestJob
from repopilot.errors import SandboxError
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.sandbox.failures import missing_modules
from repopilot.trace import Step
from repopilot.types import TestRun

ENOUGH = 2
"""With so many tests of a definition kept, no more are asked for."""


async def judge(job: TestJob, drafts: Sequence[TestDraft], progress: JobProgress, step: Step) -> None:
    """Run tests on the code and its mutants, those whose expectation was wrong once more with the observed value.

    Args:
        job: what is tested.
        drafts: the tests.
        progress: takes what comes of it.
        step: the runs are its children.
    """
    failing = await _measure(job, drafts, progress, step)
    if failing and not progress.obstacle and len(progress.kept) < ENOUGH:
        corrected = await _with_observed_values(job, failing, step)
        if corrected:
            progress.rejected["fails"] -= len(corrected)
            await _measure(job, corrected, progress, step)


async def _measure(job: TestJob, drafts: Sequence[TestDraft], progress: JobProgress, step: Step) -> list[TestDraft]:
    """Run tests on the code and its mutants, and keep the telling ones. Returns those that fail on the code."""
    names = {(job.place.owner, draft.name) for draft in drafts}
    module = only_tests(assembled(job.place, drafts, job.workspace.index, job.subject.text), names | job.existing)
    token = secrets.token_hex(4)
    plan = mutant_run(module, job.place.path, job.subject.text, job.mutants, token)
    run = await _run(job, plan.files, step, "runs")
    if run is None or not any("::" in test for test in run.outcomes):
        progress.obstacle = _obstacle(job, run)
        return []
    matrix = kill_matrix(plan, run)
    progress.measured |= matrix.measured
    progress.known |= _caught_by(matrix, job.existing)
    progress.kept, reasons = keep(drafts, matrix, job.place.owner, progress.kept, progress.known)
    progress.rejected.update(reasons.values())
    return [draft for draft in drafts if reasons.get(draft.name) == "fails"]


def _caught_by(matrix: KillMatrix, tests: frozenset[tuple[str, str]]) -> frozenset[int]:
    return frozenset().union(*(matrix.caught.get(test, frozenset()) for test in tests))


async def _with_observed_values(job: TestJob, drafts: Sequence[TestDraft], step: Step) -> list[TestDraft]:
    token = secrets.token_hex(4)
    asked = {draft.name: text for draft in drafts if (text := observing(draft.source, token))}
    if not asked:
        return []
    probes = [TestDraft(name, text) for name, text in asked.items()]
    names = {(job.place.owner, name) for name in asked}
    module = only_tests(assembled(job.place, probes, job.workspace.index, job.subject.text), names)
    path = next(iter(mutant_run(module, job.place.path, "", (), token).files))
    run = await _run(job, {path: module}, step, "observed values")
    messages = {f.test_id.rpartition("::")[2].partition("[")[0]: f.assertion for f in run.failures} if run else {}
    corrected = []
    for draft in drafts:
        text, expected = observed(draft.source, messages.get(draft.name, ""), token)
        if text:
            corrected.append(replace(draft, source=text, expected=expected))
    return corrected


async def _run(job: TestJob, tests: Mapping[str, str], step: Step, name: str) -> TestRun | None:
    """Run test modules; None where the sandbox can't."""
    workspace = job.workspace
    async with step.child(name, "tool", job.place.path) as running:
        try:
            run = await run_in_sandbox(
                {**job.files, job.subject.path: job.subject.text, **tests},
                list(tests),
                workspace.settings,
                job.folder,
                workspace.environment,
                verify=False,
            )
        except SandboxError as error:
            running.degrade(error.message)
            return None
        running.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level)
        await running.write(run.output[-2000:])
    return run


def _obstacle(job: TestJob, run: TestRun | None) -> str:
    """Why no test could be run, as a message."""
    if run is None:
        return i18n.message("testing.no_sandbox")
    if missing := missing_modules(run, job.workspace.index.files):
        return i18n.message("testing.needs_environment", modules=", ".join(missing))
    said = run.failures[0].assertion if run.failures else run.output.strip()
    return i18n.message("testing.not_collected", error=(said.splitlines() or [""])[-1][:200])
