"""Tasks in a colleague's words: what is wanted is read from a few words, what it is wanted of from the code."""

from __future__ import annotations

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "kiln/__init__.py": 'from kiln.heat import heat_up\n\n__all__ = ["heat_up"]\n',
    "kiln/heat.py": (
        '"""Heating."""\n\nimport os\nfrom kiln.probe import Probe, read_probe\n\nKINDS = {"gas": 1, "wood": 2}\n\n\n'
        "def heat_up(probe, target, fast=False, retries=5):\n"
        "    tmpVal = read_probe(probe)\n"
        "    return _step(tmpVal, target) if fast else tmpVal + retries\n\n\n"
        "def _step(now, goal):\n    return min(now + 5, goal)\n\n\n"
        "def cool_down(probe):\n    return read_probe(probe)\n"
    ),
    "kiln/probe.py": (
        '"""Probes."""\n\nimport os\n\n\nclass Probe:\n    """A probe."""\n\n'
        "    def getTemp(self):\n        return 3\n\n\n"
        "def read_probe(p):\n    return p.getTemp()\n\n\ndef unusedOne():\n    return 1\n"
    ),
    "tests/test_heat.py": (
        "from kiln.heat import _step, heat_up\nfrom kiln.probe import Probe\n\n\n"
        "def test_heat():\n    assert heat_up(Probe(), 5, True) == 5\n    assert _step(1, 9) == 6\n"
    ),
}


@pytest.fixture(scope="module")
def kiln(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("kiln"), FILES)


def new_texts(kiln: Workspace, task: str) -> dict[str, str]:
    return texts(edited(kiln, task))


@pytest.mark.parametrize(
    "task",
    [
        "getTemp doesn't look like Python, it should be called `temperature`.",
        "`getTemp` tells nobody anything. Call it temperature, the tests have to follow of course.",
        "On devrait appeler getTemp `temperature`, tout simplement.",
        "could Probe.getTemp get a better name? rename it to `temperature` please, read_probe uses it",
    ],
)
def test_of_two_names_the_one_that_exists_is_the_old_one(kiln: Workspace, task: str) -> None:
    new = new_texts(kiln, task)
    assert "def temperature(self)" in new["kiln/probe.py"] and "p.temperature()" in new["kiln/probe.py"]


def test_a_variable_is_renamed_in_the_function_that_is_named(kiln: Workspace) -> None:
    new = new_texts(kiln, "snake_case please: tmpVal in heat_up -> reading")
    assert "reading = read_probe(probe)" in new["kiln/heat.py"] and "tmpVal" not in new["kiln/heat.py"]


@pytest.mark.parametrize(
    "task",
    [
        "_step takes its arguments the wrong way round, swap them (the test calls it too).",
        "`_step` should take the goal first and now second",
        "In _step, `goal` belongs before now.",
    ],
)
def test_parameters_change_places_with_the_arguments_of_the_calls(kiln: Workspace, task: str) -> None:
    new = new_texts(kiln, task)
    assert "def _step(goal, now)" in new["kiln/heat.py"] and "_step(target, tmpVal)" in new["kiln/heat.py"]
    assert "_step(9, 1)" in new["tests/test_heat.py"]


@pytest.mark.parametrize(
    "task",
    [
        "heat_up(probe, 5, True) is unreadable: callers should have to name `fast`.",
        "Nobody should pass fast to heat_up by position, make it keyword-only and fix the test.",
    ],
)
def test_a_parameter_is_passed_by_name_only(kiln: Workspace, task: str) -> None:
    new = new_texts(kiln, task)
    assert "def heat_up(probe, target, *, fast=False, retries=5)" in new["kiln/heat.py"] or (
        "def heat_up(probe, target, retries=5, *, fast=False)" in new["kiln/heat.py"]
    )
    assert "heat_up(Probe(), 5, fast=True)" in new["tests/test_heat.py"]


@pytest.mark.parametrize(
    "task",
    [
        "read_probe has little to do with probes, it belongs into kiln/heat.py.",
        "Why is read_probe in probe.py? It's only used for heating; put it next to cool_down.",
    ],
)
def test_a_definition_moves_to_where_it_belongs(kiln: Workspace, task: str) -> None:
    new = new_texts(kiln, task)
    assert "def read_probe(p)" in new["kiln/heat.py"] and "def read_probe" not in new["kiln/probe.py"]


def test_an_import_that_nothing_uses_goes(kiln: Workspace) -> None:
    new = new_texts(kiln, "probe.py still imports os although nothing needs it there. drop that one")
    assert list(new) == ["kiln/probe.py"] and "import os" not in new["kiln/probe.py"]


def test_an_entry_is_written_like_its_siblings(kiln: Workspace) -> None:
    assert '"peat": 3' in new_texts(kiln, "KINDS lacks peat → 3")["kiln/heat.py"]


def test_a_default_is_set_where_function_and_parameter_are_named(kiln: Workspace) -> None:
    new = new_texts(kiln, "5 tries are too many for heat_up, retries had better be 2 by default")
    assert "retries=2" in new["kiln/heat.py"]


