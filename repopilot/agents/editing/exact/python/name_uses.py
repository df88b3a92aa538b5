"""Every use of one name in a Python file: what it is there, and in which scope it is looked up. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import SourceText, word_pattern

Role = Literal[
    "bind", "load", "parameter", "attribute", "keyword", "imported", "module", "declared", "string", "comment", "other"
]
"""What a name is: `imported` is the name after `from … import`, `module` a part of a module's path, `declared` follows
`global` or `nonlocal`, `keyword` names an argument of a call."""

COMPREHENSIONS = frozenset(
    ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")
)
FUNCTIONS = frozenset(("function_definition", "lambda"))
SCOPES = COMPREHENSIONS | FUNCTIONS | {"class_definition", "module"}
_TARGETS = frozenset(
    "pattern_list tuple_pattern list_pattern list_splat_pattern expression_list tuple list parenthesized_expression "
    "list_splat".split()
)
_LEFT = {
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "named_expression": "name",
    "type_alias_statement": "left",
}
_NO_REFERENCE = re.compile(rb"(Literal|Annotated)$")


@dataclass(frozen=True, slots=True)
class NameUse:
    """An occurrence of a name: its bytes, what it is, the node it is (for text in strings and comments the node around
    it), and the scope it is bound or looked up in. `aliased`: an import binds another name."""

    start: int
    end: int
    role: Role
    node: Node
    scope: Node
    aliased: bool = False

    @property
    def binds(self) -> bool:
        """Whether it gives the name a value in its scope."""
        return self.role in ("bind", "parameter") or (self.role == "imported" and not self.aliased)


@dataclass(frozen=True)
class NameTable:
    """All uses of a name in a file."""

    source: SourceText
    name: str
    uses: tuple[NameUse, ...]

    @cached_property
    def bound(self) -> dict[int, list[NameUse]]:
        """The uses that bind the name, by the id of their scope."""
        found: dict[int, list[NameUse]] = {}
        for use in self.uses:
            if use.binds and not self._declared(use.scope):
                found.setdefault(use.scope.id, []).append(use)
        for use in self.uses:
            if use.binds and self._declared(use.scope):
                scope = self.lookup(use.scope)
                if scope is not None:
                    found.setdefault(scope.id, []).append(use)
        return found

    @cached_property
    def _declarations(self) -> dict[int, str]:
        return {u.scope.id: _statement(u.node).type for u in self.uses if u.role == "declared"}

    def _declared(self, scope: Node) -> str:
        return self._declarations.get(scope.id, "")

    def binding_scope(self, use: NameUse) -> Node | None:
        """The scope whose name a bound, loaded or declared use means; None where the file doesn't bind it."""
        return self.lookup(use.scope)

    def lookup(self, scope: Node | None) -> Node | None:
        """The scope in which the name, used in a scope, is bound; None where the file doesn't bind it."""
        first = True
        own = {u.scope.id for u in self.uses if u.binds}
        while scope is not None:
            declared = self._declared(scope)
            if declared == "global_statement":
                return _root(scope)
            visible = first or scope.type != "class_definition"
            if visible and not declared and scope.id in own:
                return scope
            first = False
            scope = outer_scope(scope)
        return None


def name_table(source: SourceText, name: str) -> NameTable:
    """Find every use of a name in a file.

    Args:
        source: a parsed Python file.
        name: the name.
    """
    return NameTable(source, name, tuple(_uses(source, name)))


def _uses(source: SourceText, name: str) -> Iterator[NameUse]:
    root = source.root
    if root is None:
        return
    for match in word_pattern(name).finditer(source.data):
        start, end = match.span()
        node = root.descendant_for_byte_range(start, end)
        if node is None:
            continue
        if node.type == "identifier" and (node.start_byte, node.end_byte) == (start, end):
            yield _identifier_use(node)
        else:
            yield _text_use(source, node, start, end)


def _identifier_use(node: Node) -> NameUse:
    role, aliased, scope_from = role_of(node)
    scope = scope_of(scope_from, parameter=role == "parameter")
    if _walrus(scope_from) and role == "bind":
        while scope.type in COMPREHENSIONS:
            scope = outer_scope(scope) or _root(scope)
    return NameUse(node.start_byte, node.end_byte, role, node, scope, aliased)


def role_of(node: Node) -> tuple[Role, bool, Node]:
    """What an identifier is, whether an import gives it another name, and the node whose scope it is in."""
    parent = node.parent
    if parent is None:
        return "other", False, node
    kind = parent.type
    if kind == "attribute" and _is(parent.child_by_field_name("attribute"), node):
        return "attribute", False, node
    if kind == "keyword_argument" and _is(parent.child_by_field_name("name"), node):
        return "keyword", False, node
    if kind == "keyword_pattern" and _is(parent.named_child(0), node):
        return "keyword", False, node
    if kind in ("function_definition", "class_definition") and _is(parent.child_by_field_name("name"), node):
        return "bind", False, parent
    if kind in ("global_statement", "nonlocal_statement"):
        return "declared", False, node
    if kind == "dotted_name":
        return _dotted_role(node, parent)
    if kind == "aliased_import" and _is(parent.child_by_field_name("alias"), node):
        return "bind", False, node
    if _is_parameter(node):
        return "parameter", False, node
    return ("bind" if _is_target(node) else "load"), False, node


