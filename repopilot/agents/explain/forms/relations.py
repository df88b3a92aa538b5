"""Answers from the code graph: what calls a definition, what it calls, what inherits from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, listing
from repopilot.agents.explain.forms.known_symbols import definitions, is_program, nodes_of
from repopilot.agents.explain.forms.recognise import Form
from repopilot.code.graph.graph import DEPENDING, Edge, Graph, Link
from repopilot.impact.call_graph import SURE, detect_path_query
from repopilot.index.graph.code_graph import graph_of

MOST_DEFINITIONS = 4
"""Definitions of one name whose relations are listed together. A name with more of them says too little."""
_INCOMING = {"callers": (Edge.CALLS,), "references": DEPENDING, "subclasses": (Edge.INHERITS,)}
_OUTGOING = {"callees": (Edge.CALLS,), "bases": (Edge.INHERITS,)}


def answer_relation(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what stands in a relation to a definition, those of the program before those of its tests."""
    found = definitions(inquiry.index, form.names)
    if not 0 < len(found) <= MOST_DEFINITIONS:
        return None
    graph = graph_of(inquiry.index)
    nodes = nodes_of(graph, found)
    if form.kind in _INCOMING:
        links = [(link.node, link) for n in nodes for link in graph.incoming(n, _INCOMING[form.kind])]
    else:
        links = [(n, link) for n in nodes for link in graph.outgoing(n, _OUTGOING[form.kind])]
    items = list(_items(graph, links))
    shown = [item for item in items if is_program(item.path)] or items
    if not shown:
        return None
    unsure = sum(link.confidence < SURE for _, link in links)
    notes = [i18n.text("forms.only_by_name", inquiry.language, count=unsure)] if unsure else []
    tests = len(items) - len(shown)
    notes += [i18n.text("forms.in_tests", inquiry.language, count=tests)] if tests else []
    name = f"`{found[0].qualified}`" if len(found) == 1 else f"`{found[0].name}`"
    heading = i18n.text(f"forms.relations.{form.kind}", inquiry.language, name=name)
    sure = not unsure and len(found) == 1
    return listing(inquiry, form.kind, heading, shown, sure=sure, note=" ".join(notes))


def _items(graph: Graph, links: Iterable[tuple[int, Link]]) -> Iterator[Item]:
    """What is at the other end of each link, each definition once, with the line in the node that holds it."""
    seen: set[int] = set()
    for holding, link in sorted(links, key=lambda row: (-row[1].confidence, row[1].line)):
        if link.node not in seen:
            seen.add(link.node)
            other, holder = graph.nodes[link.node], graph.nodes[holding]
            text = f"`{other.name}` (`{other.path}:{other.line}`)"
            yield Item(text, holder.path, link.line, link.line, holder.name)


def answer_call_path(inquiry: Inquiry) -> CodeAnswer | None:
    """The definitions on the shortest call path between the two places that a question names, each cited."""
    query = inquiry.results.query
    nodes = detect_path_query(inquiry.index, inquiry.question, (*query.names, *query.paths))
    if not nodes:
        return None
    items = []
    for node in nodes:
        verb = node.verb if inquiry.language == "en" else "→" * bool(node.verb)
        place = "" if node.name == node.path else f"(`{node.path}:{node.line}`)"
        words = " ".join(filter(None, (verb, f"`{node.name}`", place)))
        items.append(Item(words, node.path, node.line, node.end_line, "" if node.name == node.path else node.name))
    return listing(inquiry, "call path", i18n.text("explain.call_path", inquiry.language), items, numbered=True)
