"""Writes docstrings: the text that a task gives, or a skeleton in the style of the repository."""

from __future__ import annotations

import re

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.docstring_styles import (
    begins_on_next_line,
    docstring_node,
    existing_docstring,
    facts_of,
    quotes_of,
    skeleton,
    style_of,
    summary_of,
)
from repopilot.agents.editing.exact.definitions.named_definition import indent_of, named_symbol, python_definition
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, path_named
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_BLOCKS = frozenset(("javascript", "typescript", "tsx", "java", "php", "kotlin", "scala"))
_LINES = {"go": "//", "rust": "///", "csharp": "///", "swift": "///"}
_WIDTH = 88


def write_docstring(task: ExactTask, sources: Sources) -> Patch | None:
    """Write or replace a docstring.

    Args:
        task: of kind docstring: the definition or file in `name`, its text in `new`, or '' for a skeleton.
        sources: the files.

    Returns:
        The change; None where nothing is named that can have a docstring.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it has that docstring already, or any where a skeleton is asked for.
    """
    text = _bare(task.new)
    path = path_named(task.name, sources.workspace.index) if re.search(r"\.py$", task.name) else None
    if path is not None:
        check_editable(path, task, sources)
        source = sources.get(path)
        return _write(source, source.root, path, text, sources) if source is not None and source.root else None
    symbol = named_symbol(task, sources)
    source = sources.get(symbol.path) if symbol is not None else None
    if symbol is None or source is None:
        return None
    if source.language != "python":
        return _write_comment(source, symbol, text) if text else None
    definition = python_definition(symbol, sources)
    if definition is None or definition.node.type not in ("function_definition", "class_definition"):
        return None
    return _write(source, definition.node, symbol.qualified, text, sources)


def _bare(text: str) -> str:
    """A text without the quotes of a docstring around it."""
    match = re.fullmatch(r"\s*[rR]?(?P<quote>\"\"\"|'''|\"|')(?P<body>.*)(?P=quote)\s*", text, re.S)
    return (match["body"] if match else text).strip()


def _write(source: SourceText, node: Node, place: str, text: str, sources: Sources) -> Patch | None:
    old = docstring_node(source, node)
    if old is not None and (not text or _plain(existing_docstring(source, node)) == _plain(text)):
        raise GenerationFailed(i18n.message("exact.has_docstring", name=place))
    indent, where = _place(source, node)
    literal = _literal(source, _rows(source, node, text, sources), indent)
    patch = Patch()
    if old is not None:
        patch.replace(source.path, old.start_byte, old.end_byte, literal)
    else:
        _insert(source, node, where, indent, literal, patch)
    patch.edits.append(Edit("set_docstring", source.path, place, literal))
    return patch


def _plain(text: str) -> str:
    return " ".join(text.split())


def _rows(source: SourceText, node: Node, text: str, sources: Sources) -> list[str]:
    """The lines of a docstring, without indentation."""
    if text:
        first, *rest = text.split("\n")
        common = min((len(r) - len(r.lstrip()) for r in rest if r.strip()), default=0)
        return [first.strip(), *(row[common:].rstrip() for row in rest)]
    label = node.child_by_field_name("name")
    name = source.slice(label) if label is not None else source.path.rpartition("/")[2].removesuffix(".py")
    facts = facts_of(source, node) if node.type == "function_definition" else None
    return skeleton(summary_of(name), facts, style_of(source, sources))


def _place(source: SourceText, node: Node) -> tuple[str, Node | None]:
    """The indentation of a body, and its first statement."""
    if node.type == "module":
        return "", None
    body = node.child_by_field_name("body")
    first = body.named_child(0) if body is not None and body.named_child_count else None
    if first is not None and first.start_point[0] > node.start_point[0]:
        own = indent_of(source, first)
        if own != indent_of(source, node):
            return own, first
    step = "\t" if re.search(rb"^\t", source.data, re.M) else "    "
    return indent_of(source, node) + step, first


