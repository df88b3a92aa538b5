"""The calls of a Python function across a repository, and its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject, decorator_names
from repopilot.agents.editing.exact.python.name_uses import NameTable, NameUse, scope_of
from repopilot.agents.editing.exact.python.references import (
    OpenUse,
    References,
    family_of,
    in_stub,
    local_references,
    member_references,
    module_references,
)
from repopilot.agents.editing.exact.sources import SourceText


class FunctionPlace(NamedTuple):
    """A function: its file and its `def` node."""

    path: str
    node: Node


class FunctionCall(NamedTuple):
    """A call: its file, its arguments, and how many parameters are bound before the first of them."""

    path: str
    arguments: Node
    bound: int


@dataclass(slots=True)
class Signature:
    """A function with all its definitions (overloads, overriding methods) and everything that refers to it."""

    definitions: list[FunctionPlace]
    calls: list[FunctionCall] = field(default_factory=list)
    unsure: list[FunctionCall] = field(default_factory=list)
    """Calls of a method of that name on objects whose class isn't certain."""
    others: list[tuple[str, int]] = field(default_factory=list)
    """References that are no calls."""
    notes: list[str] = field(default_factory=list)
    """Why calls are taken for certain that may not be."""


def parameters_of(function: Node) -> list[Node]:
    """The parameters of a function, with separators and without comments."""
    listed = function.child_by_field_name("parameters")
    return [c for c in listed.named_children if c.type != "comment"] if listed is not None else []


def parameter_name(source: SourceText, parameter: Node) -> str:
    """The name of a parameter, '' for a separator."""
    current: Node | None = parameter
    while current is not None and current.type != "identifier":
        inner = current.named_children
        current = current.child_by_field_name("name") or (inner[0] if inner else None)
    return source.slice(current) if current is not None else ""


def is_variadic(parameter: Node) -> str:
    """`*` or `**` for a parameter that takes the rest of the arguments, else ''."""
    inner = parameter.named_child(0) if parameter.type == "typed_parameter" else parameter
    kind = inner.type if inner is not None else ""
    return {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}.get(kind, "")


def signature_of(project: PythonProject, place: FunctionPlace) -> Signature:
    """Find the definitions and calls of a function.

    Args:
        project: the repository.
        place: one of its definitions.

    Raises:
        GenerationFailed: it is a method that code outside of the repository calls.
    """
    source = project.sources.get(place.path)
    label = place.node.child_by_field_name("name")
    assert source is not None and label is not None
    name, scope = source.slice(label), scope_of(place.node)
    if scope.type != "class_definition":
        return _of_function(project, place, name, scope)
    owner = ClassPlace(place.path, scope.start_byte)
    if name == "__init__":
        return _of_constructor(project, place, owner)
    return _of_method(project, owner, name)


def _of_function(project: PythonProject, place: FunctionPlace, name: str, scope: Node) -> Signature:
    table = project.table(place.path, name)
    assert table is not None
    found = Signature([*_functions_in(table, scope), *_in_stub_of(project, place.path, name, scope)])
    references = (
        module_references(project, place.path, name) if scope.type == "module" else local_references(table, scope)
    )
    _sort(project, references, name, found)
    return found


def _functions_in(table: NameTable, scope: Node) -> list[FunctionPlace]:
    """The functions of a name in a scope: several for overloads and alternatives."""
    parents = (use.node.parent for use in table.bound.get(scope.id, []))
    return [FunctionPlace(table.source.path, p) for p in parents if p is not None and p.type == "function_definition"]


def _in_stub_of(project: PythonProject, path: str, name: str, scope: Node) -> list[FunctionPlace]:
    """The declarations of a function in the stub beside its module."""
    table = project.table(f"{path}i", name) if path.endswith(".py") and scope.type == "module" else None
    root = table.source.root if table is not None else None
    return _functions_in(table, root) if table is not None and root is not None else []


def _of_method(project: PythonProject, owner: ClassPlace, name: str) -> Signature:
    references = member_references(project, owner, name)
    definitions = [
        FunctionPlace(place.path, node)
        for place in sorted(family_of(project, owner, name))
        for node in project.own_members(place, name)
        if node.type == "function_definition"
    ]
    found = Signature(definitions)
    _sort(project, references, name, found)
    return found


def _of_constructor(project: PythonProject, place: FunctionPlace, owner: ClassPlace) -> Signature:
    """Calls of the class and of subclasses without a constructor of their own, and `super().__init__(…)`."""
    stubs = [FunctionPlace(c.path, n) for c in in_stub(project, owner) for n in project.own_members(c, "__init__")]
    found = Signature([place, *(s for s in stubs if s.node.type == "function_definition")])
    classes = [owner, *(c for c in project.descendants(owner) if not project.own_members(c, "__init__"))]
    for item in classes:
        source = project.sources.get(item.path)
        label = project.class_node(item).child_by_field_name("name")
        assert source is not None and label is not None
        name = source.slice(label)
        if scope_of(project.class_node(item)).type == "module":
            _sort(project, module_references(project, item.path, name), name, found, bound=1)
    for below in project.descendants(owner):
        _super_calls(project, below, owner, found)
    return found


