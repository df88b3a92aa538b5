"""Object literals that own methods, as `module.exports = { get header () { … } }` does: a prototype without a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from tree_sitter import Node

from repopilot.code.languages import language_of
from repopilot.code.syntax import parse, text_of
from repopilot.types import Symbol, innermost

OBJECT = "object"
"""The kind of such a symbol, which the index doesn't have."""
_LANGUAGES = frozenset({"javascript", "typescript", "tsx"})
_WRAPPERS = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression"})
_FUNCTIONS = frozenset({"function_expression", "arrow_function", "generator_function"})
_PARSE_S = 5.0


def object_literals(path: str, text: str) -> list[Symbol]:
    """The object literals at the top of a JavaScript or TypeScript module that have methods.

    Args:
        path: the file; one without a variable of its own is called as the file is (`lib/request.js`: `request`).
        text: its text.

    Returns:
        Symbols of kind `object` from the statement's first line to the brace that closes the object.
    """
    language = language_of(path)
    data = text.encode("utf-8", "replace")
    tree = parse(data, language, _PARSE_S) if language in _LANGUAGES else None
    found: list[Symbol] = []
    for statement in tree.root_node.named_children if tree is not None else ():
        for name, node in _assigned(statement, data):
            if _has_methods(node):
                called = name or PurePosixPath(path).stem
                start, end = statement.start_point[0] + 1, node.end_point[0] + 1
                found.append(Symbol(called, called, OBJECT, path, start, end, called))
    return found


def with_members(outline: Sequence[Symbol], literal: Symbol) -> list[Symbol]:
    """An outline with an object literal and its methods as the members of it: `request.header` for `header`."""
    inside = [s for s in outline if literal.start_line <= s.start_line and s.end_line <= literal.end_line]
    inside = [s for s in inside if s.name != literal.name or s.start_line != literal.start_line]
    members = {id(s): replace(s, qualified=f"{literal.qualified}.{_apart(s, literal)}") for s in inside}
    beside = [s for s in outline if s.start_line != literal.start_line or s.name != literal.name]
    return [literal, *(members.get(id(s), s) for s in beside)]


def literal_around(literals: Sequence[Symbol], symbol: Symbol) -> Symbol | None:
    """The object literal of a file that a definition of it stands in."""
    return innermost([s for s in literals if s.path == symbol.path], symbol.start_line)


def _apart(symbol: Symbol, literal: Symbol) -> str:
    return symbol.qualified.removeprefix(f"{literal.qualified}.")


def _assigned(statement: Node, data: bytes) -> Iterator[tuple[str, Node]]:
    """The objects that a statement gives a name to; '' for what a module exports as a whole."""
    if statement.type == "export_statement":
        value = statement.child_by_field_name("value")
        inner = statement.child_by_field_name("declaration")
        if value is not None and (node := _object(value)) is not None:
            yield "", node
        if inner is not None:
            yield from _assigned(inner, data)
    elif statement.type in ("lexical_declaration", "variable_declaration"):
        for each in statement.named_children:
            name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
            if name is not None and value is not None and (node := _object(value)) is not None:
                yield _name_of(name, value, data), node
    elif statement.type == "expression_statement" and statement.named_children[0].type == "assignment_expression":
        left = statement.named_children[0].child_by_field_name("left")
        right = statement.named_children[0].child_by_field_name("right")
        if left is not None and right is not None and (node := _object(right)) is not None:
            yield _name_of(left, right, data), node


def _name_of(left: Node, right: Node, data: bytes) -> str:
    """The name that an assignment gives; '' for the whole module: `const proto = module.exports = {`."""
    names = [text_of(left, data)]
    while right.type == "assignment_expression":
        inner, right = right.child_by_field_name("left"), right.child_by_field_name("right")  # type: ignore[assignment]
        names.append(text_of(inner, data) if inner is not None else "")
    return "" if "module.exports" in names else names[0].rpartition(".")[2]


def _object(node: Node) -> Node | None:
    while node.type in _WRAPPERS or node.type == "assignment_expression":
        inner = node.child_by_field_name("right") if node.type == "assignment_expression" else node.named_children[0]
        if inner is None:
            return None
        node = inner
    return node if node.type == "object" else None


def _has_methods(node: Node) -> bool:
    return any(
        child.type == "method_definition"
        or (child.type == "pair" and (value := child.child_by_field_name("value")) and value.type in _FUNCTIONS)
        for child in node.named_children
    )
