"""Answers from a function's own lines: what it raises, what it returns, which parameters it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, code, listing, sentence
from repopilot.agents.explain.forms.known_symbols import definitions, is_callable, is_class, nodes_of
from repopilot.agents.explain.forms.raised_errors import Failing, failures
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.explain.forms.returned_values import returned
from repopilot.agents.explain.forms.syntax_nodes import ParsedFile, first_line, last_line, node_of_lines, parsed_file
from repopilot.code.graph.graph import Edge
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.types import Symbol

_SURE = 0.9
"""The least confidence of calls whose errors are counted as the caller's."""
_CONSTRUCTORS = ("__init__", "constructor", "initialize", "__construct")
_MOST_LINES = 5
_RECEIVERS = ("self", "cls", "&self", "&mut self", "mut self")


def answer_raises(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which errors a function or class raises, throws or returns; else those of what it calls."""
    found = _subject(form, inquiry)
    if found is None:
        return None
    name = f"`{found.qualified}`"
    own = list(_failures_of(inquiry.index, found))
    if own:
        return _failing(form, inquiry, own, i18n.text("forms.raises.list", inquiry.language, name=name), name)
    called = [failing for callee in _callees(inquiry.index, found) for failing in _failures_of(inquiry.index, callee)]
    if not called:
        return None
    heading = i18n.text("forms.raises.called", inquiry.language, name=name)
    items = [_failure_item(path, failing, f"`{owner}`: ") for path, owner, failing in called]
    return listing(inquiry, form.kind, heading, items, sure=False)


def answer_returns(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what a function returns: its declared type and its return statements."""
    found = _subject(form, inquiry)
    if found is None or not is_callable(found):
        return None
    file = parsed_file(inquiry.index, found.path)
    function = _function_node(file, found)
    if file is None or function is None:
        return None
    declared, results = returned(file, function)
    language, name = inquiry.language, f"`{found.qualified}`"
    head = Item(name, found.path, first_line(function), min(last_line(function), first_line(function) + 1))
    if not results:
        if not declared:
            return None
        text = i18n.text("forms.returns.type", language, name=name, type=code(declared))
        return sentence(inquiry, form.kind, text, [replace(head, symbol=found.qualified)])
    items = [_node_item(file.path, node, code(file.text(node)), found.qualified) for node in results]
    if len(items) == 1 and not declared:
        text = i18n.text("forms.returns.one", language, name=name, value=items[0].text)
        return sentence(inquiry, form.kind, text, items)
    key = "forms.returns.typed_list" if declared else "forms.returns.list"
    heading = i18n.text(key, language, name=name, type=code(declared) if declared else "")
    return listing(inquiry, form.kind, heading, items)


def answer_parameters(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which parameters a function, or the constructor of a class, takes."""
    found = _subject(form, inquiry)
    if found is None:
        return None
    if is_class(found):
        inside = definitions(inquiry.index, (found.qualified,)) and [
            s
            for s in inquiry.index.outline(found.path)
            if s.qualified.startswith(f"{found.qualified}.") and s.name in (*_CONSTRUCTORS, found.name)
        ]
        if len(inside) != 1:
            return None
        found = inside[0]
    file = parsed_file(inquiry.index, found.path)
    function = _function_node(file, found)
    if file is None or function is None:
        return None
    parameters = function.child_by_field_name("parameters")
    if parameters is None:
        return None
    written = [file.text(node) for node in parameters.named_children if node.type != "comment"]
    taken = [text for text in written if text.split(":")[0].strip() not in _RECEIVERS]
    place = Item("", file.path, first_line(function), last_line(parameters), found.qualified)
    key = "forms.parameters.list" if taken else "forms.parameters.none"
    values = {"name": f"`{found.qualified}`", "count": len(taken), "parameters": ", ".join(map(code, taken))}
    return sentence(inquiry, form.kind, i18n.text(key, inquiry.language, **values), [place])


def _subject(form: Form, inquiry: Inquiry) -> Symbol | None:
    """The only function or class that the question names."""
    if not form.named:
        return None
    found = [s for s in definitions(inquiry.index, form.names) if is_callable(s) or is_class(s)]
    return found[0] if len(found) == 1 else None


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
    form: Form, inquiry: Inquiry, found: Sequence[tuple[str, str, Failing]], heading: str, name: str
) -> CodeAnswer:
    items = [_failure_item(path, failing, "") for path, _, failing in found]
    kinds = {failing.error for _, _, failing in found}
    if len(items) == 1 or (len(kinds) == 1 and len(items) <= 3 and "" not in kinds):
        error = found[0][2].error or found[0][2].text
        text = i18n.text("forms.raises.one", inquiry.language, name=name, error=code(error))
        return sentence(inquiry, form.kind, text, items)
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
    node: Node | None = node_of_lines(file, symbol.start_line, symbol.end_line)
    waiting = [node] if node else []
    while waiting:
        node = waiting.pop(0)
        if node.child_by_field_name("parameters") is not None:
            return node
        inner = [child for child in node.named_children if first_line(child) <= symbol.end_line]
        waiting += [child for child in inner if child.type not in ("comment", "block", "statement_block")]
    return None