def _dotted_role(node: Node, dotted: Node) -> tuple[Role, bool, Node]:
    first = _is(dotted.named_child(0), node)
    around = dotted.parent
    if around is None:
        return "other", False, node
    aliased = around.type == "aliased_import"
    statement = around.parent if aliased and around.parent is not None else around
    if statement.type == "import_statement":
        return ("bind" if first and not aliased else "module"), aliased, node
    if statement.type in ("import_from_statement", "future_import_statement"):
        if _is(statement.child_by_field_name("module_name"), dotted):
            return "module", False, node
        return "imported", aliased, node
    if around.type == "relative_import":
        return "module", False, node
    if around.type == "case_pattern":
        return ("bind" if dotted.named_child_count == 1 else "load" if first else "attribute"), False, node
    return ("load" if first else "attribute"), False, node


def _is_parameter(node: Node) -> bool:
    child, parent = node, node.parent
    while parent is not None and parent.type in (
        "list_splat_pattern",
        "dictionary_splat_pattern",
        "default_parameter",
        "typed_parameter",
        "typed_default_parameter",
        "tuple_pattern",
    ):
        if parent.type in ("default_parameter", "typed_default_parameter"):
            if not _is(parent.child_by_field_name("name"), child):
                return False
        elif parent.type == "typed_parameter" and not _is(parent.named_child(0), child):
            return False
        child, parent = parent, parent.parent
    return parent is not None and parent.type in ("parameters", "lambda_parameters")


def _is_target(node: Node) -> bool:
    child, parent = node, node.parent
    while parent is not None and parent.type in _TARGETS:
        child, parent = parent, parent.parent
    if parent is None:
        return False
    kind = parent.type
    if kind in _LEFT:
        return _is(parent.child_by_field_name(_LEFT[kind]), child)
    if kind in ("as_pattern_target", "delete_statement", "splat_pattern"):
        return True
    if kind == "as_pattern":  # of a case: elsewhere the name is below an as_pattern_target
        return parent.named_child_count > 1 and _is(parent.named_child(parent.named_child_count - 1), child)
    return kind == "type" and _defines_type(parent)


def _defines_type(node: Node) -> bool:
    """Whether a `type` node is the name of a type parameter or alias."""
    around = node.parent
    if around is not None and around.type == "constrained_type" and _is(around.named_child(0), node):
        around = around.parent.parent if around.parent is not None else None
    if around is None:
        return False
    if around.type == "type_parameter":
        return around.parent is not None and around.parent.type in ("function_definition", "class_definition")
    return around.type == "type_alias_statement" and _is(around.child_by_field_name("left"), node)


def _walrus(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "named_expression"


def scope_of(node: Node, *, parameter: bool = False) -> Node:
    """The scope that a node is in: a module, class, function, lambda or comprehension.

    Args:
        node: the node; a definition is in the scope around it.
        parameter: whether it is the name of a parameter, which belongs to the function.
    """
    before, child, parent = node, node, node.parent
    while parent is not None:
        kind = parent.type
        if kind == "module":
            return parent
        if kind in FUNCTIONS:
            inside = "parameters" if parameter else "body"
            if _is(parent.child_by_field_name(inside), child):
                return parent
        elif kind == "class_definition":
            if _is(parent.child_by_field_name("body"), child):
                return parent
        elif kind in COMPREHENSIONS and not _first_iterable(parent, child, before):
            return parent
        before, child, parent = child, parent, parent.parent
    return child


def _first_iterable(comprehension: Node, child: Node, before: Node) -> bool:
    """Whether a node is below the iterable of a comprehension's first `for`, which belongs to the scope around it."""
    first = next((c for c in comprehension.named_children if c.type == "for_in_clause"), None)
    return first is not None and _is(first, child) and _is(first.child_by_field_name("right"), before)


def outer_scope(scope: Node) -> Node | None:
    """The scope around a scope; None for the module."""
    return None if scope.type == "module" or scope.parent is None else scope_of(scope)


def _text_use(source: SourceText, node: Node, start: int, end: int) -> NameUse:
    """A name inside a comment, or a string: one that is an annotation is read as code."""
    if node.type == "comment":
        return NameUse(start, end, "comment", node, scope_of(node))
    string: Node | None = node
    while string is not None and string.type != "string":
        string = string.parent
    if string is None:
        return NameUse(start, end, "other", node, scope_of(node))
    if _is_annotation(string, source.data):
        attribute = source.data[start - 1 : start] == b"."
        return NameUse(start, end, "string" if attribute else "load", node, scope_of(string))
    return NameUse(start, end, "string", string, scope_of(string))


def _is_annotation(string: Node, data: bytes) -> bool:
    child, parent = string, string.parent
    while parent is not None and parent.type not in SCOPES and parent.type not in ("block", "call"):
        if parent.type in ("subscript", "generic_type"):
            head = parent.named_child(0)
            if (
                head is not None
                and not _is(head, child)
                and _NO_REFERENCE.search(data[head.start_byte : head.end_byte])
            ):
                return False
        if parent.type == "type" and (parent.parent is None or parent.parent.type != "type_parameter"):
            return True
        if parent.type == "keyword_argument":
            name = parent.child_by_field_name("name")
            return name is not None and data[name.start_byte : name.end_byte] == b"bound"
        child, parent = parent, parent.parent
    if parent is not None and parent.type in FUNCTIONS:
        return _is(parent.child_by_field_name("return_type"), child)
    return _is_cast(string, parent, data)


def _is_cast(string: Node, call: Node | None, data: bytes) -> bool:
    """Whether a string is the first argument of a call of `cast`, which is a type."""
    if call is None or call.type != "call":
        return False
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    named = function is not None and data[function.start_byte : function.end_byte].rpartition(b".")[2] == b"cast"
    return named and arguments is not None and _is(arguments.named_child(0), string)


def _statement(node: Node) -> Node:
    return node.parent if node.parent is not None else node


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def _is(one: Node | None, other: Node | None) -> bool:
    return one is not None and other is not None and one.id == other.id
