"""Changes how the parameters of a Python function are passed, together with its callers.

They are passed by name only, by position only, always, or in another order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import added_entry
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.parameters.call_arguments import (
    BoundCall,
    DeclaredParameter,
    argument_value,
    bound_call,
    named_argument,
    parameters_by_kind,
    pass_by_name,
)
from repopilot.agents.editing.exact.parameters.polyglot_signatures import reorder
from repopilot.agents.editing.exact.parameters.reordering import edited_text, in_listed_order, put_in_order
from repopilot.agents.editing.exact.parameters.signatures import (
    function_of,
    function_symbol,
    label_of,
    leave_unsure,
    no_parameter,
)
from repopilot.agents.editing.exact.python.calls import (
    FunctionPlace,
    Signature,
    arguments_of,
    parameters_of,
    signature_of,
)
from repopilot.agents.editing.exact.python.classes import PythonProject, decorator_names
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_NAMES = re.compile(r"\s*(?:,|\band\b|\bet\b|&)\s*")
_LITERAL = frozenset("string integer float true false none concatenated_string".split())
_SHORT = r"True|False|None|-?[\d._]+"
"""Values that say nothing without the name of their parameter."""
_TRANSPARENT = frozenset(
    "staticmethod classmethod property cached_property contextmanager asynccontextmanager lru_cache cache wraps "
    "overload override abstractmethod final deprecated no_type_check".split()
)
"""Decorators that leave the parameters as they are."""


def reshape(task: ExactTask, sources: Sources) -> Patch | None:
    """Change how parameters are passed.

    Args:
        task: of kind keyword_only, positional_only, require_parameter or reorder_parameter; the parameters in `name`
            (several with commas), the function as the first place. For require_parameter `new` is what callers pass
            that left it out ('' for the old default); for reorder_parameter `extra["position"]` is first, last,
            before:NAME, after:NAME or listed: in the order of `name`.
        sources: the files.

    Returns:
        The changes; None where the task names no Python function.

    Raises:
        PlaceAmbiguous: several functions have the name.
        GenerationFailed: there is no such function or parameter, or the result could not be called.
    """
    project = PythonProject(sources, modules_of(sources.workspace.index))
    names = [n.strip("`'\" ") for n in _NAMES.split(task.name)]
    symbol = function_symbol(task, project)
    if symbol is not None and task.kind == "reorder_parameter" and not symbol.path.endswith((".py", ".pyi")):
        return reorder(symbol, names, task.extra.get("position", "first"), sources)
    place = function_of(task, project)
    source = sources.get(place.path) if place is not None else None
    if place is None or source is None:
        return None
    parameters = parameters_by_kind(source, place.node)
    for name in names:
        if name not in [p.name for p in parameters]:
            raise no_parameter(name, project, place)
    signature = signature_of(project, place)
    patch = Patch()
    change = _Change(project, task, names, patch)
    _CHANGES[task.kind](change, place, signature)
    if not patch.edits:
        raise GenerationFailed(i18n.message("exact.passed_so", name=task.name, function=label_of(project, place)))
    leave_unsure(project, place, signature, lambda call: _is_affected(change, call), patch)
    _leave_uncertain(change, place, signature)
    patch.notes += signature.notes
    return patch


@dataclass(frozen=True, slots=True)
class _Change:
    """A task with what it is carried out with."""

    project: PythonProject
    task: ExactTask
    names: list[str]
    patch: Patch

    def source(self, path: str) -> SourceText:
        """A file."""
        source = self.project.sources.get(path)
        assert source is not None
        return source

    def note(self, place: FunctionPlace | BoundCall) -> None:
        """Note that a definition or call is changed."""
        if isinstance(place, FunctionPlace):
            where = label_of(self.project, place)
        else:
            where = i18n.message("exact.line", line=self.source(place.path).line_of(place.arguments.start_byte))
        self.patch.edits.append(Edit(self.task.kind, place.path, where))

    def leave(self, call: BoundCall) -> None:
        """Leave a call to the user."""
        self.patch.leave_open(self.source(call.path), call.arguments.start_byte, i18n.message("exact.open.arguments"))


def _definitions(change: _Change, signature: Signature) -> Iterator[tuple[FunctionPlace, list[DeclaredParameter]]]:
    """The definitions that have the parameters; others are left to the user."""
    for definition in signature.definitions:
        source = change.source(definition.path)
        found = parameters_by_kind(source, definition.node)
        if all(name in [p.name for p in found] for name in change.names):
            yield definition, found
        else:
            change.patch.leave_open(source, definition.node.start_byte, i18n.message("exact.open.overriding"))


def _calls(change: _Change, place: FunctionPlace, signature: Signature) -> Iterator[BoundCall]:
    parameters = parameters_by_kind(change.source(place.path), place.node)
    for call in sorted(signature.calls, key=lambda c: -c.arguments.start_byte):  # the inner ones first
        yield bound_call(change.source(call.path), call, parameters)


# By name only


def _keyword_only(change: _Change, place: FunctionPlace, signature: Signature) -> None:
    for definition, parameters in _definitions(change, signature):
        _separate_keywords(change, definition, parameters)
    if not change.patch.edits:
        return
    for call in _calls(change, place, signature):
        first = next((n for n, (p, _) in enumerate(call.positional) if p.name in change.names), None)
        if first is None:
            if call.starred is not None and not all(call.passes(name) for name in change.names):
                change.leave(call)
            continue
        following = call.positional[first:]
        if call.more or any(p.kind == "positional only" for p, _ in following):
            change.leave(call)
            continue
        for parameter, node in following:
            pass_by_name(call.path, parameter.name, node, change.patch)
        change.note(call)


def _separate_keywords(change: _Change, place: FunctionPlace, parameters: list[DeclaredParameter]) -> None:
    """Put parameters behind the `*` of a definition."""
    source = change.source(place.path)
    moved = [p for p in parameters if p.name in change.names and p.is_positional]
    if not moved:
        return
    nodes = parameters_of(place.node)
    texts = [source.slice(n) for n in nodes]
    moving = {p.node.id for p in moved}
    mark = next((n for n, node in enumerate(nodes) if _begins_keywords(node, parameters)), None)
    end = next(
        (n for n, p in enumerate(nodes) if any(q.kind == "**" and q.node.id == p.id for q in parameters)), len(nodes)
    )
    split = mark + 1 if mark is not None else end
    before = [t for n, t in zip(nodes[:split], texts[:split], strict=True) if n.id not in moving]
    behind = [source.slice(p.node) for p in moved]
    star = [] if mark is not None else ["*"]
    _check_separator(change, source, place, before)
    _write_parameters(change, place, [*before, *star, *behind, *texts[split:]])


def _begins_keywords(node: Node, parameters: Sequence[DeclaredParameter]) -> bool:
    return node.type == "keyword_separator" or any(p.kind == "*" and p.node.id == node.id for p in parameters)


def _check_separator(change: _Change, source: SourceText, place: FunctionPlace, before: list[str]) -> None:
    """Refuse to take away all parameters before a `/`."""
    if before[:1] == ["/"]:
        raise GenerationFailed(
            i18n.message("exact.positional_only", name=change.task.name, function=label_of(change.project, place))
        )


def _write_parameters(change: _Change, place: FunctionPlace, texts: list[str]) -> None:
    """Write the parameters of a definition in a new order, with one more at most."""
    source, nodes = change.source(place.path), parameters_of(place.node)
    container = place.node.child_by_field_name("parameters")
    assert container is not None
    if len(texts) > len(nodes):
        at = next(n for n, text in enumerate(texts) if n >= len(nodes) or source.slice(nodes[n]) != text)
        start, end, new = added_entry(source.data, container, nodes, at, texts[at])
        change.patch.replace(place.path, start, end, new)
        texts = [*texts[:at], *texts[at + 1 :]]
    has_comments = any(c.type == "comment" for c in container.named_children)
    if put_in_order(source, nodes, texts, change.patch) and has_comments:
        change.patch.leave_open(source, container.start_byte, i18n.message("exact.open.comment"))
    change.note(place)


# By position only


def _positional_only(change: _Change, place: FunctionPlace, signature: Signature) -> None:
    for definition, parameters in _definitions(change, signature):
        _separate_positional(change, definition, parameters)
    if not change.patch.edits:
        return
    own = parameters_by_kind(change.source(place.path), place.node)
    last = max(n for n, p in enumerate(own) if p.name in change.names)
    for call in _calls(change, place, signature):
        _pass_by_position(change, call, [p for p in call.accepting if p in own[: last + 1]])


def _separate_positional(change: _Change, place: FunctionPlace, parameters: list[DeclaredParameter]) -> None:
    wanted = [p for p in parameters if p.name in change.names and p.kind != "positional only"]
    if not wanted:
        return
    if any(p.kind != "either" for p in wanted):
        name = next(p.name for p in wanted if p.kind != "either")
        raise GenerationFailed(i18n.message("exact.keyword_only", name=name, function=label_of(change.project, place)))
    source, nodes = change.source(place.path), parameters_of(place.node)
    last = max(n for n, node in enumerate(nodes) if any(p.node.id == node.id for p in wanted))
    texts = [source.slice(n) for n in nodes if n.type != "positional_separator"]
    removed = len(nodes) - len(texts)
    _write_parameters(change, place, [*texts[: last + 1 - removed], "/", *texts[last + 1 - removed :]])


def _pass_by_position(change: _Change, call: BoundCall, targets: list[DeclaredParameter]) -> None:
    """Pass some of the first parameters by position in a call."""
    named = {name: node for name, node in call.keywords if name in [p.name for p in targets]}
    if call.has_options or (named and call.starred is not None):
        change.leave(call)
        return
    if not named:
        return
    needed = targets[len(call.positional) : 1 + max(n for n, p in enumerate(targets) if p.name in named)]
    source = change.source(call.path)
    if any(p.name not in named and not _is_literal(p) for p in needed):
        change.leave(call)
        return
    values = [argument_value(source, named[p.name], change.patch) if p.name in named else p.default for p in needed]
    slots = [node for _, node in (*call.positional, *call.keywords)]
    first = [edited_text(source, node, change.patch) for _, node in call.positional]
    rest = [edited_text(source, node, change.patch) for name, node in call.keywords if name not in named]
    put_in_order(source, slots, [*first, *values, *rest], change.patch)
    change.note(call)


def _is_literal(parameter: DeclaredParameter) -> bool:
    value = parameter.node.child_by_field_name("value")
    return value is not None and value.type in _LITERAL


# Always


def _require(change: _Change, place: FunctionPlace, signature: Signature) -> None:
    own = parameters_by_kind(change.source(place.path), place.node)
    for definition, parameters in _definitions(change, signature):
        for parameter in parameters:
            if parameter.name in change.names and parameter.default:
                _remove_default(change, definition, parameters, parameter)
    if not change.patch.edits:
        return
    for call in _calls(change, place, signature):
        missing = [p for p in own if p.name in change.names and not call.passes(p.name)]
        if not missing:
            continue
        if call.has_options or call.starred is not None:
            change.leave(call)
            continue
        for parameter in missing:
            _pass_value(change, call, parameter)


def _remove_default(
    change: _Change, place: FunctionPlace, parameters: list[DeclaredParameter], parameter: DeclaredParameter
) -> None:
    ahead = parameters[: parameters.index(parameter)]
    other = next((p for p in ahead if p.default and p.is_positional and p.name not in change.names), None)
    if other is not None and parameter.is_positional:
        raise GenerationFailed(
            i18n.message("exact.default_before", name=parameter.name, other=other.name),
            i18n.message("exact.default_before_hint"),
        )
    value = parameter.node.child_by_field_name("value")
    declared = parameter.node.child_by_field_name("type") or parameter.node.child_by_field_name("name")
    assert value is not None and declared is not None
    change.patch.replace(place.path, declared.end_byte, value.end_byte, "")
    change.note(place)


def _pass_value(change: _Change, call: BoundCall, parameter: DeclaredParameter) -> None:
    """Pass a value for a parameter that a call left out."""
    value = change.task.new or parameter.default
    if not change.task.new and not _is_literal(parameter):
        raise GenerationFailed(
            i18n.message("exact.no_value", name=parameter.name, value=parameter.default),
            i18n.message("exact.no_value_hint"),
        )
    source = change.source(call.path)
    is_next = call.accepting[len(call.positional) :][:1] == (parameter,) and not call.keywords
    plain = bool(call.positional) and len(change.names) == 1 and not re.fullmatch(_SHORT, value)
    by_position = is_next and (plain or parameter.kind == "positional only")
    if parameter.kind == "positional only" and not is_next:
        change.leave(call)
        return
    text = value if by_position else f"{parameter.name}={value}"
    listed = arguments_of(call.arguments)
    start, end, new = added_entry(source.data, call.arguments, listed, len(listed), text)
    change.patch.replace(call.path, start, end, new)
    change.note(call)


# In another order


def _reorder(change: _Change, place: FunctionPlace, signature: Signature) -> None:
    orders = {}
    for definition, parameters in _definitions(change, signature):
        order = _new_order(change, definition, parameters)
        orders[definition.node.id] = order
        if [p.name for p in order] != [p.name for p in parameters]:
            _write_order(change, definition, parameters, order)
    if not change.patch.edits:
        return
    order = orders[place.node.id]
    for call in _calls(change, place, signature):
        _reorder_call(change, call, [p for p in order if p.is_positional])


def _new_order(change: _Change, place: FunctionPlace, parameters: list[DeclaredParameter]) -> list[DeclaredParameter]:
    """The parameters of a definition in the order that the task asks for.

    Raises:
        GenerationFailed: a parameter can't stand there, or there is no such neighbour.
    """
    moved = [p for p in parameters if p.name in change.names]
    rest = [p for p in parameters if p.name not in change.names]
    where, _, neighbour = change.task.extra.get("position", "first").partition(":")
    kinds = {p.kind for p in moved}
    if (len(kinds) > 1 and where != "listed") or kinds & {"*", "**"}:
        raise GenerationFailed(i18n.message("exact.fixed_order", name=change.task.name))
    if where == "listed":
        return _checked_order(change, in_listed_order([p.name for p in parameters], parameters, change.names))
    if where in ("before", "after"):
        at = next((n for n, p in enumerate(rest) if p.name == neighbour), None)
        if at is None:
            raise no_parameter(neighbour, change.project, place)
        at += where == "after"
    else:
        same = [n for n, p in enumerate(rest) if p.kind in kinds and not (n == 0 and _is_receiver(change, place, p))]
        at = (same[0] if where == "first" else same[-1] + 1) if same else len(rest)
    return _checked_order(change, [*rest[:at], *moved, *rest[at:]])


def _checked_order(change: _Change, order: list[DeclaredParameter]) -> list[DeclaredParameter]:
    ranks = ["positional only", "either", "*", "keyword", "**"]
    ranked = [ranks.index(p.kind) for p in order]
    optional = [bool(p.default) for p in order if p.is_positional]
    if ranked != sorted(ranked) or optional != sorted(optional):
        raise GenerationFailed(i18n.message("exact.fixed_order", name=change.task.name))
    return order


def _is_receiver(change: _Change, place: FunctionPlace, parameter: DeclaredParameter) -> bool:
    source = change.source(place.path)
    return parameter.name in ("self", "cls", "mcs") and "staticmethod" not in decorator_names(source, place.node)


def _write_order(
    change: _Change, place: FunctionPlace, parameters: list[DeclaredParameter], order: list[DeclaredParameter]
) -> None:
    source = change.source(place.path)
    fixed = {p.node.id for p in parameters}
    following = iter(order)
    nodes = parameters_of(place.node)
    _write_parameters(change, place, [source.slice(next(following).node if n.id in fixed else n) for n in nodes])


def _reorder_call(change: _Change, call: BoundCall, order: list[DeclaredParameter]) -> None:
    """Pass the arguments of a call in a new order, by name behind the first that it leaves out."""
    accepting = [p.name for p in order if p in call.accepting]
    given = {p.name: node for p, node in call.positional}
    first = list(takewhile(given.__contains__, accepting))
    named = [name for name in given if name not in first]
    if [*given] == first and (not call.more or first == accepting):
        return
    strict = any(p.name in named and p.kind == "positional only" for p in order)
    if strict or (call.more and (named or call.starred is not None)):
        change.leave(call)
        return
    source = change.source(call.path)
    texts = [edited_text(source, given[name], change.patch) for name in first]
    texts += [named_argument(source, name, given[name], change.patch) for name in named]
    put_in_order(source, [node for _, node in call.positional], texts, change.patch)
    change.note(call)


_CHANGES: dict[str, Callable[[_Change, FunctionPlace, Signature], None]] = {
    "keyword_only": _keyword_only,
    "positional_only": _positional_only,
    "require_parameter": _require,
    "reorder_parameter": _reorder,
}


# What isn't certain


def _is_affected(change: _Change, call: BoundCall) -> bool:
    """Whether the arguments of a call would have to change."""
    if change.task.kind == "require_parameter":
        return not all(call.passes(name) for name in change.names)
    if change.task.kind == "positional_only":
        return call.unpacks or any(name in change.names for name, _ in call.keywords)
    if change.task.kind == "reorder_parameter":
        return bool(call.positional)
    return call.unpacks or any(p.name in change.names for p, _ in call.positional)


def _leave_uncertain(change: _Change, place: FunctionPlace, signature: Signature) -> None:
    """List decorators that may change the parameters, and references that may become calls."""
    source = change.source(place.path)
    if decorator_names(source, place.node) - _TRANSPARENT:
        change.patch.leave_open(source, place.node.start_byte, i18n.message("exact.open.decorated"))
    for path, start in signature.others:
        other = change.project.sources.get(path)
        node = other.root.descendant_for_byte_range(start, start + 1) if other is not None and other.root else None
        if other is not None and node is not None and node.type == "identifier":
            change.patch.leave_open(other, start, i18n.message("exact.open.reference"))
