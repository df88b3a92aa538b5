"""Which variable of a Python file each occurrence of a name is, by Python's rules of scopes. Pure.

All bindings of a name in one scope are one variable, however often it is bound there. The file's text alone decides
which scope a name belongs to; the syntax tree also reads half-written code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from tree_sitter import Node, Tree

from repopilot.code.syntax import ancestors, parse, text_of

Role = Literal["load", "bind", "global", "nonlocal", "member", "keyword", "pattern", "imported", "module"]
"""What an identifier is: a variable that is read or bound, declared global or nonlocal; the attribute of an object; the
keyword of an argument or of a class pattern; what an import names; or the part of a module's name."""
VARIABLES = ("load", "bind", "global", "nonlocal")
MODULE = -1
_COMPREHENSIONS = ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")
_PARAMETERS = ("parameters", "lambda_parameters")
_TUPLES = ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern")
_TYPES = ("type_parameter", "type", "splat_type")
_TARGETS = (*_TUPLES, *_TYPES, "tuple", "list", "list_splat", "expression_list", "as_pattern_target")
_FIRST_ONLY = ("constrained_type", "generic_type", "dotted_name")
"""Nodes that pass their role on to their first child only."""


@dataclass(eq=False, slots=True)
class PythonScope:
    """A module, class, function or comprehension.

    Attributes:
        kind: which of them.
        start: where it begins, in bytes; MODULE for the module.
        end: where it ends, in bytes.
        parent: the scope around it, None for the module.
        owner: the bytes of its name, None where it has none.
        qualified: its dotted name, '' for the module.
        first: the name of its first parameter.
        bases: the bytes of a class's bases in their parentheses, None for none.
        binds: whether the name is bound in it.
        declared: whether the name is declared global or nonlocal in it.
    """

    kind: Literal["module", "class", "function", "comprehension"]
    start: int
    parent: PythonScope | None
    end: int = MODULE
    owner: tuple[int, int] | None = None
    qualified: str = ""
    first: str = ""
    bases: tuple[int, int] | None = None
    binds: bool = False
    declared: Literal["", "global", "nonlocal"] = ""


class PythonName(NamedTuple):
    """An occurrence of a name as an identifier.

    Attributes:
        start: its first character.
        end: the character after it.
        role: what it is.
        scope: the scope it stands in.
        home: the scope whose variable it is; None where it is no variable, or the file doesn't bind it.
        member_of: the class, for `x` of `self.x` and `cls.x` within its methods.
        call: the characters of the call that the keyword is an argument of.
        object: the code of what it is a member of: an attribute's object, the module of an import, the class of a
            pattern, the object that a call copies with other fields; '' where that isn't known.
        super_of: the class in which it is an attribute of `super()`.
    """

    start: int
    end: int
    role: Role
    scope: PythonScope
    home: PythonScope | None
    member_of: PythonScope | None = None
    call: tuple[int, int] = (0, 0)
    object: str = ""
    super_of: PythonScope | None = None

    @property
    def open(self) -> bool:
        """Whether it may still mean an outer variable: a module or class body that reads the name before binding it
        looks further out."""
        return self.role == "load" and self.home is self.scope and self.scope.kind in ("module", "class")


@dataclass(slots=True)
class _Found:
    node: Node
    role: Role
    scope: PythonScope
    aliased: bool = False
    member_of: PythonScope | None = None
    call: Node | None = None
    object: str = ""
    super_of: PythonScope | None = None


