"""Answers from the code graph: what calls a definition, what it calls, what inherits from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry, Item, listing, sentence
from repopilot.agents.explain.forms.known_symbols import definitions, dotted
from repopilot.agents.explain.forms.recognise import Form
from repopilot.code.graph.graph import DEPENDING, VERBS, Edge, find
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.resolve.uses import call_graph
from repopilot.resolve.uses.call_graph import RelatedPlace, path_between, symbols_of
from repopilot.resolve.uses.unused import said_unused

MOST_DEFINITIONS = 4
"""Definitions of one name whose relations are listed together. A name with more of them says too little."""
_INCOMING = ("callers", "references", "subclasses")
_ASKED = {
    "callers": call_graph.callers,
    "references": call_graph.references,
    "callees": call_graph.callees,
    "subclasses": call_graph.callers,
    "bases": call_graph.callees,
}
_VERBS = {
    "callers": (Edge.CALLS, Edge.USES),
    "subclasses": (Edge.INHERITS,),
    "callees": (Edge.CALLS,),
    "bases": (Edge.INHERITS,),
}


def answer_relation(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what calls, uses or inherits from a definition, or the other way round. Tests are only counted, unless
    nothing else is related to it."""
    index = inquiry.index
    name = form.names[0]
    found = definitions(index, form.names)
    if not found and form.kind in ("callers", "references"):
        found = symbols_of(index, graph_of(index), find(graph_of(index), dotted(name)))
    if not 0 < len(found) <= MOST_DEFINITIONS:
        return None
    resolver = inquiry.workspace.resolver
    related = [_ASKED[form.kind](index, f"{s.path}:{s.qualified}", 1, resolver) for s in found]
    verbs = {VERBS[kind] for kind in _VERBS.get(form.kind, DEPENDING)}
    places = [place for each in related for place in each.places if place.relation in verbs]
    items = list(_items(index, places, at_use=form.kind in _INCOMING))
    shown = [item for item in items if index.is_own(item.path)] or items
    if not shown and form.kind not in ("callers", "references"):
        return None
    called = f"`{found[0].qualified}`" if len(found) == 1 else f"`{found[0].name}`"
    if not shown:
        text = i18n.translated(said_unused(called, related[0].usage, index, found), inquiry.language)
        own = [Item("", s.path, s.start_line, s.start_line, s.qualified) for s in found]
        return sentence(inquiry, form.kind, text.rstrip("."), own)
    by_name = {(place.path, place.name) for place in places} - {(p.path, p.name) for p in places if p.sure}
    unsure = sum((item.path, item.symbol) in by_name for item in shown)
    notes = [i18n.text("forms.only_by_name", inquiry.language, count=unsure)] if unsure else []
    tests = len(items) - len(shown)
    key = "forms.in_tests_by_name" if len(by_name) > unsure else "forms.in_tests"
    notes += [i18n.text(key, inquiry.language, count=tests, unsure=len(by_name) - unsure)] if tests else []
    heading = i18n.text(f"forms.relations.{form.kind}", inquiry.language, name=called)
    sure = not unsure and len(found) == 1
    return listing(inquiry, form.kind, heading, shown, sure=sure, note=" ".join(notes))


def _items(index: Index, places: Iterable[RelatedPlace], *, at_use: bool) -> Iterator[Item]:
    """The definitions at the other end of the relations, each once."""
    seen: set[tuple[str, str]] = set()
    for place in places:
        if (place.path, place.name) not in seen:
            seen.add((place.path, place.name))
            around = next((s for s in index.outline(place.path) if s.qualified == place.name), None)
            line = around.start_line if around is not None and at_use else place.line
            yield Item(
                f"`{place.name or place.path}` (`{place.path}:{line}`)", place.path, place.line, place.line, place.name
            )


def answer_call_path(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """The definitions on the shortest call path between the two names of a question, each cited."""
    nodes = path_between(inquiry.index, *form.names)
    if not nodes:
        return None
    items = []
    for node in nodes:
        verb = node.verb if inquiry.language == "en" else "→" * bool(node.verb)
        place = "" if node.name == node.path else f"(`{node.path}:{node.line}`)"
        words = " ".join(filter(None, (verb, f"`{node.name}`", place)))
        items.append(Item(words, node.path, node.line, node.end_line, "" if node.name == node.path else node.name))
    return listing(inquiry, "call path", i18n.text("explain.call_path", inquiry.language), items, numbered=True)
