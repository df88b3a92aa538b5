"""Where values stand in code: assignments, defaults of parameters, entries of dictionaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.polyglot import LANGUAGES, value_node
from repopilot.agents.editing.exact.python.name_uses import name_table, scope_of
from repopilot.agents.editing.exact.sources import Sources, SourceText
from repopilot.agents.editing.exact.values.fallbacks import fallback_of
from repopilot.agents.editing.exact.values.field_values import literal_values
from repopilot.types import Symbol

_FIELD_CALLS = frozenset(("field", "Field", "ib", "attrib", "mapped_column", "Column", "attr.ib", "attrs.field"))
_COMPUTED = frozenset(
    "call list_comprehension dictionary_comprehension set_comprehension generator_expression lambda subscript "
    "conditional_expression await call_expression new_expression arrow_function function_expression macro_invocation "
    "method_invocation object_creation_expression ternary_expression boolean_operator composite_literal "
    "if_expression match_expression block struct_expression".split()
)


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A value in a file: its bytes and text ('' where it is missing, then `before` is what leads to it), the qualified
    name of what has it, and whether it is computed."""

    path: str
    start: int
    end: int
    text: str
    place: str
    computed: bool = False
    before: str = ""


def places_in(symbol: Symbol, name: str | None, sources: Sources) -> Iterator[ValuePlace]:
    """The values of a definition.

    Args:
        symbol: a definition.
        name: of a parameter, attribute, entry or variable in it; None for its own value.
        sources: the files.
    """
    source = sources.get(symbol.path)
    if source is None or source.root is None:
        return
    if source.language == "python":
        yield from _python_places(source, symbol, name)
    elif source.language in LANGUAGES:
        found = list(value_node(source, symbol, name))
        if not found and name is not None:
            found = literal_values(source, symbol, name)
        for value in found:
            yield value_of(source, value, symbol.qualified)


def _python_places(source: SourceText, symbol: Symbol, name: str | None) -> Iterator[ValuePlace]:
    node = definition_node(source, symbol)
    if node is None:
        return
    if node.type == "assignment":
        yield from _in_assignment(source, node, symbol.qualified, name)
    elif name is not None and node.type == "function_definition":
        yield from _in_function(source, node, symbol.qualified, name)
    elif name is not None and node.type == "class_definition":
        yield from _in_class(source, node, symbol.qualified, name)


def definition_node(source: SourceText, symbol: Symbol) -> Node | None:
    """The node of a Python definition: a function, class or assignment.

    Of several with that name at the same place None, unless they are overloads: then the last.
    """
    table = name_table(source, symbol.name)
    found: list[Node] = []
    for use in table.uses:
        line = source.line_of(use.start)
        if not use.binds or not symbol.start_line <= line <= symbol.end_line:
            continue
        node = use.node if use.node.type != "identifier" else use.node.parent
        kinds = ("function_definition", "class_definition", "assignment")
        if node is not None and node.type in kinds and qualified_name(source, node, symbol.name) == symbol.qualified:
            found.append(node)
    first = found[0] if found else None
    if first is None or first.type != "assignment":
        return first
    same = [n for n in table.bound.get(scope_of(first).id, []) if n.node.parent is not None]
    return first if len(same) == 1 else None


def qualified_name(source: SourceText, node: Node, name: str) -> str:
    """The dotted name of a definition, by the classes and functions around it."""
    parts = [name]
    scope = scope_of(node)
    while scope.type != "module":
        label = scope.child_by_field_name("name")
        if label is not None:
            parts.append(source.slice(label))
        if scope.parent is None:
            break
        scope = scope_of(scope)
    return ".".join(reversed(parts))


def _in_assignment(source: SourceText, node: Node, place: str, name: str | None) -> Iterator[ValuePlace]:
    right = node.child_by_field_name("right")
    if name is not None:
        if right is not None and right.type == "dictionary":
            yield from _entries(source, right, place, name)
        elif right is not None and right.type == "call":
            yield from _keyword_arguments(source, right, place, name)
            arguments = right.child_by_field_name("arguments")
            for inner in arguments.named_children if arguments is not None else ():
                if inner.type == "dictionary":
                    yield from _entries(source, inner, place, name)
        return
    if right is None:
        declared = node.child_by_field_name("type")
        if declared is not None:
            yield ValuePlace(source.path, declared.end_byte, declared.end_byte, "", place, before=" = ")
        return
    if right.type in ("assignment", "augmented_assignment") or node.child_by_field_name("left") is None:
        return
    yield value_of(source, _field_default(source, right) or right, place)


def _field_default(source: SourceText, right: Node) -> Node | None:
    """The default in `field(default=1)` of a dataclass or the like."""
    function = right.child_by_field_name("function") if right.type == "call" else None
    if function is None or source.slice(function).rpartition(".")[2] not in _FIELD_CALLS:
        return None
    arguments = right.child_by_field_name("arguments")
    for item in arguments.named_children if arguments is not None else ():
        label = item.child_by_field_name("name") if item.type == "keyword_argument" else None
        if label is not None and source.slice(label) == "default":
            return item.child_by_field_name("value")
    return None


