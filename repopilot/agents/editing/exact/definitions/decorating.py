"""Adds decorators to Python definitions and removes them."""

from __future__ import annotations

import re

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.named_definition import (
    NamedDefinition,
    check_defined_above,
    decorated,
    indent_of,
    line_end,
    named_symbol,
    project_of,
    python_definition,
)
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.fragments.certain_imports import (
    missing_imports,
    names_in,
    swap_imports,
    unused_without,
)
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_OUTERMOST = re.compile(
    r"(?:property|classmethod|staticmethod|overload|typing\.overload|\w+\.(?:setter|getter|deleter)|"
    r"[\w.]*\b(?:route|command|group|fixture|task|register|get|post|put|delete|patch))(?:\(.*\))?",
    re.S,
)
"""Decorators that replace the function by something else or make it known: others belong below them."""


def add_decorator(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a decorator, directly above the definition unless it must be the outermost.

    Args:
        task: of kind add_decorator: the definition in `name`, the decorator in `new`.
        sources: the files.

    Returns:
        The change; None where the name isn't that of a Python function or class, or the text no decorator.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it has the decorator already.
    """
    definition = _decorable(task, sources)
    text = _expression(task.new)
    if definition is None or not text:
        return None
    source, node = definition.source, definition.node
    if any(_called(source, d) == _bare(text) for d in _decorators(node) if "(" not in text or _text(source, d) == text):
        raise GenerationFailed(i18n.message("exact.already_there", name=f"@{text}", path=definition.symbol.qualified))
    first = _decorators(node)[0] if _decorators(node) and _OUTERMOST.fullmatch(text) else node
    indent = indent_of(source, first)
    patch = Patch()
    patch.replace(source.path, first.start_byte, first.start_byte, f"@{text}\n{indent}")
    check_defined_above(definition, text)
    project = project_of(sources)
    swap_imports(project, source, missing_imports(project, source, text, patch), {}, patch)
    patch.edits.append(Edit("add_member", source.path, definition.symbol.qualified, f"@{text}"))
    return patch


def remove_decorator(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove a decorator, and the import that only it used.

    Args:
        task: of kind remove_decorator: the definition in `name`, the decorator or its name in `old` or `new`.
        sources: the files.

    Returns:
        The change; None where the name isn't that of a Python function or class.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it doesn't have the decorator.
    """
    definition = _decorable(task, sources)
    text = _expression(task.old or task.new)
    if definition is None or not text:
        return None
    source, node = definition.source, definition.node
    found = [d for d in _decorators(node) if _text(source, d) == text]
    found = found or [d for d in _decorators(node) if _is_called(source, d, text)]
    if not found:
        raise GenerationFailed(
            i18n.message("exact.no_such_name_in", name=f"@{text}", place=definition.symbol.qualified)
        )
    patch = Patch()
    for decorator in found:
        start = decorator.start_byte - len(indent_of(source, decorator).encode("utf-8"))
        end = min(line_end(source, decorator.end_byte) + 1, len(source.data))
        patch.replace(source.path, start, end, "")
    spans = [(d.start_byte, d.end_byte) for d in found]
    names = set().union(*(names_in(_text(source, d)) for d in found))
    swap_imports(project_of(sources), source, (), unused_without(source, spans, names), patch)
    patch.edits.append(Edit("remove_member", source.path, definition.symbol.qualified))
    return patch


def _decorable(task: ExactTask, sources: Sources) -> NamedDefinition | None:
    symbol = named_symbol(task, sources)
    definition = python_definition(symbol, sources) if symbol is not None else None
    kinds = ("function_definition", "class_definition")
    return definition if definition is not None and definition.node.type in kinds else None


def _expression(text: str) -> str:
    """A decorator without its sign; '' for what can't be one."""
    bare = text.strip().strip("`").lstrip("@").strip()
    return bare if re.fullmatch(r"[A-Za-z_][\w.]*(?:\(.*\))?", bare, re.S) else ""


def _decorators(node: Node) -> list[Node]:
    around = decorated(node)
    return [c for c in around.named_children if c.type == "decorator"] if around.id != node.id else []


def _text(source: SourceText, decorator: Node) -> str:
    return source.slice(decorator).lstrip("@").strip()


def _bare(text: str) -> str:
    return text.partition("(")[0].strip()


def _called(source: SourceText, decorator: Node) -> str:
    """The name of a decorator without its arguments."""
    return _bare(_text(source, decorator))


def _is_called(source: SourceText, decorator: Node, name: str) -> bool:
    full = _called(source, decorator)
    return "(" not in name and (full == name or full.endswith(f".{name}"))
