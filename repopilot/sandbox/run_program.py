"""Runs tests in languages other than Python in the sandbox, with the repository's own test runner."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from repopilot import i18n
from repopilot.foreign_text import code_span
from repopilot.project.node_project import NodeProject
from repopilot.redaction.known_values import values_in, without
from repopilot.sandbox import levels, stage, supervise
from repopilot.sandbox.environments.newer_node import fetched_node
from repopilot.sandbox.environments.package_install import NODE_MODULES, PACKAGE_NAME
from repopilot.sandbox.failures import failures, last_error
from repopilot.sandbox.inside.bootstrap import NOT_STARTED
from repopilot.sandbox.isolation.bwrap import MOUNTS
from repopilot.sandbox.job_spec import COPY, KEPT, SandboxJob, SandboxLimits, SandboxProgram, patience
from repopilot.sandbox.levels import level
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.runner_form import NODE_VARIABLES, ProgramReport, RunPlan
from repopilot.sandbox.runners.runner_table import LANGUAGES, find_program, installed_program, runner_of
from repopilot.sandbox.verdict import TestOutcome
from repopilot.settings import Settings
from repopilot.types import Failure, InstalledPackages, SandboxLevel, TestOutcomeName, TestRun

_MOST_REASONS = 5
_MOST_TRIED = 2
"""Files tried alone before giving up."""
_LONGEST_OUTPUT = 64 * 1024
# Each character belongs to one path at most, so that a long text is scanned once; an @ starts a path, except in
# `/@scope`.
_PLACE = re.compile(
    r"(?:^|[\s('\"]|(?<!/)@)(?P<path>(?:[^\s:()'\"@]|(?<=/)@)+\.(?:[cm]?[jt]sx?|rs|go|java|kt|rb)):(?P<line>\d{1,7})\b"
)
_WRITTEN_BY_TOOLS = {".cache", ".vite", ".vite-temp", ".vitest"}


@dataclass(frozen=True, slots=True)
class RunnerSuite:
    """Tests of one language, and what they need.

    Attributes:
        language: a key of `LANGUAGES` in runners/runner_table.py.
        tests: paths of test files; () for all tests of the repository.
        project: what its package.json declares.
        packages: the packages installed for it, None for none.
        seconds: duration of the last run, which sets the time limit; 0 where unknown.
    """

    language: str
    tests: tuple[str, ...] = ()
    project: NodeProject = field(default_factory=NodeProject)
    packages: InstalledPackages | None = None
    seconds: float = 0.0

    @property
    def node_modules(self) -> Path | None:
        """The folder with the packages of JavaScript, None for none."""
        return self.packages.folder if self.packages and self.language == "javascript" else None

    @property
    def links(self) -> Mapping[str, str]:
        """Workspace members to link; an installation by the user has linked them already."""
        return self.project.links if self.node_modules and self.packages and self.packages.key else {}

    @property
    def written(self) -> Mapping[str, str]:
        """Texts by path of the files that the installation adds to the repository."""
        return self.packages.files if self.packages else {}

    @property
    def readable(self) -> tuple[Path, ...]:
        """The folders of the packages."""
        return _readable_packages(self.packages) if self.packages else ()

    def plan(self, program: Path) -> RunPlan:
        """The plan for a runner, with the language's program."""
        own = fetched_node(self.node_modules) if self.node_modules else None
        return RunPlan(own or program, self.tests, self.project, self.packages.folder if self.packages else None)


