"""Compares the same tests on the unchanged and the changed tree: only tests that turn from green to red count."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from functools import partial

from repopilot.i18n import message
from repopilot.types import TestRun

_NUMBER = re.compile(r"\d+")

RunAfter = Callable[[tuple[str, ...], TestRun | None], Awaitable[TestRun]]
"""Runs the tests on the changed tree. Takes the ids to leave out, and the run on the unchanged tree, if any."""
RunBefore = Callable[[bool, Collection[str]], Awaitable[TestRun]]
"""Runs the tests on the unchanged tree. Takes whether the change's own tests have their new texts there, and the ids to
run; empty for all."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """Two runs of the same tests.

    Attributes:
        after: run on the changed tree, without tests that fail both times or can't be controlled, so that `genuine`
            tells whether the pass of all others is verified.
        before: run on the unchanged tree, None where it was not needed. Tests that the change adds or edits have their
            new texts, as far as they can run there.
        broken: ids of tests that fail now and didn't fail before, or that are gone.
        repaired: ids of tests that failed before and pass now.
        red: ids of tests that failed before and still do.
        green: how many tests passed both times.
        added: ids of tests that pass now and didn't exist before, or couldn't run.
        own: ids of tests that the change adds or edits, and that fail without the rest of the change.
        skipped: ids of tests that are skipped both times.
        reached: where a limit stopped the run on the changed tree: how many tests had ended, of how many. `after` is
            then the verified run of the tests that turned green, alone. (0, 0) otherwise.
    """

    after: TestRun
    before: TestRun | None = None
    broken: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    red: tuple[str, ...] = ()
    green: int = 0
    added: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    reached: tuple[int, int] = (0, 0)


def path_in(name: str) -> str:
    """First part of a test id: a path or, in some languages, a package or a class."""
    return name.partition("::")[0]


@dataclass(frozen=True, slots=True)
class TestFiles:
    """Paths of the test files of a run.

    Attributes:
        edited: files that the change adds or edits. It may rename or remove their tests, so their newly passing tests
            prove nothing.
        own: those of `edited` whose new texts the unchanged tree gets.
        others: files that the change leaves as they are.
        helpers: whether `own` contains files that tests share, such as a `conftest.py`, which can make other tests
            fail.
        brings: tells whether the change adds or edits the test with an id, whose file is one of `own`.
        green: ids of tests that passed without the change, in any run.
        path_of: returns the path of the file that contains the test with an id.
    """

    __test__ = False

    edited: Collection[str] = ()
    own: Collection[str] = ()
    others: Collection[str] = ()
    helpers: bool = False
    brings: Callable[[str], bool] = lambda name: True
    green: Collection[str] = ()
    path_of: Callable[[str], str] = path_in


NO_FILES = TestFiles()


def compare(before: TestRun, after: TestRun, files: TestFiles = NO_FILES) -> BaselineComparison:
    """Compare two runs by test id.

    Args:
        before: on the unchanged tree.
        after: on the changed one.
        files: the files that contain the tests.
    """
    if after.ended == "finished":
        before = _renumbered(before, after)
    green = before.tests("passed")
    red = before.tests("failed", "error")
    still_green = after.tests("passed")
    still_red = after.tests("failed", "error")
    kept = [name for name in green if name in after.outcomes or files.path_of(name) not in files.edited]
    if after.ended != "finished":  # a test that the run didn't reach isn't gone
        kept = [name for name in kept if name in after.outcomes]
    turned = [name for name in kept if name not in still_green and after.outcomes.get(name) != "skipped"]
    # Such as a strict xfail test that now passes, which pytest reports as failed.
    turned += [name for name in before.tests("skipped") if name in still_red]
    # A file that can no longer be collected is left out: its tests are in `turned`.
    known = {*before.outcomes, *before.unreached}
    complete = _is_complete(before)
    new = [name for name in still_red if name not in known and not any(t.startswith(name) for t in turned)]
    new = new if complete else []
    return BaselineComparison(
        after,
        before,
        broken=(*turned, *new),
        repaired=tuple(name for name in red if name in still_green and files.path_of(name) not in files.edited),
        red=tuple(name for name in red if name in still_red),
        green=sum(name in still_green for name in green),
        added=tuple(name for name in still_green if name not in known) if complete else (),
        skipped=tuple(name for name in before.tests("skipped") if after.outcomes.get(name) == "skipped"),
    )


def _renumbered(before: TestRun, after: TestRun) -> TestRun:
    """The earlier run, with the later run's test ids where these differ only in numbers.

    Some runners name a test by its line, or by its position in a table: a new row renames all later tests.
    Tests are matched in the order in which they ran.
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


