"""The same tests on the unchanged tree and on the changed one: only what turned from green to red counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.sandbox.run import ChosenTests
from repopilot.settings import Settings
from repopilot.types import Environment, TestRun


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """Two runs of the same tests.

    Attributes:
        before: on the unchanged tree.
        after: on the changed one. Where tests failed before and after alike, it is the run without them, so that
            `genuine` tells whether the pass of all others is verified.
        broken: ids of tests that passed before and don't now: failed, in error, or gone.
        repaired: ids of tests that failed before and pass now.
        red: ids of tests that failed before and still do.
    """

    before: TestRun
    after: TestRun
    broken: tuple[str, ...]
    repaired: tuple[str, ...]
    red: tuple[str, ...]

    @property
    def no_worse(self) -> bool:
        """Whether the change broke nothing. A run that ended early says nothing in favour of it."""
        return not self.broken and self.after.ended == "finished"


def compare(before: TestRun, after: TestRun) -> BaselineComparison:
    """Compare two runs by test id."""
    green, red = _with(before, "passed"), _with(before, "failed", "error")
    still_green, still_red = _with(after, "passed"), _with(after, "failed", "error")
    return BaselineComparison(
        before,
        after,
        broken=tuple(name for name in green if name not in still_green and after.outcomes.get(name) != "skipped"),
        repaired=tuple(name for name in red if name in still_green),
        red=tuple(name for name in red if name in still_red),
    )


async def compare_with_baseline(
    files: Mapping[str, str | bytes],
    tests: Sequence[str],
    settings: Settings,
    inputs: Path,
    environment: Environment | None = None,
) -> BaselineComparison:
    """Run tests on the repository as it is, then with the changed files, and compare.

    Args:
        files: the changed files, texts by path.
        tests: paths of test files, in the repository or among the changed ones; new ones run on the changed tree only.
        settings: the sandbox level and the time limit.
        inputs: the unchanged repository.
        environment: what its tests need.

    Returns:
        The comparison.

    Raises:
        SandboxError: no level works, or a path is refused.
        StorageError: the files can't be written.
    """
    known = [test for test in tests if (inputs / test).is_file()]
    after = await run_in_sandbox(files, tests, settings, inputs, environment)
    if after.genuine or not known:
        return compare(after if after.genuine else _nothing(after), after)
    before = await run_in_sandbox({}, known, settings, inputs, environment)
    compared = compare(before, after)
    if not compared.red or compared.broken or after.ended != "finished":
        return compared
    rest = await run_in_sandbox(files, ChosenTests(tuple(tests), compared.red), settings, inputs, environment)
    return BaselineComparison(before, rest, compared.broken, compared.repaired, compared.red)


def _with(run: TestRun, *outcomes: str) -> dict[str, None]:
    return {name: None for name, outcome in run.outcomes.items() if outcome in outcomes}


def _nothing(run: TestRun) -> TestRun:
    return TestRun(0, 0, 0, 0.0, run.level, "", False)