def _super_calls(project: PythonProject, below: ClassPlace, owner: ClassPlace, found: Signature) -> None:
    """The calls of a constructor by that of a class below it."""
    table = project.table(below.path, "__init__")
    node = project.class_node(below)
    source = project.sources.get(below.path)
    for use in table.uses if table is not None else ():
        attribute = use.node.parent
        call = attribute.parent if use.role == "attribute" and attribute is not None else None
        if call is None or call.type != "call" or not node.start_byte <= use.start < node.end_byte or source is None:
            continue
        receiver = attribute.child_by_field_name("object") if attribute is not None else None
        arguments = call.child_by_field_name("arguments")
        if receiver is None or arguments is None:
            continue
        plain = source.slice(receiver) == "super()"
        nearest = next((c for c in project.ancestors(below) if project.own_members(c, "__init__")), None)
        known = project.known(below.path, receiver)
        if plain and nearest == owner:
            found.calls.append(FunctionCall(below.path, arguments, 1))
        elif not plain and known is not None and known.kind == "class" and known.place == owner:
            found.calls.append(FunctionCall(below.path, arguments, 0))


def _sort(
    project: PythonProject, references: References, name: str, found: Signature, bound: int | None = None
) -> None:
    """Tell the calls among references from other uses."""
    for reference in references.sure:
        table = project.table(reference.path, name)
        use = next((u for u in table.uses if u.start == reference.start), None) if table is not None else None
        if use is None or use.role in ("bind", "imported", "module", "string", "comment", "declared"):
            _aliased(project, reference.path, use, found, bound)
            continue
        call = call_of(use.node)
        arguments = call.child_by_field_name("arguments") if call is not None else None
        if call is not None and arguments is not None and arguments.type == "argument_list":
            count = bound if bound is not None else _bound_before(project, reference.path, use, found)
            found.calls.append(FunctionCall(reference.path, arguments, count))
        else:
            found.others.append((reference.path, reference.start))
    found.notes += references.notes
    for open_use in references.open:
        unsure = _call_on_object(project, open_use, name)
        if unsure is not None:
            found.unsure.append(unsure)
        else:
            found.others.append((open_use.path, open_use.start))


def _call_on_object(project: PythonProject, open_use: OpenUse, name: str) -> FunctionCall | None:
    """The call that an open use is the method of."""
    table = project.table(open_use.path, name)
    use = next((u for u in table.uses if u.start == open_use.start), None) if table is not None else None
    call = call_of(use.node) if use is not None and use.role == "attribute" else None
    arguments = call.child_by_field_name("arguments") if call is not None else None
    if arguments is None or arguments.type != "argument_list":
        return None
    return FunctionCall(open_use.path, arguments, 1)


def _aliased(project: PythonProject, path: str, use: NameUse | None, found: Signature, bound: int | None) -> None:
    """Calls by the name that an import gives the function."""
    around = use.node.parent.parent if use is not None and use.aliased and use.node.parent is not None else None
    alias = around.child_by_field_name("alias") if around is not None and around.type == "aliased_import" else None
    source = project.sources.get(path)
    if alias is None or source is None:
        return
    table = project.table(path, source.slice(alias))
    scope = next((u.scope for u in table.uses if u.start == alias.start_byte), None) if table is not None else None
    if table is None or scope is None or source.slice(alias) == source.slice(use.node if use else alias):
        return
    _sort(project, local_references(table, scope), source.slice(alias), found, bound or 0)


def call_of(node: Node) -> Node | None:
    """The call whose function is a name or the attribute of a name."""
    current: Node = node
    if current.parent is not None and current.parent.type == "attribute":
        current = current.parent
    call = current.parent
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    return call if function is not None and function.id == current.id else None


def _bound_before(project: PythonProject, path: str, use: NameUse, found: Signature) -> int:
    """How many parameters a call leaves out: the object of a method called on it."""
    definition = found.definitions[0] if found.definitions else None
    attribute = use.node.parent
    if definition is None or attribute is None or attribute.type != "attribute":
        return 0
    if scope_of(definition.node).type != "class_definition":
        return 0
    source = project.sources.get(definition.path)
    assert source is not None
    decorators = decorator_names(source, definition.node)
    if "staticmethod" in decorators:
        return 0
    if "classmethod" in decorators:
        return 1
    receiver = attribute.child_by_field_name("object")
    known = project.known(path, receiver) if receiver is not None else None
    return 0 if known is not None and known.kind == "class" and _is_name(receiver) else 1


def _is_name(node: Node | None) -> bool:
    return node is not None and node.type in ("identifier", "attribute")


def arguments_of(arguments: Node) -> list[Node]:
    """The arguments of a call."""
    return [c for c in arguments.named_children if c.type != "comment"]


def keyword_of(source: SourceText, argument: Node) -> str:
    """The name of a keyword argument, '' for another."""
    label = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
    return source.slice(label) if label is not None else ""


def function_definition(project: PythonProject, path: str, node: Node) -> FunctionPlace | None:
    """The function that a definition is: of a class its constructor."""
    if node.type == "function_definition":
        return FunctionPlace(path, node)
    if node.type != "class_definition":
        return None
    for function in project.own_members(ClassPlace(path, node.start_byte), "__init__"):
        if function.type == "function_definition":
            return FunctionPlace(path, function)
    return None


def splat_arguments(arguments: Node) -> Iterator[Node]:
    """The arguments of a call that stand for several: `*args`, `**options`."""
    for argument in arguments_of(arguments):
        if argument.type in ("list_splat", "dictionary_splat"):
            yield argument
