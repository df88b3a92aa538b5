"""What a name is bound to: parameters with their defaults, constants, fields, assignments, keys and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from repopilot.agents.explain.forms.syntax.occurrences import Occurrence
from repopilot.agents.explain.forms.syntax.syntax_nodes import ParsedFile, first_line, last_line, parents

Role = Literal["parameter", "constant", "field", "attribute", "key", "argument", "option", "local"]

_BINDING: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "default_parameter": (("name",), ("value",)),
    "typed_default_parameter": (("name",), ("value",)),
    "typed_parameter": ((), ()),
    "assignment": (("left",), ("right",)),
    "keyword_argument": (("name",), ("value",)),
    "pair": (("key",), ("value",)),
    "assignment_pattern": (("left",), ("right",)),
    "object_assignment_pattern": (("left",), ("right",)),
    "required_parameter": (("pattern",), ("value",)),
    "optional_parameter": (("pattern", "name"), ("value",)),
    "keyword_parameter": (("name",), ("value",)),
    "variable_declarator": (("name",), ("value",)),
    "public_field_definition": (("name",), ("value",)),
    "field_definition": (("property",), ("value",)),
    "assignment_expression": (("left",), ("right",)),
    "enum_assignment": (("name",), ("value",)),
    "property_signature": (("name",), ()),
    "const_spec": (("name",), ("value",)),
    "var_spec": (("name",), ("value",)),
    "short_var_declaration": (("left",), ("right",)),
    "assignment_statement": (("left",), ("right",)),
    "keyed_element": (("key",), ("value",)),
    "parameter_declaration": (("name", "declarator"), ()),
    "field_declaration": (("name", "declarator"), ()),
    "const_item": (("name",), ("value",)),
    "static_item": (("name",), ("value",)),
    "let_declaration": (("pattern",), ("value",)),
    "field_initializer": (("field", "name"), ("value",)),
    "parameter": (("pattern", "name"), ()),
    "formal_parameter": (("name",), ()),
    "preproc_def": (("name",), ("value",)),
    "init_declarator": (("declarator",), ("value",)),
    "enumerator": (("name",), ("value",)),
    "enum_variant": (("name",), ("value",)),
    "operator_assignment": (("left",), ("right",)),
    "simple_parameter": (("name",), ("default_value",)),
    "const_element": ((), ()),
}
"""Nodes that bind a name: the fields that hold the name, and those that hold its value."""
_PARAMETERS = (
    "parameters",
    "formal_parameters",
    "parameter_list",
    "method_parameters",
    "lambda_parameters",
    "default_parameter",
    "typed_default_parameter",
    "optional_parameter",
    "keyword_parameter",
    "required_parameter",
    "simple_parameter",
)
_CONSTANTS = ("const_spec", "const_item", "static_item", "preproc_def", "enumerator", "enum_assignment", "enum_variant")
_KEYS = ("pair", "keyed_element", "field_initializer")
_FIELDS = ("public_field_definition", "field_definition", "field_declaration", "property_signature")
_MEMBERS = ("attribute", "member_expression", "selector_expression", "field_expression", "subscript")
_FUNCTIONS = re.compile(
    r"^(?:function|method|lambda|arrow_function|func_literal|closure|singleton_method|constructor|generator_function)"
)
_CLASSES = re.compile(r"^(?:class|struct|interface|trait|enum|impl)")
_CONSTRUCTOR = re.compile(
    r"^(?:__init__|__new__|constructor|initialize|init|new\w*|New\w*|\w*[dD]efaults?\w*|setup|reset\w*|create\w*|make\w*)$"
)
_OPTION_CALLS = re.compile(r"(?:^|\.)(?:add_argument|add_option|option|argument|Option|Argument)$")
_GO_FLAG = re.compile(
    r"(?:^|\.)(?:(?:String|Int|Int64|Uint|Bool|Duration|Float64|StringSlice|Count)(?:Var)?P?|SetDefault)$"
)


@dataclass(frozen=True, slots=True)
class Binding:
    """A name with its value at one place.

    Attributes:
        name: the name.
        value: the source of its value, '' where there is none.
        type: the source of its declared type, '' where there is none.
        role: what is bound.
        path: the file.
        first: the first line of the binding.
        last: the last line of it.
        owner: the name of the innermost function around it, '' outside of functions.
        container: the name that the object is bound to whose key it is, '' for none.
    """

    name: str
    value: str
    type: str
    role: Role
    path: str
    first: int
    last: int
    owner: str = ""
    container: str = ""

    @property
    def in_constructor(self) -> bool:
        """Whether it stands in a function that makes objects or sets defaults, or in an object of defaults."""
        return bool(_CONSTRUCTOR.match(self.owner)) or "default" in self.container.lower()


def binding_of(found: Occurrence) -> Binding | None:
    """The binding of a name at a place where it stands; None where it is only used there."""
    node = found.node
    if "string" in node.type or "symbol" in node.type:
        option = _option(found)
        if option is not None:
            return option
    for depth, (parent, child) in enumerate(parents(node)):
        fields = _BINDING.get(parent.type)
        if fields is not None:
            return _bound(found, parent, child, *fields)
        if parent.type in _PARAMETERS and depth == 0:
            return _binding(found, parent, None, "parameter", node)
        if depth > 3 or parent.type.endswith(("_statement", "block", "body")) or "call" in parent.type:
            return None
        # `x.name = …` binds the name, `name.x = …` doesn't.
        if parent.type in _MEMBERS and child.end_byte != parent.end_byte:
            return None
    return None


def _bound(
    found: Occurrence, parent: Node, child: Node, names: tuple[str, ...], values: tuple[str, ...]
) -> Binding | None:
    name = _field(parent, names) or (parent.named_children[0] if parent.named_children else None)
    if name is None or not (name.start_byte <= child.start_byte and child.end_byte <= name.end_byte):
        return None
    if name.type == "expression_list" and len(name.named_children) > 1:
        return None
    value = _field(parent, values) or _positional_value(parent, values)
    role = _role(found, parent)
    if value is not None and value.type == "assignment":
        return None
    return _binding(found, parent, value, role, parent)


def _binding(found: Occurrence, parent: Node, value: Node | None, role: Role, place: Node) -> Binding:
    file = found.file
    declared = parent.child_by_field_name("type") if parent.type in _BINDING else None
    if declared is None and parent.parent is not None and parent.type == "variable_declarator":
        declared = parent.parent.child_by_field_name("type")
    text = file.text(value).strip() if value is not None else ""
    name = file.text(found.node).strip("\"'`:@$-")
    return Binding(
        name,
        text,
        file.text(declared).lstrip(": ").strip() if declared is not None else "",
        role,
        file.path,
        first_line(place),
        max(first_line(place), last_line(place) - (place.type == "preproc_def")),
        _function_name(file, found.node),
        _container(file, parent) if role == "key" else "",
    )


def _role(found: Occurrence, parent: Node) -> Role:
    kind = parent.type
    around = [node for node, _ in parents(parent)]
    if kind in _CONSTANTS:
        return "constant"
    if kind == "keyword_argument":
        return "argument"
    if kind in _KEYS:
        return "parameter" if any(node.type in ("object_pattern",) for node in around[:2]) else "key"
    if kind in _FIELDS:
        return "field"
    if kind.endswith("parameter") or kind == "parameter_declaration" or _is_parameter_pattern(kind, around):
        return "parameter"
    if _is_attribute(found.node):
        return "attribute"
    return _scope_role(around)


def _is_parameter_pattern(kind: str, around: list[Node]) -> bool:
    if kind not in ("assignment_pattern", "object_assignment_pattern"):
        return False
    return any(node.type in (*_PARAMETERS, "variable_declarator") for node in around[:4])


def _scope_role(around: list[Node]) -> Role:
    for node in around:
        if _FUNCTIONS.match(node.type):
            return "local"
        if _CLASSES.match(node.type):
            return "field"
    return "constant"


def _is_attribute(node: Node) -> bool:
    parent = node.parent
    return node.type in ("instance_variable", "class_variable") or (
        parent is not None
        and parent.type in ("attribute", "member_expression", "selector_expression", "field_expression", "field_access")
    )


def _function_name(file: ParsedFile, node: Node) -> str:
    for parent, _ in parents(node):
        if not _FUNCTIONS.match(parent.type):
            continue
        name = parent.child_by_field_name("name") or parent.child_by_field_name("declarator")
        while name is not None and (inner := name.child_by_field_name("declarator")) is not None:
            name = inner
        if name is not None:
            return file.text(name)
        outer = parent.parent
        if outer is not None and outer.type in ("variable_declarator", "pair"):
            named = outer.child_by_field_name("name") or outer.child_by_field_name("key")
            return file.text(named) if named else ""
    return ""


def _container(file: ParsedFile, pair: Node) -> str:
    """The name of the variable, field or constant whose value holds a key."""
    for parent, _ in parents(pair):
        names, values = _BINDING.get(parent.type, ((), ()))
        name = _field(parent, names) if values and parent.type not in _KEYS else None
        if name is not None:
            return file.text(name)
        if _FUNCTIONS.match(parent.type):
            return ""
    return ""


def _option(found: Occurrence) -> Binding | None:
    """An option of a command line, or a setting, that a call declares with its default."""
    for depth, (parent, child) in enumerate(parents(found.node)):
        if parent.type in ("call", "call_expression") and depth <= 3:
            function = parent.child_by_field_name("function") or parent.child_by_field_name("method")
            arguments = parent.child_by_field_name("arguments")
            if function is None or arguments is None or function.id == child.id:
                return None
            value = _option_default(found.file, found.file.text(function), arguments, found.node)
            return _binding(found, parent, value, "option", parent) if value is not None else None
    return None


def _option_default(file: ParsedFile, function: str, arguments: Node, name: Node) -> Node | None:
    if _OPTION_CALLS.search(function):
        keywords = (n for n in arguments.named_children if n.type == "keyword_argument")
        given = {file.text(key): n for n in keywords if (key := n.child_by_field_name("name")) is not None}
        return given["default"].child_by_field_name("value") if "default" in given else None
    if file.language == "go" and _GO_FLAG.search(function):
        following = [n for n in arguments.named_children if n.start_byte >= name.end_byte]
        short = function.endswith("P")
        return following[1 if short else 0] if len(following) > short else None
    return None


def _field(node: Node, names: tuple[str, ...]) -> Node | None:
    return next((found for name in names if (found := node.child_by_field_name(name)) is not None), None)


def _positional_value(parent: Node, values: tuple[str, ...]) -> Node | None:
    """The value of a node that has two children and no names for them."""
    if values and parent.type == "keyed_element" and len(parent.named_children) == 2:
        return parent.named_children[1]
    return None


def bindings(found: list[Occurrence]) -> Iterator[Binding]:
    """The bindings among the occurrences of a name, in order."""
    for occurrence in found:
        binding = binding_of(occurrence)
        if binding is not None:
            yield binding
