"""A model's change that does more than was asked and breaks tests by it is tried without what wasn't asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shop_workspace import traced, workspace_of

from repopilot.agents.generate.edit_tests import choose_by_tests
from repopilot.agents.generate.evidence import Examination
from repopilot.agents.generate.partial_changes import partial_changes
from repopilot.tools import file_change

ZONES = """import names


def zone(text):
    if text == "utc":
        return 0
    if text == "local":
        return 1
    return names.find(text)
"""
FILES = {
    "zones.py": ZONES,
    "names.py": "def find(text):\n    return {'Paris': 2}[text]\n",
    "test_zones.py": "from zones import zone\n\ndef test_names():\n    assert (zone('Paris'), zone('utc')) == (2, 0)\n",
}
TASK = "zone should take 'utc' and 'local' in any letter case"
FIRST, SECOND = 'text.lower() == "utc"', 'text.lower() == "local"'
WANTED = ZONES.replace('text == "utc"', FIRST).replace('text == "local"', SECOND)
TOO_MUCH = WANTED.replace("names.find(text)", "names.find(text.lower())")


def partial(new: str, task: str = TASK, old: str | None = ZONES) -> list[str]:
    change = file_change.change("zones.py", new, ZONES)
    return [found.content for (found,) in partial_changes((change,), task, lambda path: old)]


def test_only_parts_that_the_task_does_not_speak_of_are_left_out() -> None:
    assert partial(TOO_MUCH) == [WANTED]
    further = TOO_MUCH.replace("import names", "import names  # all")
    assert partial(further)[-1] == WANTED and len(partial(further)) == 3


@pytest.mark.parametrize(
    ("new", "task", "old"), [(WANTED, TASK, ZONES), (TOO_MUCH, "be lenient", ZONES), (TOO_MUCH, TASK, None)]
)
def test_where_nothing_tells_what_was_asked_all_stays(new: str, task: str, old: str | None) -> None:
    assert partial(new, task, old) == []


def test_line_ends_are_kept() -> None:
    stored = ZONES.replace("\n", "\r\n")
    change = file_change.change("zones.py", TOO_MUCH.replace("\n", "\r\n"), stored)
    ((found,),) = partial_changes((change,), TASK, lambda path: stored)
    assert found.content == WANTED.replace("\n", "\r\n")


@pytest.mark.slow
async def test_secrets_and_line_ends_stay_as_they_are_in_the_file(tmp_path: Path) -> None:
    secret = 'API_TOKEN = "ghp_' + "a1B2c3D4e5" * 3 + 'f6G7h8"\r\n'
    stored = secret + ZONES.replace("\n", "\r\n")
    workspace = workspace_of(tmp_path, {**FILES, "zones.py": stored})
    assert "REDACTED" in (workspace.index.text("zones.py") or "")
    change = file_change.change("zones.py", secret + TOO_MUCH.replace("\n", "\r\n"), stored)
    examination = Examination(TASK, workspace, workspace.snapshot.root)
    done, _, _ = await traced(lambda step: choose_by_tests(examination, [(change,)], step))
    assert done.changes[0].content == secret + WANTED.replace("\n", "\r\n")
    assert "REDACTED" not in done.changes[0].diff and done.changes[0].diff.count("\n-") == change.diff.count("\n-") - 1


@pytest.mark.slow
async def test_what_breaks_tests_and_was_not_asked_for_is_left_out(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, FILES)
    change = file_change.change("zones.py", TOO_MUCH, ZONES)
    examination = Examination(TASK, workspace, workspace.snapshot.root)
    done, outline, _ = await traced(lambda step: choose_by_tests(examination, [(change,)], step))
    assert done.changes[0].content == WANTED and done.report.broken == ()
    assert "version 2" in outline
