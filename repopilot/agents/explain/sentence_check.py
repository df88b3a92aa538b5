"""Is a sentence that a model wrote fit to be shown? Pure: what is looked up comes with the `Ground`.

A sentence is shown when it is complete, new, in the language of the question, names only code that exists, and rests on
lines that support it and hold what was asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from repopilot.i18n import Language
from repopilot.index.tokens import expand, words
from repopilot.retrieval.cite import (
    Excerpt,
    SymbolsOf,
    narrowed,
    split_marks,
    support,
    supporting_numbers,
    with_mark,
    without_invented_lines,
)
from repopilot.retrieval.claims import Anchor, Claim, claim_of, identifiers, last_name, word_stems
from repopilot.retrieval.query.french import english_terms
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR

Reason = Literal["fragment", "repeated", "language", "copied", "invented", "uncited", "unsupported", "off_topic"]
"""Why a sentence isn't shown."""

SUBJECT_SHARE = 0.5
"""The cited lines hold at least this share of what the best excerpt holds of the question's subject."""
SAME_SHARE = 0.8
"""A sentence of whose names and words an earlier one has this share says nothing new."""

_CODE = re.compile(r"`[^`\n]*`")
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+|^\s*>\s*")
_ENDING = re.compile(r"[.!?…][\"”»)*_]*$")
_CITED_END = re.compile(r"\d\s*\??[\]】]`?[.!]?\s*$")
_OPEN_END = re.compile(r"(?:[(\[{<«“=:,;/&+–—-]|\.\.\.|…)$")
_BARE_NUMBER = re.compile(r"(?<![\w.`])(\d[\d.,]*)$")
_CODE_CHARACTERS = re.compile(r"[=(){}\[\];<>]")
_COPIED_CHARS = 25
_FOREIGN_LETTERS = re.compile("[\u0370-\u1fff\u3040-\ud7af]")
_DANGLING = frozenset(
    """a an and are as at be by called for from has have in into is its like means named of on or returns than that the
    their this to uses using was were when where which with
    à au aux avec ce cette comme dans de des du en est et la le les leur leurs nommé nommée ou par pour que qui sa ses
    son sont sur un une utilise""".split()
)
_ONLY_EN, _ONLY_FR = STOP_EN - STOP_FR, STOP_FR - STOP_EN
_EVERYWHERE: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Ground:
    """What sentences are checked against.

    Attributes:
        excerpts: those in the model's prompt.
        language: the answer's.
        subject: what the question is about: index tokens with their weights; none for a question about everything.
        exists: whether a name or path exists in the repository.
        symbols_of: gives the known definitions of a name.
    """

    excerpts: Sequence[Excerpt]
    language: Language = "en"
    subject: Mapping[str, float] = field(default_factory=lambda: _EVERYWHERE)
    exists: Callable[[Anchor], bool] = lambda anchor: True
    symbols_of: SymbolsOf = lambda name: ()


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence that may be shown: its text with its citation `[number]`, and the lines that support it."""

    text: str
    number: int
    lines: tuple[int, int]


def check_sentence(sentence: str, ground: Ground, earlier: Sequence[str] = ()) -> CheckedSentence | Reason:
    """Check one sentence of a model.

    Args:
        sentence: as written, with or without citation numbers.
        ground: what it is checked against.
        earlier: the sentences before it, shown or not.

    Returns:
        The sentence to show, with the number of the excerpt that supports it; or why it isn't shown.
    """
    body, given = split_marks(without_invented_lines(sentence))
    body = _LIST_MARK.sub("", body).strip()
    claim = claim_of(body)
    if is_fragment(body, cited=ends_in_citation(sentence)):
        return "fragment"
    if in_other_language(body, ground.language):
        return "language"
    if any(repeats(claim, split_marks(other)[0]) for other in earlier):
        return "repeated"
    if copies_code(body, ground.excerpts):
        return "copied"
    if names_nothing_real(body, claim, ground):
        return "invented"
    return _rested(body, claim, given, ground)


def ends_in_citation(text: str) -> bool:
    """Whether a text ends with the number of an excerpt, and so with a whole sentence."""
    return bool(_CITED_END.search(text))


def is_fragment(body: str, *, cited: bool = False) -> bool:
    """Whether a text is no complete sentence.

    Args:
        body: a sentence without citation numbers.
        cited: it ended in some, which end a sentence as a full stop does.
    """
    text = body.strip().strip("*_").strip()
    if not (cited or _ENDING.search(text)) or text.count("`") % 2 or _unbalanced(text):
        return True
    bare = re.sub(r"[\s.!?…*_]+$", "", text)
    last = re.search(r"[\w'’]+$", bare)
    if _OPEN_END.search(bare) or (last and last.group(0).lower() in _DANGLING):
        return True
    code = len(_CODE.findall(text))
    plain = len(re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", _CODE.sub(" ", text)))
    return plain + code < (3 if code else 4) or not plain


def in_other_language(body: str, language: Language) -> bool:
    """Whether a sentence is written in another language than the answer's. Code in it doesn't count."""
    text = _CODE.sub(" ", body)
    if len(_FOREIGN_LETTERS.findall(text)) > 2:
        return True
    found = [word.lower() for word in words(text)]
    english, french = sum(word in _ONLY_EN for word in found), sum(word in _ONLY_FR for word in found)
    own, other = (english, french) if language == "en" else (french, english)
    return other > own and other > 1


def repeats(claim: Claim, other: str) -> bool:
    """Whether a sentence says nothing, or next to nothing, that another one doesn't."""
    said = {a.text for a in claim.anchors} | claim.words
    before = claim_of(other)
    known = {a.text for a in before.anchors} | before.words
    return bool(said) and len(said & known) >= SAME_SHARE * len(said) and len(said) >= SAME_SHARE * len(known) / 2


