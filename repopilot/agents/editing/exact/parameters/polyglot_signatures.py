"""Puts the parameters of functions in languages other than Python into another order, with the arguments of callers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.parameters.polyglot_calls import (
    PolyglotCall,
    arguments_in_order,
    call_with,
    certain_uses,
    function_around,
    is_naming,
    name_node,
)
from repopilot.agents.editing.exact.parameters.reordering import edited_text, put_in_order, reordered
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_FIXED = frozenset(("self_parameter", "receiver_parameter"))
_ARGUMENTS = re.compile(rb"(?<![\w$.])arguments(?![\w$])")
_REST = frozenset(("rest_pattern", "spread_parameter", "variadic_parameter_declaration", "variadic_parameter"))


@dataclass(frozen=True, slots=True)
class BracedParameter:
    """A parameter: `node` holds it, with others of the same type in Go."""

    name: str
    text: str
    node: Node


def reorder(symbol: Symbol, names: list[str], position: str, sources: Sources) -> Patch | None:
    """Put parameters of a function into another order.

    Args:
        symbol: the function.
        names: the parameters that change their place.
        position: `first`, `last`, `before:NAME`, `after:NAME` or `listed`: in the order of `names`.
        sources: the files.

    Returns:
        The changes; None where uses of the function aren't certain.

    Raises:
        GenerationFailed: there is no such parameter, or it can't stand there.
    """
    source = sources.get(symbol.path)
    name = name_node(source, symbol) if source is not None else None
    function = function_around(name) if name is not None else None
    listed = function.child_by_field_name("parameters") if function is not None else None
    uses = certain_uses(symbol, sources)
    if source is None or function is None or listed is None or uses is None or reads_arguments(source, function):
        return None
    entries = parameters_in(source, listed)
    old = [e.name for e in entries]
    for wanted in names:
        if wanted not in old:
            message = i18n.message("exact.no_such_name_in", name=wanted, place=symbol.name)
            raise GenerationFailed(message, i18n.message("exact.nearest", names=", ".join(n for n in old if n)))
    new = reordered(old, entries, names, position)
    if new is None or not _is_possible(new):
        raise GenerationFailed(i18n.message("exact.fixed_order", name=", ".join(names)))
    if new == entries:
        raise GenerationFailed(i18n.message("exact.passed_so", name=", ".join(names), function=symbol.name))
    patch = Patch()
    start, end = entries[0].node.start_byte, entries[-1].node.end_byte
    if len({e.node.id for e in entries}) == len(entries):
        put_in_order(source, [e.node for e in entries], [e.text for e in new], patch)
    else:
        patch.replace(source.path, start, end, _grouped(new))
    patch.edits.append(Edit("reorder_parameter", source.path, symbol.qualified))
    _adapt_calls(uses, [old.index(e.name) for e in new], len(entries), patch)
    return patch


def reads_arguments(source: SourceText, function: Node) -> bool:
    """Whether a function of JavaScript looks at its arguments by number."""
    return (
        source.language in ("javascript", "typescript", "tsx")
        and _ARGUMENTS.search(source.data, function.start_byte, function.end_byte) is not None
    )


def parameters_in(source: SourceText, listed: Node) -> list[BracedParameter]:
    """The parameters that calls give arguments for.

    Args:
        source: the file.
        listed: the list of parameters.
    """
    found = []
    for node in listed.named_children:
        if "comment" in node.type or node.type in _FIXED:
            continue
        names = node.children_by_field_name("name") if source.language == "go" else []
        kind = node.child_by_field_name("type")
        if len(names) > 1 and kind is not None:
            found += [BracedParameter(source.slice(n), f"{source.slice(n)} {source.slice(kind)}", node) for n in names]
        else:
            found.append(BracedParameter(_name_of(source, node), source.slice(node), node))
    return found


def _name_of(source: SourceText, node: Node) -> str:
    current: Node | None = node
    while current is not None and not current.type.endswith("identifier"):
        fields = (current.child_by_field_name(f) for f in ("name", "pattern", "left"))
        inner = current.named_children
        last = inner[-1] if inner and current.type in _REST else None
        current = next((f for f in fields if f is not None), last)
    return source.slice(current) if current is not None else ""


def _is_possible(order: list[BracedParameter]) -> bool:
    """Whether a rest parameter is the last, and optional ones stand behind the others."""
    kinds = [e.node.type in _REST or e.text.startswith("...") for e in order]
    optional = [e.node.type == "optional_parameter" for e in order]
    return not any(kinds[:-1]) and optional == sorted(optional)


def _grouped(order: list[BracedParameter]) -> str:
    """Go's parameters, those of one declaration together where they still follow each other."""
    texts: list[str] = []
    for entry, following in zip(order, [*order[1:], None], strict=True):
        shared = following is not None and following.node.id == entry.node.id
        texts.append(entry.name if shared else entry.text)
    return ", ".join(texts)


def _adapt_calls(uses: list[tuple[SourceText, Node]], order: list[int], count: int, patch: Patch) -> None:
    """Put the arguments of all calls into the new order; the inner calls first."""
    for source, node in sorted(uses, key=lambda u: -u[1].start_byte):
        call = call_with(source, node)
        if call is None:
            if not is_naming(node):
                patch.leave_open(source, node.start_byte, i18n.message("exact.open.reference"))
            continue
        _adapt(call, order, count, patch)


def _adapt(call: PolyglotCall, order: list[int], count: int, patch: Patch) -> None:
    source = call.source
    dynamic = source.language in ("javascript", "typescript", "tsx")
    arguments = arguments_in_order(call, order)
    short = not dynamic and len(call.arguments) < count - (source.language in ("go", "java"))
    if arguments is None or short or (not dynamic and None in arguments):
        patch.leave_open(source, call.start, i18n.message("exact.open.arguments"))
        return
    texts = [edited_text(source, a, patch) if a is not None else "undefined" for a in arguments]
    if call.arguments and put_in_order(source, call.arguments, texts, patch):
        line = i18n.message("exact.line", line=source.line_of(call.start))
        patch.edits.append(Edit("reorder_parameter", source.path, line))