async def compare_same_tests(
    before: TestRun, after: TestRun, files: TestFiles, with_old_texts: Callable[[], Awaitable[TestRun]]
) -> BaselineComparison:
    """Compare two runs of the same files in the same order; in both, the tests of the change have their new texts.

    Args:
        before: on the unchanged tree.
        after: on the changed one.
        files: the files that contain the tests.
        with_old_texts: runs the old tests on the unchanged tree. Called only where the new texts can't tell what a test
            was before: a test of the change can't run there or fails both times, or a test that shares one of its files
            fails.
    """
    red = before.tests("failed", "error")
    green = after.tests("passed")
    own = [name for name in failing_without(before, after) if files.path_of(name) in files.own]
    own = [name for name in own if files.brings(name)]
    known = {*before.outcomes, *before.unreached}
    unclear = {name for name in red if name in after.outcomes and name not in green and files.brings(name)}
    absent = {name for name in after.outcomes if name not in known}
    unclear |= {name for name in absent if files.helpers or files.path_of(name) not in files.others}
    unclear |= {name for name in red if files.helpers and name in green and files.path_of(name) not in files.own}
    if unclear and files.own and _is_complete(before):
        old = await with_old_texts()
        kept = {name: outcome for name, outcome in before.outcomes.items() if name not in {*unclear, *files.own}}
        failures = (*(each for each in before.failures if each.test_id in own), *old.failures)
        unreached = (*before.unreached, *old.unreached)
        before = replace(old, outcomes={**old.outcomes, **kept}, unreached=unreached, failures=failures)
    compared = compare(before, after, files)
    repaired = tuple(name for name in compared.repaired if name not in files.green)
    return replace(compared, repaired=repaired, own=tuple(own))


async def compare_with_baseline(
    after: RunAfter, before: RunBefore, files: TestFiles = NO_FILES, *, always: bool = False
) -> BaselineComparison:
    """Run tests with a change and compare with a run without it, unless their pass is verified at once.

    Args:
        after: runs them on the changed tree.
        before: runs them on the unchanged one.
        files: the test files, and which of them the change edits.
        always: compare a verified pass, too.

    Returns:
        The comparison.

    Raises:
        SandboxError: no level works, or a path is refused.
        StorageError: the files can't be written.
    """
    if not always and (changed := await after((), None)).genuine:
        return BaselineComparison(changed)
    unchanged = await before(True, ())
    changed = await after((), unchanged)
    compared = await compare_same_tests(unchanged, changed, files, partial(before, False, ()))
    if compared.repaired and not compared.broken:
        # A flaky test has not been repaired.
        still = (await before(True, compared.repaired)).tests("failed", "error")
        compared = replace(compared, repaired=tuple(name for name in compared.repaired if name in still))
    turned = (*compared.repaired, *compared.own)
    if changed.unreached and turned and not compared.broken:
        alone = await after(tuple(n for n in (*changed.outcomes, *changed.unreached) if n not in turned), unchanged)
        done = len(changed.outcomes)
        left = len(changed.unreached)
        return replace(compared, after=alone, reached=(done, done + left)) if alone.genuine else compared
    rest = changed.outcomes.keys() - {*compared.red, *changed.apart}
    if not rest or compared.broken or changed.ended != "finished":
        return compared
    if changed.apart and not {*turned} & {*changed.apart}:  # a run without repaired tests could not verify them
        changed = await after((*compared.red, *changed.apart), unchanged)
    return replace(compared, after=without(changed, compared.red))


def failing_without(run: TestRun, changed: TestRun) -> tuple[str, ...]:
    """Tests that failed without the change and pass with it. Tests that couldn't run without it don't count.

    Args:
        run: on the unchanged tree, with the tests as the change has them.
        changed: on the changed one.
    """
    return tuple(name for name in run.tests("failed") if changed.outcomes.get(name) == "passed")


def without(run: TestRun, left_out: Collection[str]) -> TestRun:
    """A run without some of its tests."""
    kept = {name: outcome for name, outcome in run.outcomes.items() if name not in left_out}
    counted = Counter(kept.values())
    gone = [failure for failure in run.failures if failure.test_id not in left_out]
    settled = {message("sandbox.verdict.failed", test=name) for name in left_out}
    return replace(
        run,
        passed=counted["passed"],
        failed=counted["failed"],
        errors=counted["error"],
        failures=tuple(gone),
        outcomes=kept,
        reasons=tuple(reason for reason in run.reasons if reason not in settled),
    )


def _is_complete(run: TestRun) -> bool:
    """Whether the run tells which tests exist."""
    return run.ended == "finished" or bool(run.unreached)
