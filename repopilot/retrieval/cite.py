"""Citations: which numbered excerpt supports which sentence. Pure; the numbers a model writes are only suggestions.

The anchors (identifiers, quotes, paths) and content words of each sentence are looked up in the lines of the excerpts,
which gives a support score. A number that names no excerpt is dropped. One whose lines don't support the sentence is
replaced by that of the excerpt that does, or else marked `[3?]`. A sentence without a number gets that of the excerpt
in which its anchors are found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repopilot.retrieval.claims import Anchor, Claim, claim_of, identifiers, split_sentences, word_stems
from repopilot.types import Citation, Symbol

SUPPORTED = 0.6
"""The least support score of a citation that counts as supported."""
MENTION = 0.55
"""The score of an anchor that is only mentioned, when its definition is known to be elsewhere."""
SUBJECT = 2.0
"""Weight of the first name in a sentence, which usually is what the sentence is about."""
WIDE = 40
"""Excerpts longer than this many lines are narrowed to those that support the sentence."""

_MARKER = re.compile(r"\s?[\[【]\s*\^?(\d{1,3}(?:\s*[,;&–-]\s*\d{1,3})*)\s*\??[\]】](?!\()")
_TICKED_MARKER = re.compile(r"`\s*(\[\d{1,3}\])\s*`")
_INVENTED_LINES = re.compile(r"(?<=\w\.)(\w{1,6})(?::\d+(?:[-–]\d+)?|#L\d+(?:-L?\d+)?)\b")

SymbolsOf = Callable[[str], Sequence[Symbol]]
"""Gives the known definitions of a name."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Exact lines of one file as given to the model under `number`. `text` has end_line - start_line + 1 lines."""

    number: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    text: str


def support(claim: Claim, excerpt: Excerpt, symbols_of: SymbolsOf) -> float:
    """The support score of a claim in an excerpt: how many of its anchors and content words are found there.

    Args:
        claim: what a sentence claims.
        excerpt: the lines it may be about.
        symbols_of: gives the known definitions of a name; a definition scores higher than a mention.

    Returns:
        0 (not supported) to 1.
    """
    names = identifiers(excerpt.text)
    scores = [_anchor_score(a, excerpt, names, symbols_of) for a in claim.anchors]
    found = [score for score in scores if score is not None]
    words = _word_coverage(claim, excerpt)
    if not found:
        return words if len(claim.words) >= 3 else 0.0
    # For a sentence that names code, the names decide, the first above all; words tip the balance.
    weights = [SUBJECT, *[1.0] * (len(found) - 1)]
    names_score = sum(w * f for w, f in zip(weights, found, strict=True)) / sum(weights)
    return 0.8 * names_score + 0.2 * words if len(claim.words) >= 2 else names_score


def verify(
    text: str, excerpts: Sequence[Excerpt], commit: str, symbols_of: SymbolsOf = lambda name: ()
) -> tuple[str, tuple[Citation, ...]]:
    """Check the citation numbers in a text and renumber them from 1.

    Args:
        text: Markdown with numbers in brackets (`[2]`), as a model wrote it.
        excerpts: those in the model's prompt.
        commit: the commit they are from.
        symbols_of: gives the known definitions of a name, to tell a mention from a definition.

    Returns:
        The text, and the citations its numbers stand for; those that no lines support are marked `[3?]` in the text
        and are not `supported`.
    """
    by_number = {e.number: e for e in excerpts}
    ledger = _Ledger(commit, [])
    pieces = []
    for piece, prose in split_sentences(_without_invented_lines(_TICKED_MARKER.sub(r"\1", text))):
        pieces.append(_checked_sentence(piece, by_number, symbols_of, ledger) if prose else piece)
    return "".join(pieces), tuple(ledger.citations)


@dataclass(frozen=True, slots=True)
class _Ledger:
    """Citations in order of first appearance; one number per place, and another where it is not supported."""

    commit: str
    citations: list[Citation]

    def number(self, excerpt: Excerpt, start: int, end: int, supported: bool) -> int:
        for known in self.citations:
            if (known.path, known.start_line, known.end_line, known.supported) == (excerpt.path, start, end, supported):
                return known.number
        number = len(self.citations) + 1
        self.citations.append(Citation(number, excerpt.path, start, end, self.commit, excerpt.symbol, supported))
        return number


def _without_invented_lines(text: str) -> str:
    """Remove line numbers after file names: the prompt contains none, so they are invented."""
    return _INVENTED_LINES.sub(r"\1", text)


def _checked_sentence(sentence: str, by_number: dict[int, Excerpt], symbols_of: SymbolsOf, ledger: _Ledger) -> str:
    claim = claim_of(_MARKER.sub("", sentence))
    given = list(dict.fromkeys(n for m in _MARKER.finditer(sentence) for n in _numbers(m.group(1)) if n in by_number))
    if not claim.anchors and len(claim.words) < 3:
        cited: list[tuple[Excerpt, bool]] = []  # too little to check: nothing is cited for it
    else:
        cited = _cited_excerpts(claim, given, by_number, symbols_of)
    body = _MARKER.sub("", sentence)
    marks = "".join(_mark(claim, excerpt, supported, ledger) for excerpt, supported in cited)
    return _with_marks(body, marks)


