"""Which bytes a definition takes up in languages with braces, with its comments, attributes and blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from repopilot.agents.editing.exact.braces.containers import declaration_of, declarations
from repopilot.agents.editing.exact.entries import removed_spans, with_blank_lines
from repopilot.agents.editing.exact.sources import SourceText
from repopilot.types import Symbol

_WHOLE = frozenset(
    "function_declaration generator_function_declaration function_signature class_declaration "
    "abstract_class_declaration interface_declaration type_alias_declaration enum_declaration method_declaration "
    "function_item struct_item enum_item const_item static_item type_item trait_item union_item macro_definition "
    "record_declaration annotation_type_declaration method_definition type_spec const_spec var_spec field_declaration "
    "type_alias abstract_method_signature method_signature public_field_definition field_definition "
    "internal_module".split()
)
_GROUPS = {
    "type_spec": "type_declaration",
    "const_spec": "const_declaration",
    "var_spec": "var_declaration",
    "type_alias": "type_declaration",
}
_KEPT = re.compile(r"/\*!|(?i:licen[cs]e|copyright|@flow|@ts-check|eslint-disable)|//go:build|// \+build|#!")
_SECTION = re.compile(r"(?://|/\*+)\s*[-=*#]{3,}")


def definition_nodes(source: SourceText, symbol: Symbol) -> list[Node]:
    """The statements or members that define a symbol: several for overloads and accessors, none where one can't be
    removed as a whole."""
    first = declaration_of(source, symbol)
    if first is None:
        return []
    holder = _outer(first)
    nodes = [n for d in declarations(source, symbol.name) if (n := _outer(d)) is not None and _same(n, holder)]
    distinct = list({n.id: n for n in nodes}.values())
    if not distinct or (len(distinct) > 1 and not _belong_together(distinct)):
        return []
    return distinct


def _same(one: Node, other: Node | None) -> bool:
    return (
        other is not None and one.parent is not None and other.parent is not None and one.parent.id == other.parent.id
    )


def _belong_together(nodes: list[Node]) -> bool:
    """Whether definitions of one name are an overloaded function of TypeScript, or a getter and its setter."""
    kinds = {_inner(n).type for n in nodes}
    if "function_signature" in kinds and kinds <= {"function_signature", "function_declaration"}:
        return True
    return kinds == {"method_definition"} and all(any(c.type in ("get", "set") for c in n.children) for n in nodes)


def _inner(node: Node) -> Node:
    return node.child_by_field_name("declaration") or node if node.type == "export_statement" else node


def _outer(node: Node) -> Node | None:
    """What is removed to remove a definition; None where other things hang on it."""
    parent = node.parent
    if parent is None:
        return None
    if node.type == "variable_declarator" and parent.type == "field_declaration":
        return parent if len(parent.children_by_field_name("declarator")) == 1 else None
    if node.type == "variable_declarator":
        label = node.child_by_field_name("name")
        if label is None or label.type != "identifier":
            return None
        if len([c for c in parent.named_children if c.type == "variable_declarator"]) > 1:
            return node
        return parent.parent if parent.parent is not None and parent.parent.type == "export_statement" else parent
    if node.type == "assignment_expression":
        right = node.child_by_field_name("right")
        chained = right is not None and right.type == "assignment_expression"
        return parent if parent.type == "expression_statement" and not chained else None
    if node.type == "pair" or (node.type == "method_definition" and parent.type == "object"):
        return node
    if node.type not in _WHOLE:
        return None
    if node.type in _GROUPS and len(node.children_by_field_name("name")) > 1:
        return None
    if node.type in _GROUPS and (around := _group(node)) is not None:
        specs = list(_specs(around))
        return around if len(specs) == 1 else node
    return parent if parent.type in ("export_statement", "ambient_declaration") else node


def _group(node: Node) -> Node | None:
    current = node.parent
    while current is not None and current.type not in _GROUPS.values():
        current = current.parent if current.type.endswith("_list") else None
    return current


def _specs(group: Node) -> Iterator[Node]:
    for child in group.named_children:
        if child.type in _GROUPS:
            yield child
        elif child.type.endswith("_list"):
            yield from _specs(child)


def definition_spans(source: SourceText, nodes: Sequence[Node]) -> list[tuple[int, int]]:
    """The bytes to remove for some definitions.

    Args:
        source: the file.
        nodes: of `definition_nodes`, in order.
    """
    spans: list[tuple[int, int]] = []
    for node in sorted(nodes, key=lambda n: n.start_byte):
        start, end = _lines(source, node)
        if spans and not source.data[spans[-1][1] : start].strip():
            start = spans.pop()[0]
        spans.append((start, end))
    return [with_blank_lines(source.data, *span) if _is_whole(source.data, *span) else span for span in spans]


def _is_whole(data: bytes, start: int, end: int) -> bool:
    """Whether a span is of whole lines."""
    return data[:start][-1:] in (b"", b"\n") and data[:end][-1:] == b"\n"


def _lines(source: SourceText, node: Node) -> tuple[int, int]:
    """The bytes of a definition with its comments, without the blank lines around it."""
    data, parent = source.data, node.parent
    if parent is not None and (
        parent.type in ("object", "enum_body", "enum_variant_list")
        or node.type == "variable_declarator"
        or (parent.type == "field_declaration_list" and source.language == "rust")
    ):
        entries = [c for c in parent.named_children if "comment" not in c.type and c.type != "attribute_item"]
        start, end = removed_spans(data, entries, {[e.id for e in entries].index(node.id)})[0]
        return _above(source, node, start) if start <= node.start_byte else start, end
    first = next((a.start_byte for a in reversed(list(_decorators(node)))), node.start_byte)
    start = data.rfind(b"\n", 0, first) + 1
    rest = re.compile(rb"[ \t]*;?[ \t]*(?://[^\n]*)?(?:\n|$)").match(data, node.end_byte)
    if data[start:first].strip() or rest is None:
        return first, node.end_byte
    return _above(source, node, start), rest.end()


def _decorators(node: Node) -> Iterator[Node]:
    above = node.prev_named_sibling
    while above is not None and above.type == "decorator":
        yield above
        above = above.prev_named_sibling


def _above(source: SourceText, node: Node, start: int) -> int:
    """Where the comments and attributes directly above a definition begin."""
    below = start
    above = node.prev_named_sibling
    while above is not None and above.type == "decorator":
        above = above.prev_named_sibling
    while above is not None and ("comment" in above.type or above.type == "attribute_item"):
        text = source.slice(above)
        first = source.data.rfind(b"\n", 0, above.start_byte) + 1
        gap = source.data[above.end_byte : below]
        kept = "comment" in above.type and (_SECTION.match(text) or (first == 0 and _KEPT.search(text)))
        if source.data[first : above.start_byte].strip() or gap.strip() or gap.count(b"\n") > 1 or kept:
            break
        start = below = first
        above = above.prev_named_sibling
    return start
