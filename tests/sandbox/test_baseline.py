"""Comparing a change with the unchanged tree, and what failures say a test needs."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from repopilot.background import run_in_thread
from repopilot.sandbox.baseline import TestFiles, compare, compare_same_tests, compare_with_baseline
from repopilot.sandbox.needs import need_of
from repopilot.sandbox.run import ChosenTests, run_pytest
from repopilot.settings import Settings
from repopilot.types import TestRun

CODE = "def twice(n):\n    return n + n\n\n\ndef half(n):\n    return n\n"
TESTS = """
import pytest
from shop import half, twice


def test_twice():
    assert twice(2) == 4


@pytest.mark.parametrize("n", [0, 2])
def test_half(n):
    assert half(n) == n // 2


def test_red():
    assert twice(1) == 3


def test_half_of_more():
    assert half(8) == 8
"""


@pytest.fixture
def repository(tmp_path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    (tmp_path / "test_shop.py").write_text(TESTS)
    return tmp_path


async def compared(repository: Path, code: str, **tests: str):
    files = {"shop.py": code, **{f"{name}.py": text for name, text in tests.items()}}
    names = ("test_shop.py", *list(files)[1:])

    async def after(left_out, unchanged):
        return await run_tests(files, ChosenTests(names, left_out, before=unchanged), repository)

    async def before(new_texts, only):
        return await run_tests({}, ["test_shop.py"], repository)

    return await compare_with_baseline(after, before)


@pytest.mark.slow
async def test_only_what_turned_from_green_to_red_counts(repository):
    added = CODE + "\n\ndef thrice(n):\n    return 3 * n\n"
    new = "from shop import thrice\n\ndef test_thrice():\n    assert thrice(2) == 6\n"
    result = await compared(repository, added, test_new=new)
    assert (result.broken, result.repaired) == ((), ())
    assert result.red == ("test_shop.py::test_half[2]", "test_shop.py::test_red")
    assert result.after.genuine, result.after.reasons  # of all tests but the red ones
    assert "test_new.py::test_thrice" in result.after.outcomes


@pytest.mark.slow
async def test_what_a_change_breaks_and_repairs_is_named(repository):
    result = await compared(repository, CODE.replace("    return n\n", "    return n // 2\n"))
    assert result.broken == ("test_shop.py::test_half_of_more",)
    assert result.repaired == ("test_shop.py::test_half[2]",)


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_module_that_can_not_be_imported_any_more_breaks_all_that_was_green(repository):
    result = await compared(repository, CODE.replace("def half", "def hälfte"))
    assert set(result.broken) == {
        "test_shop.py::test_twice",
        "test_shop.py::test_half[0]",
        "test_shop.py::test_half_of_more",
    }


def test_a_test_that_the_change_renames_is_not_broken():
    def run(**outcomes: str) -> TestRun:
        return TestRun(1, 0, 0, 0.1, "bwrap", "", False, outcomes={f"test_a.py::{k}": v for k, v in outcomes.items()})

    assert compare(run(old="passed"), run(new="passed")).broken == ("test_a.py::old",)
    assert compare(run(old="passed"), run(new="passed"), TestFiles(["test_a.py"])).broken == ()
    assert compare(run(old="passed"), run(old="failed"), TestFiles(["test_a.py"])).broken == ("test_a.py::old",)
    stopped = replace(run(new="failed"), ended="timeout")
    assert compare(run(old="passed", new="passed"), stopped).broken == ("test_a.py::new",), "not what it didn't come to"


@pytest.mark.parametrize(
    ("text", "need"),
    [
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "network"),
        ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443): Max retries exceeded", "network"),
        ("CalledProcessError: Command '['git', 'clone', '--depth', '1', 'https://x/y.git']' returned 128", "network"),
        ('_tkinter.TclError: no display name and no $DISPLAY environment variable', "display"),
        ("psycopg2.OperationalError: connection to server at \"localhost\", port 5432 failed: Connection refused", "database"),
        ("redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", "database"),
        ("assert 3 == 4", None),
        ("AssertionError: the display shows nothing", None),
    ],
)  # fmt: skip
def test_what_a_failure_says_it_needed(text, need):
    assert need_of(text) == need


@pytest.mark.slow
async def test_a_test_that_needs_the_network_is_said_to(tmp_path):
    (tmp_path / "test_net.py").write_text(
        "import urllib.request\n\ndef test_net():\n    assert urllib.request.urlopen('http://example.org')\n"
    )
    run = await run_tests({}, ["test_net.py"], tmp_path)
    assert "needs what the sandbox does not have (network): test_net.py::test_net" in run.output


def run_of(**outcomes: str) -> TestRun:
    names = {f"test_shop.py::{name}": outcome for name, outcome in outcomes.items()}
    return TestRun(1, 0, 0, 0.1, "limits", "", genuine="red" not in outcomes.values(), outcomes=names)


@pytest.mark.slow
@pytest.mark.parametrize("half", ["return n", "return n if n > 4 else n / 2"])
@pytest.mark.thorough
async def test_tests_that_write_into_the_repository_are_never_what_verifies(repository, half):
    write = "pathlib.Path('a').write_text('3')"
    writing = (
        f"import pathlib\nfrom shop import half, twice\n\ndef test_writes():\n    {write}\n    assert half(4) == 2\n"
    )
    writing += f"\ndef test_also():\n    {write}\n    assert twice(2) == 4\n"
    (repository / "test_write.py").write_text(writing)
    files = {"shop.py": CODE.replace("return n\n", f"{half}\n").replace("n + n", "2 * n")}
    names = ("test_shop.py", "test_write.py")

    async def after(left_out, unchanged):
        return await run_tests(files, ChosenTests(names, left_out, before=unchanged), repository)

    async def before(new_texts, only):
        return await run_tests({}, names, repository)

    result = await compare_with_baseline(after, before)
    assert not result.broken
    turned = "test_write.py::test_writes" in result.repaired
    assert turned == (half != "return n")
    assert result.after.genuine != turned, result.after.reasons


async def test_a_test_that_is_red_now_and_then_is_not_repaired():
    runs = [run_of(a="failed", b="passed", c="failed"), run_of(a="passed", b="passed", c="failed")]

    async def after(left_out, unchanged):
        return run_of(a="passed", b="passed", c="passed")

    async def before(new_texts, only):
        return runs.pop(0)

    found = await compare_with_baseline(after, before, always=True)
    assert found.repaired == ("test_shop.py::c",)


async def test_what_turned_green_is_verified_alone_where_a_limit_stopped_the_others():
    before = replace(run_of(a="failed", b="passed", red="failed"), unreached=("test_shop.py::c",), ended="timeout")
    stopped = replace(run_of(a="passed", b="passed"), unreached=("test_shop.py::c",), ended="timeout", genuine=False)
    broken = replace(stopped, outcomes={"test_shop.py::a": "passed", "test_shop.py::b": "failed"})
    asked, first = [], [stopped, broken]

    async def after(left_out, unchanged):
        asked.append(set(left_out))
        return run_of(a="passed") if left_out else first.pop(0)

    async def unchanged_run(new_texts, only):
        return before

    found = await compare_with_baseline(after, unchanged_run, always=True)
    assert asked == [set(), {"test_shop.py::b", "test_shop.py::c"}]
    assert found.after.genuine and found.repaired == ("test_shop.py::a",) and found.reached == (2, 3)
    found = await compare_with_baseline(after, unchanged_run, always=True)
    assert not found.after.genuine and found.reached == (0, 0) and found.broken


def test_a_test_that_the_change_edits_is_not_repaired():
    before, after = run_of(a="failed"), run_of(a="passed")
    assert compare(before, after).repaired == ("test_shop.py::a",)
    assert compare(before, after, TestFiles(["test_shop.py"])).repaired == ()


def test_a_run_that_was_stopped_tells_only_of_the_tests_that_are_known():
    after = run_of(a="failed", b="failed", new="failed")
    stopped = replace(run_of(), ended="timeout")
    assert compare(stopped, after).broken == ()
    stopped = replace(run_of(a="passed"), ended="timeout", unreached=("test_shop.py::b",))
    assert compare(stopped, after).broken == ("test_shop.py::a", "test_shop.py::new")


async def test_where_every_test_was_red_before_their_run_is_the_one_that_is_shown():
    asked = []

    async def after(left_out, unchanged):
        asked.append(left_out)
        return replace(run_of(a="failed"), genuine=False)

    async def before(new_texts, only):
        return replace(run_of(a="failed"), genuine=False)

    found = await compare_with_baseline(after, before)
    assert (found.red, found.after.outcomes, asked) == (("test_shop.py::a",), {"test_shop.py::a": "failed"}, [(), ()])


def test_tests_named_by_their_line_are_the_same_tests_after_a_new_row():
    before = run_of(**{"rows > line 3: a": "passed", "rows > line 7: b": "passed", "rows > line 9: c": "failed"})
    rows = {"line 3: new": "passed", "line 7: a": "passed", "line 11: b": "failed", "line 13: c": "failed"}
    found = compare(before, run_of(**{f"rows > {name}": outcome for name, outcome in rows.items()}))
    assert found.broken == ("test_shop.py::rows > line 11: b",)
    assert found.added == ("test_shop.py::rows > line 3: new",)
    assert found.red == ("test_shop.py::rows > line 13: c",)
    assert found.green == 1


TEXTS = """import pytest
from shop import half, twice

