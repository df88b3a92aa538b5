"""What a part of a Python module needs from the rest of it."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from repopilot.agents.editing.exact.python.import_order import is_for_types
from repopilot.agents.editing.exact.python.modules import ImportedName, imported_names, statement_around
from repopilot.agents.editing.exact.python.name_uses import NameTable, NameUse, name_table
from repopilot.agents.editing.exact.sources import SourceText

_WORD = re.compile(r"[^\W\d]\w*")
_OF_THE_FILE = frozenset(("__file__", "__path__", "__package__", "__spec__", "__loader__"))


@dataclass(frozen=True, slots=True)
class NeededName:
    """A name that a part of a module looks up at its top level.

    Attributes:
        name: the name.
        kind: `import` for what a plain import binds (`item`), `types` for what exists for type checkers only, `own` for
            what the module defines, or binds in another way, `sometimes` for what it binds only on a condition, `file`
            for what differs from file to file.
        item: the import; None for what the module defines.
    """

    name: str
    kind: Literal["import", "types", "own", "sometimes", "file"]
    item: ImportedName | None = None


def needed_names(source: SourceText, spans: Sequence[tuple[int, int]], own: Sequence[str]) -> list[NeededName]:
    """What some definitions need from their module.

    Args:
        source: the module.
        spans: the bytes of the definitions.
        own: their names.

    Returns:
        The names, in the order of the alphabet, without builtins.
    """
    text = " ".join(source.data[a:b].decode("utf-8") for a, b in spans)
    found = []
    for name in sorted({*_WORD.findall(text)} - set(own)):
        table = name_table(source, name)
        uses = [u for u in table.uses if _within(u.start, spans) and u.role in ("load", "declared")]
        if any(_is_global(source, table, u) for u in uses) or any(u.role == "declared" for u in uses):
            found.append(_needed(source, table, name))
        elif name in _OF_THE_FILE and uses:
            found.append(NeededName(name, "file"))
    return found


def _within(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(a <= offset < b for a, b in spans)


def _is_global(source: SourceText, table: NameTable, use: NameUse) -> bool:
    scope = table.binding_scope(use)
    return scope is not None and source.root is not None and scope.id == source.root.id


def _needed(source: SourceText, table: NameTable, name: str) -> NeededName:
    """How a module binds a name."""
    root = source.root
    binds = table.bound.get(root.id, []) if root is not None else []
    statements = [statement_around(u.node) for u in binds]
    if len(binds) == 1 and statements[0] is not None:
        statement = statements[0]
        items = [i for i in imported_names(source, statement) if i.local == name]
        kind = _where(source, statement)
        if items and kind is not None:
            return NeededName(name, kind, _whole(source, statement, items[0]))
    if binds and all(_is_in_typing_block(source, u.node) for u in binds):
        return NeededName(name, "types")
    sometimes = hasattr(builtins, name) and binds and all(_is_conditional(u.node) for u in binds)
    return NeededName(name, "sometimes" if sometimes else "own")


def _is_conditional(node: Node) -> bool:
    """Whether a statement at the top level is executed only on a condition: elsewhere the name is Python's own."""
    current = node.parent
    while current is not None and current.type not in ("function_definition", "class_definition"):
        if current.type == "if_statement":
            return True
        current = current.parent
    return False


def _is_in_typing_block(source: SourceText, node: Node) -> bool:
    current: Node | None = node
    while current is not None:
        if current.type == "if_statement" and is_for_types(source, current):
            return True
        current = current.parent
    return False


def _whole(source: SourceText, statement: Node, item: ImportedName) -> ImportedName:
    """An import with the whole name of its module, which `import a.b` binds the first part of."""
    if item.name or statement.type != "import_statement":
        return item
    for name in statement.children_by_field_name("name"):
        if name.type != "aliased_import" and source.slice(name).partition(".")[0] == item.local:
            return ImportedName(source.slice(name), "", item.local, statement)
    return item


def _where(source: SourceText, statement: Node) -> Literal["import", "types"] | None:
    """Whether an import stands at the top level, or in a block for type checkers; None for elsewhere."""
    around = statement.parent
    if around is None or around.type == "module":
        return "import"
    condition = around.parent if around.type == "block" else None
    if condition is not None and condition.type == "if_statement" and is_for_types(source, condition):
        return "types" if condition.parent is not None and condition.parent.type == "module" else None
    return None
