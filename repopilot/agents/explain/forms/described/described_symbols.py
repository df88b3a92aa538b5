"""Answers which class or function does what a question describes, where one place clearly wins: its name and the
comment on it say what the question says, and those of no other place do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import item_of, sentence
from repopilot.agents.explain.forms.described.term_weights import TermWeights, term_weights
from repopilot.agents.explain.forms.known_symbols import is_callable, is_class, is_program
from repopilot.agents.explain.forms.recognise import Form
from repopilot.index.store import Index
from repopilot.types import Symbol

READ_HITS = 8
_CLEAR = 1.5
"""How much better than any other definition the best must be."""
_LEAST_SAID = 0.45
"""The least share of the question's weight that the name and documentation of the best must hold."""
_SAID_BY_THE_FORM = frozenset("class function method file modul call use return responsibl type helper code".split())
_DOCUMENTATION = re.compile(r"^\s*(?:#|//|\*|/\*|--|@|\"\"\"|''')")
_DOC_LINES = 12


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A definition, and how much of the question it says: all, and in its name and documentation."""

    symbol: Symbol
    score: float
    said: float
    rank: int


def answer_which(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which class or function does what is described."""
    if form.wants not in ("class", "function"):
        return None
    weights = term_weights(inquiry.index, inquiry.results.query).without(_SAID_BY_THE_FORM)
    ordered = sorted(candidates(form, inquiry, weights), key=lambda c: (-c.score, c.rank))
    if not ordered or ordered[0].said < _LEAST_SAID * weights.total or ordered[0].rank > 1:
        return None
    best = ordered[0]
    if len(ordered) > 1 and best.score < _CLEAR * ordered[1].score:
        return None
    place = f"`{best.symbol.path}:{best.symbol.start_line}`"
    text = i18n.text("forms.which", inquiry.language, name=f"`{best.symbol.qualified}`", place=place)
    return sentence(inquiry, form.kind, text, [item_of(best.symbol, lines=8)], sure=False)


def candidates(form: Form, inquiry: Inquiry, weights: TermWeights) -> Iterator[_Candidate]:
    """The definitions of the kind asked for in the best places, each once."""
    seen = set()
    fits = is_class if form.wants == "class" else is_callable
    for rank, hit in enumerate(inquiry.results.hits[:READ_HITS]):
        chunk = hit.chunk
        if not is_program(chunk.path):
            continue
        near = weights.of(chunk.text)
        for symbol in inquiry.index.outline(chunk.path):
            inside = symbol.start_line <= chunk.end_line and chunk.start_line <= symbol.end_line
            if not inside or not fits(symbol) or (symbol.path, symbol.qualified) in seen:
                continue
            seen.add((symbol.path, symbol.qualified))
            name = weights.of(symbol.qualified)
            said = weights.of(_documentation(inquiry.index, symbol)) - name
            body = weights.of(inquiry.index.lines(symbol.path, symbol.start_line, symbol.end_line) or "") | near
            direct = weights.total_of(name) + weights.total_of(said, 0.8)
            score = direct + weights.total_of(body - name - said, 0.2)
            yield _Candidate(symbol, score, direct, rank)


def _documentation(index: Index, symbol: Symbol) -> str:
    """The comment above a definition, and the string or comment it begins with."""
    lines = (index.lines(symbol.path, max(1, symbol.start_line - _DOC_LINES), symbol.start_line - 1) or "").split("\n")
    above: list[str] = []
    for line in reversed(lines):
        if not _DOCUMENTATION.match(line):
            break
        above.append(line)
    head = index.lines(symbol.path, symbol.start_line, min(symbol.end_line, symbol.start_line + _DOC_LINES)) or ""
    inner = re.search(r"(?:\"\"\"|''')(.*?)(?:\"\"\"|'''|\Z)", head, re.S)
    return " ".join([*above, inner.group(1) if inner else ""])
