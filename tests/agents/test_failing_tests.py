"""A failing test that the task names: it shows where to look, and judges the versions, in the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shop_workspace import shop_workspace, traced

from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.failing_tests import named_test, with_failing_test, without_tests
from repopilot.tools import file_change
from repopilot.workspace import Workspace

PACE = """def pace(minutes, miles):
    return _rounded(minutes / miles)


def _rounded(value):
    return int(value)


def idle():
    return 0
"""
TESTS = """import pytest
from pace import idle, pace


@pytest.mark.parametrize("minutes", [15, 17])
def test_pace(minutes):
    assert pace(minutes, 2) == minutes / 2


def test_idle():
    assert idle() == 0
"""


@pytest.fixture(scope="module")
def paced(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return shop_workspace(tmp_path_factory.mktemp("pace"), {"pace.py": PACE, "tests/test_pace.py": TESTS})


async def prepared(workspace: Workspace, task: str) -> EditRequest:
    root = workspace.snapshot.root
    assert root is not None
    request, *_ = await traced(lambda step: with_failing_test(EditRequest(task), workspace, Path(root), step))
    return request


@pytest.mark.slow
async def test_a_failing_test_tells_what_it_ran_and_judges_versions(paced: Workspace) -> None:
    request = await prepared(paced, "round less: tests/test_pace.py::test_pace fails")
    assert request.failing is not None and request.passes is not None
    assert set(request.failing.calls.order) == {("pace.py", "pace"), ("pace.py", "_rounded")}
    assert "assert 7 == " in request.failing.error and "def test_pace(minutes)" in request.failing.text
    right = file_change.change("pace.py", PACE.replace("int(value)", "value"), PACE)
    wrong = file_change.change("pace.py", PACE.replace("int(value)", "round(value)"), PACE)
    assert await request.passes((right,)) and not await request.passes((wrong,))


@pytest.mark.parametrize(
    "task",
    [
        "Round less\n\nThis test fails: tests/test_pace.py::test_pace[15]",
        "Round less tests/test_pace.py::T::test_pace fails.",
        "Round less `tests/test_pace.py::test_pace`",
    ],
)
def test_the_file_of_the_test_is_not_the_place_to_edit(task: str) -> None:
    assert without_tests(task) == "Round less"


@pytest.mark.slow
async def test_a_test_file_that_can_not_be_imported_fails_as_well(paced: Workspace, tmp_path: Path) -> None:
    broken = TESTS.replace("import idle, pace", "import idle, pace, stride")
    workspace = shop_workspace(tmp_path, {"pace.py": PACE, "tests/test_pace.py": broken})
    request = await prepared(workspace, "add a function stride: tests/test_pace.py::test_idle")
    assert request.failing is not None and "stride" in request.failing.error and request.passes is not None
    more = file_change.change("pace.py", f"{PACE}\n\ndef stride():\n    return 1\n", PACE)
    assert not await request.passes((more,)), "test_pace still fails, and can't be left out by its name"


@pytest.mark.slow
async def test_a_test_that_passes_is_no_failing_one(paced: Workspace) -> None:
    request = await prepared(paced, "speed up tests/test_pace.py::test_idle")
    assert request.failing is None and request.passes is None


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("tests/test_pace.py::test_pace[15] fails", "tests/test_pace.py::test_pace"),
        ("fix pace.py::pace", None),
        ("tests/test_other.py::test_x fails", None),
    ],
)
def test_only_tests_of_the_repository_are_named(paced: Workspace, task: str, expected: str | None) -> None:
    found = named_test(task, paced.index)
    assert (found.id if found else None) == expected
