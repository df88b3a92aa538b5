"""Run tests nobody has read: pytest in a sandbox, then an inverted control, then the verdict."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from repopilot.errors import SandboxError
from repopilot.sandbox import levels, stage, supervise
from repopilot.sandbox.control import ExpectedTest, Mutation, expected_tests, mutate, mutations
from repopilot.sandbox.failures import failures, missing_modules
from repopilot.sandbox.job_spec import MB, SandboxJob, SandboxLimits
from repopilot.sandbox.levels import level
from repopilot.sandbox.verdict import RunReport, read_report, why_not_genuine, why_not_passed
from repopilot.settings import Settings
from repopilot.types import SandboxLevel, TestRun

__all__ = ["level", "missing_modules", "run_pytest"]

_MAX_CONTROLS = 48
_COST_OF_A_CONTROL_S = 0.02  # collecting one more file


@dataclass(frozen=True, slots=True)
class _Setting:
    """What the first run and its control share. `names`: alias → path of each test file."""

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
    tests: Sequence[str],
    settings: Settings,
    *,
    inputs: Path | None = None,
    cancel: threading.Event | None = None,
) -> TestRun:
    """Run the test files `tests` (paths among `files` or in `inputs`) over `files`, and judge the result.

    `inputs` is a folder with the rest of the repository; it is copied, and the current folder inside is its top.
    Without it the current folder is an empty writable one. A pass is checked by a second, inverted run. No process
    of it is left when this returns. Raises SandboxError (no level, bad paths), StorageError, Cancelled.
    """
    achieved = level(settings)
    limits = SandboxLimits(seconds=settings.test_timeout_s)
    with stage.stage(files, inputs) as folder:
        sources = _sources(folder / "repo", files, tests)
        names = stage.aliases(tests)
        job = SandboxJob(
            folder / "repo",
            stage.fresh_work(folder, "work"),
            tuple(names),
            secrets.token_hex(16),
            inputs is not None,
            limits=limits,
        )
        setting = _Setting(folder, job, achieved, names, sources, cancel or threading.Event())
        for alias, test in names.items():
            stage.write(job.root, alias, sources[test])
        first = _run(job, setting)
        problem, expected = _expected(setting)
        doubts = problem or _ended_early(first) or why_not_passed(first.report, first.outcome.status, expected)
        if doubts:
            return _result(first, setting, doubts, genuine=False)
        for alias in names:
            (job.root / alias).unlink()
        doubts, remarks = _control(setting, first.report)
        return _result(first, setting, (*doubts, *remarks), genuine=not doubts)


def choose_controls(
    every: Sequence[tuple[str, Mutation]], seconds: Mapping[str, float], budget_s: float
) -> list[tuple[str, Mutation]]:
    """As many of the (test file, mutation) pairs as the budget allows, at least one, in random order so that no
    program can count on being spared. `seconds`: how long each test took, by its id without the file."""
    shuffled = random.sample(every, len(every))
    shuffled.sort(key=lambda pair: pair[1].position is None)  # the assertions tell more than the ends
    chosen: list[tuple[str, Mutation]] = []
    spent = 0.0
    for test, mutation in shuffled:
        spent += seconds.get(mutation.test, 0.0) + _COST_OF_A_CONTROL_S
        if chosen and (spent > budget_s or len(chosen) >= _MAX_CONTROLS):
            break
        chosen.append((test, mutation))
    return chosen


def _run(job: SandboxJob, setting: _Setting) -> _Run:
    outcome = levels.start(job, setting.level, setting.cancel)
    return _Run(outcome, read_report(outcome.report, job.nonce))


def _sources(root: Path, files: Mapping[str, str | bytes], tests: Sequence[str]) -> dict[str, str]:
    """The texts by path, of the files under test and of the tests that are in the inputs."""
    texts = {path: text if isinstance(text, str) else text.decode("utf-8", "replace") for path, text in files.items()}
    for test in tests:
        if PurePosixPath(test).suffix != ".py":
            raise SandboxError(f"{test!r} is no Python test file.", "Only pytest files can be run.")
        if test in texts:
            continue
        try:
            texts[test] = (root / test).read_text("utf-8", "replace")
        except OSError as error:
            raise SandboxError(f"There is no test file {test}.", "Name a test file of the repository.") from error
    return texts


def _expected(setting: _Setting) -> tuple[tuple[str, ...], dict[str, tuple[ExpectedTest, ...]]]:
    """Why the test files can't be understood, and the tests they define, by alias."""
    try:
        return (), {alias: expected_tests(setting.sources[test]) for alias, test in setting.names.items()}
    except (SyntaxError, ValueError, RecursionError) as error:
        return (f"a test file is not valid Python: {error}",), {}