def test_the_reading_is_told_with_the_edit(kiln: Workspace) -> None:
    outcome = exact_edit("`getTemp` tells nobody anything. Call it temperature.", kiln)
    assert outcome is not None
    assert str(outcome.notes[0]) == "Read as “rename getTemp to temperature”, made by code."
    plain = exact_edit("rename getTemp to temperature", kiln)
    assert plain is not None and not any("Read as" in note for note in plain.notes)


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ("the number of steps should go from 5 to 7 in `_step`", "return min(now + 7, goal)"),
        ("_step should use `max(now + 5, goal)` instead of `min(now + 5, goal)`", "return max(now + 5, goal)"),
        ("dans `_step`, `now + 6` au lieu de `now + 5`", "return min(now + 6, goal)"),
    ],
)
def test_a_value_is_exchanged_where_the_code_has_the_old_one(kiln: Workspace, task: str, line: str) -> None:
    assert line in new_texts(kiln, task)["kiln/heat.py"]


def test_a_function_is_found_by_the_words_of_its_name(kiln: Workspace) -> None:
    new = new_texts(kiln, "Whatever heats the kiln up should take `retries` by name only")
    assert "def heat_up(probe, target, fast=False, *, retries=5)" in new["kiln/heat.py"]


@pytest.mark.parametrize(
    "task",
    [
        "Set `retries=5` on `heat_up()` for `cool_down()`",
        "make fast a mandatory keyword-only argument of heat_up",
        "Rename getTemp to temperature, but keep a deprecated alias for a release.",
        "the method of Probe that read_probe calls gets a new name, `temperature`",
        "heat_up should call a new helper called `warm_up` first",
        "make fast keyword-only in heat_up and add a log line when it is used",
        "_step is called with the goal second; raise a ValueError when the goal comes first",
        "move read_probe to kiln/heat.py and let it return None for a broken probe; then delete the file",
    ],
)
def test_half_of_what_is_asked_for_is_not_done(kiln: Workspace, task: str) -> None:
    assert exact_edit(task, kiln) is None


def test_why_the_one_thing_that_is_meant_cannot_be_done_is_said(kiln: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="retries"):
        exact_edit("In heat_up, `retries` should come before `probe`.", kiln)


def test_to_name_an_argument_is_no_rename(kiln: Workspace) -> None:
    new = new_texts(kiln, "callers of heat_up should have to name retries")
    assert "def heat_up(probe, target, fast=False, *, retries=5)" in new["kiln/heat.py"]


@pytest.mark.parametrize(
    "task",
    [
        "Shorten `getTemp` to `temperature_now`.",
        "I keep mistyping getTemp. Could the method be temperature_now from now on?",
        "La méthode getTemp s'appelle désormais temperature_now, partout.",
    ],
)
def test_a_definition_and_a_name_that_stands_nowhere_are_a_rename(kiln: Workspace, task: str) -> None:
    assert "def temperature_now(self)" in new_texts(kiln, task)["kiln/probe.py"]


@pytest.mark.parametrize(
    "task",
    [
        "Let getTemp raise `SensorBroken`.",
        "getTemp has to be added to `all_getters`.",
        "Set the kind of getTemp to `degrees_kind`.",
    ],
)
def test_another_wish_with_a_new_name_is_no_rename(kiln: Workspace, task: str) -> None:
    outcome = exact_edit(task, kiln)
    assert outcome is None or "rename" not in {edit.kind for edit in outcome.edits}


@pytest.mark.parametrize(
    "task",
    [
        "split `_step` and `cool_down` out of kiln/heat.py into a new kiln/steps.py",
        "_step and cool_down would be happier in a kiln/steps.py of their own, nothing of them left behind in heat.",
        "Il faudrait sortir _step et cool_down de heat.py et les mettre dans un nouveau kiln/steps.py.",
    ],
)
def test_several_definitions_get_a_file_of_their_own(kiln: Workspace, task: str) -> None:
    new = new_texts(kiln, task)
    assert "def _step(" in new["kiln/steps.py"] and "def cool_down(" in new["kiln/steps.py"]
    assert "def _step(" not in new["kiln/heat.py"] and "def cool_down(" not in new["kiln/heat.py"]
    assert "from kiln.steps import _step" in new["tests/test_heat.py"]


def test_a_parameter_named_in_another_sentence_is_removed(tmp_path) -> None:
    files = {"kiln.py": "def fire(wood, colour=None):\n    return wood\n\n\nfire(1, colour=2)\n"}
    new = texts(edited(workspace_of(tmp_path, files), "`fire` never looks at `colour`. Drop that parameter."))
    assert new["kiln.py"] == "def fire(wood):\n    return wood\n\n\nfire(1)\n"


def test_a_file_that_the_task_names_and_nothing_changes_is_pointed_out(tmp_path) -> None:
    files = {**FILES, "bench.py": 'NAME = "pro" + "be"\n'}
    outcome = edited(workspace_of(tmp_path, files), "rename kiln/probe.py to kiln/sensor.py, bench.py has to follow")
    assert any("bench.py" in note for note in outcome.notes)
    assert not any("bench.py" in note for note in edited(workspace_of(tmp_path / "b", FILES), RENAMING).notes)


RENAMING = "rename kiln/probe.py to kiln/sensor.py"


@pytest.mark.parametrize(
    "task",
    [
        'cool_down has no docstring: "Let it cool on its own."',
        'cool_down lacks a docstring. It could be "Let it cool on its own."',
        'Il manque une docstring à cool_down : "Let it cool on its own."',
    ],
)
def test_a_docstring_that_is_given_is_written(kiln: Workspace, task: str) -> None:
    assert 'def cool_down(probe):\n    """Let it cool on its own."""\n' in new_texts(kiln, task)["kiln/heat.py"]


def test_a_docstring_that_is_spoken_of_is_none_to_write(kiln: Workspace) -> None:
    assert exact_edit('the docstring of Probe says "A probe." and should say more', kiln) is None
