"""What an edit leaves or breaks keeps it from being accepted as written, and is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shop_workspace import traced, workspace_of

from repopilot.assistant import answer
from repopilot.results import Generation

FILES = {
    "lib.py": "class Shape:\n    def area(self):\n        return 1\n\n\ndef grow(rows, by=1):\n    return rows\n",
    "main.py": "from lib import grow\n\n\ndef f(x):\n    return x.area()\n\n\nprint(grow([], by=2))\n",
    "use.py": "from lib import Shape\n\nprint(Shape().area())\n",
    "pyproject.toml": "[tool.ruff]\nline-length = 100  # characters\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "decision", "said"),
    [
        ("/rename Shape.area surface", "MERGE_FEEDBACK", "main.py:5"),
        ("/rename grow enlarge", "ACCEPT_ORIGINAL", "by code"),
        ("/set line-length 120", "ACCEPT_ORIGINAL", "by code"),
    ],
)
async def test_an_edit_that_leaves_something_is_not_accepted_as_written(tmp_path: Path, task, decision, said):
    done, _, _ = await traced(lambda step: answer(task, workspace_of(tmp_path, dict(FILES)), step))
    assert isinstance(done.result, Generation) and done.result.verdict is not None
    assert done.result.verdict.decision == decision
    assert said in done.text