def _ended_early(run: _Run) -> tuple[str, ...]:
    return () if run.outcome.ended == "finished" else (f"the run was stopped: {run.outcome.ended}",)


def _control(setting: _Setting, first: RunReport) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Run the inverted control: (doubts, remarks)."""
    token = "x" + secrets.token_hex(8)
    sources, root = setting.sources, setting.job.root
    tests = dict.fromkeys(setting.names.values())
    every = [(test, mutation) for test in tests for mutation in mutations(sources[test])]
    seconds = {outcome.id.partition("::")[2]: outcome.seconds for outcome in first.outcomes}
    chosen = choose_controls(every, seconds, setting.job.limits.seconds / 2)
    controls: dict[str, Mutation] = {}
    for test, mutation in chosen:
        (alias,) = stage.aliases([test])
        stage.write(root, alias, mutate(sources[test], mutation, token))
        controls[alias] = mutation
    job = replace(
        setting.job,
        tests=tuple(controls),
        nonce=secrets.token_hex(16),
        work=stage.fresh_work(setting.folder, "control"),
    )
    run = _run(job, setting)
    if early := _ended_early(run):
        return tuple(f"in the control, {reason}" for reason in early), ()
    skipped = [outcome.id.partition("::")[2] for outcome in first.outcomes if outcome.outcome == "skipped"]
    doubts = why_not_genuine(run.report, run.outcome.status, controls, token, skipped)
    left_out = len(every) - len(chosen)
    return doubts, (f"the control took {len(chosen)} of {len(every)} expectations",) if left_out else ()


def _result(run: _Run, setting: _Setting, reasons: tuple[str, ...], *, genuine: bool) -> TestRun:
    outcomes = [
        replace(
            outcome,
            id=_named(outcome.id, setting),
            path=setting.names.get(outcome.path, outcome.path),
            text=_named(outcome.text, setting),
            message=_named(outcome.message, setting),
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
        level=setting.level,
        output=_named(run.outcome.output, setting),
        genuine=genuine,
        ended=run.outcome.ended,
        failures=failures(outcomes, setting.sources),
        reasons=tuple(_named(reason, setting) for reason in reasons),
    )
    return replace(result, output=result.output + _notes(result, setting))


def _notes(run: TestRun, setting: _Setting) -> str:
    limits = setting.job.limits
    stopped = {
        "timeout": f"stopped: it took longer than {limits.seconds:g} s",
        "memory": f"stopped: it used more memory than {limits.memory // MB} MB",
        "processes": f"stopped: it started more than {limits.processes} processes",
        "output": f"stopped: it wrote more output than {limits.output // MB} MB",
        "disk": f"stopped: it wrote more files than {limits.disk // MB} MB",
    }
    notes = [stopped[run.ended]] if run.ended in stopped else []
    notes += [f"missing in the sandbox: {name}" for name in missing_modules(run, setting.sources)]
    if run.passed and not run.failed and not run.errors and not run.genuine:
        notes += [f"not a genuine pass: {reason}" for reason in run.reasons]
    return "".join(f"\n[sandbox] {note}" for note in notes)


def _named(text: str, setting: _Setting) -> str:
    """With the test files' own names, and paths relative to the top of the code under test."""
    for alias, test in setting.names.items():
        text = text.replace(alias, test).replace(PurePosixPath(alias).stem, PurePosixPath(test).stem)
    return text.replace(f"{setting.job.root}/", "").replace("/sandbox/repo/", "").replace("../repo/", "")
