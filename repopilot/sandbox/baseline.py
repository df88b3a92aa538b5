"""The same tests on the unchanged tree and on the changed one: only what turned from green to red counts."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace

from repopilot.types import TestRun

_NUMBER = re.compile(r"\d+")

RunAfter = Callable[[tuple[str, ...]], Awaitable[TestRun]]
"""Runs the tests on the changed tree, without those of some ids."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """Two runs of the same tests.

    Attributes:
        after: on the changed tree. Where tests failed before and after alike, it is the run without them, so that
            `genuine` tells whether the pass of all others is verified.
        before: on the unchanged one, None where it was not needed.
        broken: ids of tests that fail now and did not before, or are gone.
        repaired: ids of tests that failed before and pass now.
        red: ids of tests that failed before and still do.
        green: how many tests passed both times.
        added: ids of tests that pass now and were not there before, or could not run: of what the change brings.
        own: ids of tests that the change itself brings or edits, and that fail without the rest of it.
    """

    after: TestRun
    before: TestRun | None = None
    broken: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    red: tuple[str, ...] = ()
    green: int = 0
    added: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


def compare(before: TestRun, after: TestRun, edited: Collection[str] = ()) -> BaselineComparison:
    """Compare two runs by test id.

    Args:
        before: on the unchanged tree.
        after: on the changed one.
        edited: paths of files with tests that the change edits: it may rename or remove those, and proves nothing by
            those that it makes pass.
    """
    if after.ended == "finished":
        before = _renumbered(before, after)
    green, red = _with(before, "passed"), _with(before, "failed", "error")
    still_green, still_red = _with(after, "passed"), _with(after, "failed", "error")
    kept = [name for name in green if name in after.outcomes or name.partition("::")[0] not in edited]
    if after.ended != "finished":  # what it didn't come to isn't gone
        kept = [name for name in kept if name in after.outcomes]
    turned = [name for name in kept if name not in still_green and after.outcomes.get(name) != "skipped"]
    # A file that can't be collected any more is named by its tests.
    known = {*before.outcomes, *before.unreached}
    complete = before.ended == "finished" or bool(before.unreached)  # else it is not known which tests there were
    new = [name for name in still_red if name not in known and not any(t.startswith(name) for t in turned)]
    new = new if complete else []
    return BaselineComparison(
        after,
        before,
        broken=(*turned, *new),
        repaired=tuple(name for name in red if name in still_green and name.partition("::")[0] not in edited),
        red=tuple(name for name in red if name in still_red),
        green=sum(name in still_green for name in green),
        added=tuple(name for name in still_green if name not in known) if complete else (),
    )


def _renumbered(before: TestRun, after: TestRun) -> TestRun:
    """The run before, with the ids that its tests have afterwards where these differ only in numbers.

    Some runners name a test by its line, or by its position in a table: a new row gives all later ones other names.
    Tests are taken for the same in the order in which they ran.
    """
    new: dict[str, deque[str]] = defaultdict(deque)
    for name in after.outcomes:
        if name not in before.outcomes:
            new[_NUMBER.sub("#", name)].append(name)
    names: dict[str, str] = {}
    for name in before.outcomes:
        if name not in after.outcomes and (same := new.get(_NUMBER.sub("#", name))):
            names[name] = same.popleft()
    return replace(before, outcomes={names.get(name, name): outcome for name, outcome in before.outcomes.items()})


async def compare_with_baseline(
    after: RunAfter,
    before: Callable[[], Awaitable[TestRun]],
    known: TestRun | None = None,
    edited: Collection[str] = (),
    *,
    always: bool = False,
    own: Callable[[], Awaitable[TestRun]] | None = None,
) -> BaselineComparison:
    """Run tests with a change and, unless their pass is verified at once, without it, and compare.

    Args:
        after: runs them on the changed tree.
        before: runs them on the unchanged one.
        known: what `before` returned for another version of the change.
        edited: as in `compare`.
        always: compare a verified pass, too.
        own: runs the tests that the change brings or edits on the tree without the rest of the change.

    Returns:
        The comparison.

    Raises:
        SandboxError: no level works, or a path is refused.
        StorageError: the files can't be written.
    """
    changed = await after(())
    if changed.genuine and not always:
        return compare(known, changed, edited) if known else BaselineComparison(changed)
    compared = compare(known or await before(), changed, edited)
    if compared.repaired and changed.genuine:
        # A test that is red now and then has not been repaired.
        still = _with(await before(), "failed", "error")
        compared = replace(compared, repaired=tuple(name for name in compared.repaired if name in still))
    if own is not None and changed.passed and not (compared.broken or compared.repaired):
        compared = replace(compared, own=_failing_without(await own(), changed))
    rest = changed.outcomes.keys() - {*compared.red}
    if changed.genuine or not (compared.red and rest) or compared.broken or changed.ended != "finished":
        return compared
    return replace(compared, after=await after(compared.red))


def _failing_without(run: TestRun, changed: TestRun) -> tuple[str, ...]:
    """Tests that ran and failed without the change, and pass with it; one that can't run there shows nothing."""
    return tuple(name for name in _with(run, "failed") if changed.outcomes.get(name) == "passed")


def without(run: TestRun, left_out: Collection[str]) -> TestRun:
    """A run as if some of its tests had not been there, for runners that can't leave out single tests."""
    kept = {name: outcome for name, outcome in run.outcomes.items() if name not in left_out}
    counts = [sum(outcome == wanted for outcome in kept.values()) for wanted in ("passed", "failed", "error")]
    gone = [failure for failure in run.failures if failure.test_id not in left_out]
    reasons = run.reasons if counts[1] or counts[2] or run.ended != "finished" else ()
    return replace(
        run,
        passed=counts[0],
        failed=counts[1],
        errors=counts[2],
        failures=tuple(gone),
        outcomes=kept,
        reasons=reasons,
    )


def _with(run: TestRun, *outcomes: str) -> dict[str, None]:
    return {name: None for name, outcome in run.outcomes.items() if outcome in outcomes}