def run_suite(
    files: Mapping[str, str | bytes],
    suite: RunnerSuite,
    settings: Settings,
    inputs: Path | None = None,
    cancel: threading.Event | None = None,
) -> TestRun:
    """Run tests in the sandbox. The result is never `genuine`: that takes a control, see agents/generate.

    Blocking; no process of the run is left when it returns.

    Args:
        files: the files under test, texts by path.
        suite: what to run.
        settings: sandbox level, consent and time limit.
        inputs: a folder with the rest of the repository.
        cancel: ends the run once set.

    Returns:
        Counts, failures and output; `reasons` says why the run did not pass, and is empty if the runner reported a
        pass.

    Raises:
        SandboxError: no level works, the language's program is missing, or the runner isn't known here.
        StorageError: the files can't be written.
        Cancelled: `cancel` was set.
    """
    run = _run_together(files, suite, settings, inputs, cancel)
    alone: list[TestRun] = []
    if suite.language == "javascript" and not run.outcomes and run.ended == "finished":
        # In Mocha, one file that can't be loaded ends the whole run.
        for test in suite.tests if len(suite.tests) > 1 else ():
            alone.append(_run_together(files, replace(suite, tests=(test,)), settings, inputs, cancel))
            if len(alone) == _MOST_TRIED and not any(each.outcomes for each in alone):
                return run
    return _joined(dict(zip(suite.tests, alone, strict=True))) if alone else run


def _joined(runs: Mapping[str, TestRun]) -> TestRun:
    """Merge the runs of single files into one; a file without outcomes counts as an error."""
    first, *_ = runs.values()
    broken = {path: run for path, run in runs.items() if not run.outcomes}
    outcomes: dict[str, TestOutcomeName] = dict.fromkeys(broken, "error")
    for run in runs.values():
        outcomes |= run.outcomes
    counted = Counter(outcomes.values())
    return replace(
        first,
        passed=counted["passed"],
        failed=counted["failed"],
        errors=counted["error"],
        duration_s=round(sum(run.duration_s for run in runs.values()), 3),
        output="\n".join(run.output for run in runs.values()),
        ended=next((run.ended for run in runs.values() if run.ended != "finished"), "finished"),
        failures=(
            *(failure for run in runs.values() for failure in run.failures),
            *(Failure(path, run.output) for path, run in broken.items()),
        ),
        reasons=tuple(dict.fromkeys(reason for run in runs.values() for reason in run.reasons)),
        outcomes=outcomes,
    )


def _run_together(
    files: Mapping[str, str | bytes],
    suite: RunnerSuite,
    settings: Settings,
    inputs: Path | None,
    cancel: threading.Event | None,
) -> TestRun:
    runner = runner_of(suite.language, suite.project)
    program, readable = find_program(suite.language)
    achieved = level(settings)
    limits = _limits(suite, settings)
    plan = suite.plan(program)
    command = runner.command(plan)
    readable = (*readable, *command.readable, *suite.readable)
    written = {**suite.project.built, **suite.written, **runner.written(plan)}
    copied = CopiedRun(replace(command, readable=readable), limits, written, suite.node_modules, inputs, suite.links)
    outcome, top = run_in_copy(files, copied, achieved, cancel or threading.Event())
    report = runner.read(outcome.report, top)
    return _result(outcome, report, _Context(achieved, limits, top, command, _texts(files, report, inputs, top)))


@dataclass(frozen=True, slots=True)
class CopiedRun:
    """A program that is run in a copy of the repository.

    Attributes:
        program: the program, with everything that it reads.
        limits: of the run.
        written: texts by path of files that an installation would have written into the repository.
        node_modules: the folder whose entries are linked into the copy's own, None for none.
        inputs: a folder with the rest of the repository.
        links: folders of the repository to link into `node_modules`, by package name.
        left_out: whether to skip a path of the inputs.
        kept: the folder of the program's cache between runs, copied to `KEPT` in its work folder; None for no cache.
            Only runs on the unchanged repository update it.
    """

    program: SandboxProgram
    limits: SandboxLimits
    written: Mapping[str, str] = field(default_factory=dict)
    node_modules: Path | None = None
    inputs: Path | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    left_out: Callable[[str], bool] = lambda path: False
    kept: Path | None = None


