"""Runs tests that nobody has read: pytest in a sandbox, then with its controls, then the verdict."""

from __future__ import annotations

import os
import random
import re
import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.errors import SandboxError
from repopilot.project.pytest_options import read_pytest_options
from repopilot.redaction.known_values import values_in, without
from repopilot.sandbox import levels, stage, supervise
from repopilot.sandbox.control_plan import plan_controls, plan_decoys
from repopilot.sandbox.controls.inversion import ExpectedTest, expected_tests
from repopilot.sandbox.controls.mutants import with_faults
from repopilot.sandbox.failures import failures, missing_modules
from repopilot.sandbox.isolation.bwrap import MOUNTS
from repopilot.sandbox.job_spec import COPY, SandboxJob, SandboxLimits, patience
from repopilot.sandbox.levels import level
from repopilot.sandbox.needs import unmet_needs
from repopilot.sandbox.runner_internals import touched_internals
from repopilot.sandbox.verdict import (
    Control,
    RunReport,
    TestOutcome,
    failing,
    fails_elsewhere,
    passing,
    read_report,
    why_not_passed,
    why_not_verified,
    without_parameters,
    without_tests,
)
from repopilot.settings import Settings
from repopilot.types import Environment, SandboxLevel, TestOutcomeName, TestRun

_MOST_NAMED = 5
_AT_ONCE = 2
_FAULTS = (1, 3, 20)
"""Most faults per function in each draw; a single fault may happen to change nothing."""


@dataclass(frozen=True, slots=True)
class ChosenTests:
    """Paths of test files, and ids of their tests to leave out, such as tests that fail without the change.
    `seconds`: duration of the last run, which sets the time limit; 0 where unknown. `before`: the run without the
    change; tests that fail or skip themselves in both runs don't count against a pass of the others."""

    paths: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    before: TestRun | None = None


@dataclass(frozen=True, slots=True)
class _Context:
    """What all runs share. `job`: with the staged folder as its root; `sources`, `code`: texts of the tests and of the
    files under test, by path."""

    job: SandboxJob
    level: SandboxLevel
    sources: Mapping[str, str]
    code: Mapping[str, str]
    cancel: threading.Event


@dataclass(frozen=True, slots=True)
class _Run:
    outcome: supervise.RunOutcome
    report: RunReport
    root: str


_ControlRun = tuple[Control, _Run]
_Check = Callable[[], tuple[str, ...]]


def run_pytest(
    files: Mapping[str, str | bytes],
    tests: Sequence[str] | ChosenTests,
    settings: Settings,
    cancel: threading.Event | None = None,
    *,
    inputs: Path | None = None,
    environment: Environment | None = None,
    verify: bool = True,
) -> TestRun:
    """Run tests in the sandbox and judge the result. A pass is verified by further runs, in which
    tests must fail: see `_controlled`.

    Blocking; no process of the run is left when it returns.

    Args:
        files: the files under test, texts by path.
        tests: paths of test files, among `files` or in `inputs`; `ChosenTests` also names tests to leave out.
        settings: sandbox level, consent and time limit.
        cancel: ends the run once set.
        inputs: a folder with the rest of the repository; it is copied, and the current folder inside is its top.
            Without it the current folder is an empty writable one.
        environment: what the repository's tests need; without it only our own packages can be imported.
        verify: False skips the controls, for runs whose pass nobody will claim.

    Returns:
        Counts, failures and output; `genuine` says whether the pass is verified, `reasons` why not.

    Raises:
        SandboxError: no level works, or a path is refused.
        StorageError: the files can't be written.
        Cancelled: `cancel` was set.
    """
    achieved = level(settings)
    chosen = tests if isinstance(tests, ChosenTests) else ChosenTests(tuple(tests))
    limits = SandboxLimits(seconds=max(settings.test_timeout_s, patience(chosen.seconds)))
    with stage.stage(files, inputs, environment.files if environment else None) as folder:
        code, sources = _sources(folder / "repo", files, chosen.paths)
        job = SandboxJob(
            folder / "repo",
            folder / "work",
            tuple(sources),
            in_repository=inputs is not None,
            limits=limits,
            environment=environment,
            left_out=chosen.left_out,
            options=read_pytest_options(lambda path: stage.text_of(path, {}, folder / "repo")) if environment else None,
        )
        context = _Context(job, achieved, sources, code, cancel or threading.Event())
        # Read before anything runs, so that no code under test can change the expectations.
        problem, expected = _expected(sources)
        internals = _internals(context) if verify else ()
        red = frozenset(chosen.before.tests("failed", "error") if chosen.before else ())
        decoys = _run_decoys(context, red) if verify and not problem and not internals else ()
        if stopped := _ended_early(decoys[-1][1], limits) if decoys else ():
            # Limits apply to the whole verdict: tests that hit one aren't run again.
            return _result(_of_true_tests(*decoys[-1]), context, stopped, genuine=False)
        first = _run(context, {})
        first, apart = _with_writing(first, context)
        if apart:  # code that may write can change its tests, so a control would prove nothing
            failed = dict.fromkeys(each.id for each in first.report.outcomes if each.outcome == "failed")
            reasons = [*_ended_early(first, limits)]
            reasons += [i18n.message("sandbox.verdict.failed", test=test) for test in failed]
            reasons.append(i18n.message("sandbox.verdict.writes", tests=", ".join(apart[:_MOST_NAMED])))
            return replace(_result(first, context, tuple(reasons), genuine=False), apart=apart)
        alike = frozenset(each.id for each in first.report.outcomes if each.outcome == "failed") & red
        believed = replace(first, report=without_tests(first.report, alike))
        others = {path: text for path, text in sources.items() if path not in alike}
        job = replace(job, tests=tuple(others), left_out=(*job.left_out, *alike))
        expected = {
            path: tuple(_remaining(path, tests_, believed, job, chosen.before))
            for path, tests_ in expected.items()
            if path in others
        }
        status = first.outcome.status
        why = why_not_passed(believed.report, status, expected, wanted=1 if alike else 0)
        doubts = problem or _ended_early(first, limits) or why
        if doubts or internals or not verify:
            return _result(first, context, doubts or internals, genuine=False)
        controls = replace(context, job=job, sources=others)
        told = [(_apart_from(control, alike), run) for control, run in decoys]
        doubts, inverted = _controlled(believed, controls, told, {*map(without_parameters, red)})
        return replace(_result(first, context, doubts, genuine=not doubts), inverted=inverted)


