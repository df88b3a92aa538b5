"""Removes and renames parameters of functions in languages other than Python, with the arguments of callers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import removed_spans
from repopilot.agents.editing.exact.parameters.polyglot_calls import (
    PolyglotCall,
    call_with,
    certain_uses,
    function_around,
    is_naming,
    name_node,
)
from repopilot.agents.editing.exact.parameters.polyglot_signatures import (
    BracedParameter,
    parameters_in,
    reads_arguments,
)
from repopilot.agents.editing.exact.polyglot import LANGUAGES, is_identifier
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, word_pattern
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_BINDING = frozenset(
    "short_var_declaration variable_declarator let_declaration parameter_declaration required_parameter "
    "optional_parameter formal_parameter formal_parameters closure_parameters range_clause catch_clause "
    "local_variable_declaration assignment_pattern rest_pattern arrow_function object_pattern array_pattern "
    "shorthand_property_identifier_pattern enhanced_for_statement".split()
)
_MEMBER = frozenset(("field_identifier", "property_identifier", "type_identifier", "private_property_identifier"))
_WITHOUT_EFFECT = frozenset(
    "identifier this self nil null undefined true false number integer integer_literal float_literal int_literal "
    "interpreted_string_literal raw_string_literal string string_literal boolean_literal selector_expression "
    "member_expression field_expression field_access scoped_identifier reference_expression unary_expression "
    "decimal_integer_literal null_literal".split()
)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function, and its parameters in the order in which calls give arguments for them."""

    source: SourceText
    node: Node
    parameters: tuple[BracedParameter, ...]

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [p.name for p in self.parameters]


def remove_parameter(symbol: Symbol, name: str, sources: Sources) -> Patch | None:
    """Remove a parameter that a function doesn't use, and the arguments that calls give for it.

    Args:
        symbol: the function.
        name: of the parameter.
        sources: the files.

    Returns:
        The changes; None where uses of the function aren't certain, or the body uses the parameter.

    Raises:
        GenerationFailed: there is no such parameter.
    """
    function = _function(symbol, name, sources)
    uses = certain_uses(symbol, sources) if function is not None else None
    if function is None or uses is None or reads_arguments(function.source, function.node):
        return None
    at = function.names.index(name)
    own = function.parameters[at].node
    nodes = list({p.node.id: p.node for p in function.parameters}.values())
    shared = sum(p.node.id == own.id for p in function.parameters) > 1  # Go: `a, b int`
    if shared or next(_uses_in_body(function, name), None) is not None:
        return None
    patch = Patch()
    for start, end in removed_spans(function.source.data, nodes, {nodes.index(own)}):
        patch.replace(function.source.path, start, end, "")
    patch.edits.append(Edit("remove_parameter", function.source.path, symbol.qualified))
    for source, node in uses:
        call = call_with(source, node)
        if call is not None:
            _remove_argument(call, at, patch)
        elif not is_naming(node):
            patch.leave_open(source, node.start_byte, i18n.message("exact.open.reference"))
    return patch


def rename_parameter(symbol: Symbol, name: str, new: str, sources: Sources) -> Patch | None:
    """Rename a parameter, which calls don't name.

    Args:
        symbol: the function.
        name: of the parameter.
        new: its new name.
        sources: the files.

    Returns:
        The change; None where the function binds the name once more.

    Raises:
        GenerationFailed: there is no such parameter, or the function uses the new name.
    """
    function = _function(symbol, name, sources)
    if function is None:
        return None
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", new):
        raise GenerationFailed(i18n.message("exact.no_identifier", name=new))
    source, own = function.source, function.parameters[function.names.index(name)].node
    taken = next(_identifiers(function, new), None)
    if taken is not None:
        line = source.line_of(taken.start_byte)
        raise GenerationFailed(i18n.message("exact.name_taken", name=new, path=source.path, line=line))
    found = list(_identifiers(function, name))
    if any(_binds(node) and not _is_inside(node, own) for node in found):
        return None
    patch = Patch()
    for node in found:
        written = f"{name}: {new}" if node.type.startswith("shorthand_property_identifier") else new
        patch.replace(source.path, node.start_byte, node.end_byte, written)
    patch.edits.append(Edit("rename_parameter", source.path, symbol.qualified, new))
    return patch