def run_in_copy(
    files: Mapping[str, str | bytes], run: CopiedRun, achieved: SandboxLevel, cancel: threading.Event
) -> tuple[supervise.RunOutcome, str]:
    """Run a program in a copy of the repository. Blocking; no process of the run is left when it returns.

    Args:
        files: texts by path, which replace those of the inputs.
        run: the program, and what it needs.
        achieved: the level.
        cancel: ends the run once set.

    Returns:
        How it ended, and the copy's folder as the program saw it.

    Raises:
        SandboxError: the level can't be used.
        StorageError: the files can't be written.
        Cancelled: `cancel` was set.
    """
    with stage.stage(files, run.inputs, run.written, run.left_out) as folder:
        root = folder / "repo"
        if run.kept:
            stage.date_by_content(root)
        if run.node_modules:
            _link_entries(run.node_modules, root / NODE_MODULES)
            _link_members(run.links, run.node_modules, root)
        work = folder / "work"
        work.mkdir()
        job = SandboxJob(root, work, limits=run.limits, program=run.program, keeps=run.kept is not None)
        if run.kept:
            stage.restore(run.kept, work / KEPT)
        outcome = levels.start(job, achieved, cancel)
        if run.kept and not files and outcome.ended == "finished":
            stage.keep(work / KEPT, run.kept)
        return outcome, f"{MOUNTS.work if achieved == 'bwrap' else os.path.realpath(job.work)}/{COPY}"


@dataclass(frozen=True, slots=True)
class _Context:
    """What a result is built from. `top`: the code's folder inside the sandbox."""

    level: SandboxLevel
    limits: SandboxLimits
    top: str
    command: SandboxProgram
    sources: Mapping[str, str]


def _link_entries(packages: Path, folder: Path) -> None:
    """Link the entries of a `node_modules` into a new folder, to which tools such as Vite may add their own files."""
    folder.mkdir()
    for entry in packages.iterdir():
        if entry.name not in _WRITTEN_BY_TOOLS:
            (folder / entry.name).symlink_to(entry)


def _link_members(links: Mapping[str, str], packages: Path, root: Path) -> None:
    """Link the members of a workspace, as its package manager does."""
    for name, place in links.items():
        link = root / NODE_MODULES / name
        if not PACKAGE_NAME.fullmatch(name):
            continue
        if link.parent.is_symlink():
            link.parent.unlink()
            _link_entries(packages / link.parent.name, link.parent)
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(root / place, link.parent))


def _readable_packages(packages: InstalledPackages) -> tuple[Path, ...]:
    """The packages' folder; for packages that we installed its parent, which also has the configuration for cargo."""
    return (packages.folder.parent if packages.key else packages.folder,)


def node_program(packages: InstalledPackages | None, script: str, arguments: Sequence[str]) -> SandboxProgram | None:
    """A program among the repository's Node packages; None where it, or Node, isn't installed.

    Args:
        packages: the Node packages.
        script: the program's path among them.
        arguments: the program's.
    """
    node = installed_program("javascript")
    if packages is None or node is None or not (packages.folder / script).is_file():
        return None
    started = (str(node[0]), f"{{root}}/{NODE_MODULES}/{script}", *arguments)
    return SandboxProgram(started, NODE_VARIABLES, readable=(*node[1], *_readable_packages(packages)))


def why_failed(outcome: supervise.RunOutcome, limits: SandboxLimits, said: str) -> str:
    """Why a program did not do its work: the limit that it exceeded, else the last line that it printed (`said`)."""
    if outcome.ended != "finished":
        return supervise.why_stopped(outcome, limits)
    return said.strip().rpartition("\n")[2][:200]


def _limits(suite: RunnerSuite, settings: Settings) -> SandboxLimits:
    toolchain = LANGUAGES[suite.language]
    least = settings.test_timeout_s * toolchain.patience
    return replace(toolchain.limits, seconds=max(least, patience(suite.seconds)))