def _with_writing(first: _Run, context: _Context) -> tuple[_Run, tuple[str, ...]]:
    """Rerun the tests that failed because they write into the repository, in a writable copy.

    Args:
        first: the run in the read-only repository.
        context: context of that run.

    Returns:
        The merged outcomes of both runs, and ids of the tests that ran in the copy; no ids where none passes there.
    """
    own = re.compile(rf"\[Errno 30\]|\[Errno 13\][^\n]*: '(?:{re.escape(first.root)}/|(?!/))|readonly database")
    writing = {each.id for each in first.report.outcomes if each.outcome == "failed" and own.search(each.text)}
    if not writing:
        return first, ()
    job = context.job
    others = tuple(name for name in first.report.collected if name not in writing)
    apart = _run(replace(context, job=replace(job, left_out=(*job.left_out, *others), writable=True)), {})
    if not passing(apart.report):
        return first, ()
    added = (replace(each, text=each.text.replace(apart.root, first.root)) for each in apart.report.outcomes)
    outcomes = (*(each for each in first.report.outcomes if each.id not in writing), *added)
    output = first.outcome.output + apart.outcome.output.replace(apart.root, first.root)
    outcome = replace(first.outcome, output=output, seconds=first.outcome.seconds + apart.outcome.seconds)
    return replace(first, outcome=outcome, report=replace(first.report, outcomes=outcomes)), tuple(sorted(writing))


def _run(context: _Context, changed: Mapping[str, str], seconds: float | None = None) -> _Run:
    """Run the tests in a folder of their own, with some texts in place of the staged ones."""
    code = {path: text for path, text in context.code.items() if path.endswith(".py") and "\ufffd" not in text}
    # All texts are written again each time, so that not even their order on disk reveals which one is changed.
    with stage.run_folder(context.job.root, {**code, **context.sources, **changed}) as folder:
        job = replace(
            context.job,
            root=folder / "repo",
            work=folder / "work",
            nonce=secrets.token_hex(16),
        )
        outcome = levels.start(job, context.level, context.cancel, seconds)
        root = job.work / COPY if job.writable else job.root
        return _Run(outcome, read_report(outcome.report, job.nonce), os.path.realpath(root))


