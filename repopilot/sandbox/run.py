"""Runs tests that nobody has read: pytest in a sandbox, then with inverted assertions, then the verdict."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.code.dependencies.pytest_options import read_pytest_options
from repopilot.errors import SandboxError
from repopilot.sandbox import levels, stage, supervise
from repopilot.sandbox.failures import failures, missing_modules
from repopilot.sandbox.inversion import ExpectedTest, Mutation, expected_tests, mutate, mutations
from repopilot.sandbox.job_spec import MB, SandboxJob, SandboxLimits
from repopilot.sandbox.levels import level
from repopilot.sandbox.needs import unmet_needs
from repopilot.sandbox.verdict import (
    RunReport,
    TestOutcome,
    read_report,
    why_not_passed,
    why_not_verified,
    without_parameters,
)
from repopilot.settings import Settings
from repopilot.types import Environment, SandboxLevel, TestOutcomeName, TestRun

_MAX_MUTANTS = 48
_MOST_NAMED = 5
_COLLECTION_S = 0.02  # to collect one more file


@dataclass(frozen=True, slots=True)
class ChosenTests:
    """Paths of test files, and ids of tests in them that are not run, such as those that fail without the change."""

    paths: tuple[str, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Context:
    """What a run and its inverted run share. `names`: alias → path of each test file; `sources`: texts by path."""

    folder: Path
    job: SandboxJob
    level: SandboxLevel
    names: Mapping[str, str]
    sources: Mapping[str, str]
    cancel: threading.Event


@dataclass(frozen=True, slots=True)
class _Run:
    outcome: supervise.RunOutcome
    report: RunReport


def run_pytest(
    files: Mapping[str, str | bytes],
    tests: Sequence[str] | ChosenTests,
    settings: Settings,
    *,
    inputs: Path | None = None,
    cancel: threading.Event | None = None,
    environment: Environment | None = None,
    verify: bool = True,
) -> TestRun:
    """Run tests in the sandbox and judge the result. A pass is verified by a second run with inverted assertions.

    Blocking; no process of the run is left when it returns.

    Args:
        files: the files under test, texts by path.
        tests: paths of test files, among `files` or in `inputs`; also tests in them that are not run.
        settings: sandbox level, consent and time limit.
        inputs: a folder with the rest of the repository; it is copied, and the current folder inside is its top.
            Without it the current folder is an empty writable one.
        cancel: ends the run once set.
        environment: what the repository's tests need; without it only our own packages can be imported.
        verify: False leaves out the inverted run, where no pass is going to be claimed.

    Returns:
        Counts, failures and output; `genuine` says whether the pass is verified, `reasons` why not.

    Raises:
        SandboxError: no level works, or a path is refused.
        StorageError: the files can't be written.
        Cancelled: `cancel` was set.
    """
    achieved = level(settings)
    limits = SandboxLimits(seconds=settings.test_timeout_s)
    with stage.stage(files, inputs, environment.files if environment else None) as folder:
        chosen = tests if isinstance(tests, ChosenTests) else ChosenTests(tuple(tests))
        sources = _sources(folder / "repo", files, chosen.paths)
        names = stage.aliases(chosen.paths)
        by_path = {path: alias for alias, path in names.items()}
        ids = [test.partition("::") for test in chosen.left_out]
        job = SandboxJob(
            folder / "repo",
            stage.fresh_work(folder, "work"),
            tuple(names),
            secrets.token_hex(16),
            inputs is not None,
            limits=limits,
            environment=environment,
            left_out=tuple(f"{by_path[path]}::{name}" for path, _, name in ids if path in by_path),
            options=read_pytest_options(lambda path: _text(folder / "repo" / path)) if environment else None,
        )
        context = _Context(folder, job, achieved, names, sources, cancel or threading.Event())
        # Read before anything runs, so that nothing that runs can change what is expected.
        problem, expected = _expected(context)
        for alias, test in names.items():
            stage.write(job.root, alias, sources[test])
        first = _run(job, context)
        expected = {alias: tuple(_remaining(alias, tests_, first, job)) for alias, tests_ in expected.items()}
        doubts = problem or _ended_early(first, limits) or why_not_passed(first.report, first.outcome.status, expected)
        if doubts or not verify:
            return _result(first, context, doubts, genuine=False)
        for alias in names:
            (job.root / alias).unlink()
        doubts, remarks = _inverted_run(context, first.report)
        return _result(first, context, (*doubts, *remarks), genuine=not doubts)


def choose_mutations(
    every: Sequence[tuple[str, Mutation]], seconds: Mapping[str, float], budget_s: float
) -> list[tuple[str, Mutation]]:
    """Choose as many mutations as the time budget allows, at least one, at random, so that no program can rely on being
    spared.

    Args:
        every: all (test file, mutation) pairs.
        seconds: how long each test took, by its id without the file.
        budget_s: seconds for all together.
    """
    shuffled = random.sample(every, len(every))
    shuffled.sort(key=lambda pair: pair[1].position is None)  # assertions are stronger evidence than the ends
    chosen: list[tuple[str, Mutation]] = []
    spent = 0.0
    for test, mutation in shuffled:
        spent += seconds.get(mutation.test, 0.0) + _COLLECTION_S
        if chosen and (spent > budget_s or len(chosen) >= _MAX_MUTANTS):
            break
        chosen.append((test, mutation))
    return chosen


def _run(job: SandboxJob, context: _Context) -> _Run:
    outcome = levels.start(job, context.level, context.cancel)
    return _Run(outcome, read_report(outcome.report, job.nonce))


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def _sources(root: Path, files: Mapping[str, str | bytes], tests: Sequence[str]) -> dict[str, str]:
    """The texts by path, of the files under test and of the tests that are in the inputs."""
    texts = {path: text if isinstance(text, str) else text.decode("utf-8", "replace") for path, text in files.items()}
    for test in tests:
        if PurePosixPath(test).suffix != ".py":
            raise SandboxError(i18n.message("sandbox.not_python", path=test), i18n.message("sandbox.not_python_hint"))
        if test in texts:
            continue
        try:
            texts[test] = (root / test).read_text("utf-8", "replace")
        except OSError as error:
            raise SandboxError(
                i18n.message("sandbox.no_test_file", path=test), i18n.message("sandbox.no_test_file_hint")
            ) from error
    return texts


def _expected(context: _Context) -> tuple[tuple[str, ...], dict[str, tuple[ExpectedTest, ...]]]:
    """Why the test files can't be understood, and the tests they define, by alias."""
    try:
        return (), {alias: expected_tests(context.sources[test]) for alias, test in context.names.items()}
    except (SyntaxError, ValueError, RecursionError) as error:
        return (i18n.message("sandbox.verdict.invalid_test_file", error=error),), {}


