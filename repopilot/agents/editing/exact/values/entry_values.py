"""Values that entries of a name have in literals of the code: `xsrfCookieName: 'XSRF-TOKEN'` of an object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern
from repopilot.code.languages import file_kind, is_example_path, is_test_path

_ENTRIES = {"pair": ("key", "value"), "field_initializer": ("field", "value"), "keyed_element": ("", "")}
_LITERALS = frozenset(
    "string integer float number true false null none nil string_literal integer_literal float_literal boolean_literal "
    "int_literal interpreted_string_literal raw_string_literal unary_operator unary_expression template_string".split()
)


def entry_values(name: str, paths: Iterable[str], sources: Sources) -> Iterator[tuple[SourceText, Node, str]]:
    """The literals that entries of a name have, outside of tests and examples.

    Args:
        name: the key.
        paths: of the files to look in.
        sources: the files.

    Yields:
        The file, the value, and the name of what is assigned there; '' where nothing is.
    """
    for path in paths:
        source = sources.get(path) if not is_test_path(path) and not is_example_path(path) else None
        if source is None or source.root is None or file_kind(path) != "code":
            continue
        for match in word_pattern(name).finditer(source.data):
            value = _value(source.root.descendant_for_byte_range(*match.span()), match.span())
            if value is not None:
                yield source, value, _assigned(source, value)


def _value(node: Node | None, span: tuple[int, int]) -> Node | None:
    """The literal of the entry whose key is a node."""
    while node is not None and node.type not in _ENTRIES:
        if node.end_byte - node.start_byte > span[1] - span[0] + 2:  # more than the key and its quotes
            return None
        node = node.parent
    if node is None:
        return None
    key_field, value_field = _ENTRIES[node.type]
    key = node.child_by_field_name(key_field) if key_field else node.named_child(0)
    value = node.child_by_field_name(value_field) if value_field else node.named_child(1)
    if key is None or value is None or not key.start_byte <= span[0] <= span[1] <= key.end_byte:
        return None
    inner = value.named_child(0) if value.type == "literal_element" else value
    return inner if inner is not None and inner.type in _LITERALS else None


def _assigned(source: SourceText, node: Node) -> str:
    current: Node | None = node
    while current is not None:
        for field in ("name", "left"):
            label = current.child_by_field_name(field)
            if label is not None and current.type in ("variable_declarator", "assignment", "assignment_expression"):
                return source.slice(label)
        current = current.parent
    return ""
