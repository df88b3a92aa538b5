"""Finds the declaration of a field in languages whose fields aren't in the index: Go, Rust, Java, TypeScript."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.locate import dotted
from repopilot.agents.editing.exact.polyglot import LANGUAGES
from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.types import Symbol

_DECLARATIONS = frozenset(("field_declaration", "public_field_definition", "field_definition"))
_OWNERS = frozenset(
    ("type_spec", "struct_item", "enum_item", "union_item", "class_declaration", "class", "interface_declaration")
)


def declared_field(name: str, sources: Sources) -> Symbol | None:
    """The one field of a name that the repository declares.

    Args:
        name: of the field, with or without that of its type before it.
        sources: the files.

    Returns:
        The field as a definition, None where there is none or several types have one.
    """
    found = declared_fields(name, sources)
    owner = dotted(name).rpartition(".")[0].rpartition(".")[2]
    return found[0] if len(found) == 1 and (not owner or found[0].qualified.startswith(f"{owner}.")) else None


def declared_fields(name: str, sources: Sources) -> list[Symbol]:
    """The fields of a name that the repository declares, whatever type the name says they belong to.

    Args:
        name: as for `declared_field`.
        sources: the files.
    """
    field = dotted(name).rpartition(".")[2]
    return [s for path in sources.mentioning(field, LANGUAGES) for s in _fields(field, sources.get(path))]


def _fields(name: str, source: SourceText | None) -> Iterator[Symbol]:
    """The declarations of fields of a name in a file."""
    if source is None or source.root is None:
        return
    for match in word_pattern(name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span())
        if node is not None and (node.start_byte, node.end_byte) == match.span() and _is_declared(node):
            line = source.line_of(match.start())
            owner = _owner(node, source)
            yield Symbol(name, f"{owner}.{name}" if owner else name, "attribute", source.path, line, line)


def _is_declared(node: Node) -> bool:
    """Whether a name is that of a field where that is declared."""
    parent = node.parent
    if parent is not None and parent.type == "variable_declarator":  # Java
        parent = parent.parent
    if parent is None or parent.type not in _DECLARATIONS:
        return False
    return node.type in ("field_identifier", "property_identifier", "private_property_identifier", "identifier")


def _owner(node: Node, source: SourceText) -> str:
    current = node.parent
    while current is not None and current.type not in _OWNERS:
        current = current.parent
    name = current.child_by_field_name("name") if current is not None else None
    return source.slice(name) if name is not None else ""
