"""Edits of small programs: the program prints what it printed, or the edit is refused, or what it leaves is listed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from support.shop_workspace import offline, open_workspace
from tools.test_tools import opened, refusal


class EditCase(NamedTuple):
    """A program, an edit of it, and what happens: `same`, the program prints the same (or its tests pass) and nothing
    is left; `left`, and the result says where; or `refused`, and the message says where."""

    files: dict[str, str]
    tool: str
    arguments: dict[str, Any]
    outcome: str = "same"
    where: str = ""


def _outcome(root: Path) -> tuple[int, str]:
    """What a program prints; of one without a `main.py` whether its tests pass."""
    prints = (root / "main.py").exists()
    words = ["main.py"] if prints else ["-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    # The plugins of this environment take seven times as long to load as pytest.
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-B", *words], cwd=root, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    return done.returncode, done.stdout if prints else ""


async def holds(tmp_path: Path, case: EditCase) -> None:
    """Make the edit of a case, and assert what happens."""
    root = tmp_path / "program"
    for path, text in case.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    async with opened(open_workspace(root, offline(tmp_path / "home"))) as tools:
        if case.outcome == "refused":
            assert case.where in await refusal(tools, case.tool, **case.arguments)
            assert not tools.copy.changes()
            return
        done = await tools(case.tool, **case.arguments)
        before = None if case.outcome == "left" else _outcome(root)
        for path, text in tools.copy.drafts().items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).unlink(missing_ok=True)
            if text is not None:
                (root / path).write_bytes(text.encode())
    if case.outcome == "left":
        assert not done.data["done"] and case.where in done.text
    else:
        assert done.data["done"], done.text
        assert _outcome(root) == before
