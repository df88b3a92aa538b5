"""Answers from the code graph: what calls a definition, what it calls, what inherits from it or implements it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import QUOTED_LINES, Item, item_of, listing, sentence
from repopilot.agents.explain.forms.known_symbols import (
    definitions,
    is_class,
    is_program,
    nodes_of,
    symbol_around,
)
from repopilot.agents.explain.forms.recognise import Form
from repopilot.code.graph.graph import Edge, Graph, Link
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.types import Symbol

T = TypeVar("T")
MOST_DEFINITIONS = 4
"""Definitions of one name whose callers are listed together. A name with more of them says too little."""
_SURE = 0.5
"""An edge of less confidence was found by its name only."""
_DEEPEST = 6
"""Levels of inheritance that are followed."""


def answer_callers(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what calls a function, or creates objects of a class."""
    found = definitions(inquiry.index, form.names)
    if not form.named or not 0 < len(found) <= MOST_DEFINITIONS:
        return None
    graph = graph_of(inquiry.index)
    links = _incoming(graph, nodes_of(graph, found), (Edge.CALLS,))
    program = [(node, link) for node, link in links if is_program(graph.nodes[node].path)]
    tests = len(links) - len(program)
    shown = program or links
    if not shown:
        return None
    items = [_call_item(inquiry.index, graph, node, link) for node, link in shown]
    unsure = sum(link.confidence < _SURE for _, link in shown)
    notes = []
    if unsure:
        notes.append(i18n.text("forms.only_by_name", inquiry.language, count=unsure))
    if program and tests:
        notes.append(i18n.text("forms.in_tests", inquiry.language, count=tests))
    heading = i18n.text("forms.calls.by", inquiry.language, name=_name(found))
    sure = not unsure and len(found) == 1
    return listing(inquiry, form.kind, heading, items, sure=sure, note=" ".join(notes), more=tests if program else 0)


