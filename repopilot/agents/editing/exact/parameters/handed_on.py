"""Gives Python functions an optional parameter that they hand on to the functions they call."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from repopilot.agents.editing.exact.definitions.named_definition import indent_of, project_of, python_definition
from repopilot.agents.editing.exact.entries import added_entry
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.fragments.certain_imports import names_in
from repopilot.agents.editing.exact.locate import check_editable, dotted, one_definition
from repopilot.agents.editing.exact.parameters.optional_parameters import (
    OptionalParameter,
    add_optional,
    fits,
    is_annotated,
    type_of,
    uses_name,
)
from repopilot.agents.editing.exact.python.calls import (
    FunctionPlace,
    arguments_of,
    function_definition,
    is_variadic,
    parameter_name,
    parameters_of,
    signature_of,
)
from repopilot.agents.editing.exact.python.classes import PythonProject, decorator_names
from repopilot.agents.editing.exact.python.name_uses import name_table, scope_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.task_names import place_named
from repopilot.agents.editing.exact.values.literals import same_value
from repopilot.agents.editing.exact.wording.option_wording import handed_option
from repopilot.agents.editing.exact.wording.task_shape import Shape
from repopilot.types import Edit

_KEEPING = frozenset(("staticmethod", "classmethod", "override", "final", "deprecated", "lru_cache", "cache"))
"""Decorators under which a function is called as it is written."""


class _Given(NamedTuple):
    """A parameter as a called function declares it: the text of its default and annotation, '' for none."""

    default: str
    annotation: str


def handed_on_option(shape: Shape, sources: Sources) -> Iterator[ExactTask]:
    """The optional parameter that a task wants functions to take and hand on.

    Args:
        shape: of the whole task.
        sources: the files.
    """
    found = handed_option(shape)
    if found is None:
        return
    option, functions, callees = found
    extra = {
        "functions": " ".join(functions),
        "callees": " ".join(callees),
        "type": option.type,
        "keyword": "yes" if option.keyword else "",
        "optional": "yes" if option.optional or option.default else "",
    }
    places = (NamedPlace(place_named(option.path, sources), "file"),) if option.path else ()
    yield ExactTask("hand_on", option.name, "parameter", option.default, "", places, extra=extra)


def hand_on(task: ExactTask, sources: Sources) -> Patch | None:
    """Give functions a parameter and hand it on in their calls.

    Args:
        task: of kind hand_on: the parameter in `name`, its default in `new` ('' for that of the called functions), a
            file in `places`; in `extra` the `functions` and the `callees`, the `type`, and whether it is a `keyword`.
        sources: the files.

    Returns:
        The change; None where a call isn't certain, or what is called has no such parameter with that default.

    Raises:
        PlaceAmbiguous: several functions have a name.
        GenerationFailed: a file is generated.
    """
    project, patch = project_of(sources), Patch()
    callees = task.extra["callees"].split()
    called: set[str] = set()
    if not task.extra["optional"]:
        return None
    for name in task.extra["functions"].split():
        place = _function(project, name, task)
        name_called = _hand_on(project, place, callees, task, patch) if place is not None else ""
        if not name_called:
            return None
        called.add(name_called)
    return patch if called == {_last(c) for c in callees} else None


def _last(name: str) -> str:
    return dotted(name).rpartition(".")[2]


def _function(project: PythonProject, name: str, task: ExactTask) -> FunctionPlace | None:
    """A function that is called only as it is written, and that nothing overrides."""
    located = ExactTask(task.kind, name, places=task.places)
    symbol = one_definition(name, located, project.sources)
    definition = python_definition(symbol, project.sources) if symbol is not None else None
    if symbol is None or definition is None:
        return None
    check_editable(symbol.path, located, project.sources)
    place = function_definition(project, symbol.path, definition.node)
    if place is None or decorator_names(definition.source, place.node) - _KEEPING:
        return None
    return place if len(signature_of(project, place).definitions) == 1 else None


def _hand_on(project: PythonProject, place: FunctionPlace, callees: list[str], task: ExactTask, patch: Patch) -> str:
    """Change one function; the name of what it hands the parameter on to, '' where it can't be changed."""
    source = project.sources.get(place.path)
    calls = list(_calls(source, place.node, callees)) if source is not None else []
    if source is None or len(calls) != 1 or uses_name(source, place.node, task.name):
        return ""
    name, call = calls[0]
    given = _given(project, source, call, task.name)
    if given is None or not given.default or (task.new and not same_value(task.new, given.default)):
        return ""
    parameter = _parameter(source, place.node, given, task)
    if parameter is None or not add_optional(source, place.node, parameter, patch):
        return ""
    _pass(source, call, task.name, patch)
    label = place.node.child_by_field_name("name")
    patch.edits.append(Edit("add_parameter", source.path, source.slice(label) if label else "", task.name))
    return name


