"""Says when a question takes for granted what its code doesn't do: "why does X change Y?", where neither X nor what it
calls so much as names Y."""

from __future__ import annotations

import re

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import item_of, sentence
from repopilot.agents.explain.forms.known_symbols import dotted, nodes_of, one_definition
from repopilot.agents.explain.forms.recognise import Form, certain_names
from repopilot.code.graph.graph import Edge, Graph
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.types import Symbol

_HOPS = 2
_MOST_READ = 80
"""Definitions that are read. What calls more than these says too little by what it doesn't name."""


def answer_false_premise(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Say that a function doesn't name what it is said to act on.

    Only for two names that the repository knows: of ordinary words nothing is certain.
    """
    index = inquiry.index
    subject = one_definition(index, form.names) if form.named and not form.ordinary else None
    names = [dotted(name).rpartition(".")[2] for name in certain_names(form.object)]
    known = [name for name in names if index.symbols(name)]
    if subject is None or len(known) != 1 or len(names) != 1:
        return None
    texts = _texts_within(index, graph_of(index), subject)
    if texts is None or any(re.search(rf"\b{re.escape(known[0])}\b", text, re.I) for text in texts):
        return None
    values = {"name": f"`{subject.qualified}`", "object": f"`{known[0]}`"}
    return sentence(
        inquiry, form.kind, i18n.text("forms.false_premise", inquiry.language, **values), [item_of(subject)]
    )


def _texts_within(index: Index, graph: Graph, subject: Symbol) -> list[str] | None:
    """The texts of a definition and of what it calls or uses, some hops far; None where those are too many."""
    nodes = nodes_of(graph, [subject])
    seen = set(nodes)
    for _ in range(_HOPS):
        kinds = (Edge.CALLS, Edge.USES, Edge.INHERITS)
        nodes = [link.node for node in nodes for link in graph.outgoing(node, kinds) if link.node not in seen]
        seen.update(nodes)
        if len(seen) > _MOST_READ:
            return None
    found = [graph.nodes[node] for node in seen]
    return [index.lines(n.path, n.line, n.end_line) or "" for n in found] if found else None
