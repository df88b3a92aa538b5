"""Names that a Python program builds at run time to look up an attribute or a global."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from repopilot.code.languages import language_in
from repopilot.code.python_ast import parse_python
from repopilot.code.source_positions import SourcePositions, line_at
from repopilot.resolve.values import NameSpan, Occurrence

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver

_BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "methodcaller", "attrgetter", "globals", "vars", "__dict__")
_USED = re.compile(rf"\b(?:{'|'.join(_BY_NAME)})\b")
_WRITTEN_OUT = re.compile(r"""\b(?:get|has|set|del)attr\(\s*[\w.]+\s*,\s*(["'])\w*\1\s*[,)]""")
"""A look-up by a literal name: most are, and files without any other aren't parsed."""
_ANY = r"\w*"
_PART = r"((?:\w|\\[xuUN0-7\n])+)"
_GLUE = r"(?:[\s\\()]|\#.*+)*+"
_FIXED_PARTS = re.compile(
    rf"""(?:\}}|%(?:\(\w+\))?[sdr]){_PART}(?=["'{{%])
    |["']{_PART}(?=[{{%]|["']+{_GLUE}(?:\+|[a-zA-Z]{{0,2}}["']))
    |[+"']{_GLUE}[a-zA-Z]{{0,2}}["']+{_PART}(?=["'])""",
    re.X,
)
"""The fixed parts of strings that are formatted or concatenated: a superset, since only characters are looked at."""


def built_names(resolver: Resolver, name: str) -> list[Occurrence]:
    """Where code may build a name, as far as its fixed parts show. Blocking.

    Args:
        resolver: of the repository.
        name: the name.
    """
    found = []
    for path, text in sorted(resolver.holding(*_BY_NAME)):
        is_python = language_in(path, text) == "python"
        for start, end, pattern in _built(text) if is_python and _may_build(text, name) else ():
            if re.fullmatch(pattern, name):
                line = line_at(text, start)
                source = text.split("\n")[line - 1]
                found.append(Occurrence(NameSpan(path, start, end), line, source, "text"))
    return found


def _may_build(text: str, name: str) -> bool:
    """Whether a text may build a string with a part of a name, or with escape sequences."""
    if len(_USED.findall(text)) <= len(_WRITTEN_OUT.findall(text)):
        return False
    parts = (part for found in _FIXED_PARTS.finditer(text) if (part := found[found.lastindex or 0]))
    return any("\\" in part or part in name for part in parts)


@lru_cache(maxsize=256)
def _built(text: str) -> tuple[tuple[int, int, str], ...]:
    """The character spans of expressions that build a name, with a pattern of what it may be."""
    try:
        tree = parse_python(text)
    except SyntaxError:
        return ()
    mark = text.startswith("\ufeff")
    positions = SourcePositions(text[mark:])
    values: dict[str, list[ast.expr]] = {}
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                values.setdefault(getattr(target, "id", ""), []).append(node.value)
    found = []
    for given in _given(nodes):
        for value in values.get(given.id, ()) if isinstance(given, ast.Name) else (given,):
            pattern = _pattern(value)
            if _ANY in pattern and pattern.replace(_ANY, ""):
                start, end = positions.span(value)
                found.append((start + mark, end + mark, pattern))
    return tuple(dict.fromkeys(found))


def _given(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """The expressions whose values are names to look up."""
    for node in nodes:
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in _BY_NAME:
                yield from node.args[:2]
            elif called in ("get", "pop") and _is_namespace(getattr(node.func, "value", None)):
                yield from node.args[:1]
        elif isinstance(node, ast.Subscript) and _is_namespace(node.value):
            yield node.slice


def _is_namespace(node: ast.AST | None) -> bool:
    called = getattr(node.func, "id", "") if isinstance(node, ast.Call) else getattr(node, "attr", "")
    return called in ("globals", "vars", "__dict__")


def _pattern(node: ast.expr) -> str:
    """A pattern of the values that an expression may have."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_pattern, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _pattern(node.left) + _pattern(node.right)
    template = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        template = node.func.value
    if isinstance(template, ast.Constant) and isinstance(template.value, str):
        return _ANY.join(map(re.escape, re.split(r"\{[^}]*\}|%(?:\(\w+\))?[sdr]", template.value)))
    return _ANY