def _literal(source: SourceText, rows: list[str], indent: str) -> str:
    """A docstring as it is written: in the quotes of the file's others, on one line if it is short."""
    quote = quotes_of(source)
    body = "\n".join(rows)
    prefix = "r" if "\\" in body else ""
    if quote in body:
        body = body.replace(quote, quote[0] * 2 + "\\" + quote[0])
        prefix = ""
    rows = body.split("\n")
    if len(rows) == 1 and len(indent) + len(body) + 6 <= _WIDTH:
        return f"{prefix}{quote}{body}{' ' if body.endswith(quote[0]) else ''}{quote}"
    if len(rows) == 1:
        return f"{prefix}{quote}{body}{quote}"
    head = [f"{prefix}{quote}", f"{indent}{rows[0]}"] if begins_on_next_line(source) else [f"{prefix}{quote}{rows[0]}"]
    return "\n".join([*head, *(f"{indent}{row}" if row else "" for row in rows[1:]), f"{indent}{quote}"])


def _insert(source: SourceText, node: Node, first: Node | None, indent: str, literal: str, patch: Patch) -> None:
    if node.type == "module":
        header = re.match(rb"(?:#[^\n]*\n)*", source.data)
        at = header.end() if header is not None else 0
        blank = re.compile(rb"\n*").match(source.data, at)
        end = blank.end() if blank is not None else at
        rest = "\n" if end < len(source.data) else ""
        patch.replace(source.path, at, end, f"{chr(10) if at else ''}{literal}\n{rest}")
        return
    body = node.child_by_field_name("body")
    assert body is not None
    if first is None or first.start_point[0] == node.start_point[0] or body.start_point[0] == _colon_row(node):
        # The body is on the line of the head: `def f(): return 1`.
        inline = source.data[body.start_byte : body.end_byte].decode("utf-8")
        start = len(source.data[: body.start_byte].rstrip(b" \t"))
        rest = "" if inline.strip() in ("...", "pass") else f"\n{indent}{inline}"
        patch.replace(source.path, start, body.end_byte, f"\n{indent}{literal}{rest}")
        return
    if body.named_child_count == 1 and source.slice(first).strip() in ("...", "pass"):
        patch.replace(source.path, first.start_byte, first.end_byte, literal)
        return
    start = first.start_byte
    gap = "\n" if node.type == "class_definition" else ""
    patch.replace(source.path, start, start, f"{literal}\n{gap}{indent}")


def _colon_row(node: Node) -> int:
    """The line that the head of a definition ends on."""
    colon = next((c for c in node.children if c.type == ":"), None)
    return colon.end_point[0] if colon is not None else node.start_point[0]


def _write_comment(source: SourceText, symbol: Symbol, text: str) -> Patch | None:
    """A documentation comment above a definition of another language."""
    row = source.line_text(symbol.start_line)
    indent = row[: len(row) - len(row.lstrip())]
    rows = [r.strip() for r in text.split("\n")]
    if source.language in _BLOCKS:
        body = [f"{indent}/**", *(f"{indent} * {r}".rstrip() for r in rows), f"{indent} */"]
    elif source.language in _LINES:
        body = [f"{indent}{_LINES[source.language]} {r}".rstrip() for r in rows]
    else:
        return None
    lines = source.data.split(b"\n")
    start = len(b"\n".join(lines[: symbol.start_line - 1])) + (1 if symbol.start_line > 1 else 0)
    above = b"\n".join(lines[: symbol.start_line - 1]).rstrip().rpartition(b"\n")[2].decode("utf-8", "replace").strip()
    if row.strip().startswith(("/**", "///", "//")) or above.endswith("*/") or above.startswith(("///", "//")):
        return None  # it has a comment already
    patch = Patch()
    patch.replace(source.path, start, start, "\n".join(body) + "\n")
    patch.edits.append(Edit("set_docstring", source.path, symbol.qualified, text))
    return patch
