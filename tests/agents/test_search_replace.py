"""Lines that a model replaces: they are found by code, and what is written stands in the task or in the repository."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.edited import changed_lines, workspace_of
from support.ollama_server import OllamaServer
from support.shop_workspace import traced

from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.search_replace.accepted import invented, is_hopeless, replacements
from repopilot.agents.editing.search_replace.agent import _excerpts, replaced_lines
from repopilot.agents.editing.search_replace.as_command import exchanged
from repopilot.agents.editing.search_replace.blocks import (
    SearchReplaceBlock,
    block_grammar,
    blocks_of_json,
    read_blocks,
)
from repopilot.agents.editing.search_replace.excerpts import MOST_EXCERPTS, LineExcerpt, choose_excerpts
from repopilot.llm import choose
from repopilot.llm.resources import ModelResources
from repopilot.settings import Settings
from repopilot.tools.new_errors import unknown_members
from repopilot.workspace import Workspace

KEYS = (
    "import os\n\nHARDWARE = False\nFORMATS = [\n    b'ssh-rsa',\n    b'ssh-dss',\n]\n\n\ndef is_key(data):\n"
    "    # one of the known formats\n    return data.split()[0] in FORMATS\n\n\ndef other(data):\n"
    "    if data is None:\n        raise TypeError('no data')\n    return data\n"
)
FILES = {
    "box/keys.py": KEYS,
    "box/uses.py": "from box.keys import is_key\n\n\ndef ask(data):\n    return is_key(data)\n",
    "box/long.py": "".join(f"VALUE_{n} = {n}\n" for n in range(300)),
    "README.md": "# Box\n\nKeys of the formats rsa and dss are known.\n",
}
ADD = "is_key doesn't know hardware keys: add b'sk-ed25519' to the formats"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("blocks"), FILES)


def chosen(task: str, box: Workspace, named: tuple[str, ...] = ()) -> list[LineExcerpt]:
    outlines = {path: box.index.outline(path) for path in FILES}
    return choose_excerpts(task, {path: box.index.text(path) or "" for path in FILES}, outlines, named)


def test_the_lines_shown_are_those_that_have_the_words_of_the_task(box: Workspace) -> None:
    best, *others = chosen(ADD, box)
    assert best.path == "box/keys.py"
    assert {"FORMATS = [", "    b'ssh-dss',", "]", "def is_key(data):"} <= set(best.lines)
    assert len(others) < MOST_EXCERPTS
    named = chosen("the VALUE_250 of all things should be 3", box)
    assert any("VALUE_250 = 250" in e.lines for e in named if e.path == "box/long.py")
    assert chosen("no zebras", box, ("box/uses.py",)) == []


@given(st.lists(st.sampled_from(["alpha = 1", "beta(2)", "", "    return gamma", "# zeta"]), max_size=80))
def test_excerpts_are_lines_of_their_file_and_do_not_overlap(lines: list[str]) -> None:
    found = choose_excerpts("make alpha and gamma 3", {"a.py": "\n".join(lines)}, {}, ())
    places = [n for e in found for n in range(e.first, e.first + len(e.lines))]
    assert len(places) == len(set(places))
    assert all(list(e.lines) == lines[e.first : e.first + len(e.lines)] for e in found)
    assert all(len(e.lines) == len(e.changeable) for e in found)


def test_each_rule_of_the_grammar_is_defined_once_and_signs_are_escaped() -> None:
    lines = ('say("hi\\n")', "\tx = 1", "", "y")
    grammar = block_grammar([LineExcerpt("a.py", 3, lines, (True,) * 4), LineExcerpt("b.py", 0, ("z",), (True,))])
    heads = re.findall(r"^(\w+) ::=", grammar, re.M)
    used = set(
        re.findall(r"\b(?:block|text|new|[bls]\d+(?:x\d+)?)\b", re.sub(r'"(?:\\.|[^"\\])*"|\[.*?\]', " ", grammar))
    )
    assert len(heads) == len(set(heads)) and used <= set(heads)
    assert '"say(\\"hi\\\\n\\")"' in grammar and '"\\tx = 1"' in grammar
    assert "l0x2 l0x3" not in re.search(r"^s0 ::= .*", grammar, re.M)[0].split(" | ")[-1]


REPLY = """box/keys.py
<<<<<<< SEARCH
    b'ssh-dss',
=======
    b'ssh-dss',
    b'sk-ed25519',
