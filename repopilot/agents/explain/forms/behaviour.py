"""Answers from a function's own lines: what it raises, what it returns, which parameters it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, code, listing, sentence
from repopilot.agents.explain.forms.known_symbols import definitions, is_callable, is_class, nodes_of
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.explain.forms.syntax.raised_errors import Failing, failures
from repopilot.agents.explain.forms.syntax.returned_values import returned
from repopilot.agents.explain.forms.syntax.syntax_nodes import (
    ParsedFile,
    first_line,
    last_line,
    node_of_lines,
    parsed_file,
)
from repopilot.code.graph.graph import Edge
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.types import Symbol

_SURE = 0.85
"""The least confidence of calls whose errors are counted as the caller's."""
_CONSTRUCTORS = ("__init__", "constructor", "initialize", "__construct")
_WRAPPER = re.compile(r"function|method|declarat|definition|export|expression_statement|assignment|pair")
_MOST_LINES = 5
_MOST_ALIKE = 3
MOST_DEFINITIONS = 3
"""Definitions of one name that are answered for together."""
_RECEIVERS = ("self", "cls", "&self", "&mut self", "mut self")


def answer_raises(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which errors a function or class raises, throws or returns; else those of what it calls."""
    found = _subjects(form, inquiry)
    if not found:
        return None
    name = f"`{found[0].name if len(found) > 1 else found[0].qualified}`"
    own = [failing for symbol in found for failing in _failures_of(inquiry.index, symbol)]
    if own:
        return _failing(form, inquiry, own, name, several=len(found) > 1)
    called = [
        failing
        for symbol in found
        for callee in _callees(inquiry.index, symbol)
        for failing in _failures_of(inquiry.index, callee)
    ]
    if not called:
        return None
    heading = i18n.text("forms.raises.called", inquiry.language, name=name)
    items = [_failure_item(path, failing, f"`{owner}`: ") for path, owner, failing in called]
    return listing(inquiry, form.kind, heading, items, sure=False)


def answer_returns(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what a function returns: its declared type and its return statements."""
    functions = [symbol for symbol in _subjects(form, inquiry) if is_callable(symbol)]
    read = [(symbol, *_returned(inquiry.index, symbol)) for symbol in functions]
    if not read or not all(declared or items for _, declared, items in read):
        return None
    language, name = inquiry.language, f"`{read[0][0].name if len(read) > 1 else read[0][0].qualified}`"
    types = list(dict.fromkeys(declared for _, declared, _ in read if declared))
    items = [item for _, _, found in read for item in found]
    if len(read) > 1:
        items = [replace(item, text=f"`{item.symbol}`: {item.text}") for item in items]
    if not items or (len(items) == 1 and not types):
        shown = code(types[0]) if types else items[0].text
        places = items or [Item("", s.path, s.start_line, s.start_line, s.qualified) for s, _, _ in read]
        key = "forms.returns.type" if types else "forms.returns.one"
        return sentence(inquiry, form.kind, i18n.text(key, language, name=name, value=shown), places)
    key = "forms.returns.typed_list" if types else "forms.returns.list"
    heading = i18n.text(key, language, name=name, value=" / ".join(map(code, types)))
    return listing(inquiry, form.kind, heading, items)


def _returned(index: Index, symbol: Symbol) -> tuple[str, list[Item]]:
    """The declared type of a function's result, and its return statements as items."""
    file = parsed_file(index, symbol.path)
    function = _function_node(file, symbol)
    if file is None or function is None:
        return "", []
    declared, results = returned(file, function)
    distinct = {code(file.text(node)): node for node in reversed(results)}
    items = [_node_item(file.path, node, text, symbol.qualified) for text, node in distinct.items()]
    return declared, sorted(items, key=lambda item: item.start_line)


def answer_parameters(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which parameters a function, or the constructor of a class, takes."""
    functions = [function for symbol in _subjects(form, inquiry) for function in _callables(inquiry.index, symbol)]
    read = [_parameters(inquiry, symbol) for symbol in functions]
    items = [item for item in read if item is not None]
    if not items or len(items) < len(read):
        return None
    if len(items) == 1:
        return sentence(inquiry, form.kind, items[0].text, items)
    heading = i18n.text("forms.parameters.several", inquiry.language, name=f"`{functions[0].name}`", count=len(items))
    return listing(inquiry, form.kind, heading, items)


def _parameters(inquiry: Inquiry, symbol: Symbol) -> Item | None:
    """What a function takes, as an item that cites its signature."""
    file = parsed_file(inquiry.index, symbol.path)
    function = _function_node(file, symbol)
    parameters = function.child_by_field_name("parameters") if function is not None else None
    if file is None or function is None:
        return None
    nodes = parameters.named_children if parameters is not None else []
    written = [file.text(node) for node in nodes if node.type != "comment"]
    taken = [text for text in written if text.split(":")[0].strip() not in _RECEIVERS]
    key = "forms.parameters.list" if taken else "forms.parameters.none"
    values = {"name": f"`{symbol.qualified}`", "parameters": ", ".join(map(code, taken))}
    text = i18n.text(key, inquiry.language, **values)
    return Item(text, file.path, first_line(function), last_line(parameters or function), symbol.qualified)


def _callables(index: Index, symbol: Symbol) -> list[Symbol]:
    """A function itself; the constructors of a class."""
    if not is_class(symbol):
        return [symbol]
    inside = (s for s in index.outline(symbol.path) if s.qualified == f"{symbol.qualified}.{s.name}")
    return [s for s in inside if s.name in (*_CONSTRUCTORS, symbol.name)]


def _subjects(form: Form, inquiry: Inquiry) -> list[Symbol]:
    """The functions and classes that the question names; none where there are too many."""
    found = definitions(inquiry.index, form.names) if form.named else []
    found = [symbol for symbol in found if is_callable(symbol) or is_class(symbol)]
    return found if len(found) <= MOST_DEFINITIONS else []


def _failures_of(index: Index, symbol: Symbol) -> Iterator[tuple[str, str, Failing]]:
    file = parsed_file(index, symbol.path)
    if file is None:
        return
    for failing in failures(file, node_of_lines(file, symbol.start_line, symbol.end_line)):
        yield file.path, symbol.qualified, failing


def _callees(index: Index, symbol: Symbol) -> Iterator[Symbol]:
    graph = graph_of(index)
    for node in nodes_of(graph, [symbol]):
        for link in graph.outgoing(node, (Edge.CALLS,)):
            callee = graph.nodes[link.node]
            if link.confidence >= _SURE and callee.kind == "function":
                yield Symbol(callee.name, callee.name, "function", callee.path, callee.line, callee.end_line)


def _failing(
    form: Form, inquiry: Inquiry, found: Sequence[tuple[str, str, Failing]], name: str, *, several: bool
) -> CodeAnswer:
    items = [_failure_item(path, failing, f"`{owner}`: " if several else "") for path, owner, failing in found]
    kinds = {failing.error for _, _, failing in found}
    if len(items) == 1 or (len(kinds) == 1 and len(items) <= _MOST_ALIKE):
        text = i18n.text("forms.raises.one", inquiry.language, name=name, error=code(found[0][2].shown))
        return sentence(inquiry, form.kind, text, items)
    heading = i18n.text("forms.raises.list", inquiry.language, name=name)
    return listing(inquiry, form.kind, heading, items)


def _failure_item(path: str, failing: Failing, owner: str) -> Item:
    start = max(failing.first, failing.last - _MOST_LINES + 1)
    return Item(f"{owner}{code(failing.text)}", path, start, failing.last)


def _node_item(path: str, node: Node, text: str, symbol: str) -> Item:
    first = first_line(node)
    return Item(text, path, first, min(last_line(node), first + _MOST_LINES - 1), symbol)


def _function_node(file: ParsedFile | None, symbol: Symbol) -> Node | None:
    """The node of a function that has its parameters and body, below decorators and `export`."""
    if file is None:
        return None
    waiting = [node_of_lines(file, symbol.start_line, symbol.end_line)]
    while waiting:
        node = waiting.pop(0)
        if node.child_by_field_name("parameters") is not None or node.type in ("method", "singleton_method"):
            return node
        waiting += [child for child in node.named_children if _WRAPPER.search(child.type)]
    return None