def _cited_excerpts(
    claim: Claim, given: Sequence[int], by_number: dict[int, Excerpt], symbols_of: SymbolsOf
) -> list[tuple[Excerpt, bool]]:
    """The excerpts to cite for a claim, each with whether it supports it; `given` are the numbers the model wrote."""
    scores = {n: support(claim, e, symbols_of) for n, e in by_number.items()}
    good = [n for n in given if scores[n] >= SUPPORTED]
    if good:
        return [(by_number[n], True) for n in good]
    best = max(scores, key=lambda n: (scores[n], -n), default=None)
    if best is not None and claim.anchors and scores[best] >= SUPPORTED:
        return [(by_number[best], True)]
    return [(by_number[n], False) for n in given[:1]]


def _mark(claim: Claim, excerpt: Excerpt, supported: bool, ledger: _Ledger) -> str:
    start, end = _narrowed(claim, excerpt) if supported else (excerpt.start_line, excerpt.end_line)
    number = ledger.number(excerpt, start, end, supported)
    return f" [{number}]" if supported else f" [{number}?]"


def _with_marks(body: str, marks: str) -> str:
    """Put marks before the closing punctuation of a sentence."""
    if not marks:
        return body
    end = re.search(r"[.!?:;…]*[*_]*\s*$", body)
    at = end.start() if end else len(body)
    return body[:at].rstrip() + marks + body[at:]


def _numbers(group: str) -> list[int]:
    """The numbers in `1, 3` or `2-4`; at most ten of a range."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;&]\s*", group):
        first, _, last = re.sub("–", "-", part).partition("-")
        low, high = int(first), int(last or first)
        numbers.extend(range(low, min(high, low + 9) + 1))
    return numbers


def _anchor_score(anchor: Anchor, excerpt: Excerpt, names: frozenset[str], symbols_of: SymbolsOf) -> float | None:
    """1 when found, MENTION when only mentioned, 0 when missing, None when it is no evidence either way."""
    if anchor.kind == "path":
        return 1.0 if excerpt.path.endswith(anchor.text.lstrip("./")) else (1.0 if anchor.text in excerpt.text else 0.0)
    if anchor.kind == "quote":
        return 1.0 if _without_spaces(anchor.text) in _without_spaces(excerpt.text) else 0.0
    *owners, name = re.split(r"\.|::|->|#", anchor.text)
    if name in names:
        return 1.0 if _is_definition(name, excerpt, symbols_of) else MENTION
    if name in re.split(r"\.|::", excerpt.symbol):
        return None if owners or _overlaps_definition(name, excerpt, symbols_of) else 0.0
    return 0.0


def _is_definition(name: str, excerpt: Excerpt, symbols_of: SymbolsOf) -> bool:
    """Whether these lines define the name, or the repository defines it nowhere."""
    definitions = symbols_of(name)
    return not definitions or any(_begins_in(s, excerpt) or _contains_most(s, excerpt) for s in definitions)


def _begins_in(symbol: Symbol, excerpt: Excerpt) -> bool:
    return symbol.path == excerpt.path and excerpt.start_line <= symbol.start_line <= excerpt.end_line


def _contains_most(symbol: Symbol, excerpt: Excerpt) -> bool:
    """Whether at least half of the definition is here: one method is not its class."""
    if not _overlap(symbol, excerpt):
        return False
    shared = min(symbol.end_line, excerpt.end_line) - max(symbol.start_line, excerpt.start_line) + 1
    return 2 * shared >= symbol.end_line - symbol.start_line + 1


def _overlaps_definition(name: str, excerpt: Excerpt, symbols_of: SymbolsOf) -> bool:
    return any(_overlap(s, excerpt) for s in symbols_of(name))


def _overlap(symbol: Symbol, excerpt: Excerpt) -> bool:
    return (
        symbol.path == excerpt.path and symbol.start_line <= excerpt.end_line and excerpt.start_line <= symbol.end_line
    )


def _word_coverage(claim: Claim, excerpt: Excerpt) -> float:
    if not claim.words:
        return 0.0
    present = word_stems(f"{excerpt.path} {excerpt.symbol} {excerpt.text}")
    return sum(w in present for w in claim.words) / len(claim.words)


def _narrowed(claim: Claim, excerpt: Excerpt) -> tuple[int, int]:
    """First and last line of the part of a long excerpt that supports the claim, with a margin of two lines; of the
    full excerpt where that can't be determined."""
    if excerpt.end_line - excerpt.start_line < WIDE:
        return excerpt.start_line, excerpt.end_line
    wanted = {re.split(r"\.|::|->|#", a.text)[-1] for a in claim.anchors if a.kind == "name"}
    quotes = [a.text for a in claim.anchors if a.kind == "quote"]
    rows = [
        i
        for i, line in enumerate(excerpt.text.split("\n"))
        if wanted & identifiers(line) or any(q in line for q in quotes)
    ]
    if not rows or rows[-1] - rows[0] > 2 * WIDE:
        return excerpt.start_line, excerpt.end_line
    return (
        max(excerpt.start_line, excerpt.start_line + rows[0] - 2),
        min(excerpt.end_line, excerpt.start_line + rows[-1] + 2),
    )


def _without_spaces(text: str) -> str:
    return re.sub(r"\s+", "", text)