def _function(symbol: Symbol, name: str, sources: Sources) -> _Function | None:
    """A function that has a parameter of a name; None in languages that aren't known, and where it destructures one."""
    source = sources.get(symbol.path)
    if source is None or source.language not in LANGUAGES:
        return None
    label = name_node(source, symbol)
    node = function_around(label) if label is not None else None
    listed = node.child_by_field_name("parameters") if node is not None else None
    if node is None or listed is None:
        return None
    function = _Function(source, node, tuple(parameters_in(source, listed)))
    if name not in function.names:
        message = i18n.message("exact.no_such_name_in", name=name, place=symbol.name)
        near = ", ".join(n for n in function.names if n)
        raise GenerationFailed(message, i18n.message("exact.nearest", names=near) if near else "")
    return function


def _identifiers(function: _Function, name: str) -> Iterator[Node]:
    """The identifiers of a name in a function, members of objects apart."""
    source = function.source
    for match in word_pattern(name).finditer(source.data, function.node.start_byte, function.node.end_byte):
        node = function.node.descendant_for_byte_range(*match.span())
        exact = node is not None and (node.start_byte, node.end_byte) == match.span()
        if node is not None and exact and is_identifier(node) and node.type not in _MEMBER and not _is_key(node):
            yield node


def _is_key(node: Node) -> bool:
    """Whether an identifier is the key of a field, the name of a method that is called, or a label."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "literal_element":  # Go: {name: value}
        pair = parent.parent
        return pair is not None and pair.type == "keyed_element" and pair.named_child(0) == parent
    label = parent.child_by_field_name("field") or parent.child_by_field_name("property")
    label = label or (parent.child_by_field_name("name") if parent.type == "method_invocation" else None)
    return label is not None and label.id == node.id


def _uses_in_body(function: _Function, name: str) -> Iterator[Node]:
    own = function.parameters[function.names.index(name)].node
    return (node for node in _identifiers(function, name) if not _is_inside(node, own))


def _is_inside(node: Node, around: Node) -> bool:
    return around.start_byte <= node.start_byte and node.end_byte <= around.end_byte


def _binds(node: Node) -> bool:
    """Whether an identifier may give the name another meaning."""
    child, parent = node, node.parent
    while parent is not None and parent.type in ("expression_list", "identifier_list", "mut_pattern", "tuple_pattern"):
        child, parent = parent, parent.parent
    if parent is None or parent.type not in _BINDING:
        return node.type == "shorthand_property_identifier_pattern"
    bound = [parent.child_by_field_name(f) for f in ("name", "left", "pattern", "declarator", "parameter")]
    plain = parent.type in (
        "formal_parameters",
        "closure_parameters",
        "rest_pattern",
        "array_pattern",
        "object_pattern",
    )
    return plain or any(b is not None and b.id == child.id for b in bound)


def _remove_argument(call: PolyglotCall, at: int, patch: Patch) -> None:
    """Remove an argument, unless it is hidden behind a spread one or does something."""
    source = call.source
    arguments = [a for a in call.arguments if isinstance(a, Node)]
    hidden = call.spread is not None and call.spread <= at
    if hidden or len(arguments) != len(call.arguments) or (at < len(arguments) and _may_act(arguments[at])):
        patch.leave_open(source, call.start, i18n.message("exact.open.arguments"))
        return
    if at < len(arguments):
        for start, end in removed_spans(source.data, arguments, {at}):
            patch.replace(source.path, start, end, "")
        line = i18n.message("exact.line", line=source.line_of(call.start))
        patch.edits.append(Edit("remove_parameter", source.path, line))


def _may_act(argument: Node) -> bool:
    return argument.type not in _WITHOUT_EFFECT
