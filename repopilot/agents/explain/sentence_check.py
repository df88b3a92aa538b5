"""Is a sentence that a model wrote fit to be shown? Pure: the `ClaimContext` brings the functions that look things up.

A sentence is shown when it is complete, new, in the language of the question, names only code that exists, and rests on
lines that support it and hold what was asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from repopilot.foreign_text import CODE_SPAN
from repopilot.i18n import Language
from repopilot.index.tokens import tokens_of, words
from repopilot.retrieval.cite import (
    SUPPORTED,
    Excerpt,
    SymbolsOf,
    leads_elsewhere,
    narrowed,
    split_marks,
    support,
    with_mark,
    without_invented_lines,
    without_spaces,
    word_coverage,
)
from repopilot.retrieval.claims import Anchor, Claim, claim_of, identifiers, last_name, word_stems
from repopilot.retrieval.query.french import english_terms
from repopilot.retrieval.query.query_words import ONLY_EN, ONLY_FR

Reason = Literal[
    "fragment", "repeated", "language", "copied", "invented", "uncited", "unsupported", "off_topic", "link"
]
"""Why a sentence isn't shown."""

SUBJECT_SHARE = 1 / 3
"""The lines that support a sentence contain at least this share of what the best excerpt has of the question's
subject."""
NEAR = 4
"""How many lines before and after a line with a name of the sentence count as supporting it, too."""
SAME_SHARE = 0.8
"""A sentence says nothing new where an earlier one has all its names and this share of its words."""

LEAST_ADDED = 2
"""How many words a sentence without names or literals must add to the question to be checked by them."""

LONGEST = 1_500
"""Characters of a sentence. A longer one comes from a model that goes round in circles, and takes long to check."""

