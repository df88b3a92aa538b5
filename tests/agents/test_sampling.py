"""What a small model writes has no fault, and stands in time, or there is none."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import answering, traced, workspace_of

from repopilot.agents.coding.small import edit_lines
from repopilot.errors import GenerationFailed
from repopilot.llm.speed.model_speed import Speed

CODE = "LIMIT = 3\n\n\ndef price(item):\n    return LIMIT\n"


async def made(tmp_path: Path, lines: list[str], speed: Speed | None = None, seconds: float = 15.0):
    """The edit, and how many replies were asked for, where the model writes these lines in turn for the last one."""
    asked: list[str] = []

    def reply(prompt: str) -> str:
        asked.append(prompt)
        new = lines[min(len(asked), len(lines)) - 1]
        return json.dumps({"blocks": [{"path": "a.py", "search": "    return LIMIT", "replace": new}]})

    model = replace(answering(reply), speed=speed)
    workspace = replace(workspace_of(tmp_path, {"a.py": CODE}), model=model)
    ends = time.monotonic() + seconds
    try:
        edit, *_ = await traced(lambda step: edit_lines("price in a.py is doubled", (), workspace, step, ends))
    except GenerationFailed as error:
        return error, len(asked)
    return edit, len(asked)


@pytest.mark.slow
async def test_a_reply_with_a_fault_is_followed_by_another(tmp_path: Path):
    edit, asked = await made(tmp_path, ["    return DOUBLE", "    return 2 * LIMIT"])
    assert asked == 2 and edit.changes[0].content.endswith("    return 2 * LIMIT\n") and not edit.notes


@pytest.mark.slow
async def test_where_every_reply_has_a_fault_none_is_shown_and_the_fault_is_said(tmp_path: Path):
    error, _ = await made(tmp_path, ["    return DOUBLE"])
    assert isinstance(error, GenerationFailed) and "DOUBLE" in error.message


@pytest.mark.parametrize("speed", [Speed(1.0, 100.0), Speed(1000.0, 1.0)])
async def test_a_model_that_cannot_reply_in_time_is_not_asked(tmp_path: Path, speed: Speed):
    error, asked = await made(tmp_path, ["    return 2 * LIMIT"], speed)
    assert isinstance(error, GenerationFailed) and not asked
