"""Tasks that a model only restates: code makes the edit, uses all of the task's code, and nothing that isn't in it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.edited import changed_lines, workspace_of
from support.ollama_server import OllamaServer
from support.shop_workspace import traced

from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.exact.recognise import exact_edit, sentence_edit
from repopilot.agents.editing.restated.agent import restated_edit
from repopilot.agents.editing.restated.command_forms import FORMS, command_of_choice, read_command
from repopilot.agents.editing.restated.meaning import meanings
from repopilot.agents.editing.restated.pieces import pieces_of, span_rules, spans_of
from repopilot.llm import choose
from repopilot.llm.resources import ModelResources
from repopilot.settings import Settings
from repopilot.workspace import Workspace

FILES = {
    "box/limits.py": "MOST_TRIES = 3\nKINDS = {\n    'png': 1,\n}\n",
    "box/walk.py": (
        "import os\n\nfrom box.limits import MOST_TRIES\n\n\ndef once(function):\n    return function\n\n\n"
        "def steps(path, quiet, depth=2):\n    return [path, depth] * MOST_TRIES\n\n\n"
        "def qz(path):\n    return steps(path, False)\n\n\n"
        "class Walker:\n    pass\n\n\nclass Quick(Walker):\n    pass\n"
    ),
}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("restated"), FILES)


def made(reply: str, task: str, workspace: Workspace) -> list[str]:
    """The changed lines of the first meaning that fits the code."""
    edits = (sentence_edit(sentence, workspace) for sentence in meanings(reply, task))
    return next((changed_lines(edit) for edit in edits if edit is not None), [])


@pytest.mark.parametrize(
    ("task", "reply", "lines"),
    [
        ("tries at most: 3 -> 5", "set `tries at most` to `5`", ["-MOST_TRIES = 3", "+MOST_TRIES = 5"]),
        ("qz? to me that is a step_list", "rename `qz` to `step_list`", ["-def qz(path):", "+def step_list(path):"]),
        ("KINDS wants 'gif': 2 likewise", "add `'gif': 2` to `KINDS`", ["+'gif': 2,"]),
        ("@once on top of qz", "add `@once` to `qz`", ["+@once"]),
        ("os in box/walk.py: pointless import", "remove `os` from `box/walk.py`", ["-import os"]),
        ("how deep does steps go when nobody says so: depth 4 please", "set `depth` to `4` in `steps`",
         ["-def steps(path, quiet, depth=2):", "+def steps(path, quiet, depth=4):"]),
    ],
)  # fmt: skip
def test_a_command_is_carried_out_as_what_fits_the_code(
    box: Workspace, task: str, reply: str, lines: list[str]
) -> None:
    assert exact_edit(task, box) is None, "the rules read it by now: take a harder wording"
    assert made(reply, task, box) == lines


@pytest.mark.parametrize(
    ("task", "reply"),
    [
        ("rename qz to walk, steps to moves", "rename `qz` to `walk`"),
        ("qz_old and qz: call the latter step_list", "rename `qz` to `walk_2`"),
        ("MOST_TRIES: 5 if it is a server", "set `MOST_TRIES` to `5`"),
        ("get rid of 'png' in KINDS", "add `'png'` to `KINDS`"),
        ("quiet of steps: rename that parameter to silent", "rename `steps` to `silent`"),
        ("walk: `steps(p, True)` is unreadable", "set `quiet` to `True` in `steps`"),
        ("box/walk.py has os plainly, use path", "replace `os` with `path` in `box/walk.py`"),
        ("steps multiplies 'path', an f belongs there", "replace `'path'` with `f` in `steps`"),
        ("another argument of qz, most=3, and pass it on", "add `most=3` to `qz`"),
        ("MOST_TRIES should be an int", "set `MOST_TRIES` to `int`"),
        ("MOST_TRIES from 4 to 5", "set `MOST_TRIES` to `5`"),
        ("qz walks the last step twice, take that out", "delete `qz`"),
        ("what does qz do?", "other"),
        ("what does qz do?", "It walks."),
    ],
)
def test_what_contradicts_the_task_or_the_code_is_not_made(box: Workspace, task: str, reply: str) -> None:
    assert made(reply, task, box) == []


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read_back_from_text_and_from_json(form: str) -> None:
    slots = {name: f"the_{name}" for name in re.findall(r"\{(\w+)\}", form)}
    text = command_of_choice(json.dumps({"command": form, **slots}))
    command = read_command(text)
    assert command is not None and (command.form, dict(command.slots), command.text) == (form, slots, text)


def test_the_grammar_derives_pieces_of_the_task_only() -> None:
    task = 'set `MAX x` in f(a, b) to "no" or 5'
    rules = dict(rule.split(" ::= ", 1) for rule in span_rules(task, pieces_of(task)))

    def derived(rule: str) -> set[str]:
        first, *rest = re.findall(r'"((?:\\.|[^"\\])*)"', rules[rule])
        following = re.search(r"[ (]([cw]\d+)\)\?", rules[rule])
        text = first.replace('\\"', '"')
        more = derived(following[1]) if following else set()
        return {text} | {text + "".join(rest) + each for each in more}

    spans = set().union(*(derived(start) for start in rules["span"].split(" | ")))
    assert {"MAX x", "f", "f(a, b)", "a", '"no"', "5"} <= spans
    assert all(span in task for span in spans) and all(span in task for span in spans_of(task, pieces_of(task)))


async def test_a_server_that_takes_schemas_is_held_to_the_task_and_the_reading_is_shown(
    box: Workspace, tmp_path: Path
) -> None:
    reply = json.dumps({"command": FORMS[0], "name": "qz", "new": "step_list", "old": "", "place": ""})
    with OllamaServer(reply=lambda messages: reply) as server:
        model = await choose.choose(Settings(home=tmp_path, ollama_url=server.url), ModelResources())
        request = EditRequest("qz? to me that is a step_list")
        edit, outline, _ = await traced(lambda step: restated_edit(request, replace(box, model=model), step))
        (body,) = server.state.sent("/api/chat")
    assert changed_lines(edit) == ["-def qz(path):", "+def step_list(path):"]
    assert not edit.by_code and "rename `qz` to `step_list`" in str(edit.notes[0])
    assert outline == "turn\n  restate the task"
    assert "step_list" in body["format"]["$defs"]["slot"]["enum"] and "steps" not in str(body["format"])


def test_json_nested_without_end_is_no_command() -> None:
    assert command_of_choice('{"command": ' + "[" * 100_000) == ""
