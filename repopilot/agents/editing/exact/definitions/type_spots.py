"""Where the types of parameters, attributes, variables and results stand, or would stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from repopilot.agents.editing.exact.python.calls import parameter_name, parameters_of
from repopilot.agents.editing.exact.sources import SourceText, word_pattern
from repopilot.types import Symbol

_TYPED = frozenset(
    "required_parameter optional_parameter variable_declarator public_field_definition property_signature".split()
)
_FUNCTIONS = frozenset(
    "function_declaration method_definition method_signature arrow_function function_expression "
    "generator_function_declaration function_signature abstract_method_signature".split()
)


class TypeSpot(NamedTuple):
    """The bytes of a type, with what comes before and behind a new one where there is none yet."""

    start: int
    end: int
    old: str = ""
    before: str = ""
    after: str = ""


def parameter_spot(source: SourceText, function: Node, name: str) -> TypeSpot | None:
    """The type of a parameter of a Python function; None where it has none of that name."""
    for parameter in parameters_of(function):
        if parameter_name(source, parameter) != name.lstrip("*"):
            continue
        declared = parameter.child_by_field_name("type")
        if declared is not None:
            return TypeSpot(declared.start_byte, declared.end_byte, source.slice(declared))
        value = parameter.child_by_field_name("value")
        if value is not None:
            label = parameter.child_by_field_name("name")
            assert label is not None
            return TypeSpot(label.end_byte, value.start_byte, "", ": ", " = ")
        return TypeSpot(parameter.end_byte, parameter.end_byte, "", ": ")
    return None


def result_spot(source: SourceText, function: Node) -> TypeSpot | None:
    """The type of what a Python function returns."""
    declared = function.child_by_field_name("return_type")
    if declared is not None:
        return TypeSpot(declared.start_byte, declared.end_byte, source.slice(declared))
    parameters = function.child_by_field_name("parameters")
    return TypeSpot(parameters.end_byte, parameters.end_byte, "", " -> ") if parameters is not None else None


def assignment_spot(source: SourceText, assignment: Node) -> TypeSpot | None:
    """The type of what an assignment of Python binds; None for several targets."""
    left = assignment.child_by_field_name("left")
    if left is None or left.type not in ("identifier", "attribute"):
        return None
    declared = assignment.child_by_field_name("type")
    if declared is not None:
        return TypeSpot(declared.start_byte, declared.end_byte, source.slice(declared))
    return TypeSpot(left.end_byte, left.end_byte, "", ": ")


def attribute_spot(source: SourceText, class_node: Node, name: str) -> TypeSpot | None:
    """The type of an attribute of a Python class: where its body declares it, else where a method sets it first."""
    body = class_node.child_by_field_name("body")
    own, by_methods = [], []
    pending = list(reversed(body.named_children)) if body is not None else []
    while pending:
        node = pending.pop()
        if node.type == "class_definition":
            continue
        left = node.child_by_field_name("left") if node.type == "assignment" else None
        if left is not None and left.type == "identifier" and source.slice(left) == name and _in_body(node, body):
            own.append(node)
        elif left is not None and source.slice(left) == f"self.{name}":
            by_methods.append(node)
        pending.extend(reversed(node.named_children))
    found = own or by_methods
    return assignment_spot(source, found[0]) if found else None


def _in_body(node: Node, body: Node | None) -> bool:
    parent = node.parent
    if parent is not None and parent.type == "expression_statement":
        parent = parent.parent
    return parent is not None and body is not None and parent.id == body.id


def script_spots(source: SourceText, symbol: Symbol, name: str) -> Iterator[TypeSpot]:
    """The types of a parameter, field or variable in a definition of TypeScript, or of the definition itself."""
    for match in word_pattern(name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span()) if source.root is not None else None
        parent = node.parent if node is not None else None
        if node is None or parent is None or not symbol.start_line <= node.start_point[0] + 1 <= symbol.end_line:
            continue
        label = parent.child_by_field_name("pattern") or parent.child_by_field_name("name")
        if parent.type in _TYPED and label is not None and label.id == node.id:
            mark = next((c for c in parent.children if c.type in ("?", "!")), None)
            end = mark.end_byte if mark is not None else label.end_byte
            yield _after(source, parent.child_by_field_name("type"), end)


def script_result(source: SourceText, symbol: Symbol) -> TypeSpot | None:
    """The type of what a function of TypeScript returns."""
    pending = [source.root] if source.root is not None else []
    while pending:
        node = pending.pop(0)
        inside = symbol.start_line <= node.start_point[0] + 1 and node.end_point[0] + 1 <= symbol.end_line
        parameters = node.child_by_field_name("parameters")
        if inside and node.type in _FUNCTIONS and parameters is not None:
            return _after(source, node.child_by_field_name("return_type"), parameters.end_byte)
        pending.extend(node.named_children)
    return None


def _after(source: SourceText, declared: Node | None, end: int) -> TypeSpot:
    inner = declared.named_child(0) if declared is not None else None
    if inner is not None:
        return TypeSpot(inner.start_byte, inner.end_byte, source.slice(inner))
    return TypeSpot(end, end, "", ": ")