def answer_callees(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what a function calls."""
    found = definitions(inquiry.index, form.names)
    if not form.named or len(found) != 1 or is_class(found[0]):
        return None
    graph = graph_of(inquiry.index)
    nodes = nodes_of(graph, found)
    links = [link for node in nodes for link in graph.outgoing(node, (Edge.CALLS,)) if link.confidence >= _SURE]
    items = []
    for link in sorted(_first_of_each(links, lambda link: link.node), key=lambda link: link.line):
        callee = graph.nodes[link.node]
        text = f"`{callee.name}` (`{callee.path}:{callee.line}`)"
        items.append(Item(text, found[0].path, link.line, link.line, found[0].qualified))
    if not items:
        return None
    heading = i18n.text("forms.calls.from_", inquiry.language, name=_name(found))
    note = i18n.text("forms.external.other", inquiry.language)
    return listing(inquiry, form.kind, heading, items, note=note)


def answer_subclasses(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which classes inherit from another, or implement an interface."""
    found = _inheritable(inquiry.index, form)
    if len(found) != 1:
        return _with_method(form, inquiry)
    graph = graph_of(inquiry.index)
    if found[0].kind == "interface" and found[0].path.endswith(".go"):
        return _by_methods(form, inquiry, graph, found[0])
    direct = _heirs(inquiry.index, graph, found)
    if not direct:
        return None
    items = [item_of(heir, lines=1) for heir in direct]
    if len(items) == 1:
        text = i18n.text("forms.inheritance.one", inquiry.language, name=_name(found), heir=items[0].text)
        answer = sentence(inquiry, form.kind, text, items)
    else:
        heading = i18n.text("forms.inheritance.list", inquiry.language, name=_name(found), count=len(items))
        answer = listing(inquiry, form.kind, heading, items)
    return _with_indirect(answer, inquiry, graph, found, direct)


def _with_method(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which classes define a method."""
    found = definitions(inquiry.index, form.names) if form.named else []
    if not found or any(is_class(symbol) or "." not in symbol.qualified for symbol in found):
        return None
    owners = [symbol.qualified.rpartition(".")[0] for symbol in found]
    items = [
        item_of(symbol, f"`{owner}` (`{symbol.path}:{symbol.start_line}`)", lines=1)
        for symbol, owner in zip(found, owners, strict=True)
    ]
    heading = i18n.text("forms.inheritance.defining", inquiry.language, name=f"`{found[0].name}`", count=len(items))
    return listing(inquiry, form.kind, heading, items)


def answer_bases(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what a class inherits from, or implements."""
    found = [symbol for symbol in definitions(inquiry.index, form.names) if is_class(symbol)]
    if not form.named or len(found) != 1:
        return None
    graph = graph_of(inquiry.index)
    links = [link for node in nodes_of(graph, found) for link in graph.outgoing(node, (Edge.INHERITS,))]
    if not links or any(link.confidence < _SURE for link in links):
        return None
    items = [item_of(found[0], lines=1)]
    names = []
    for link in _first_of_each(links, lambda link: link.node):
        base = graph.nodes[link.node]
        names.append(f"`{base.name}`")
        end = min(base.end_line, base.line + QUOTED_LINES - 1)
        items.append(Item(base.name, base.path, base.line, max(base.line, end), base.name))
    text = i18n.text("forms.inheritance.bases", inquiry.language, name=_name(found), bases=", ".join(names))
    return sentence(inquiry, form.kind, text, items)


def _inheritable(index: Index, form: Form) -> list[Symbol]:
    """The classes of a name; of several the interfaces and traits."""
    found = [symbol for symbol in definitions(index, form.names) if is_class(symbol)] if form.named else []
    abstract = [symbol for symbol in found if symbol.kind in ("interface", "trait")]
    return found if len(found) == 1 else abstract


def _incoming(graph: Graph, nodes: Iterable[int], kinds: Sequence[Edge]) -> list[tuple[int, Link]]:
    """The sources of edges to nodes with the first edge of each, in the order of paths and lines."""
    own = list(nodes)
    found = [(link.node, link) for node in own for link in graph.incoming(node, kinds)]
    distinct = _first_of_each(sorted(found, key=lambda pair: -pair[1].confidence), lambda pair: pair[0])
    return sorted(distinct, key=lambda pair: (graph.nodes[pair[0]].path, pair[1].line))


def _call_item(index: Index, graph: Graph, node: int, link: Link) -> Item:
    caller = graph.nodes[node]
    name = "" if caller.name == caller.path else caller.name
    text = f"`{name}` (`{caller.path}:{link.line}`)" if name else f"`{caller.path}:{link.line}`"
    return Item(text, caller.path, link.line, link.line, name)


def _heirs(index: Index, graph: Graph, symbols: Sequence[Symbol]) -> list[Symbol]:
    """The classes that inherit directly, those of the program first by path and line."""
    links = _incoming(graph, nodes_of(graph, symbols), (Edge.INHERITS,))
    heirs = []
    for node, link in links:
        heir = graph.nodes[node]
        symbol = symbol_around(index.outline(heir.path), heir.line) if heir.kind != "file" else None
        if symbol is not None and link.confidence >= _SURE:
            heirs.append(symbol)
    distinct = list({(heir.path, heir.qualified): heir for heir in heirs}.values())
    return sorted(distinct, key=lambda heir: not is_program(heir.path))


def _with_indirect(
    answer: CodeAnswer, inquiry: Inquiry, graph: Graph, roots: Sequence[Symbol], direct: Sequence[Symbol]
) -> CodeAnswer:
    """The answer with the names of those that inherit through the direct ones."""
    known = {(s.path, s.qualified) for s in (*roots, *direct)}
    names: list[str] = []
    level: Sequence[Symbol] = direct
    for _ in range(_DEEPEST):
        level = [s for s in _heirs(inquiry.index, graph, level) if (s.path, s.qualified) not in known] if level else []
        known.update((s.path, s.qualified) for s in level)
        names += [f"`{s.qualified}`" for s in level if is_program(s.path)]
    if not names:
        return answer
    note = i18n.text("forms.inheritance.indirect", inquiry.language, names=", ".join(names))
    return CodeAnswer(answer.form, f"{answer.text}\n\n{note}", answer.places, answer.sure, answer.left_out)


def _by_methods(form: Form, inquiry: Inquiry, graph: Graph, interface: Symbol) -> CodeAnswer | None:
    """For languages in which types implement an interface without saying so: those that have all its methods."""
    index = inquiry.index
    methods = _methods(index, graph, interface)
    if not methods:
        return None
    owners = set.intersection(*(_owners(index, name) for name in methods))
    types = [s for s in (_type_of(index, path, name) for path, name in sorted(owners)) if s is not None]
    program = [s for s in types if is_program(s.path)]
    if not program:
        return None
    heading = i18n.text("forms.inheritance.methods", inquiry.language, name=f"`{interface.qualified}`")
    return listing(inquiry, form.kind, heading, [item_of(s, lines=1) for s in program], sure=False)


def _methods(index: Index, graph: Graph, interface: Symbol) -> set[str]:
    """The names of an interface's methods, with those of the interfaces that it embeds."""
    own = {s.name for s in index.outline(interface.path) if s.qualified == f"{interface.qualified}.{s.name}"}
    for node in nodes_of(graph, [interface]):
        for link in graph.outgoing(node, (Edge.INHERITS,)):
            base = graph.nodes[link.node]
            own |= {s.name for s in index.outline(base.path) if s.qualified == f"{base.name}.{s.name}"}
    return own


def _owners(index: Index, method: str) -> set[tuple[str, str]]:
    """(folder, type) of every method of a name: a type's methods may stand in several files of its package."""
    found = (s for s in index.symbols(method) if "." in s.qualified and s.path.endswith(".go"))
    return {(s.path.rpartition("/")[0], s.qualified.rpartition(".")[0]) for s in found}


def _type_of(index: Index, folder: str, name: str) -> Symbol | None:
    found = (s for s in index.symbols(name) if s.path.rpartition("/")[0] == folder and s.qualified == name)
    return next((s for s in found if s.kind in ("struct", "type", "class")), None)


def _first_of_each(items: Iterable[T], key: Callable[[T], object]) -> list[T]:
    first: dict[object, T] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())


def _name(symbols: Sequence[Symbol]) -> str:
    return f"`{symbols[0].qualified}`" if len(symbols) == 1 else f"`{symbols[0].name}`"
