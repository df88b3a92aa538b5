"""How does one place reach another? The call path, from the code graph."""

from __future__ import annotations

from repopilot import i18n
from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.tools.call_graph import PathNode, detect_path_query
from repopilot.types import Evidence


def call_path_answer(inquiry: Inquiry) -> CodeAnswer | None:
    """The definitions on the shortest call path between the two places that a question names, each cited."""
    query = inquiry.results.query
    nodes = detect_path_query(inquiry.index, inquiry.question, (*query.names, *query.paths))
    if not nodes:
        return None
    places = tuple(_place(inquiry, node, number) for number, node in enumerate(nodes, 1))
    rows = [_row(node, number, inquiry.language) for number, node in enumerate(nodes, 1)]
    text = "\n".join([i18n.text("explain.call_path", inquiry.language), "", *rows])
    return CodeAnswer("call path", text, places, sure=True)


def _place(inquiry: Inquiry, node: PathNode, number: int) -> Evidence:
    symbol = "" if node.name == node.path else node.name
    return evidence_of_lines(inquiry.index, number, (node.path, node.line, node.end_line), symbol)


def _row(node: PathNode, number: int, language: str) -> str:
    verb = node.verb if language == "en" else "→" * bool(node.verb)
    place = "" if node.name == node.path else f"(`{node.path}:{node.line}`)"
    return f"{number}. {' '.join(filter(None, (verb, f'`{node.name}`', place, f'[{number}]')))}"
