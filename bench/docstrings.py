"""Docstring → function: removes the docstrings of an installed package and uses them as queries."""

from __future__ import annotations

import ast
import random
import sysconfig
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

LEAST_WORDS, MOST_WORDS, WANTED = 5, 40, 100
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Described:
    """A function by the first paragraph of its docstring. `line` is that of its `def`."""

    docstring: str
    path: str
    line: int


def docstring_set(package: str, folder: Path) -> tuple[Path, list[Described]]:
    """Write the package without docstrings below `folder`, every line in its place. Returns the root and a fixed
    sample of the docstrings that name one function only."""
    source, root = Path(sysconfig.get_path("purelib")) / package, folder / package
    found: list[Described] = []
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source.parent).as_posix()
        try:
            text, described = stripped(path.read_text("utf-8"), name)
        except (SyntaxError, UnicodeDecodeError):
            continue
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        if "/tests/" not in name:
            found += described
    often = Counter(item.docstring for item in found)
    unique = [item for item in found if often[item.docstring] == 1]
    return root, random.Random(3).sample(unique, min(WANTED, len(unique)))


def stripped(text: str, name: str) -> tuple[str, list[Described]]:
    """Source with blank lines, or `pass`, in place of its docstrings; and the functions these described."""
    lines, found = text.split("\n"), []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (*_FUNCTION, ast.ClassDef, ast.Module)) or not ast.get_docstring(node):
            continue
        first = node.body[0]
        lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
        lines[first.lineno - 1] = " " * first.col_offset + ("pass" if len(node.body) == 1 else "")
        summary = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
        if isinstance(node, _FUNCTION) and LEAST_WORDS <= len(summary.split()) <= MOST_WORDS:
            found.append(Described(summary, name, node.lineno))
    return "\n".join(lines), found