def _sources(
    root: Path, files: Mapping[str, str | bytes], tests: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The texts by path: of the files under test, and of the tests, which may be in the inputs."""
    code = {path: text if isinstance(text, str) else text.decode("utf-8", "replace") for path, text in files.items()}
    texts: dict[str, str] = {}
    for test in tests:
        if PurePosixPath(test).suffix != ".py":
            raise SandboxError(i18n.message("sandbox.not_python", path=test), i18n.message("sandbox.not_python_hint"))
        text = stage.text_of(test, files, root)
        if text is None:
            raise SandboxError(
                i18n.message("sandbox.no_test_file", path=test), i18n.message("sandbox.no_test_file_hint")
            )
        texts[str(PurePosixPath(test))] = text
    return code, texts


def _expected(sources: Mapping[str, str]) -> tuple[tuple[str, ...], dict[str, tuple[ExpectedTest, ...]]]:
    """Why the test files can't be understood, and the tests they define, by path."""
    try:
        return (), {path: expected_tests(text) for path, text in sources.items()}
    except (SyntaxError, ValueError, RecursionError) as error:
        return (i18n.message("sandbox.verdict.invalid_test_file", error=error),), {}


def _remaining(
    path: str, expected: Sequence[ExpectedTest], run: _Run, job: SandboxJob, before: TestRun | None
) -> Iterator[ExpectedTest]:
    """The expected tests, except those whose variants were all left out or didn't run before either: a module or class
    may skip itself in a way that its text doesn't show."""
    left_out = {without_parameters(test) for test in job.left_out}
    told = before is not None and before.ended == "finished" and before.outcomes.get(path) != "error"
    ran = before.tests("passed", "failed", "error") if before else ()
    ran_before = set(map(without_parameters, ran))
    for test in expected:
        identity = f"{path}::{test.id}"
        outcomes = run.report.by_test.get(identity, ())
        skips = told and identity not in ran_before and all(each.outcome == "skipped" for each in outcomes)
        if not skips and (identity not in left_out or outcomes):
            yield test


def _ended_early(run: _Run, limits: SandboxLimits) -> tuple[str, ...]:
    """Why the run was stopped; empty when it ran to its end."""
    return () if run.outcome.ended == "finished" else (supervise.why_stopped(run.outcome, limits),)


def _internals(context: _Context) -> tuple[str, ...]:
    """Why a pass would prove little: the code under test interferes with the test runner."""
    found = touched_internals(_own_code(context))
    if not found:
        return ()
    path, line, name = found
    return (i18n.message("sandbox.verdict.internals", path=path, line=line, name=name),)


def _run_decoys(context: _Context, red: Collection[str]) -> tuple[_ControlRun, ...]:
    """Run the first controls, one after the other, before the unchanged tests. Whatever a run leaves behind helps no
    later run, as the code can't know what was wrong. `red`: ids of tests that are known to fail."""
    decoys: list[_ControlRun] = []
    for control in plan_decoys(context.sources, context.job.left_out, random.SystemRandom()):
        run = _run(context, control.texts)
        decoys.append((control, run))
        report = without_tests(run.report, red)
        if report.status is None or fails_elsewhere(report, control) or control.fail & passing(report):
            break  # unchanged tests won't pass either, or a wrong expectation passes and no pass will be believed
    return tuple(decoys)


def _apart_from(control: Control, red: Collection[str]) -> Control:
    """The control without expectations of tests that have a variant failing anyway."""
    tests = {*map(without_parameters, red)}
    return replace(control, fail=control.fail - tests, may_fail=control.may_fail | tests)


def _of_true_tests(control: Control, run: _Run) -> _Run:
    """A control's run without the tests that had, or may have had, a wrong expectation."""
    wrong = control.fail | control.may_fail
    left = tuple(outcome for outcome in run.report.outcomes if without_parameters(outcome.id) not in wrong)
    return replace(run, report=replace(run.report, outcomes=left))


def _controlled(
    first: _Run, context: _Context, decoys: Sequence[_ControlRun], turned: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Verify a pass by controls. Returns the doubts about it, and the tests that failed with a wrong expectation.

    The tests run with wrong expectations, drawn anew for each run (some before the run that passed), and with faults in
    the code under test. Each test of `turned` that can be made wrong is made wrong at least once. In all these runs,
    the code sees the same names, times and numbers of files.
    """
    before = [control for control, _ in decoys]
    rng = random.SystemRandom()
    planned = plan_controls(context.sources, first.report, context.job.left_out, rng, before, turned)
    passed = passing(first.report)
    if not any(control.fail & passed for control in (*before, *planned)):
        return (i18n.message("sandbox.verdict.no_expectation"),), ()
    inverted = {test for control, run in decoys for test in control.fail & failing(run.report)}
    doubts = tuple(doubt for control, run in decoys for doubt in _doubts_of(first, context, control, run))

    def controlled(control: Control) -> tuple[str, ...]:
        run = _run(context, control.texts)
        inverted.update(control.fail & failing(run.report))
        return _doubts_of(first, context, control, run)

    checks: list[_Check] = [
        partial(_doubts_of_faults, first, context),
        *(partial(controlled, c) for c in planned),
    ]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for start in range(0, len(checks), _AT_ONCE):
            if doubts:
                break
            results = pool.map(lambda check: check(), checks[start : start + _AT_ONCE])
            doubts = tuple(doubt for found in results for doubt in found)
    return tuple(dict.fromkeys(doubts)), tuple(sorted(inverted & passed))


def _doubts_of(first: _Run, context: _Context, control: Control, run: _Run) -> tuple[str, ...]:
    """Why the run of a control casts doubt on the pass."""
    if early := _ended_early(run, context.job.limits):
        return tuple(i18n.message("sandbox.verdict.inverted", reason=reason) for reason in early)
    return why_not_verified(run.report, run.outcome.status, first.report, control)


def _own_code(context: _Context) -> dict[str, str]:
    """The code under test, and every conftest.py."""
    root = context.job.root
    names = [str(path.relative_to(root)) for path in sorted(root.rglob("conftest.py"))]
    return {**context.code, **{name: stage.text_of(name, {}, root) or "" for name in names}}


def _doubts_of_faults(first: _Run, context: _Context) -> tuple[str, ...]:
    """The doubt that arises if no test fails with faults in the code under test, in a few draws. None for code without
    a function that can have a fault."""
    for most in _FAULTS:
        changed = with_faults(context.code, secrets.randbits(32), most)
        if not changed:
            return ()
        run = _run(context, changed, min(context.job.limits.seconds, patience(first.outcome.seconds)))
        if not passing(first.report) <= passing(run.report):
            return ()
    return (i18n.message("sandbox.verdict.no_fault_noticed"),)


def _result(run: _Run, context: _Context, reasons: tuple[str, ...], *, genuine: bool) -> TestRun:
    values = values_in([*context.code.values(), *context.sources.values()])
    outcomes = [
        replace(
            outcome,
            text=without(values, _from_the_top(outcome.text, run.root)),
            message=without(values, _from_the_top(outcome.message, run.root)),
        )
        for outcome in run.report.outcomes
    ]
    failed_ids = {outcome.id for outcome in outcomes if outcome.outcome == "failed"}
    passed = {o.id for o in outcomes if o.when == "call" and o.outcome == "passed"} - failed_ids
    failed = {o.id for o in outcomes if o.when == "call" and o.outcome == "failed"}
    errors = failed_ids - failed
    ended = _by_id(outcomes)
    unreached = tuple(dict.fromkeys(run.report.collected)) if run.outcome.ended != "finished" else ()
    unreached = tuple(name for name in unreached if name not in ended)
    if unreached:
        how_far = i18n.message("sandbox.stopped.how_far", done=len(ended), count=len(ended) + len(unreached))
        reasons = (*reasons, how_far)
    result = TestRun(
        passed=len(passed),
        failed=len(failed),
        errors=len(errors),
        duration_s=round(run.outcome.seconds, 3),
        level=context.level,
        output=without(values, _from_the_top(run.outcome.output, run.root)),
        genuine=genuine,
        ended=run.outcome.ended,
        failures=failures(outcomes, _named(outcomes, context)),
        reasons=reasons,
        outcomes=ended,
        unreached=unreached,
        missing_plugins=run.report.missing_plugins,
    )
    return replace(result, output=result.output + _notes(result, context))


def _named(outcomes: Sequence[TestOutcome], context: _Context) -> dict[str, str]:
    """The texts of the files that failures may name: those of the run, and those whose code raised."""
    known = {**context.code, **context.sources}
    raising = {each.path for each in outcomes if each.path} - known.keys()
    texts = {path: stage.text_of(path, {}, context.job.root) for path in raising}
    return {**known, **{path: text for path, text in texts.items() if text is not None}}


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
    notes += [f"pytest ran without its plugin {name}, which is not installed" for name in run.missing_plugins]
    for need, tests in unmet_needs(run).items():
        notes.append(f"needs what the sandbox does not have ({need}): {', '.join(tests[:_MOST_NAMED])}")
    notes += [f"missing in the sandbox: {name}" for name in missing_modules(run, {**context.code, **context.sources})]
    if run.passed and not run.failed and not run.errors and not run.genuine:
        notes += [f"not verified: {reason}" for reason in run.reasons]
    return "".join(f"\n[sandbox] {note}" for note in dict.fromkeys(notes))


def _from_the_top(text: str, root: str) -> str:
    """A text with paths relative to the top of the code."""
    for folder in (f"{root}/", f"{MOUNTS.root}/", f"{MOUNTS.work}/{COPY}/", "../repo/"):
        text = text.replace(folder, "")
    return text
