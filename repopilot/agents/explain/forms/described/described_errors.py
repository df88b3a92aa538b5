"""Answers which error comes of a situation that a question describes ("what do I get when the stream is read twice?"):
the place that raises, among those the search found, whose message and condition say what the question says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, code, sentence
from repopilot.agents.explain.forms.described.term_weights import TermWeights, term_weights
from repopilot.agents.explain.forms.known_symbols import is_program, symbol_around
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.explain.forms.syntax.raised_errors import Failing, failures
from repopilot.agents.explain.forms.syntax.syntax_nodes import node_of_lines, parsed_file
from repopilot.types import Hit

READ_HITS = 6
_SAID_BY_THE_FORM = frozenset(
    "error err except rais throw fail happen get come type erreur code back return panic new result".split()
)
_CLEAR = 1.4
"""How much better than any other error the best must be."""
_LEAST_SAID, _LEAST_TERMS = 0.5, 2
"""The least share of the question's weight, and the fewest of its terms, that statement and condition must hold:
what a question says of a situation is said by many short messages."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A place that raises, and how much of the question it says."""

    failing: Failing
    path: str
    symbol: str
    score: float
    said: float
    terms: int


def answer_error_when(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which error is raised in the situation that a question describes."""
    weights = term_weights(inquiry.index, inquiry.results.query, unknown=True).without(_SAID_BY_THE_FORM)
    hits = [hit for hit in inquiry.results.hits[:READ_HITS] if is_program(hit.chunk.path)]
    ordered = sorted((c for hit in hits for c in candidates(inquiry, hit, weights)), key=lambda c: -c.score)
    if not ordered or ordered[0].said < _LEAST_SAID * weights.total or ordered[0].terms < _LEAST_TERMS:
        return None
    best = ordered[0]
    others: Sequence[_Candidate] = [c for c in ordered if c.failing.text != best.failing.text]
    if others and best.score < _CLEAR * others[0].score:
        return None
    values = {"error": code(best.failing.shown), "place": f"`{best.symbol or best.path}`"}
    text = i18n.text("forms.raises.when", inquiry.language, **values)
    item = Item("", best.path, best.failing.first, best.failing.last, best.symbol)
    return sentence(inquiry, "raises", text, [item], sure=False)


def candidates(inquiry: Inquiry, hit: Hit, weights: TermWeights) -> Iterator[_Candidate]:
    """What a place raises, each with its score."""
    path = hit.chunk.path
    file = parsed_file(inquiry.index, path)
    if file is None:
        return
    outline = inquiry.index.outline(path)
    near = weights.of(hit.chunk.text)
    query = inquiry.results.query
    # A word and its synonym are one term; of a French question only the translations can be found.
    own = weights.of(query.text) if query.language == "en" else frozenset(weights.weights)
    for failing in failures(file, node_of_lines(file, hit.chunk.start_line, hit.chunk.end_line)):
        if not hit.chunk.start_line <= failing.first <= hit.chunk.end_line:
            continue
        around = symbol_around(outline, failing.first)
        said = weights.of(failing.text)
        condition = weights.of(" ".join(file.lines[max(0, failing.first - 2) : failing.last])) - said
        owner = weights.of(around.name if around else "") - said - condition
        direct = weights.total_of(said) + weights.total_of(condition, 0.8)
        score = direct + weights.total_of(owner, 0.6) + weights.total_of(near - said - condition - owner, 0.1)
        yield _Candidate(
            failing, path, around.qualified if around else "", score, direct, len((said | condition) & own)
        )
