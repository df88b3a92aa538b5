"""Refactorings while the language server fails in the middle: the program stays the same, or the edit is refused, or
what it leaves is listed, and it is said."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.language_server import install_failing
from support.shop_workspace import offline, open_workspace
from tools.test_tools import opened

from repopilot.errors import UsageError
from repopilot.sandbox.language_servers import catalogue, session

FILES = {
    "shapes.py": """\
class Shape:
    def area(self, scale=1):
        return 0


class Square(Shape):
    def area(self, scale=1):
        return 4 * scale


def largest(shapes):
    return max(shape.area() for shape in shapes)
""",
    "other.py": "",
    "main.py": """\
from shapes import Shape, Square, largest


def shown(shape: Shape) -> int:
    return shape.area(2)


print(shown(Square()), getattr(Square(), "area")(), largest([Square()]))
""",
}
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "rename": ("rename_symbol", {"name": "Shape.area", "new_name": "size"}),
    "rename an override": ("rename_symbol", {"name": "Square.area", "new_name": "size"}),
    "move": ("move_symbol", {"name": "Shape", "to_path": "other.py"}),
    "signature": ("change_signature", {"name": "Shape.area", "rename": {"scale": "factor"}}),
    "callers": ("callers", {"name": "Shape.area"}),
}
FAILURES = {
    "dies at once": ("die", "textDocument/definition", 0),
    "dies later": ("die", "textDocument/definition", 12),
    "dies at hierarchies": ("die", "textDocument/implementation", 0),
    "dies at probes": ("die", "textDocument/didChange", 0),
    "dies after the edit": ("die", "textDocument/didChange", 4),
    "hangs": ("hang", "textDocument/implementation", 0),
    "talks nonsense": ("nonsense", "textDocument/implementation", 1),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "it"
    root.mkdir()
    for path, text in FILES.items():
        (root / path).write_text(text)
    return root


def printed(folder: Path) -> str:
    command = [sys.executable, "-B", "main.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr[-400:]


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
@pytest.mark.sampled(8)
async def test_a_tool_outlives_its_server(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: tuple[str, dict[str, Any]],
    failure: tuple[str, str, int],
) -> None:
    program = install_failing(tmp_path / "bin", *failure)
    rows = [replace(row, patience=1.5, beside=("real",)) if row.name == "ty" else row for row in catalogue.SERVERS]
    monkeypatch.setattr(catalogue, "SERVERS", tuple(rows))
    monkeypatch.setattr(session, "program_of", lambda *_: program)
    before, name = printed(folder), tool[0]
    async with opened(open_workspace(folder, offline(tmp_path / "home"))) as tools:
        try:
            done = await tools(name, **tool[1])
        except UsageError:
            assert not tools.copy.changes()
            return
        notes = tools.copy.resolver.notes
        if name == "callers":
            assert "main.py" in str(done.data)
            return
        for path, text in tools.copy.drafts().items():
            (folder / path).write_text(text or "")
        assert not done.data["done"] or printed(folder) == before, (notes, done.text)
        assert not notes or str(notes[0]) in done.text
