"""Citations: how far an excerpt supports a sentence. Pure; the numbers a model writes are only suggestions.

The anchors (identifiers, quotes, paths) and content words of a sentence are looked up in the lines of an excerpt, which
gives a support score. agents/explain/sentence_check.py decides by the score what becomes of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from repopilot.foreign_text import CODE_SPAN
from repopilot.retrieval.claims import Anchor, Claim, identifiers, last_name, word_stems
from repopilot.types import Excerpt, Symbol, overlap

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

_LINK = re.compile(r"!\[|\]\(|\w://|</?(?:a|img|script|iframe|svg|form|object|embed|link|style)\b", re.I)

_NO_TRANSLATIONS: Mapping[str, Collection[str]] = {}

SymbolsOf = Callable[[str], Sequence[Symbol]]
"""Gives the known definitions of a name."""


def support(
    claim: Claim,
    excerpt: Excerpt,
    symbols_of: SymbolsOf,
    translations: Mapping[str, Collection[str]] = _NO_TRANSLATIONS,
) -> float:
    """How far an excerpt supports a claim: how many of the claim's anchors and content words it contains.

    Args:
        claim: what a sentence claims.
        excerpt: the lines it may be about.
        symbols_of: gives the known definitions of a name; a definition scores higher than a mention.
        translations: further stems that count as a stem of the claim's words, by that stem.

    Returns:
        0 (not supported) to 1.
    """
    names = identifiers(excerpt.text)
    scores = [_anchor_score(a, excerpt, names, symbols_of) for a in claim.anchors]
    found = [score for score in scores if score is not None]
    words = word_coverage(claim, excerpt, translations)
    if not found:
        return words if len(claim.words) >= 3 else 0.0
    # For a sentence that names code, the names decide, the first above all; words tip the balance.
    weights = [SUBJECT, *[1.0] * (len(found) - 1)]
    names_score = sum(w * f for w, f in zip(weights, found, strict=True)) / sum(weights)
    return 0.8 * names_score + 0.2 * words if len(claim.words) >= 2 else names_score


def word_coverage(
    claim: Claim, excerpt: Excerpt, translations: Mapping[str, Collection[str]] = _NO_TRANSLATIONS
) -> float:
    """The share of a claim's words that an excerpt holds.

    Args:
        claim: what a sentence claims.
        excerpt: the lines it may be about; path and symbol count.
        translations: as for `support`.
    """
    if not claim.words:
        return 0.0
    present = word_stems(f"{excerpt.path} {excerpt.symbol} {excerpt.text}")
    found = (w in present or any(other in present for other in translations.get(w, ())) for w in claim.words)
    return sum(found) / len(claim.words)


def leads_elsewhere(sentence: str, excerpts: Sequence[Excerpt]) -> bool:
    """Whether a model's sentence has an image, a link, HTML or an address, which a text that the model read may have
    told it to insert. In backticks they are allowed if an excerpt contains them."""
    if _LINK.search(CODE_SPAN.sub("", sentence)):
        return True
    quoted = (code for code in CODE_SPAN.findall(sentence) if _LINK.search(code))
    return any(not any(code.strip() in e.text for e in excerpts) for code in quoted)


def split_marks(sentence: str) -> tuple[str, list[int]]:
    """A sentence without its citation numbers, and those numbers in order, once each."""
    sentence = _TICKED_MARKER.sub(r"\1", sentence)
    numbers = [n for match in _MARKER.finditer(sentence) for n in _numbers(match.group(1))]
    return _MARKER.sub("", sentence), list(dict.fromkeys(numbers))


def with_mark(body: str, number: int) -> str:
    """A sentence with a citation number before its closing punctuation."""
    end = re.search(r"[.!?:;…]*[*_]*\s*$", body)
    at = end.start() if end else len(body)
    return f"{body[:at].rstrip()} [{number}]{body[at:]}"


def without_invented_lines(text: str) -> str:
    """Remove line numbers after file names: the prompt contains none, so they are invented."""
    return _INVENTED_LINES.sub(r"\1", text)


def _numbers(group: str) -> list[int]:
    """The numbers in `1, 3` or `2-4`; at most ten of a range."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;&]\s*", group):
        low, *_, high = [int(number) for number in re.findall(r"\d+", part)] * 2
        numbers.extend(range(low, min(high, low + 9) + 1))
    return numbers


def _anchor_score(anchor: Anchor, excerpt: Excerpt, names: frozenset[str], symbols_of: SymbolsOf) -> float | None:
    """1 when found, MENTION when only mentioned, 0 when missing, None when it is no evidence either way."""
    if anchor.kind == "path":
        return 1.0 if excerpt.path.endswith(anchor.text.lstrip("./")) else (1.0 if anchor.text in excerpt.text else 0.0)
    if anchor.kind == "quote":
        return 1.0 if without_spaces(anchor.text) in without_spaces(excerpt.text) else 0.0
    *owners, name = re.split(r"\.|::|->|#", anchor.text)
    if name in names:
        return 1.0 if _is_definition(name, excerpt, symbols_of) else MENTION
    if name in re.split(r"\.|::", excerpt.symbol):
        return None if owners or any(overlap(s, excerpt) for s in symbols_of(name)) else 0.0
    return 0.0


def _is_definition(name: str, excerpt: Excerpt, symbols_of: SymbolsOf) -> bool:
    """Whether these lines define the name, or the repository defines it nowhere."""
    definitions = symbols_of(name)
    return not definitions or any(_begins_in(s, excerpt) or _contains_most(s, excerpt) for s in definitions)


def _begins_in(symbol: Symbol, excerpt: Excerpt) -> bool:
    return symbol.path == excerpt.path and excerpt.start_line <= symbol.start_line <= excerpt.end_line


def _contains_most(symbol: Symbol, excerpt: Excerpt) -> bool:
    """Whether at least half of the definition is here: one method is not its class."""
    if not overlap(symbol, excerpt):
        return False
    shared = min(symbol.end_line, excerpt.end_line) - max(symbol.start_line, excerpt.start_line) + 1
    return 2 * shared >= symbol.end_line - symbol.start_line + 1


def narrowed(claim: Claim, excerpt: Excerpt) -> tuple[int, int]:
    """First and last line of the part of a long excerpt that supports the claim, with a margin of two lines; of the
    full excerpt if there is no such part."""
    if excerpt.end_line - excerpt.start_line < WIDE:
        return excerpt.start_line, excerpt.end_line
    wanted = {last_name(a.text) for a in claim.anchors if a.kind == "name"}
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


def without_spaces(text: str) -> str:
    """A text without white space, to compare code that is laid out differently."""
    return re.sub(r"\s+", "", text)