_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+|^\s*>\s*")
_ENDING = re.compile(r"[.!?…][\"”»)*_]*$")
_CITED_END = re.compile(r"\d\s*\??[\]】]`?[.!]?\s*$")
_OPEN_END = re.compile(r"(?:[(\[{<«“=:,;/&+–—-]|\.\.\.|…)$")
_BARE_NUMBER = re.compile(r"(?<![\w.`])(\d[\d.,]*)$")
_LITERAL = re.compile(
    r"(?<![\w.])(?:\d[\d_,.]*(?<![_,.])|0[xob]\w+|nil|null|NULL|None|[Tt]rue|[Ff]alse|undefined)(?![\w])"
)
_ABOUT_THE_PROMPT = re.compile(
    r"\b(?:(?:code )?snippets?|excerpts?|extraits?)\b"
    r"|\b(?:you|code|context|text)(?: (?:have|was))? (?:provided|given)\b"
    r"|\bprovided (?:code|context|text)\b|\bthe (?:question|user) (?:asks|is)\b",
    re.I,
)
_CODE_CHARACTERS = re.compile(r"[=(){}\[\];<>]")
_COPIED_CHARS = 25
_FOREIGN_LETTERS = re.compile("[\u0370-\u1fff\u3040-\ud7af]")
_NEVER_LAST = frozenset(
    """a an and are at be by from has have into is its like means named of or returns than the their uses using was were
    when which with
    à au aux avec ce cette comme dans de des du en est et la le les leur leurs nommé nommée ou par pour que qui sa ses
    son sont sur un une utilise""".split()
)
_EVERYWHERE: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class ClaimContext:
    """What sentences are checked against.

    Attributes:
        excerpts: those in the model's prompt.
        language: the answer's.
        asked: sentences of the prompt that a reply may not merely repeat: the question above all.
        subject: what the question is about: index tokens with their weights; none for a question about everything.
        exists: whether a name or path exists in the repository.
        symbols_of: gives the known definitions of a name.
    """

    excerpts: Sequence[Excerpt]
    language: Language = "en"
    asked: Sequence[str] = ()
    subject: Mapping[str, float] = field(default_factory=lambda: _EVERYWHERE)
    exists: Callable[[Anchor], bool] = lambda anchor: True
    symbols_of: SymbolsOf = lambda name: ()


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence that may be shown: its text with its citation `[number]`, and the lines that support it."""

    text: str
    number: int
    lines: tuple[int, int]


def check_sentence(sentence: str, ground: ClaimContext, earlier: Sequence[str] = ()) -> CheckedSentence | Reason:
    """Check one sentence of a model.

    Args:
        sentence: as written, with or without citation numbers.
        ground: what it is checked against.
        earlier: the sentences before it, shown or not.

    Returns:
        The sentence to show, with the number of the excerpt that supports it; or why it isn't shown.
    """
    if len(sentence) > LONGEST:
        return "fragment"
    body, given = split_marks(without_invented_lines(sentence))
    body = _LIST_MARK.sub("", body).strip()
    claim = claim_of(body)
    if leads_elsewhere(sentence, ground.excerpts):
        return "link"
    if in_other_language(body, ground.language):
        return "language"
    if is_fragment(body, cited=ends_in_citation(sentence)):
        return "fragment"
    if any(repeats(body, split_marks(other)[0]) for other in (*ground.asked, *earlier)):
        return "repeated"
    if _ABOUT_THE_PROMPT.search(body):
        return "off_topic"
    if copies_code(body, ground.excerpts):
        return "copied"
    if names_nothing_real(body, claim, ground):
        return "invented"
    return _rested(body, claim, given, ground)


def ends_in_citation(text: str) -> bool:
    """Whether a text ends with the number of an excerpt, and so with a whole sentence."""
    return bool(_CITED_END.search(text))


def is_fragment(body: str, *, cited: bool = False) -> bool:
    """Whether a text is not a complete sentence.

    Args:
        body: a sentence without citation numbers.
        cited: whether citation numbers were at its end, which end a sentence as a full stop does.
    """
    text = body.strip().strip("*_").strip()
    if not (cited or _ENDING.search(text)) or text.count("`") % 2 or _unbalanced(text):
        return True
    bare = re.sub(r"[\s.!?…*_]+$", "", text)
    last = re.search(r"[\w'’]+$", bare)
    if _OPEN_END.search(bare) or (last and last.group(0).lower() in _NEVER_LAST):
        return True
    code = len(CODE_SPAN.findall(text))
    plain = len(re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", CODE_SPAN.sub(" ", text)))
    return plain + code < (3 if code else 4) or not plain


def in_other_language(body: str, language: Language) -> bool:
    """Whether a sentence is written in another language than the answer's. Code in it doesn't count."""
    text = CODE_SPAN.sub(" ", body)
    if len(_FOREIGN_LETTERS.findall(text)) > 2:
        return True
    found = [word.lower() for word in words(text)]
    english = sum(word in ONLY_EN for word in found)
    french = sum(word in ONLY_FR for word in found)
    own, other = (english, french) if language == "en" else (french, english)
    return other > own and other > 1


def repeats(body: str, other: str) -> bool:
    """Whether a sentence adds next to nothing to another one."""
    claim = claim_of(body)
    before = claim_of(other)
    if named(body, claim) - named(other, before):
        return False
    return len(claim.words & before.words) >= SAME_SHARE * len(claim.words)


def named(body: str, claim: Claim) -> frozenset[str]:
    """The code and the literals that a sentence names."""
    return frozenset(a.text for a in claim.anchors) | _literals(body)


def copies_code(body: str, excerpts: Sequence[Excerpt]) -> bool:
    """Whether a text is code of an excerpt rather than a sentence about it. A sentence of its documentation isn't
    code."""
    bare = re.sub(r"[\s`]+", "", body).rstrip(".")
    if len(bare) < _COPIED_CHARS or not _CODE_CHARACTERS.search(bare):
        return False
    return any(bare in re.sub(r"[\s`]+", "", e.text) for e in excerpts)


def names_nothing_real(body: str, claim: Claim, ground: ClaimContext) -> bool:
    """Whether a sentence names code that exists neither in the excerpts nor elsewhere in the repository."""
    known = known_identifiers(tuple(ground.excerpts))
    quoted = set(CODE_SPAN.findall(body))
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


def subject_share(subject: Mapping[str, float], text: str) -> float:
    """How much of a question's subject a text contains, by weight; 1 for a question without a subject."""
    total = sum(subject.values())
    present = _tokens(text)
    return sum(weight for token, weight in subject.items() if token in present) / total if total else 1.0