def _remaining(alias: str, expected: Sequence[ExpectedTest], run: _Run, job: SandboxJob) -> Iterator[ExpectedTest]:
    """The expected tests without those of which every variant was left out."""
    left_out = {without_parameters(test) for test in job.left_out}
    for test in expected:
        identity = f"{alias}::{test.id}"
        if identity not in left_out or identity in run.report.by_test:
            yield test


def _ended_early(run: _Run, limits: SandboxLimits) -> tuple[str, ...]:
    """Why the run was stopped; empty when it ran to its end."""
    ended = run.outcome.ended
    if ended == "finished":
        return ()
    values = {
        "timeout": limits.seconds,
        "memory": limits.memory // MB,
        "processes": limits.processes,
        "output": limits.output // MB,
        "disk": limits.disk // MB,
    }
    return (i18n.message(f"sandbox.stopped.{ended}", limit=values.get(ended)),)


def _inverted_run(context: _Context, first: RunReport) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Run the tests with inverted assertions: why that casts doubt on the pass, and how far it went."""
    token = "x" + secrets.token_hex(8)
    sources, root = context.sources, context.job.root
    tests = dict.fromkeys(context.names.values())
    reported = (test.partition("::") for test in first.by_test)
    # The code under test may have written into the report: files that nobody ran mean nothing.
    ran = {f"{context.names[path]}::{name}" for path, _, name in reported if path in context.names}
    every = [
        (test, mutation)
        for test in tests
        for mutation in mutations(sources[test])
        if not context.job.left_out or f"{test}::{mutation.test}" in ran
    ]
    seconds = {outcome.id.partition("::")[2]: outcome.seconds for outcome in first.outcomes}
    chosen = choose_mutations(every, seconds, context.job.limits.seconds / 2)
    mutants: dict[str, Mutation] = {}
    for test, mutation in chosen:
        (alias,) = stage.aliases([test])
        stage.write(root, alias, mutate(sources[test], mutation, token))
        mutants[alias] = mutation
    job = replace(
        context.job,
        tests=tuple(mutants),
        nonce=secrets.token_hex(16),
        left_out=_left_out_of_mutants(context, mutants),
        work=stage.fresh_work(context.folder, "inverted"),
    )
    run = _run(job, context)
    if early := _ended_early(run, job.limits):
        return tuple(i18n.message("sandbox.verdict.inverted", reason=reason) for reason in early), ()
    skipped = [outcome.id.partition("::")[2] for outcome in first.outcomes if outcome.outcome == "skipped"]
    doubts = why_not_verified(run.report, run.outcome.status, mutants, token, skipped)
    if len(chosen) == len(every):
        return doubts, ()
    return doubts, (i18n.message("sandbox.verdict.sampled", checked=len(chosen), total=len(every)),)


def _left_out_of_mutants(context: _Context, mutants: Mapping[str, Mutation]) -> tuple[str, ...]:
    """The variants left out, by the names of the mutants' files."""
    found = []
    for alias, mutation in mutants.items():
        for test in context.job.left_out:
            path, _, name = test.partition("::")
            if without_parameters(name) == mutation.test and PurePosixPath(path).parent == PurePosixPath(alias).parent:
                found.append(f"{alias}::{name}")
    return tuple(found)


