"""Adds imports that small models forget: names that exactly one file of the repository defines, and those of the
standard library."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath

from repopilot.code.languages import is_test_path
from repopilot.code.python_ast import read_python
from repopilot.index.store import Index
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.tools import file_change
from repopilot.tools.file_change import Changes, with_line_ends
from repopilot.tools.verifying.new_errors import errors_in
from repopilot.types import FileChange

_MUCH_USED = tuple("dataclasses functools itertools contextlib pathlib collections collections.abc typing".split())
"""Modules whose names are unambiguous; a name that two of them have is imported from the first."""
_UNDEFINED = re.compile(r"Undefined name `(\w+)`")
"""Ruff's message about an undefined name."""


def with_missing_imports(changes: Changes, index: Index) -> Changes:
    """The files with missing imports added; see `with_imports`."""
    found: list[FileChange] = []
    for change in changes:
        before = before_change(change)
        text = with_imports(change.path, change.content.replace("\r\n", "\n"), lambda name: _defining_file(name, index))
        found.append(file_change.change(change.path, with_line_ends(text, before or ""), before))
    return tuple(found)


def _defining_file(name: str, index: Index) -> str | None:
    """The one Python file of the code that defines a name at its top level; None for none or several."""
    places = {s.path for s in index.symbols(name) if s.qualified == name and s.path.endswith(".py")}
    places = {path for path in places if not is_test_path(path)}
    return places.pop() if len(places) == 1 else None


def with_imports(path: str, text: str, file_of: Callable[[str], str | None]) -> str:
    """Add an import for every name that a Python file uses without defining it.

    Args:
        path: the file. Texts of other languages are returned as they are.
        text: its text. Bad syntax and star imports leave it as it is.
        file_of: the path of the one file that defines a name, None for none or several.

    Returns:
        The new text.
    """
    if not path.endswith(".py"):
        return text
    tree = read_python(text)
    undefined = {name for _, said in errors_in({path: text}).get(path, ()) for name in _UNDEFINED.findall(said)}
    added = list(filter(None, (_import_of(name, path, file_of, tree) for name in sorted(undefined))))
    if not added:
        return text
    lines = text.split("\n")
    at = _after_imports(tree)
    rest = lines[at:]
    if any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in tree.body):
        return "\n".join([*lines[:at], *added, *rest])
    while rest and not rest[0].strip():
        rest = rest[1:]
    return "\n".join([*lines[:at], *([""] if at else []), *added, "", "", *rest])


def _import_of(name: str, path: str, file_of: Callable[[str], str | None], tree: ast.Module) -> str:
    """The statement that imports a name, '' where nothing is certain."""
    file = file_of(name)
    if file:
        return f"from {module_name(file)} import {name}" if file != path else ""
    if name in sys.stdlib_module_names:
        used = any(
            isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == name
            for n in ast.walk(tree)
        )
        return f"import {name}" if used else ""
    return next((f"from {module} import {name}" for module, names in _standard_names().items() if name in names), "")


@cache
def _standard_names() -> dict[str, frozenset[str]]:
    """The names that a few much used modules of the standard library offer."""
    modules = {name: import_module(name) for name in _MUCH_USED}
    return {name: frozenset(getattr(module, "__all__", dir(module))) for name, module in modules.items()}


def _after_imports(tree: ast.Module) -> int:
    """The number of lines up to the end of the imports at the top, else of the docstring."""
    end = 0
    for number, node in enumerate(tree.body):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and number == 0
        if isinstance(node, (ast.Import, ast.ImportFrom)) or text:
            end = node.end_lineno or end
        else:
            break
    return end


def module_name(path: str) -> str:
    """The dotted name of a Python file, as others import it."""
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[1:] if parts[0] in ("src", "lib", "python") and len(parts) > 1 else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