def value_of(source: SourceText, node: Node, place: str) -> ValuePlace:
    """A node as a value; of an expression with a fallback that one."""
    node = fallback_of(source, node)
    return ValuePlace(source.path, node.start_byte, node.end_byte, source.slice(node), place, node.type in _COMPUTED)


def _entries(source: SourceText, dictionary: Node, place: str, name: str) -> Iterator[ValuePlace]:
    for pair in dictionary.named_children:
        key = pair.child_by_field_name("key") if pair.type == "pair" else None
        value = pair.child_by_field_name("value") if pair.type == "pair" else None
        if key is None or value is None:
            continue
        written = source.slice(key)
        if name in (written, written.strip("\"'")):
            yield value_of(source, value, place)


def _keyword_arguments(source: SourceText, call: Node, place: str, name: str) -> Iterator[ValuePlace]:
    arguments = call.child_by_field_name("arguments")
    for item in arguments.named_children if arguments is not None else ():
        label = item.child_by_field_name("name") if item.type == "keyword_argument" else None
        value = item.child_by_field_name("value") if item.type == "keyword_argument" else None
        if label is not None and value is not None and source.slice(label) == name:
            yield value_of(source, value, place)


def _in_function(source: SourceText, node: Node, place: str, name: str) -> Iterator[ValuePlace]:
    found = list(_parameter(source, node, place, name))
    if found:
        yield from found
        return
    body = node.child_by_field_name("body")
    for use in name_table(source, name).bound.get(node.id, []) if body is not None else ():
        parent = use.node.parent
        if parent is None or parent.type != "assignment":
            return
        right = parent.child_by_field_name("right")
        if right is not None:
            yield value_of(source, right, f"{place}.{name}")


def _parameter(source: SourceText, node: Node, place: str, name: str) -> Iterator[ValuePlace]:
    listed = node.child_by_field_name("parameters")
    parameters = [c for c in listed.named_children if c.type != "comment"] if listed is not None else []
    for at, parameter in enumerate(parameters):
        label = parameter.child_by_field_name("name")
        if parameter.type in ("default_parameter", "typed_default_parameter") and label is not None:
            value = parameter.child_by_field_name("value")
            if source.slice(label) == name and value is not None:
                default = value_of(source, value, place)
                yield ValuePlace(default.path, default.start, default.end, default.text, place)
        elif parameter.type in ("identifier", "typed_parameter") and _plain_name(source, parameter) == name:
            if not _may_have_default(parameters, at):
                return
            before = " = " if parameter.type == "typed_parameter" else "="
            end = parameter.end_byte
            yield ValuePlace(source.path, end, end, "", place, before=before)


def _plain_name(source: SourceText, parameter: Node) -> str:
    inner = parameter.named_child(0) if parameter.type == "typed_parameter" else parameter
    return source.slice(inner) if inner is not None and inner.type == "identifier" else ""


def _may_have_default(parameters: list[Node], at: int) -> bool:
    """A default needs every later positional parameter to have one."""
    before = [p.type for p in parameters[:at]]
    if "keyword_separator" in before or any(p.type == "list_splat_pattern" for p in parameters[:at]):
        return True
    for later in parameters[at + 1 :]:
        if later.type in ("keyword_separator", "list_splat_pattern", "dictionary_splat_pattern"):
            return True
        if later.type in ("identifier", "typed_parameter"):
            inner = later.named_child(0)
            return inner is not None and inner.type in ("list_splat_pattern", "dictionary_splat_pattern")
    return True


def _in_class(source: SourceText, node: Node, place: str, name: str) -> Iterator[ValuePlace]:
    """A parameter of `__init__`, else an attribute that a method sets once to a plain value."""
    constructor = name_table(source, "__init__").bound.get(node.id, [])
    for use in constructor:
        function = use.node.parent if use.node.type == "identifier" else use.node
        if function is not None and function.type == "function_definition":
            found = list(_parameter(source, function, f"{place}.__init__", name))
            if found:
                yield from found
                return
    yield from _instance_attribute(source, node, place, name)


def _instance_attribute(source: SourceText, node: Node, place: str, name: str) -> Iterator[ValuePlace]:
    values = []
    for use in name_table(source, name).uses:
        attribute = use.node.parent
        holder = attribute.parent if use.role == "attribute" and attribute is not None else None
        if holder is None or holder.type != "assignment" or not node.start_byte < use.start < node.end_byte:
            continue
        left, right = holder.child_by_field_name("left"), holder.child_by_field_name("right")
        receiver = attribute.child_by_field_name("object") if attribute is not None else None
        if left is None or attribute is None or left.id != attribute.id or right is None or receiver is None:
            continue
        if source.slice(receiver) == "self":
            values.append(right)
    if len(values) == 1 and values[0].type != "identifier":
        yield value_of(source, values[0], f"{place}.{name}")
