"""Which class of the repository an expression's value is an instance of, as far as the code itself says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tree_sitter import Node

from repopilot.agents.editing.exact.python.element_types import element_of
from repopilot.agents.editing.exact.python.modules import (
    ImportedName,
    Modules,
    imported_names,
    statement_around,
)
from repopilot.agents.editing.exact.python.name_uses import NameTable, NameUse, name_table, scope_of
from repopilot.agents.editing.exact.sources import Sources, SourceText

_DEPTH = 8
"""How far a value is followed from name to name."""
_LITERALS = frozenset(
    "string integer float true false none list dictionary set tuple list_comprehension dictionary_comprehension "
    "set_comprehension generator_expression concatenated_string lambda comparison_operator not_operator".split()
)
_LOOKS_UP = re.compile(r"import|load|get|find|resolve|lookup|fixture|mock|patch|attr|module", re.I)
"""In the name of a function that may hand back anything for a text."""
_TRANSPARENT = frozenset(("Optional", "Annotated", "ClassVar", "Final", "type", "Type", "Required", "NotRequired"))


class ClassPlace(NamedTuple):
    """A class: its file and the first byte of its definition."""

    path: str
    start: int


class Known(NamedTuple):
    """What an expression is.

    `kind`: `instance` or `class` of a class of the repository (`place`), `module` or `function` of it (`path`,
    `place.start` for a function), `other` for something that certainly is none of these.
    """

    kind: Literal["instance", "class", "module", "function", "other"]
    path: str = ""
    start: int = 0

    @property
    def place(self) -> ClassPlace:
        """The class."""
        return ClassPlace(self.path, self.start)


OTHER = Known("other")


@dataclass(slots=True)
class PythonProject:
    """The Python files of a repository. Made for one edit."""

    sources: Sources
    modules: Modules
    _tables: dict[tuple[str, str], NameTable] = field(default_factory=dict)
    _busy: set[tuple[str, int]] = field(default_factory=set)

    def table(self, path: str, name: str) -> NameTable | None:
        """The uses of a name in a file; None for a file that can't be read."""
        found = self._tables.get((path, name))
        if found is None:
            source = self.sources.get(path)
            if source is None or source.root is None:
                return None
            found = self._tables[path, name] = name_table(source, name)
        return found

    def node_at(self, path: str, start: int, kinds: tuple[str, ...]) -> Node | None:
        """The definition of a kind that begins at a byte of a file."""
        source = self.sources.get(path)
        node = source.root.descendant_for_byte_range(start, start + 1) if source and source.root else None
        while node is not None and not (node.type in kinds and node.start_byte == start):
            node = node.parent
        return node

    def class_node(self, place: ClassPlace) -> Node:
        """The definition of a class."""
        node = self.node_at(place.path, place.start, ("class_definition",))
        assert node is not None
        return node

    def class_name(self, place: ClassPlace) -> str:
        """The name of a class."""
        source, name = self.sources.get(place.path), self.class_node(place).child_by_field_name("name")
        return source.slice(name) if source is not None and name is not None else ""

    # What a name or expression is

    def known(self, path: str, node: Node, depth: int = _DEPTH) -> Known | None:
        """What an expression is; None where that isn't certain."""
        if depth <= 0 or (path, node.id) in self._busy:
            return None
        self._busy.add((path, node.id))
        try:
            return self._known(path, node, depth - 1)
        finally:
            self._busy.discard((path, node.id))

    def _known(self, path: str, node: Node, depth: int) -> Known | None:
        kind = node.type
        narrowed = self._narrowed(path, node, depth) if kind in ("identifier", "attribute") else None
        if narrowed is not None:
            return narrowed
        if kind == "identifier":
            return self._name(path, node, depth)
        if kind == "dotted_name":
            return self._dotted(path, node, depth)
        if kind in ("parenthesized_expression", "await", "type"):
            inner = node.named_child(0)
            return self.known(path, inner, depth) if inner is not None else None
        if kind == "attribute":
            return self._attribute(path, node, depth)
        if kind == "call":
            return self._call(path, node, depth)
        if kind == "subscript":
            value, at = node.child_by_field_name("value"), node.child_by_field_name("subscript")
            plain = value is not None and at is not None and at.type != "slice"
            return element_of(self, path, value, depth, indexed=True) if plain and value is not None else None
        return OTHER if kind in _LITERALS else None

    def _narrowed(self, path: str, node: Node, depth: int) -> Known | None:
        """What `isinstance` around an expression says that it is."""
        source = self.sources.get(path)
        child, current = node, node.parent
        while source is not None and current is not None and current.type not in ("function_definition", "module"):
            condition = None
            if current.type in ("if_statement", "elif_clause", "while_statement"):
                inside = current.child_by_field_name("consequence") or current.child_by_field_name("body")
                condition = current.child_by_field_name("condition") if _same_node(inside, child) else None
            elif current.type == "boolean_operator" and _same_node(current.child_by_field_name("right"), child):
                operator = current.child_by_field_name("operator")
                condition = current.child_by_field_name("left") if operator and operator.type == "and" else None
            elif current.type == "conditional_expression" and _same_node(current.named_children[0], child):
                condition = current.named_children[1]
            checked = _instance_check(source, condition, source.slice(node)) if condition is not None else None
            if checked is not None and not _is_set_in(source, child, source.slice(node)):
                found = self.known(path, checked, depth)
                return Known("instance", found.path, found.start) if found and found.kind == "class" else None
            child, current = current, current.parent
        return None

    def _dotted(self, path: str, node: Node, depth: int) -> Known | None:
        first = node.named_child(0)
        return self.known(path, first, depth) if first is not None and node.named_child_count == 1 else None

    def _name(self, path: str, node: Node, depth: int) -> Known | None:
        source = self.sources.get(path)
        assert source is not None
        name = source.slice(node)
        binds = self._bindings(path, name, node)
        return self._from_star(path, name, depth) if binds is None else self._merged(path, binds, depth)

    def _bindings(self, path: str, name: str, node: Node) -> list[NameUse] | None:
        """What gives a name its value where a node uses it; None where the file doesn't bind it."""
        table = self.table(path, name)
        use = next((u for u in table.uses if u.start == node.start_byte), None) if table else None
        if table is None or use is None:
            return []
        scope = table.binding_scope(use)
        return table.bound.get(scope.id, []) if scope is not None else None

    def _merged(self, path: str, binds: list[NameUse], depth: int) -> Known | None:
        """What all bindings of a name agree on."""
        found: Known | None = None
        for use in [u for u in binds if not _is_none(u)] or binds:
            value = self._bound_value(path, use, depth)
            if value is None or (found is not None and value != found):
                return None
            found = value
        return found

    def _bound_value(self, path: str, use: NameUse, depth: int) -> Known | None:
        node, parent = use.node, use.node.parent
        if parent is None:
            return None
        if parent.type == "class_definition":
            return Known("class", path, parent.start_byte)
        if parent.type == "function_definition":
            source = self.sources.get(path)
            replaced = source is None or decorator_names(source, parent) - _KEEPING
            return Known("function", path, parent.start_byte) if not replaced else None
        if use.role == "parameter":
            return self._parameter(path, use, depth)
        statement = statement_around(node)
        if statement is not None:
            return self._imported(path, use, statement, depth)
        if parent.type == "assignment":
            return self._assigned(path, parent, depth)
        if parent.type == "named_expression":
            value = parent.child_by_field_name("value")
            return self.known(path, value, depth) if value is not None else None
        if parent.type == "as_pattern_target":
            return self._entered(path, parent, depth)
        if parent.type in ("for_statement", "for_in_clause") and _same_node(parent.child_by_field_name("left"), node):
            iterated = parent.child_by_field_name("right")
            return element_of(self, path, iterated, depth, indexed=False) if iterated is not None else None
        return None

    def assignments(self, path: str, node: Node, depth: int) -> Iterator[tuple[str, Node]]:
        """The assignments and annotated parameters that give a name or an attribute its value; nothing where something
        else may.

        Args:
            path: the file of the expression.
            node: a name or an attribute.
            depth: how far values are followed from name to name.
        """
        source = self.sources.get(path)
        if source is None:
            return
        if node.type == "identifier":
            binds = self._bindings(path, source.slice(node), node)
            parents = [use.node.parent for use in binds or () if not _is_none(use)]
            wanted = ("assignment", "typed_parameter", "typed_default_parameter")
            if all(p is not None and p.type in wanted for p in parents):
                yield from ((path, p) for p in parents if p is not None)
            return
        receiver, attribute = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        owner = self.known(path, receiver, depth) if receiver is not None else None
        if owner is None or attribute is None or owner.kind not in ("instance", "class"):
            return
        name = source.slice(attribute)
        found = [*self.members(owner.place, name), *self.assigned_attributes(owner.place, name)]
        if all(n.type == "assignment" for _, n in found):
            yield from ((p, n) for p, n in found if not _is_none_assigned(n))

    def _assigned(self, path: str, assignment: Node, depth: int) -> Known | None:
        declared = assignment.child_by_field_name("type")
        if declared is not None:
            return self.annotation(path, declared, depth)
        right = assignment.child_by_field_name("right")
        return self.known(path, right, depth) if right is not None else None

    def _entered(self, path: str, target: Node, depth: int) -> Known | None:
        """What `with … as name` binds: the object itself where its `__enter__` says so."""
        pattern = target.parent
        value = pattern.named_child(0) if pattern is not None else None
        if pattern is None or value is None or pattern.parent is None or pattern.parent.type != "with_item":
            return None
        entered = self.known(path, value, depth)
        if entered is None or entered.kind != "instance":
            return OTHER if entered == OTHER else None
        for name in ("__enter__", "__aenter__"):
            for method in self.members(entered.place, name):
                return self._returned(method[0], method[1], entered, depth)
        return None

    def _parameter(self, path: str, use: NameUse, depth: int) -> Known | None:
        function = use.scope
        parent = use.node.parent
        if parent is not None and parent.type in ("typed_parameter", "typed_default_parameter"):
            declared = parent.child_by_field_name("type")
            return self.annotation(path, declared, depth) if declared is not None else None
        if function.type != "function_definition" or parent is None or parent.type != "parameters":
            return None
        owner = scope_of(function)
        first = next((c for c in parent.named_children if c.type != "comment"), None)
        if owner.type != "class_definition" or first is None or first.id != use.node.id:
            return None
        source = self.sources.get(path)
        assert source is not None
        decorators = decorator_names(source, function)
        if "staticmethod" in decorators:
            return None
        return Known("class" if "classmethod" in decorators else "instance", path, owner.start_byte)

    def _imported(self, path: str, use: NameUse, statement: Node, depth: int) -> Known | None:
        source = self.sources.get(path)
        assert source is not None
        name = source.data[use.start : use.end].decode("utf-8")
        for item in imported_names(source, statement):
            if item.local == name:
                return self.imported(path, item, depth)
        return None

    def imported(self, path: str, item: ImportedName, depth: int = _DEPTH) -> Known | None:
        """What an imported name is."""
        if not item.name:
            found = self.modules.find(path, item.module)
            return Known("module", found) if found else self._outside(path, item.module)
        dot = "." if item.module.strip(".") else ""
        submodule = self.modules.find(path, f"{item.module}{dot}{item.name}")
        module = self.modules.find(path, item.module)
        if module is not None:
            found_name = self.module_name(module, item.name, depth)
            if found_name is not None:
                return found_name
        if submodule is not None:
            return Known("module", submodule)
        return self._outside(path, item.module) if module is None else None

    def _outside(self, path: str, module: str) -> Known | None:
        """`other` for a module that can't be one of the repository."""
        inside = module.startswith(".") or self.modules.may_be_inside(path, module.split(".")[0])
        return None if inside else OTHER

    def module_name(self, path: str, name: str, depth: int = _DEPTH) -> Known | None:
        """What a name at the top level of a module is."""
        if depth <= 0:
            return None
        table = self.table(path, name)
        source = self.sources.get(path)
        if table is None or source is None or source.root is None:
            return None
        binds = table.bound.get(source.root.id, [])
        return self._merged(path, binds, depth - 1) if binds else self._from_star(path, name, depth - 1)

    def _from_star(self, path: str, name: str, depth: int) -> Known | None:
        for module in self.star_imports(path):
            found = self.module_name(module, name, depth - 1)
            if found is not None:
                return found
        return None

    def star_imports(self, path: str) -> Iterator[str]:
        """The files of the modules that a file imports with a star."""
        for item in self.sources.workspace.index.imports(path):
            if any(name == "*" for name, _ in item.names):
                found = self.modules.find(path, item.module)
                if found is not None and found != path:
                    yield found

    def annotation(self, path: str, node: Node, depth: int = _DEPTH) -> Known | None:
        """What a value with an annotation is an instance of."""
        if depth <= 0:
            return None
        while node.type == "type" and node.named_child_count == 1:
            inner = node.named_child(0)
            assert inner is not None
            node = inner
        source = self.sources.get(path)
        assert source is not None
        if node.type == "string":
            return self._written_annotation(path, source, node, depth)
        if node.type in ("generic_type", "subscript"):
            return self._generic(path, source, node, depth)
        if node.type in ("binary_operator", "union_type"):
            return self._union(path, source, node, depth)
        if source.slice(node) in ("Self", "typing.Self"):
            return self._enclosing_class(path, node)
        found = self.known(path, node, depth - 1)
        if found is not None and found.kind == "class":
            return Known("instance", found.path, found.start)
        name = source.slice(node)
        if found is None:
            return OTHER if node.type == "identifier" and name in _BUILTIN_TYPES else None
        return OTHER if found == OTHER and name not in _NO_TYPES and not _is_type_variable(name) else None

    def _written_annotation(self, path: str, source: SourceText, node: Node, depth: int) -> Known | None:
        content = next((c for c in node.children if c.type == "string_content"), None)
        name = _plain_type(source.slice(content)) if content is not None else ""
        if not name.isidentifier():
            return None
        table = self.table(path, name)
        scope = table.lookup(scope_of(node)) if table is not None else None
        found = self._merged(path, table.bound.get(scope.id, []), depth - 1) if table and scope else None
        return Known("instance", found.path, found.start) if found is not None and found.kind == "class" else None

    def _generic(self, path: str, source: SourceText, node: Node, depth: int) -> Known | None:
        head = node.named_child(0)
        name = source.slice(head).rpartition(".")[2] if head is not None else ""
        if name in _TRANSPARENT:
            inner = node.named_child(1)
            while inner is not None and inner.type == "type_parameter":
                inner = inner.named_child(0)
            return self.annotation(path, inner, depth - 1) if inner is not None else None
        if name == "Union":
            return None
        return self.annotation(path, head, depth - 1) if head is not None else None

    def _union(self, path: str, source: SourceText, node: Node, depth: int) -> Known | None:
        parts = [c for c in node.named_children if source.slice(c) != "None"]
        found = [self.annotation(path, c, depth - 1) for c in parts]
        return found[0] if found and all(f == found[0] for f in found) else None

    def _enclosing_class(self, path: str, node: Node) -> Known | None:
        current: Node | None = node
        while current is not None and current.type != "class_definition":
            current = current.parent
        return Known("instance", path, current.start_byte) if current is not None else None

    def _call(self, path: str, node: Node, depth: int) -> Known | None:
        function = node.child_by_field_name("function")
        source = self.sources.get(path)
        if function is None or source is None:
            return None
        if source.slice(function) == "super":
            return self._super(path, node)
        name = source.slice(function).rpartition(".")[2]
        if name == "TypeVar":
            return self._bound_type(path, source, node, depth)
        called = self.known(path, function, depth) or self._of_outside_module(path, function, depth)
        if called is None:
            return OTHER if name in _BUILTIN_TYPES and function.type == "identifier" else None
        if called == OTHER:
            made = name[:1].isupper() and name not in _NO_TYPES
            return OTHER if made or self._is_given_others_only(path, node, name, depth) else None
        if called.kind == "class":
            return Known("instance", called.path, called.start)
        if called.kind == "function":
            return self._function_result(path, function, called, depth)
        return None

    def _of_outside_module(self, path: str, node: Node, depth: int) -> Known | None:
        """`other` for `a.b.c` where `a` is an imported module from elsewhere."""
        while node.type == "attribute" and (inner := node.child_by_field_name("object")) is not None:
            node = inner
        source = self.sources.get(path)
        binds = self._bindings(path, source.slice(node), node) if source and node.type == "identifier" else None
        imported = bool(binds) and all(statement_around(use.node) is not None for use in binds or ())
        return OTHER if imported and self.known(path, node, depth) == OTHER else None

    def _is_given_others_only(self, path: str, call: Node, name: str, depth: int) -> bool:
        """Whether a function from elsewhere is given nothing of the repository that it could hand back: what it returns
        is its own, unless it looks things up by their names."""
        arguments = call.child_by_field_name("arguments")
        given = [a for a in arguments.named_children if a.type != "comment"] if arguments is not None else []
        values = [a.child_by_field_name("value") if a.type == "keyword_argument" else a for a in given]
        foreign = all(v is not None and self.known(path, v, depth) == OTHER for v in values)
        return bool(values) and foreign and not _LOOKS_UP.search(name)

    def _bound_type(self, path: str, source: SourceText, node: Node, depth: int) -> Known | None:
        """What a type variable stands for at least."""
        arguments = node.child_by_field_name("arguments")
        for argument in arguments.named_children if arguments is not None else ():
            label, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
            if label is not None and value is not None and source.slice(label) == "bound":
                found = self.annotation(path, value, depth)
                return (
                    Known("class", found.path, found.start) if found is not None and found.kind == "instance" else None
                )
        return None

    def _function_result(self, path: str, function: Node, called: Known, depth: int) -> Known | None:
        definition = self.node_at(called.path, called.start, ("function_definition",))
        if definition is None:
            return None
        owner = None
        if function.type == "attribute":
            receiver = function.child_by_field_name("object")
            owner = self.known(path, receiver, depth) if receiver is not None else None
        return self._returned(called.path, definition, owner, depth)

    def _returned(self, path: str, function: Node, owner: Known | None, depth: int) -> Known | None:
        """What a function returns by its annotation, or `self`."""
        source = self.sources.get(path)
        returns = function.child_by_field_name("return_type")
        if source is None:
            return None
        if returns is None:
            text = source.slice(function).rstrip()
            return owner if owner is not None and text.endswith("return self") else None
        written = source.slice(returns).strip("\"'")
        if written in ("Self", "typing.Self") or (owner is not None and _is_type_variable(written)):
            return Known("instance", owner.path, owner.start) if owner is not None else None
        return self.annotation(path, returns, depth)

    def _super(self, path: str, node: Node) -> Known | None:
        """`super()` is searched from the first base on; the class itself stands for it."""
        found = self._enclosing_class(path, node)
        return found

    def _attribute(self, path: str, node: Node, depth: int) -> Known | None:
        receiver, attribute = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        source = self.sources.get(path)
        if receiver is None or attribute is None or source is None:
            return None
        owner = self.known(path, receiver, depth)
        name = source.slice(attribute)
        if owner is None or owner == OTHER:
            return None
        if owner.kind == "module":
            inside = self.module_name(owner.path, name, depth)
            return inside or self._submodule(owner.path, name)
        if owner.kind in ("instance", "class"):
            return self._member_value(owner, name, depth)
        return None

    def _submodule(self, path: str, name: str) -> Known | None:
        if not path.endswith("/__init__.py"):
            return None
        found = self.modules.find(path, f".{name}")
        return Known("module", found) if found else None

    def _member_value(self, owner: Known, name: str, depth: int) -> Known | None:
        """What an attribute of an object of the repository is."""
        for path, node in self.members(owner.place, name):
            if node.type == "function_definition":
                source = self.sources.get(path)
                assert source is not None
                decorators = decorator_names(source, node)
                if decorators & {"property", "cached_property"}:
                    return self._returned(path, node, owner, depth)
                return Known("function", path, node.start_byte)
            if node.type == "class_definition":
                return Known("class", path, node.start_byte)
            return self._assigned(path, node, depth)
        values = {self._assigned(path, node, depth) for path, node in self.assigned_attributes(owner.place, name)}
        values.discard(OTHER if len(values) > 1 else None)
        return values.pop() if len(values) == 1 else None

    # Classes

    def bases(self, place: ClassPlace) -> list[ClassPlace | None]:
        """The bases of a class as written; None for one that isn't known to be a class of the repository."""
        node = self.class_node(place)
        listed = node.child_by_field_name("superclasses")
        found: list[ClassPlace | None] = []
        for base in listed.named_children if listed is not None else ():
            if base.type in ("keyword_argument", "comment"):
                continue
            head = base.named_child(0) if base.type == "subscript" else base
            known = self.known(place.path, head) if head is not None else None
            found.append(known.place if known is not None and known.kind == "class" else None)
        return found

    def outside_bases(self, place: ClassPlace) -> list[str]:
        """The bases, of a class and its bases, that neither the repository defines nor Python as plain ones."""
        names = self.outside_names(place)
        return [name for name in names if name.partition("[")[0].rpartition(".")[2] not in _PLAIN_BASES]

    def outside_names(self, place: ClassPlace) -> list[str]:
        """The bases, of a class and its bases, that the repository doesn't define, as written."""
        found = []
        for ancestor in (place, *self.ancestors(place)):
            source = self.sources.get(ancestor.path)
            listed = self.class_node(ancestor).child_by_field_name("superclasses")
            nodes = (
                [n for n in listed.named_children if n.type not in ("keyword_argument", "comment")] if listed else []
            )
            assert source is not None
            found += [source.slice(n) for n, base in zip(nodes, self.bases(ancestor), strict=True) if base is None]
        return found

    def ancestors(self, place: ClassPlace) -> list[ClassPlace]:
        """The classes of the repository that a class inherits from, nearest first."""
        found: list[ClassPlace] = []
        pending = [place]
        while pending:
            following = [b for p in pending for b in self.bases(p) if b is not None and b != place and b not in found]
            found += dict.fromkeys(following)
            pending = list(dict.fromkeys(following))
        return found

    def descendants(self, place: ClassPlace) -> list[ClassPlace]:
        """The classes of the repository that inherit from a class."""
        found: list[ClassPlace] = []
        pending = [place]
        while pending:
            following = [c for p in pending for c in self._subclasses(p) if c not in found and c != place]
            found += following
            pending = following
        return found

    def _subclasses(self, place: ClassPlace) -> list[ClassPlace]:
        source = self.sources.get(place.path)
        name = self.class_node(place).child_by_field_name("name")
        assert source is not None and name is not None
        found = []
        for path in dict.fromkeys(
            r.path for r in self.sources.workspace.index.references(source.slice(name)) if r.kind == "inherit"
        ):
            other = self.sources.get(path)
            for node in class_nodes(other.root) if other is not None and other.root is not None else ():
                candidate = ClassPlace(path, node.start_byte)
                listed = node.child_by_field_name("superclasses")
                if listed is not None and candidate != place and place in self.bases(candidate):
                    found.append(candidate)
        return found

    def members(self, place: ClassPlace, name: str) -> list[tuple[str, Node]]:
        """The definitions and assignments of a name in the bodies of a class and its bases, nearest first."""
        found = []
        for owner in (place, *self.ancestors(place)):
            body = self.class_node(owner).child_by_field_name("body")
            found += [(owner.path, node) for node in self.own_members(owner, name)] if body is not None else []
        return found

    def own_members(self, place: ClassPlace, name: str) -> list[Node]:
        """The definitions and assignments of a name in the body of a class itself."""
        node = self.class_node(place)
        table = self.table(place.path, name)
        binds = table.bound.get(node.id, []) if table else []
        parents = [u.node if u.node.type == "class_definition" else u.node.parent for u in binds]
        wanted = ("function_definition", "class_definition", "assignment")
        return [p for p in parents if p is not None and p.type in wanted]

    def assigned_attributes(self, place: ClassPlace, name: str) -> list[tuple[str, Node]]:
        """The assignments to `self.name` in the methods of a class and its bases."""
        found = []
        for owner in (place, *self.ancestors(place)):
            node = self.class_node(owner)
            table = self.table(owner.path, name)
            for use in table.uses if table else ():
                parent = use.node.parent
                if use.role != "attribute" or parent is None or not node.start_byte <= use.start < node.end_byte:
                    continue
                holder = parent.parent
                receiver = parent.child_by_field_name("object")
                left = holder.child_by_field_name("left") if holder is not None else None
                if holder is None or holder.type != "assignment" or left is None or left.id != parent.id:
                    continue
                known = self.known(owner.path, receiver, 2) if receiver is not None else None
                if known is not None and known.kind in ("instance", "class") and known.place == owner:
                    found.append((owner.path, holder))
        return found