def _result(run: supervise.RunOutcome, report: ProgramReport, context: _Context) -> TestRun:
    values = values_in(context.sources.values())
    outcomes = [_placed(outcome, context, values) for outcome in _distinct(report.outcomes)]
    counted = Counter((outcome.when, outcome.outcome) for outcome in outcomes)
    said = run.output if context.command.report else run.report.decode("utf-8", "replace")
    output = without(values, plain(said[-_LONGEST_OUTPUT:], _LONGEST_OUTPUT)).replace(f"{context.top}/", "")
    reasons = _reasons(run, report, outcomes, context, output)
    notes = "".join(f"\n[sandbox] {reason}" for reason in reasons)
    return TestRun(
        passed=counted["call", "passed"],
        failed=counted["call", "failed"],
        errors=counted["collect", "failed"],
        duration_s=round(run.seconds, 3),
        level=context.level,
        output=output + notes,
        genuine=False,
        ended=run.ended,
        failures=failures(outcomes, context.sources),
        reasons=reasons,
        outcomes={outcome.id: _name(outcome) for outcome in outcomes},
    )


def _distinct(outcomes: Sequence[TestOutcome]) -> list[TestOutcome]:
    """One outcome per id: of tests with the same name, the first failed one, else the first."""
    found: dict[str, TestOutcome] = {}
    for outcome in outcomes:
        if outcome.id not in found or (outcome.outcome == "failed" != found[outcome.id].outcome):
            found[outcome.id] = outcome
    return list(found.values())


def _name(outcome: TestOutcome) -> TestOutcomeName:
    if outcome.outcome == "failed":
        return "failed" if outcome.when == "call" else "error"
    return "passed" if outcome.outcome == "passed" else "skipped"


def _reasons(
    run: supervise.RunOutcome, report: ProgramReport, outcomes: Sequence[TestOutcome], context: _Context, output: str
) -> tuple[str, ...]:
    """Why the run did not pass; empty if the runner reported a pass and nothing contradicts it. `output`: the run's."""
    if run.ended != "finished":
        how_far = i18n.message("sandbox.stopped.how_many", count=len(outcomes))
        why = supervise.why_stopped(run, context.limits)
        return (why, how_far) if outcomes else (why,)
    failed = [outcome.id for outcome in outcomes if outcome.outcome == "failed"]
    if failed:
        return tuple(i18n.message("sandbox.verdict.failed", test=test) for test in failed[:_MOST_REASONS])
    if run.status == NOT_STARTED:
        return (i18n.message("sandbox.program_not_started", problem=plain(run.output, 300).strip()),)
    if run.status != 0 and not outcomes and (said := last_error(output)):
        return (i18n.message("sandbox.verdict.ended_saying", status=run.status, said=code_span(said)),)
    if run.status != 0:
        return (i18n.message("sandbox.verdict.exit_status", status=run.status, expected=0),)
    if not report.ended:
        return (i18n.message("sandbox.verdict.no_report"),)
    if not outcomes:
        return (i18n.message("sandbox.verdict.no_test"),)
    if not any(outcome.outcome == "passed" for outcome in outcomes):
        return (i18n.message("sandbox.verdict.all_skipped"),)
    return ()


def _placed(outcome: TestOutcome, context: _Context, values: frozenset[str]) -> TestOutcome:
    """An outcome with paths as in the repository, and the first place in the repository's code that a failure names."""
    if outcome.outcome != "failed":
        return outcome
    text = _relative(outcome.text, context.top)
    places = [(found["path"], int(found["line"])) for found in _PLACE.finditer(text)]
    path, line = next((place for place in places if place[0] in context.sources), ("", 0))
    message = without(values, _relative(outcome.message, context.top))
    return replace(outcome, text=without(values, text), message=message, path=path, line=line)


def _relative(text: str, top: str) -> str:
    return text.replace(f"file://{top}/", "").replace(f"{top}/", "")


def _texts(files: Mapping[str, str | bytes], report: ProgramReport, inputs: Path | None, top: str) -> dict[str, str]:
    """The texts of the files that failures name, by path."""
    found: dict[str, str] = {}
    for outcome in report.outcomes:
        if outcome.outcome != "failed":
            continue
        for place in _PLACE.finditer(_relative(outcome.text, top)):
            path = place["path"]
            if path in found or path.startswith(("/", "..")) or "\0" in path:
                continue
            if (text := stage.text_of(path, files, inputs)) is not None:
                found[path] = text
    return found
