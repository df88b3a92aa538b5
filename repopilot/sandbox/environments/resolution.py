"""Resolves requirements to exact wheels before downloading any; leaves out unavailable ones, with the reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot import i18n
from repopilot.errors import EnvironmentFailed
from repopilot.sandbox.environments.uv import UvRun, run_uv
from repopilot.types import LeftOut, OnProgress, Progress

_REPORTER_NEEDS = "pytest>=7"
_LOCK = "pylock.toml"
_DATED_LOCK = "pylock.dated.toml"
_UNREACHABLE = re.compile(
    r"error sending request|dns error|failed to fetch|Request failed|connect error|tcp connect|network|"
    r"operation timed out|401 Unauthorized|403 Forbidden|invalid peer certificate",
    re.I,
)
_REASONS = (
    (
        re.compile(r"no usable wheels|no wheels with a matching|building from source is disabled|has no wheels", re.I),
        "no_wheel",
    ),
    (re.compile(r"was not found in the (?:package registry|cache)|not found in the provided", re.I), "not_found"),
    (re.compile(r"depends on Python|requires-python|Python>=?\d|current Python version", re.I), "python"),
    (re.compile(r"there is no version|only the following versions|are unsatisfiable|conflict", re.I), "conflict"),
)


@dataclass(frozen=True, slots=True)
class PackageResolution:
    """What will be installed.

    Attributes:
        lock: uv's lock file (PEP 751).
        packages: `name==version`.
        bytes: size of all downloads together, as far as the index says.
        left_out: requirements that can't be installed.
        unlocked: the versions of the project's lock files could not be kept.
    """

    lock: Path
    packages: tuple[str, ...]
    bytes: int
    left_out: tuple[LeftOut, ...] = ()
    unlocked: bool = False


def resolve(
    requirements: Sequence[str], constraints: Sequence[str], run: UvRun, progress: OnProgress
) -> PackageResolution:
    """Find the versions of all packages, for as many requirements as are compatible.

    Args:
        requirements: the most important first; pytest comes before all of them.
        constraints: exact versions, dropped where they can't be installed.
        run: where and how long uv may work. Its date is dropped where that makes more requirements installable.
        progress: called with the number of requirements tried one by one.

    Returns:
        The resolution.

    Raises:
        EnvironmentFailed: the index can't be reached, or took too long.
        Cancelled: the run was cancelled.
    """
    newest = replace(run, as_of="")
    if run.as_of and _problem((), (), run):
        run = newest  # the index gives no dates, or the commit's date was wrong
    found = _resolved(requirements, constraints, run, progress)
    if run.as_of and any(not _problem((entry.requirement,), (), newest) for entry in found.left_out):
        newer = _resolved(requirements, constraints, newest, progress)
        return newer if len(newer.left_out) < len(found.left_out) else found
    return found


def _resolved(
    requirements: Sequence[str], constraints: Sequence[str], run: UvRun, progress: OnProgress
) -> PackageResolution:
    if (locked := _together(requirements, constraints, run)) is not None:
        return _read(_lock(run), unlocked=not locked)
    left_out: list[LeftOut] = []
    possible: list[str] = []
    for number, requirement in enumerate(requirements, 1):
        progress(Progress("environment_one_by_one", number, len(requirements), "requirements"))
        _take(requirement, (), possible, left_out, run)
    if (locked := _together(possible, constraints, run)) is not None:
        return _read(_lock(run), tuple(left_out), unlocked=not locked)
    accepted: list[str] = []
    for requirement in possible:
        _take(requirement, tuple(accepted), accepted, left_out, run)
    if problem := _problem(accepted, (), run):
        raise EnvironmentFailed(i18n.message("environments.not_resolved", problem=_first_cause(problem)))
    return _read(_lock(run), tuple(left_out), unlocked=bool(constraints))


def _lock(run: UvRun) -> Path:
    return run.folder / (_DATED_LOCK if run.as_of else _LOCK)


def _together(requirements: Sequence[str], constraints: Sequence[str], run: UvRun) -> bool | None:
    """Whether the requirements resolve with the constraints (True) or only without them (False); None for neither.
    Writes the lock unless the result is None."""
    if not _problem(requirements, constraints, run):
        return True
    return False if constraints and not _problem(requirements, (), run) else None


def _take(requirement: str, others: tuple[str, ...], accepted: list[str], left_out: list[LeftOut], run: UvRun) -> None:
    """Accept a requirement that resolves together with the others, else leave it out."""
    problem = _problem([*others, requirement], (), run)
    if problem:
        left_out.append(LeftOut(requirement, _reason(problem)))
    else:
        accepted.append(requirement)


def _problem(requirements: Sequence[str], constraints: Sequence[str], run: UvRun) -> str:
    """uv's error about the requirements together; '' where they resolve, and the lock is written."""
    wanted = run.folder / "requirements.in"
    bounds = run.folder / "constraints.txt"
    wanted.write_text("\n".join([_REPORTER_NEEDS, *requirements]) + "\n", "utf-8")
    bounds.write_text("\n".join(constraints) + "\n", "utf-8")
    output = ["--format", "pylock.toml", "--output-file", str(_lock(run)), "--quiet", "--no-header"]
    _lock(run).unlink(missing_ok=True)
    outcome = run_uv(["compile", str(wanted), "--constraints", str(bounds), *output], run)
    if outcome.status == 0:
        return ""
    if _UNREACHABLE.search(outcome.output):
        raise EnvironmentFailed(
            i18n.message("environments.unreachable", problem=_first_cause(outcome.output)),
            i18n.message("environments.unreachable_hint"),
        )
    return outcome.output.strip() or f"uv: {outcome.status}"


def _read(lock: Path, left_out: tuple[LeftOut, ...] = (), *, unlocked: bool = False) -> PackageResolution:
    packages = tomllib.loads(lock.read_text("utf-8")).get("packages", [])
    sizes = [max((wheel.get("size", 0) for wheel in package.get("wheels", ())), default=0) for package in packages]
    names = tuple(f"{package['name']}=={package.get('version', '')}" for package in packages)
    return PackageResolution(lock, names, sum(sizes), left_out, unlocked)


def _reason(problem: str) -> str:
    plain = " ".join(problem.split())
    key = next((key for pattern, key in _REASONS if pattern.search(plain)), "other")
    return i18n.message(f"environments.left_out.{key}", problem=_first_cause(problem))


def _first_cause(problem: str) -> str:
    """The cause that uv gives, in one line."""
    plain = " ".join(problem.split())
    cause = re.search(r"cause: (.*?)(?: hint:|$)", plain)
    return (cause[1] if cause else plain.removeprefix("error: "))[:300]