def class_nodes(root: Node) -> Iterator[Node]:
    """All class definitions below a node."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "class_definition":
            yield node
        if node.type not in ("expression_statement", "import_statement", "import_from_statement", "return_statement"):
            pending.extend(node.named_children)


def decorator_names(source: SourceText, function: Node) -> set[str]:
    """The names of a definition's decorators, without the modules and arguments."""
    around = function.parent
    if around is None or around.type != "decorated_definition":
        return set()
    texts = (source.slice(c).lstrip("@").partition("(")[0].strip() for c in around.children if c.type == "decorator")
    return {text.rpartition(".")[2] for text in texts}


def _same_node(one: Node | None, other: Node) -> bool:
    return one is not None and one.id == other.id


def _instance_check(source: SourceText, condition: Node, written: str) -> Node | None:
    """The class that a condition demands of what is written so."""
    if condition.type == "parenthesized_expression" and condition.named_children:
        return _instance_check(source, condition.named_children[0], written)
    if condition.type == "boolean_operator":
        operator = condition.child_by_field_name("operator")
        sides = [condition.child_by_field_name(f) for f in ("left", "right")]
        found = [_instance_check(source, s, written) for s in sides if s is not None]
        return next((f for f in found if f is not None), None) if operator and operator.type == "and" else None
    function, arguments = condition.child_by_field_name("function"), condition.child_by_field_name("arguments")
    if condition.type != "call" or function is None or arguments is None or source.slice(function) != "isinstance":
        return None
    listed = [c for c in arguments.named_children if c.type != "comment"]
    is_class = len(listed) == 2 and listed[1].type in ("identifier", "attribute")
    return listed[1] if is_class and source.slice(listed[0]) == written else None


