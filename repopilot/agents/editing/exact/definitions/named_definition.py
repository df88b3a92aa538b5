"""The function, class or variable that a task names, with its syntax tree."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.fragments.certain_imports import names_in
from repopilot.agents.editing.exact.locate import is_code_name, is_name, not_found, one_definition, owners
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.python.name_uses import name_table, scope_of
from repopilot.agents.editing.exact.sources import Sources, SourceText
from repopilot.agents.editing.exact.values.value_places import definition_node
from repopilot.errors import GenerationFailed
from repopilot.types import Symbol


class NamedDefinition(NamedTuple):
    """A definition of Python: its file, its symbol, and its node without decorators."""

    source: SourceText
    symbol: Symbol
    node: Node


def project_of(sources: Sources) -> PythonProject:
    """The Python files of the repository."""
    return PythonProject(sources, modules_of(sources.workspace.index))


def named_symbol(task: ExactTask, sources: Sources) -> Symbol | None:
    """The definition that a task is about: the one in `name`, else its place.

    Args:
        task: the task.
        sources: the files.

    Raises:
        PlaceAmbiguous: several have the name.
        GenerationFailed: there is none of a name that can only be code.
    """
    name, rest = task.name, task
    if not name and (around := owners(task, sources.workspace.index)):
        name = around[0].name
        rest = replace(task, name=name, places=tuple(p for p in task.places if p != around[0]))
    if not is_name(name):
        return None
    symbol = one_definition(name, rest, sources)
    if symbol is None and (is_code_name(name) or task.what in ("function", "method", "class")):
        raise not_found(name, rest, sources.workspace.index)
    return symbol


def python_definition(symbol: Symbol, sources: Sources) -> NamedDefinition | None:
    """A symbol of Python with its node; None for one of another language."""
    source = sources.get(symbol.path)
    if source is None or source.language != "python" or source.root is None:
        return None
    node = definition_node(source, symbol)
    return NamedDefinition(source, symbol, node) if node is not None else None


def with_stub(definition: NamedDefinition, sources: Sources) -> list[NamedDefinition]:
    """A definition, and what the stub beside its file says of it."""
    found = [definition]
    path = f"{definition.source.path}i"
    for symbol in sources.outline(path) if sources.get(path) is not None else ():
        if symbol.qualified == definition.symbol.qualified:
            stub = python_definition(symbol, sources)
            found += [stub] if stub is not None else []
    return found


def check_defined_above(definition: NamedDefinition, text: str) -> None:
    """Refuse names in a decorator or base that the file binds only below the definition.

    Raises:
        GenerationFailed: there is one.
    """
    source, node = definition.source, definition.node
    around = scope_of(node)
    for name in names_in(text):
        bound = name_table(source, name).bound.get(around.id, [])
        if bound and all(u.start > node.start_byte for u in bound):
            raise GenerationFailed(
                i18n.message("exact.defined_below", name=name, other=definition.symbol.name, path=source.path)
            )


def decorated(node: Node) -> Node:
    """A definition with its decorators."""
    parent = node.parent
    return parent if parent is not None and parent.type == "decorated_definition" else node


def indent_of(source: SourceText, node: Node) -> str:
    """The indentation of the line that a node begins on."""
    line = source.line_text(node.start_point[0] + 1)
    return line[: len(line) - len(line.lstrip())]


def line_end(source: SourceText, offset: int) -> int:
    """The end of the line that a byte is on."""
    end = source.data.find(b"\n", offset)
    return end if end >= 0 else len(source.data)