def _result(run: _Run, context: _Context, reasons: tuple[str, ...], *, genuine: bool) -> TestRun:
    outcomes = [
        replace(
            outcome,
            id=_with_own_names(outcome.id, context),
            path=context.names.get(outcome.path, outcome.path),
            text=_with_own_names(outcome.text, context),
            message=_with_own_names(outcome.message, context),
        )
        for outcome in run.report.outcomes
    ]
    failed_ids = {outcome.id for outcome in outcomes if outcome.outcome == "failed"}
    passed = {o.id for o in outcomes if o.when == "call" and o.outcome == "passed"} - failed_ids
    failed = {o.id for o in outcomes if o.when == "call" and o.outcome == "failed"}
    errors = failed_ids - failed
    result = TestRun(
        passed=len(passed),
        failed=len(failed),
        errors=len(errors),
        duration_s=round(run.outcome.seconds, 3),
        level=context.level,
        output=_with_own_names(run.outcome.output, context),
        genuine=genuine,
        ended=run.outcome.ended,
        failures=failures(outcomes, context.sources),
        reasons=reasons,
        outcomes=_by_id(outcomes),
    )
    return replace(result, output=result.output + _notes(result, context))


def _by_id(outcomes: Sequence[TestOutcome]) -> dict[str, TestOutcomeName]:
    """The outcome of each test; a failure while setting up or tearing down is an error."""
    found: dict[str, TestOutcomeName] = {}
    for outcome in outcomes:
        if outcome.outcome == "failed":
            found[outcome.id] = "failed" if outcome.when == "call" else "error"
        elif outcome.outcome == "skipped" or outcome.xfail:
            found.setdefault(outcome.id, "skipped")
        elif outcome.when == "call":
            found.setdefault(outcome.id, "passed")
    return found


def _notes(run: TestRun, context: _Context) -> str:
    """Notes appended to pytest's output: limits, missing modules, why a pass is not verified."""
    notes = list(run.reasons) if run.ended != "finished" else []
    for need, tests in unmet_needs(run).items():
        notes.append(f"needs what the sandbox does not have ({need}): {', '.join(tests[:_MOST_NAMED])}")
    notes += [f"missing in the sandbox: {name}" for name in missing_modules(run, context.sources)]
    if run.passed and not run.failed and not run.errors and not run.genuine:
        notes += [f"not verified: {reason}" for reason in run.reasons]
    return "".join(f"\n[sandbox] {note}" for note in dict.fromkeys(notes))


def _with_own_names(text: str, context: _Context) -> str:
    """A text with the test files' own names instead of aliases, and paths relative to the top of the code."""
    for alias, test in context.names.items():
        text = text.replace(alias, test).replace(PurePosixPath(alias).stem, PurePosixPath(test).stem)
    return text.replace(f"{context.job.root}/", "").replace("/sandbox/repo/", "").replace("../repo/", "")
