"""A change of a few lines by a small model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import answering, traced, workspace_of

from repopilot.agents.coding.blocks import is_complete
from repopilot.agents.coding.excerpts import shown_lines
from repopilot.agents.coding.small import edit_lines
from repopilot.types import Chunk, Hit

LONG = "def long():\n" + "".join(f"    v{n} = {n}\n" for n in range(2, 41)) + "    return locals()\n"


@pytest.mark.slow
async def test_places_near_each_other_are_shown_once_and_changed_together(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, {"long.py": LONG})
    hit = Hit(Chunk("", "long.py", 1, 41, "python", "function", "long", LONG), 1.0, lines=((10, 10), (17, 17)))
    shown = [line for excerpt in shown_lines("more", [hit], workspace) for line in excerpt.lines]
    assert len(shown) == len(set(shown)) and {"    v10 = 10", "    v17 = 17"} <= set(shown)

    blocks = [{"path": "long.py", "search": f"    v{n} = {n}", "replace": f"    v{n} = -{n}"} for n in (13, 20)]
    workspace = replace(workspace, model=answering(lambda prompt: json.dumps({"blocks": blocks})))
    edit, *_ = await traced(lambda step: edit_lines("more", [hit], workspace, step))
    (change,) = edit.changes
    assert change.content == LONG.replace("v13 = 13", "v13 = -13").replace("v20 = 20", "v20 = -20")


def test_a_reply_ends_with_its_last_block_or_where_the_model_copies_lines_as_they_are() -> None:
    def block(old: str, new: str) -> str:
        return f"a.py\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"

    assert not is_complete("") and not is_complete(block("x = 1", "x = 2"))
    assert not is_complete(block("x = 1", "x = 2") + "a.py\n<<<<<<< SEARCH\ny = 1\n")
    assert is_complete(block("x = 1", "x = 2") + block("y = 1", "y = 1"))
    assert is_complete("".join(block(f"{name} = 1", f"{name} = 2") for name in "xyz"))