def _calls(source: SourceText, function: Node, callees: list[str]) -> Iterator[tuple[str, Node]]:
    """The calls in a function's body of what has one of some names."""
    body = function.child_by_field_name("body")
    pending = list(body.named_children) if body is not None else []
    wanted = {_last(c) for c in callees}
    while pending:
        node = pending.pop()
        if node.type == "call":
            called = node.child_by_field_name("function")
            name = source.slice(called).rpartition(".")[2] if called is not None else ""
            if name in wanted:
                yield name, node
        pending.extend(node.named_children)


def _given(project: PythonProject, source: SourceText, call: Node, name: str) -> _Given | None:
    """The parameter of what is called; None where there is none, or the call may already give it a value."""
    called, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    known = project.known(source.path, called) if called is not None else None
    if known is None or known.kind not in ("function", "class") or arguments is None:
        return None
    definition = project.node_at(known.path, known.start, ("function_definition", "class_definition"))
    place = function_definition(project, known.path, definition) if definition is not None else None
    other = project.sources.get(known.path)
    if place is None or other is None or called is None or arguments.type != "argument_list":
        return None
    listed = parameters_of(place.node)
    at = next((n for n, p in enumerate(listed) if parameter_name(other, p) == name and not is_variadic(p)), None)
    if at is None or any(p.type == "positional_separator" for p in listed[at:]):
        return None
    positional = [a for a in arguments_of(arguments) if a.type not in ("keyword_argument", "dictionary_splat")]
    taken = len(positional) + _bound(project, source, called, place)
    by_keyword = any(p.type == "keyword_separator" or is_variadic(p) == "*" for p in listed[:at])
    if any(a.type == "list_splat" for a in positional) or (taken > at and not by_keyword):
        return None
    return _given_at(other, listed[at])


def _bound(project: PythonProject, source: SourceText, called: Node, place: FunctionPlace) -> int:
    """How many parameters a call fills with the object or class that it is made on."""
    other = project.sources.get(place.path)
    decorators = decorator_names(other, place.node) if other is not None else set()
    if scope_of(place.node).type != "class_definition" or "staticmethod" in decorators:
        return 0
    receiver = called.child_by_field_name("object")
    known = project.known(source.path, receiver) if receiver is not None else None
    of_class = known is not None and known.kind == "class" and source.slice(called).endswith(_name(other, place))
    return 0 if of_class and "classmethod" not in decorators else 1


def _name(source: SourceText | None, place: FunctionPlace) -> str:
    label = place.node.child_by_field_name("name")
    return f".{source.slice(label)}" if source is not None and label is not None else "."


def _given_at(source: SourceText, parameter: Node) -> _Given:
    default, declared = parameter.child_by_field_name("value"), parameter.child_by_field_name("type")
    return _Given(source.slice(default) if default else "", source.slice(declared) if declared else "")


def _parameter(source: SourceText, function: Node, given: _Given, task: ExactTask) -> OptionalParameter | None:
    """The parameter, annotated as that of the called function; None where a file doesn't know its type or default."""
    default = task.new or given.default
    annotation = ""
    if is_annotated(source, function):
        annotation = given.annotation or task.extra["type"] or type_of(default)
    plain = re.search(r"\| None|^from __future__ import annotations", source.text, re.M)
    if re.search(r"['\"]", annotation) or ("|" in annotation and not plain):
        return None
    names = names_in(default) | (names_in(annotation) if annotation else set())
    root = source.root
    known = all(hasattr(builtins, n) or (root is not None and name_table(source, n).bound.get(root.id)) for n in names)
    return OptionalParameter(task.name, default, annotation, bool(task.extra["keyword"])) if known else None


def _pass(source: SourceText, call: Node, name: str, patch: Patch) -> None:
    """Pass the parameter by its name, before `**options`."""
    arguments = call.child_by_field_name("arguments")
    assert arguments is not None
    listed = arguments_of(arguments)
    at = next((n for n, a in enumerate(listed) if a.type == "dictionary_splat"), len(listed))
    text = f"{name}={name}"
    start, end, new = added_entry(source.data, arguments, listed, at, text)
    plain = arguments.start_point[0] == arguments.end_point[0] and all(c.type != "comment" for c in arguments.children)
    if plain and not fits(source, start, new):
        indent = indent_of(source, call)
        row = ", ".join([*map(source.slice, listed[:at]), text, *map(source.slice, listed[at:])])
        start, end, new = arguments.start_byte, arguments.end_byte, f"(\n{indent}    {row}\n{indent})"
    patch.replace(source.path, start, end, new)
