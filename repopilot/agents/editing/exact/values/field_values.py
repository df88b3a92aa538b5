"""Values of fields that stand outside of what declares them: in literals of a struct, in a constructor."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.polyglot import is_set_by_constructor
from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.types import Symbol

_SCRIPTS = ("javascript", "typescript", "tsx")
_KINDS = ("struct", "class", "type")


def literal_values(source: SourceText, symbol: Symbol, name: str) -> list[Node]:
    """The values that the literals of a struct, in its own file, give to a field.

    Args:
        source: the file.
        symbol: the struct.
        name: of the field.

    Returns:
        The value; none where there are several literals with the field.
    """
    if symbol.kind not in _KINDS or source.language not in ("go", "rust"):
        return []
    found = []
    for match in word_pattern(name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span()) if source.root is not None else None
        pair = _pair_of(node) if node is not None else None
        if pair is None or pair.parent is None or pair.parent.parent is None:
            continue
        literal = pair.parent.parent
        written = literal.child_by_field_name("type") or literal.child_by_field_name("name")
        kind = re.split(r"::|\.|<", source.slice(written))[-1] if written is not None else ""
        if kind == symbol.name or (kind == "Self" and _is_own(source, literal, symbol.name)):
            value = pair.child_by_field_name("value") or pair.named_children[-1]
            found.append(value.named_child(0) or value if value.type == "literal_element" else value)
    return found if len(found) == 1 else []


def _pair_of(name: Node) -> Node | None:
    """The entry of a literal whose key a name is."""
    key = name.parent if name.parent is not None and name.parent.type == "literal_element" else name
    pair = key.parent
    if pair is None or pair.type not in ("keyed_element", "field_initializer"):
        return None
    return pair if pair.named_children[0].id == key.id and pair.named_child_count > 1 else None


def _is_own(source: SourceText, node: Node, name: str) -> bool:
    """Whether a node is in an `impl` of a type."""
    current = node.parent
    while current is not None and current.type != "impl_item":
        current = current.parent
    kind = current.child_by_field_name("type") if current is not None else None
    return kind is not None and re.sub(r"<.*", "", source.slice(kind)) == name


def constructor_values(name: str, sources: Sources) -> Iterator[tuple[SourceText, Node, str]]:
    """The values that constructors of JavaScript set an attribute to, outside of tests.

    Args:
        name: of the attribute.
        sources: the files.

    Yields:
        The file, the value and the name of the class with that of the attribute.
    """
    for path in sources.mentioning(name, _SCRIPTS):
        source = sources.get(path) if not is_test_path(path) and not is_example_path(path) else None
        for match in word_pattern(name).finditer(source.data) if source is not None else ():
            node = source.root.descendant_for_byte_range(*match.span()) if source and source.root is not None else None
            member = node.parent if node is not None else None
            assignment = member.parent if member is not None and member.type == "member_expression" else None
            value = assignment.child_by_field_name("right") if assignment is not None else None
            if source is None or value is None or member is None or not is_set_by_constructor(value):
                continue
            if member.end_byte == match.end():
                yield source, value, f"{_class_name(source, value)}.{name}"


def _class_name(source: SourceText, node: Node) -> str:
    current: Node | None = node
    while current is not None and "class" not in current.type.split("_")[:1]:
        current = current.parent
    label = current.child_by_field_name("name") if current is not None else None
    return source.slice(label) if label is not None else ""