def _is_set_in(source: SourceText, block: Node, written: str) -> bool:
    """Whether a block gives what is written so another value."""
    if block.type != "block":
        return False
    return (
        re.search(
            rf"(?<![\w.]){re.escape(written)}\s*(?:=(?!=)|:=|,[\w, ]*=(?!=))|\bfor\s+{re.escape(written)}\b",
            source.slice(block),
        )
        is not None
    )


def _plain_type(written: str) -> str:
    """A written type without what may be left out of it: `type[X]`, `X | None`, `Optional[X]`."""
    text = re.sub(r"\s*\|\s*None\b|\bNone\s*\|\s*", "", written.strip())
    match = re.fullmatch(r"(?:\w+\.)?(\w+)\[([\w.]+)\]", text)
    return match[2] if match is not None and match[1] in _TRANSPARENT else text


def _is_none(use: NameUse) -> bool:
    return use.node.parent is not None and _is_none_assigned(use.node.parent)


def _is_none_assigned(node: Node) -> bool:
    if node.type != "assignment" or node.child_by_field_name("type") is not None:
        return False
    right = node.child_by_field_name("right")
    return right is not None and right.type == "none"


def _is_type_variable(written: str) -> bool:
    return len(written) == 1 or written.endswith("_co") or (written.startswith("_T") and len(written) < 6)


_BUILTIN_TYPES = frozenset(
    "int float str bytes bool list dict set tuple frozenset object None complex bytearray memoryview type".split()
)
_KEEPING = frozenset(
    "overload wraps lru_cache cache staticmethod classmethod abstractmethod override final deprecated no_type_check "
    "property cached_property contextmanager asynccontextmanager".split()
)
"""Decorators after which a function is still one, called in the same way."""
_NO_TYPES = frozenset("Any TypeVar ParamSpec NewType Union Optional Self".split())
_PLAIN_BASES = frozenset(
    "object ABC Generic Protocol Enum IntEnum StrEnum Flag IntFlag Exception ValueError TypeError RuntimeError "
    "KeyError AttributeError LookupError ImportError OSError IOError NamedTuple TypedDict Warning UserWarning "
    "DeprecationWarning BaseException".split()
)