>>>>>>> REPLACE
box/keys.py
<<<<<<< SEARCH
HARDWARE = False
=======
HARDWARE = True
>>>>>>> REPLACE
box/keys.py
<<<<<<< SEARCH
import os
"""


def test_complete_blocks_are_read(box: Workspace) -> None:
    assert read_blocks(REPLY) == [
        SearchReplaceBlock("box/keys.py", ("    b'ssh-dss',",), ("    b'ssh-dss',", "    b'sk-ed25519',")),
        SearchReplaceBlock("box/keys.py", ("HARDWARE = False",), ("HARDWARE = True",)),
    ]
    assert read_blocks("I would add it.") == [] == blocks_of_json("[]") == blocks_of_json('{"blocks": ' + "[" * 99_999)


def test_what_comes_behind_a_finished_task_is_left_out(box: Workspace) -> None:
    made = replacements(read_blocks(REPLY), chosen(ADD, box), ADD)
    assert [r.new for r in made] == [("    b'ssh-dss',", "    b'sk-ed25519',")]
    both = f"{ADD}, and HARDWARE is True as well"
    assert len(replacements(read_blocks(REPLY), chosen(both, box), both)) == 2


@pytest.mark.parametrize(
    ("task", "new", "left"),
    [
        (ADD, ("    b'sk-ed25519',",), ("    b'ssh-dss',", "    b'sk-ed25519',")),
        ("replace b'ssh-dss' by b'sk-ed25519'", ("    b'sk-ed25519',",), ("    b'sk-ed25519',",)),
        ("the format b'ssh-dss' is called b'ssh-dsa'", ("    b'ssh-dsa',",), ("    b'ssh-dsa',",)),
    ],
)
def test_lines_that_were_left_out_stay_unless_the_task_removes(
    box: Workspace, task: str, new: tuple[str, ...], left: tuple[str, ...]
) -> None:
    block = SearchReplaceBlock("box/keys.py", ("    b'ssh-dss',",), new)
    assert [r.new for r in replacements([block], chosen(task, box), task)] == [left]


def test_a_block_that_changes_nothing_or_something_else_is_left_out(box: Workspace) -> None:
    blocks = [
        SearchReplaceBlock("box/keys.py", ("HARDWARE = False",), ("", "HARDWARE = False")),
        SearchReplaceBlock("box/keys.py", ("import os",), ("import sys",)),
        SearchReplaceBlock("box/gone.py", ("import os",), ("import hardware",)),
        SearchReplaceBlock("box/keys.py", ("]",), ("]", "HARDWARE = False")),
    ]
    for block in blocks:
        assert replacements([block], chosen(ADD, box), ADD) == []


def test_a_reply_that_only_copies_or_is_about_something_else_is_not_read_to_its_end(box: Workspace) -> None:
    same = SearchReplaceBlock("box/keys.py", ("HARDWARE = False",), ("HARDWARE = False",))
    other_same = SearchReplaceBlock("box/keys.py", ("FORMATS = [",), ("FORMATS = [",))
    stray = SearchReplaceBlock("box/keys.py", ("]",), ("]", "HARDWARE = False"))
    good = read_blocks(REPLY)[0]
    excerpts = chosen(ADD, box)
    for blocks in ([same, same], [same, other_same], [stray], [same, stray]):
        assert is_hopeless(blocks, excerpts, ADD)
    for blocks in ([], [same], [good], [same, good], [good, same, same]):
        assert not is_hopeless(blocks, excerpts, ADD)


def test_names_and_numbers_from_nowhere_are_noticed(box: Workspace) -> None:
    block = SearchReplaceBlock(
        "box/keys.py", ("    b'ssh-dss',",), ("    b'ssh-dss',", "    HARDWARE_KEYS, 12, FORMATS, os")
    )
    made = replacements([block], chosen(ADD, box), ADD)
    assert invented(made, ADD, lambda path, name: name in KEYS) == ["HARDWARE_KEYS", "12"]
    assert invented(made, f"{ADD}; HARDWARE_KEYS 12", lambda path, name: name in KEYS) == []


def test_one_name_for_another_is_a_rename() -> None:
    block = SearchReplaceBlock("a.py", ("def qz(p):",), ("def steps(p):",))
    excerpts = [LineExcerpt("a.py", 0, block.old, (True,))]
    task = "qz? I'd call it steps"
    assert exchanged(replacements([block], excerpts, task), task) == ("qz", "steps")
    assert exchanged(replacements([block], excerpts, "qz: steps"), "qz walks") is None


async def answered(box: Workspace, home: Path, task: str, *blocks: tuple[str, str, str]):
    reply = json.dumps({"blocks": [dict(zip(("path", "search", "replace"), block, strict=True)) for block in blocks]})
    with OllamaServer(reply=lambda messages: reply) as server:
        model = await choose.choose(Settings(home=home, ollama_url=server.url), ModelResources())
        work = replace(box, model=model)
        edit, outline, _ = await traced(lambda step: replaced_lines(EditRequest(task), work, step))
        bodies = server.state.sent("/api/chat")
    return edit, outline, bodies


async def test_a_server_that_takes_schemas_is_held_to_the_lines_shown(box: Workspace, tmp_path: Path) -> None:
    block = ("box/keys.py", "    b'ssh-dss',", "    b'ssh-dss',\n    b'sk-ed25519',")
    edit, outline, (body,) = await answered(box, tmp_path, ADD, block)
    assert changed_lines(edit) == ["+b'sk-ed25519',"] and not edit.by_code
    assert outline == "turn\n  find the lines\n  replace lines"
    item = body["format"]["properties"]["blocks"]["items"]["properties"]
    assert "    b'ssh-dss'," in item["search"]["enum"] and "box/keys.py" in item["path"]["enum"]


async def test_a_name_that_is_put_for_another_changes_wherever_it_is_used(box: Workspace, tmp_path: Path) -> None:
    task = "box/keys.py: is_key is a poor name, known_key says more"
    edit, _, _ = await answered(box, tmp_path, task, ("box/keys.py", "def is_key(data):", "def known_key(data):"))
    assert {change.path for change in edit.changes} == {"box/keys.py", "box/uses.py"}
    assert not edit.by_code and "rename `is_key` to `known_key`" in edit.notes[0]


@pytest.mark.parametrize(
    "block",
    [
        ("box/keys.py", "    b'ssh-dss',", "    b'ssh-dss',\n    b'hardware',"),
        ("box/keys.py", "    b'ssh-dss',", "    b'ssh-dss',\n    b'sk-ed25519', fido2_keys,"),
        ("box/keys.py", "    b'ssh-dss',", "    b'ssh-dss',\n    b'sk-ed25519"),
        ("box/keys.py", "    b'ssh-dss',", "    b'ssh-dss',"),
        ("box/keys.py", "    # one of the known formats", "    # one of the known formats, as b'sk-ed25519'"),
        ("box/keys.py", "    return data", "    return b'sk-ed25519'\n    return data"),
        ("README.md", "# Box", "# Box\n- b'sk-ed25519'"),
    ],
)
async def test_what_is_missing_invented_broken_or_nothing_is_not_offered(
    box: Workspace, tmp_path: Path, block: tuple[str, str, str]
) -> None:
    edit, outline, _ = await answered(box, tmp_path, ADD, block)
    assert edit is None and "replace lines" in outline


def test_a_plain_word_that_is_a_definition_finds_it_alone(tmp_path: Path) -> None:
    files = {
        "box/sums.py": "def ceildiv(a, b):\n    return -(-a // b)\n",
        "box/checks.py": "".join(f"def check_{n}(x):\n    raise ValueError('zero {n}')\n\n\n" for n in range(9)),
    }
    box = workspace_of(tmp_path, files)
    task = "ceildiv should raise a ValueError when b is zero"
    found = _excerpts(EditRequest(task), task, box)
    assert [e.path for e in found] == ["box/sums.py"]


@pytest.mark.parametrize(
    ("line", "accepted"),
    [
        ("    if b == 0:", True),
        ("    if b == 7:", False),
        ("    if c == 0:", False),
    ],
)
async def test_what_nothing_defines_is_not_accepted(line: str, accepted: bool, tmp_path: Path) -> None:
    box = workspace_of(tmp_path / "box", {"box/sums.py": "def ceildiv(a, b):\n    return -(-a // b)\n"})
    old, new = "    return -(-a // b)", f"{line}\n        raise ValueError\n    return -(-a // b)"
    task = "ceildiv should raise a ValueError when b is zero (not c)"
    edit, _, _ = await answered(box, tmp_path, task, ("box/sums.py", old, new))
    assert (edit is not None) == accepted


def test_members_that_nothing_defines_are_unknown() -> None:
    before = "class A:\n    def run(self):\n        self.one()\n"
    after = before + "        self.two()\n        self.three = 1\n        self.three += self.four\n"
    assert unknown_members(before, after, {"four"}.__contains__) == ["two"]