pytest.importorskip("not_installed_anywhere")


def test_none():
    assert twice(1) == 2
"""
CLASS = """import pytest
from shop import half, twice


def lacking():
    pytest.skip("not here")


class TestNone:
    def setup_method(self):
        lacking()

    def test_none(self):
        assert twice(1) == 2


def test_some():
    assert half(8) == 4
"""


@pytest.mark.slow
@pytest.mark.thorough
async def test_what_skips_itself_with_and_without_the_change_takes_no_proof_from_the_rest(tmp_path):
    """A file and a class; what the change alone makes skip still counts as a doubt."""
    (tmp_path / "shop.py").write_text(CODE)
    for name, text in {"file": TEXTS, "class": CLASS}.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    right = {"shop.py": CODE.replace("return n\n", "return n // 2\n")}
    names = ("test_file.py", "test_class.py")

    async def run(files, left_out=(), before=None, verify=True):
        tests = ChosenTests(names, tuple(left_out), before=before)
        return await run_tests(files, tests, tmp_path, verify=verify)

    async def before(new_texts, only):
        return await run({}, verify=False)

    async def after(left_out, unchanged):
        return await run(right, left_out, unchanged)

    found = await compare_with_baseline(after, before, always=True)
    assert found.repaired == ("test_class.py::test_some",) and found.after.genuine, found.after.reasons
    assert found.after.inverted == ("test_class.py::test_some",)
    assert found.skipped == ("test_class.py::TestNone::test_none",)

    right["shop.py"] += "\nimport sys\nsys.modules['not_installed_anywhere'] = sys\n"
    (tmp_path / "test_file.py").write_text(TEXTS.replace("not_installed_anywhere", "json"))
    right["shop.py"] = right["shop.py"].replace("'not_installed_anywhere'] = sys", "'json'] = None")
    found = await compare_with_baseline(after, before, always=True)
    assert not found.after.genuine, "the change made the file skip itself"


async def run_tests(
    files: Mapping[str, str], tests: Sequence[str] | ChosenTests, folder: Path, *, verify: bool = True
) -> TestRun:
    return await run_in_thread(partial(run_pytest, files, tests, Settings(), inputs=folder, verify=verify))


async def never() -> TestRun:
    raise AssertionError("needs no other run")


async def test_a_test_of_the_change_is_compared_with_the_same_test_without_the_rest():
    """New texts on both sides; the old ones are asked for only where a new one can't run, or fails both times."""
    asked = []
    old = run_of(kept="passed", flawed="failed")

    async def with_texts_of_old() -> TestRun:
        return old

    def comparing(unchanged: TestRun, changed: TestRun):
        async def with_old_texts():
            asked.append(True)
            return old

        return compare_same_tests(unchanged, changed, TestFiles(["test_shop.py"], ["test_shop.py"]), with_old_texts)

    found = await comparing(run_of(kept="passed", new="failed"), run_of(kept="passed", new="passed"))
    assert (found.own, found.repaired, found.added, found.green, asked) == (("test_shop.py::new",), (), (), 1, [])
    found = await comparing(run_of(kept="passed", new="passed"), run_of(kept="passed", new="failed"))
    assert (found.broken, asked) == (("test_shop.py::new",), []), "passes without the change, and not with it"
    red = run_of(kept="passed", flawed="failed", new="failed")
    found = await comparing(red, red)
    assert (found.broken, found.red, asked) == (("test_shop.py::new",), ("test_shop.py::flawed",), [True])
    asked.clear()
    files = TestFiles(["test_shop.py"], ["test_shop.py"], brings=lambda name: name.endswith("new"))
    found = await compare_same_tests(run_of(flawed="failed"), run_of(flawed="failed"), files, never)
    assert (found.broken, found.red) == ((), ("test_shop.py::flawed",)), "what the change leaves as it is needs no more"
    shared = TestFiles(["conftest.py"], ["conftest.py"], ["test_shop.py"], helpers=True)
    found = await compare_same_tests(run_of(kept="error"), run_of(kept="passed"), shared, with_texts_of_old)
    assert (found.repaired, found.green) == ((), 1), "only the change's conftest.py made it fail"
    unloadable = replace(run_of(), outcomes={"test_shop.py": "error"})
    found = await comparing(unloadable, run_of(kept="passed", new="passed", flawed="passed"))
    assert (found.own, found.added, found.green) == ((), ("test_shop.py::new",), 1)


async def test_a_test_that_was_seen_to_pass_without_the_change_is_not_repaired():
    files = TestFiles(green={"test_shop.py::a"})
    found = await compare_same_tests(run_of(a="failed", b="failed"), run_of(a="passed", b="passed"), files, never)
    assert found.repaired == ("test_shop.py::b",)


def test_a_test_that_was_expected_to_fail_and_passes_by_the_change_turned_red():
    """It passes where it may not (`strict`), so the suite is red, and somebody has to take the mark away."""
    before = TestRun(0, 0, 0, 0.1, "bwrap", "", False, outcomes={"t.py::test_a": "skipped", "t.py::test_b": "skipped"})
    after = replace(before, failed=1, outcomes={"t.py::test_a": "failed", "t.py::test_b": "skipped"})
    found = compare(before, after)
    assert found.broken == ("t.py::test_a",) and found.skipped == ("t.py::test_b",)