def copies_code(body: str, excerpts: Sequence[Excerpt]) -> bool:
    """Whether a text is code of an excerpt rather than a sentence about it. A sentence of its documentation is none."""
    bare = re.sub(r"[\s`]+", "", body).rstrip(".")
    if len(bare) < _COPIED_CHARS or not _CODE_CHARACTERS.search(bare):
        return False
    return any(bare in re.sub(r"[\s`]+", "", e.text) for e in excerpts)


def names_nothing_real(body: str, claim: Claim, ground: Ground) -> bool:
    """Whether a sentence names code that exists neither in the excerpts nor elsewhere in the repository."""
    known = known_identifiers(tuple(ground.excerpts))
    quoted = set(re.findall(r"`([^`\n]+)`", body))
    for anchor in claim.anchors:
        if anchor.kind == "quote":
            if anchor.text in quoted and not _stands_in(anchor.text, ground.excerpts):
                return True
        elif not (last_name(anchor.text) in known or _stands_in(anchor.text, ground.excerpts) or ground.exists(anchor)):
            return True
    return False


@lru_cache(maxsize=64)
def known_identifiers(excerpts: tuple[Excerpt, ...]) -> frozenset[str]:
    """Every identifier of excerpts, of their symbols and of their paths."""
    return identifiers("\n".join(f"{e.path} {e.symbol}\n{e.text}" for e in excerpts))


def subject_share(subject: Mapping[str, float], excerpt: Excerpt) -> float:
    """How much of a question's subject an excerpt holds, by weight; 1 where the question has none."""
    total = sum(subject.values())
    if not total:
        return 1.0
    present = _tokens(f"{excerpt.path} {excerpt.symbol}\n{excerpt.text}")
    return sum(weight for token, weight in subject.items() if token in present) / total


def _rested(body: str, claim: Claim, given: Sequence[int], ground: Ground) -> CheckedSentence | Reason:
    """The sentence with the number of the excerpt that it rests on."""
    if not claim.anchors and not given:
        return "uncited"
    translations = _translations(body) if ground.language == "fr" else {}
    scores = {e.number: support(claim, e, ground.symbols_of, translations) for e in ground.excerpts}
    supporting = supporting_numbers(claim, given, scores)
    if not supporting:
        return "unsupported"
    shares = {e.number: subject_share(ground.subject, e) for e in ground.excerpts}
    least = SUBJECT_SHARE * max(shares.values())
    on_topic = {n: score for n, score in scores.items() if shares[n] > 0 and shares[n] >= least}
    supporting = supporting_numbers(claim, [n for n in supporting if n in on_topic], on_topic)
    if not supporting:
        return "off_topic"
    cited = next(e for e in ground.excerpts if e.number == supporting[0])
    number = _BARE_NUMBER.search(re.sub(r"[\s.!?…*_]+$", "", body))
    if number and number.group(1).rstrip(".,") not in cited.text:
        return "fragment"
    return CheckedSentence(with_mark(body, cited.number), cited.number, narrowed(claim, cited))


def _translations(body: str) -> dict[str, Collection[str]]:
    """For the stems of a French sentence's words those of the English words that the code would use."""
    found: dict[str, Collection[str]] = {}
    for term, english in english_terms(words(_CODE.sub(" ", body))):
        for stem in word_stems(term):
            found[stem] = word_stems(" ".join(english))
    return found


def _unbalanced(text: str) -> bool:
    prose = _CODE.sub(" ", text)
    return any(prose.count(opening) > prose.count(closing) for opening, closing in ("()", "[]", "{}", "«»", "“”"))


def _stands_in(text: str, excerpts: Sequence[Excerpt]) -> bool:
    bare = re.sub(r"\s+", "", text).removesuffix("()")
    return any(bare in re.sub(r"\s+", "", f"{e.path}\n{e.symbol}\n{e.text}") for e in excerpts)


@lru_cache(maxsize=256)
def _tokens(text: str) -> frozenset[str]:
    """The index tokens of a text."""
    return frozenset(token for word in words(text) for token in expand(word))