@dataclass(slots=True)
class _Reader:
    """Walks the parts of a tree that hold a name."""

    data: bytes
    name: bytes
    found: list[_Found] = field(default_factory=list)

    def read(self, root: Node) -> None:
        todo: list[tuple[Node, PythonScope, Role]] = [(root, PythonScope("module", MODULE, None), "load")]
        while todo:
            node, scope, role = todo.pop()
            if self.data.find(self.name, node.start_byte, node.end_byte) < 0:
                continue
            if node.type == "identifier":
                self._add(node, scope, role)
            else:
                todo += reversed(list(self._inner(node, scope, role)))

    def _add(
        self,
        node: Node,
        scope: PythonScope,
        role: Role,
        *,
        aliased: bool = False,
        object_: Node | None = None,
        module: str = "",
    ) -> None:
        if self.data[node.start_byte : node.end_byte] != self.name:
            return
        object_text = text_of(object_, self.data)
        owner = _class_of(scope, lambda first: first == object_text) if object_text else None
        by_super = _class_of(scope, lambda first: True) if re.match(r"super\(.*\)$", object_text) else None
        self.found.append(_Found(node, role, scope, aliased, owner, object=object_text or module, super_of=by_super))
        if role == "bind" or (role == "imported" and not aliased):
            scope.binds = True
        if role == "global" or role == "nonlocal":
            scope.declared = role

    def _inner(self, node: Node, scope: PythonScope, role: Role) -> Iterator[tuple[Node, PythonScope, Role]]:
        """The children of a node, each with its scope and what an identifier is there."""
        read = _READERS.get(node.type)
        if read is not None:
            yield from read(self, node, scope)
        elif node.type in _COMPREHENSIONS:
            yield from self._comprehension(node, scope)
        elif node.type in _BINDING_FIELDS:
            for number, child in enumerate(node.children):
                bound = node.field_name_for_child(number) == _BINDING_FIELDS[node.type]
                yield child, scope, "bind" if bound else "load"
        else:
            rest: Role = "bind" if node.type == "delete_statement" else role if node.type in _TARGETS else "load"
            for number, child in enumerate(node.named_children):
                is_first = number == 0 and node.type in _FIRST_ONLY
                yield child, scope, role if is_first else "member" if node.type == "dotted_name" else rest

    def _function(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        name = node.child_by_field_name("name")
        parameters = node.child_by_field_name("parameters")
        inner = self._opened(node, scope, "function")
        inner.first = self._first(node, parameters)
        around = inner if node.child_by_field_name("type_parameters") else scope
        if name is not None:
            yield name, scope, "bind"
        for child in node.named_children:
            if child.type in _PARAMETERS:
                yield from self._parameters(child, around, inner)
            elif child == node.child_by_field_name("body"):
                yield child, inner, "load"
            elif child.type == "type_parameter":
                yield child, inner, "bind"
            elif child != name:
                yield child, around, "load"

    def _first(self, node: Node, parameters: Node | None) -> str:
        """The name of a method's first parameter, its object; '' for a static method."""
        if parameters is None or self._is_static(node):
            return ""
        return next((text_of(each, self.data).split(":")[0].strip() for each in parameters.named_children), "")

    def _is_static(self, function: Node) -> bool:
        named = (part for each in decorators(function) for part in each.named_children)
        return any(text_of(each, self.data).rpartition(".")[2] in _STATIC for each in named)

    def _parameters(
        self, node: Node, outer: PythonScope, inner: PythonScope
    ) -> Iterator[tuple[Node, PythonScope, Role]]:
        for each in node.named_children:
            if each.type == "identifier" or each.type in _TUPLES:
                yield each, inner, "bind"
                continue
            for number, child in enumerate(each.children):
                outside = each.field_name_for_child(number) in ("type", "value") or child.type == "type"
                yield child, outer if outside else inner, "load" if outside else "bind"

    def _class(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        inner = self._opened(node, scope, "class")
        for child in node.named_children:
            if child == name:
                yield child, scope, "bind"
            elif child.type == "type_parameter":
                yield child, inner, "bind"
            else:
                yield child, inner if child == body else scope, "load"

    def _opened(self, node: Node, scope: PythonScope, kind: Literal["class", "function"]) -> PythonScope:
        name = node.child_by_field_name("name")
        owner = (name.start_byte, name.end_byte) if name is not None else None
        qualified = f"{scope.qualified}.{text_of(name, self.data)}".strip(".")
        bases = node.child_by_field_name("superclasses")
        span = (bases.start_byte, bases.end_byte) if bases is not None else None
        return PythonScope(kind, node.start_byte, scope, node.end_byte, owner, qualified, bases=span)

    def _comprehension(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        inner = PythonScope("comprehension", node.start_byte, scope, qualified=scope.qualified)
        clauses = [child for child in node.named_children if child.type == "for_in_clause"]
        for child in node.named_children:
            if child.type != "for_in_clause":
                yield child, inner, "load"
                continue
            for number, part in enumerate(child.children):
                named = child.field_name_for_child(number)
                first = child == clauses[0] and named == "right"
                yield part, scope if first else inner, "bind" if named == "left" else "load"

    def _named(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        holder = scope
        while holder.kind == "comprehension" and holder.parent is not None:
            holder = holder.parent
        name = node.child_by_field_name("name")
        for child in node.named_children:
            yield child, holder if child == name else scope, "bind" if child == name else "load"

    def _attribute(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        object_ = node.named_children[0]
        last = node.named_children[-1]
        if last.type == "identifier" and last != object_:
            self._add(last, scope, "member", object_=object_)
        for child in node.named_children[:-1]:
            yield child, scope, "load"

    def _keyword(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        name = node.child_by_field_name("name")
        call = node.parent.parent if node.parent is not None else None
        if name is not None and self.data[name.start_byte : name.end_byte] == self.name:
            copied = self._copied(call) if call is not None and call.type == "call" else ""
            self.found.append(_Found(name, "keyword", scope, call=call, object=copied))
        for child in node.named_children:
            if child != name:
                yield child, scope, "load"

    def _copied(self, call: Node) -> str:
        """The object that a call copies with other fields, '' for another call."""
        function = call.child_by_field_name("function")
        arguments = call.child_by_field_name("arguments")
        called = text_of(function, self.data).rpartition(".")[2]
        if function is not None and called in _COPIES_ITSELF and function.type == "attribute":
            return text_of(function.named_children[0], self.data)
        first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
        return (
            text_of(first, self.data)
            if called in _COPIES and first is not None and "argument" not in first.type
            else ""
        )

    def _pattern(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        """In `case`, a plain name is bound; class names and dotted names are read."""
        for number, child in enumerate(node.named_children):
            if child.type == "dotted_name" and (node.type == "class_pattern" or child.named_child_count > 1):
                yield child, scope, "load"
            elif node.type == "keyword_pattern" and number == 0:
                self._field_of_pattern(child, scope)
            else:
                yield child, scope, "bind"

    def _field_of_pattern(self, name: Node, scope: PythonScope) -> None:
        around = next((each for each in ancestors(name) if each.type == "class_pattern"), None)
        if around is not None and self.data[name.start_byte : name.end_byte] == self.name:
            self.found.append(_Found(name, "pattern", scope, object=text_of(around.named_children[0], self.data)))

    def _import(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        is_from = node.type != "import_statement"
        for number, child in enumerate(node.children):
            if node.field_name_for_child(number) != "name":
                self._module(child, scope)
                continue
            alias = child.child_by_field_name("alias")
            named = child.child_by_field_name("name")
            path = named if named is not None else child
            if is_from:
                module = text_of(node.child_by_field_name("module_name"), self.data)
                self._add(path.named_children[-1], scope, "imported", aliased=alias is not None, module=module)
            else:
                self._module(path, scope, binds=alias is None)
            if alias is not None:
                yield alias, scope, "bind"

    def _module(self, node: Node, scope: PythonScope, *, binds: bool = False) -> None:
        """The parts of a module's name. `import a.b` binds its first part."""
        todo = [node]
        first = True
        while todo:
            each = todo.pop()
            if each.type == "identifier":
                self._add(each, scope, "bind" if binds and first else "module")
                first = False
            todo += reversed(each.named_children)

    def _declaration(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        for child in node.named_children:
            yield child, scope, "global" if node.type == "global_statement" else "nonlocal"

    def _as_pattern(self, node: Node, scope: PythonScope) -> Iterator[tuple[Node, PythonScope, Role]]:
        for number, child in enumerate(node.named_children):
            yield child, scope, "bind" if number or child.type == "case_pattern" else "load"


_STATIC = ("staticmethod", "abstractstaticmethod")
_COPIES = ("replace", "evolve", "assoc")
_COPIES_ITSELF = ("_replace", "model_copy")
_BINDING_FIELDS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "type_alias_statement": "left",
}
_READERS = {
    "function_definition": _Reader._function,
    "lambda": _Reader._function,
    "class_definition": _Reader._class,
    "named_expression": _Reader._named,
    "attribute": _Reader._attribute,
    "member_type": _Reader._attribute,
    "keyword_argument": _Reader._keyword,
    "class_pattern": _Reader._pattern,
    "keyword_pattern": _Reader._pattern,
    "case_pattern": _Reader._pattern,
    "dict_pattern": _Reader._pattern,
    "splat_pattern": _Reader._pattern,
    "union_pattern": _Reader._pattern,
    "import_statement": _Reader._import,
    "import_from_statement": _Reader._import,
    "future_import_statement": _Reader._import,
    "global_statement": _Reader._declaration,
    "nonlocal_statement": _Reader._declaration,
    "as_pattern": _Reader._as_pattern,
}


def decorators(definition: Node) -> list[Node]:
    """The decorators of a function or class."""
    around = definition.parent
    if around is None or around.type != "decorated_definition":
        return []
    return [child for child in around.named_children if child.type == "decorator"]


@lru_cache(maxsize=64)
def python_tree(text: str) -> tuple[bytes, Tree | None]:
    """A text in UTF-8 and its syntax tree, None where it can't be parsed in time."""
    data = text.encode("utf-8", "surrogatepass")
    return data, parse(data, "python")


@lru_cache(maxsize=1024)
def python_names(text: str, name: str) -> tuple[PythonName, ...]:
    """The occurrences of a name as an identifier, in order.

    Args:
        text: of a Python file.
        name: the name.
    """
    data, tree = python_tree(text)
    if tree is None:
        return ()
    reader = _Reader(data, name.encode())
    reader.read(tree.root_node)
    places = CharacterOffsets(data, text)
    found = [
        PythonName(
            *places.span(each.node),
            each.role,
            each.scope,
            _home(each),
            each.member_of,
            places.span(each.call) if each.call is not None else (0, 0),
            each.object,
            each.super_of,
        )
        for each in reader.found
    ]
    return tuple(sorted(found, key=lambda one: one.start))


class CharacterOffsets:
    """Turns byte offsets in a text's UTF-8 into character offsets.

    Args:
        data: the text in UTF-8.
        text: the text.
    """

    def __init__(self, data: bytes, text: str) -> None:
        self._data = data
        self._same = len(data) == len(text)
        self._known = (0, 0)

    def span(self, node: Node) -> tuple[int, int]:
        """Where a node begins and ends."""
        return self.at(node.start_byte), self.at(node.end_byte)

    def at(self, byte: int) -> int:
        """The character offset of a byte offset."""
        if self._same:
            return byte
        start, characters = self._known if self._known[0] <= byte else (0, 0)
        found = characters + len(self._data[start:byte].decode("utf-8", "surrogatepass"))
        self._known = (byte, found)
        return found


def _home(found: _Found) -> PythonScope | None:
    """The scope whose variable an identifier is."""
    if found.role not in VARIABLES and (found.role != "imported" or found.aliased):
        return None
    scope: PythonScope | None = found.scope
    while scope is not None:
        visible = scope is found.scope or scope.kind != "class"
        if visible and scope.declared == "global":
            while scope.parent is not None:
                scope = scope.parent
            return scope
        if visible and scope.binds and not scope.declared:
            return scope
        scope = scope.parent
    return None


def _class_of(scope: PythonScope, is_object: Callable[[str], bool]) -> PythonScope | None:
    """The class of the method around a scope whose first parameter `is_object` accepts; None for none."""
    inner: PythonScope | None = scope
    while inner is not None and inner.parent is not None:
        if inner.kind == "function" and inner.first and is_object(inner.first):
            return inner.parent if inner.parent.kind == "class" else None
        inner = inner.parent
    return None