def bearing_text(facts: Collection[str], excerpt: Excerpt) -> str:
    """The part of an excerpt that supports a sentence.

    Args:
        facts: the names and literals of the sentence.
        excerpt: the one that may support it.

    Returns:
        Path, symbol, and the lines with the facts and those around them; all lines where none has a fact.
    """
    lines = excerpt.text.split("\n")
    rows = [i for i, line in enumerate(lines) if any(last_name(fact) in line for fact in facts)]
    near = {row for i in rows for row in range(i - NEAR, i + NEAR + 1)} or set(range(len(lines)))
    return "\n".join([excerpt.path, excerpt.symbol, *(line for i, line in enumerate(lines) if i in near)])


def _rested(body: str, claim: Claim, given: Sequence[int], ground: ClaimContext) -> CheckedSentence | Reason:
    """The sentence with the number of the excerpt that it rests on, or why it isn't shown."""
    asked = " ".join(ground.asked)
    facts = named(body, claim) - named(asked, claim_of(asked))
    if not (claim.anchors or facts or given):
        return "uncited"
    scores = _support_scores(body, claim, facts, ground)
    supporting = [n for n, score in scores.items() if score >= SUPPORTED]
    if not supporting:
        return "unsupported"
    whole = max(subject_share(ground.subject, f"{e.path}\n{e.symbol}\n{e.text}") for e in ground.excerpts)
    shares = {
        e.number: subject_share(ground.subject, bearing_text(facts, e))
        for e in ground.excerpts
        if e.number in supporting
    }
    on_topic = [n for n in supporting if shares[n] > 0 and shares[n] >= SUBJECT_SHARE * whole]
    if not on_topic:
        return "off_topic"
    number = max(on_topic, key=lambda n: (n in given, scores[n], shares[n], -n))
    cited = next(e for e in ground.excerpts if e.number == number)
    bare = _BARE_NUMBER.search(re.sub(r"[\s.!?…*_]+$", "", body))
    if bare and not _literals(bare.group(1)) <= _literals(cited.text):
        return "fragment"
    return CheckedSentence(with_mark(body, number), number, narrowed(claim, cited))


def _support_scores(body: str, claim: Claim, facts: frozenset[str], ground: ClaimContext) -> dict[int, float]:
    """How far each excerpt supports a sentence.

    Only what the sentence adds to the question counts: its names and literals, and those of its words that the
    question doesn't have. All added names must occur in the excerpt; half of the literals may be computed ("600
    seconds, 10 minutes").
    """
    asked = frozenset[str]().union(*(claim_of(text).words for text in ground.asked))
    translations = _translations(body) if ground.language == "fr" else {}
    added = Claim(claim.anchors, claim.words - asked)
    names = facts & {a.text for a in claim.anchors}
    literals = facts - names

    def score(excerpt: Excerpt) -> float:
        if 2 * len(literals & _literals(excerpt.text)) < len(literals):
            return 0.0
        if not all(_stands_in(name, [excerpt]) or last_name(name) in known_identifiers((excerpt,)) for name in names):
            return 0.0
        if claim.anchors:
            return support(added, excerpt, ground.symbols_of, translations)
        if literals:
            return 1.0
        return word_coverage(added, excerpt, translations) if len(added.words) >= LEAST_ADDED else 0.0

    return {e.number: score(e) for e in ground.excerpts}


def _translations(body: str) -> dict[str, Collection[str]]:
    """The stems of the English words that code would use, by the stems of a French sentence's words."""
    found: dict[str, Collection[str]] = {}
    for term, english in english_terms(words(CODE_SPAN.sub(" ", body))):
        for stem in word_stems(term):
            found[stem] = word_stems(" ".join(english))
    return found


def _literals(text: str) -> frozenset[str]:
    """The numbers and other literals in a text, without thousands separators."""
    return frozenset(re.sub(r"(?<=\d)[_,](?=\d)", "", literal) for literal in _LITERAL.findall(text))


def _unbalanced(text: str) -> bool:
    prose = CODE_SPAN.sub(" ", text)
    return any(prose.count(opening) > prose.count(closing) for opening, closing in ("()", "[]", "{}", "«»", "“”"))


def _stands_in(text: str, excerpts: Sequence[Excerpt]) -> bool:
    bare = without_spaces(text).removesuffix("()")
    return any(bare in without_spaces(f"{e.path}\n{e.symbol}\n{e.text}") for e in excerpts)


@lru_cache(maxsize=256)
def _tokens(text: str) -> frozenset[str]:
    """The index tokens of a text."""
    return frozenset(tokens_of(text))
