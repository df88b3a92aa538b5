"""What a follow-up question refers to, and the question it stands for.

A short question that names nothing ("who calls it?", "why?") refers to the last topic; a number in it ("[3]") refers
to the place shown under that number. "This project" and "the code" mean the repository, so such a question stands on
its own. Any further meaning is left to the model, which gets the conversation. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repopilot.results import Explanation, ImpactReport, Turn
from repopilot.retrieval.query.asked import OF_THE_REPOSITORY, asked
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR

REPOSITORY = {"en": "this repository", "fr": "ce dépôt"}
"""What a pronoun stands for after an overview."""
OWN_WORDS = 4
"""A question with at least this many content words stands on its own."""
OWN_WORDS_OF_A_SUBJECT = 2
"""The same where the subject is a pronoun ("Does it support HTTP/2?") that refers to nothing named before."""
TURNS_REMEMBERED = 3
_NUMBER = re.compile(r"\[(\d{1,2})\]")
_THERE = re.compile(r"\b(?:y a|existe|faut|s['’]agit)-(?:t-)?il\b|\bil (?:y a|faut|existe)\b", re.I)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|this|these|those|one|son|sa|ses|leurs?|ça|cela|cette|cet|ces)\b|"
    r"(?:^|\b(?:and|is|are|was|does|do|did|can|of|in|to|for|with|by|from|about|explain|why|how|what|where|who|like)) *"
    r"\bthat\b|"
    r"\b(?:ils?|elles?)\b|"
    r"\b(?:qui|qu['’]on|on|je|tu|nous|vous|ils?|elles?|où|quand|ne) l['’]",
    re.I,
)
"""Words that refer to something said before. "That" and "l'" count only in some positions: "that" after a noun begins
a clause, and "l'" is mostly an article."""
_INVERTED = re.compile(r"^(.*?\b\w+)-(?:t-)?(?:ils?|elles?)\b", re.I)
_BEFORE_A_VERB = re.compile(
    r"\bquel(?:le)?s? \w+|\b(?:comment|pourquoi|quand|où|combien|qu|que|quoi|qui|et|mais|alors|donc|à|de|d|par|pour|"
    r"sur|avec|dans|ne|n|se|s|me|m|te|t|le|la|les|lui|leur|y|en|l)\b|\w+$",
    re.I,
)
"""Words that may stand before an inverted verb, and the verb. Any other word is a subject, repeated by the pronoun."""
_SUBJECT = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|may|might|must) (?:it|they)\b|"
    r"-(?:t-)?(?:il|elle)s?\b",
    re.I,
)
"""A pronoun after the verb of a question, as its subject."""
_REPOSITORY = re.compile(
    r"\b(?!(?:this|that|ce) code\b)(?:(?:this|the|that|our|your|whole|entire|"
    r"ce|cet|cette|le|la|notre|votre|tout|toute|du|au) ){1,3}"
    r"(?:project|repo|repository|code ?base|code|library|package|app|application|projet|dépôt|depot|bibliothèque|"
    r"paquet)\b(?!['’]s? )(?! (?:of|in|for|de|du|dans|that|which|qui) \w)|\bl['’]application\b",
    re.I,
)
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A place that an answer showed, or a name from a question, with `number` 0 and `path` ''. `symbol` is the
    qualified name, '' for none."""

    number: int
    path: str
    symbol: str = ""

    @property
    def name(self) -> str:
        """How a question names the place: by its symbol in backticks; by its path where it is a file or a heading."""
        return f"`{self.symbol}`" if self.is_code else self.path

    @property
    def is_code(self) -> bool:
        """Whether the place is a definition, not a file or a heading."""
        return bool(self.symbol) and " " not in self.symbol


def resolve(question: str, turns: Sequence[Turn]) -> str:
    """Turn a follow-up into a question that stands on its own.

    Args:
        question: as the user asked it.
        turns: the conversation before it, oldest first.

    Returns:
        The question with the name of what it refers to. A question that stands on its own, or refers to nothing known,
        comes back unchanged.
    """
    recent = [turn for turn in turns[-TURNS_REMEMBERED:] if turn.intent != "REFUSE"]
    if not recent:
        return question
    shown = next((places for turn in reversed(recent) if (places := places_of(turn))), ())
    if _NUMBER.search(question):
        return _with_places(question, {place.number: place for place in reversed(shown)})
    rest = _without_repeated(_THERE.sub(" ", _REPOSITORY.sub(" le projet ", question)))
    own = own_words(question)
    query = parse(question)
    pronoun = _PRONOUN.search(rest)
    of_repository = _REPOSITORY.search(question) is not None and pronoun is None
    if not question.strip() or of_repository or own >= OWN_WORDS or (own and (query.names or query.paths)):
        return question
    focus = _focus(recent[-1], shown)
    of_overview = isinstance(last := recent[-1].result, Explanation) and last.form == "overview"
    least = OWN_WORDS_OF_A_SUBJECT if of_overview or (focus is not None and focus.is_code) else 1
    if asked(question) in OF_THE_REPOSITORY or (own >= least and _is_open(rest, recent[-1])):
        return question
    if pronoun and of_overview:
        known = _REPOSITORY.search(question) is not None
        return question if known else f"{question} {REPOSITORY[query.language]}"
    if focus is not None and pronoun:
        return f"{question} {focus.name}"
    joined = (pronoun or not own) and own_words(recent[-1].question) > 0
    return f"{recent[-1].question} {question}" if joined else question


def _with_places(question: str, known: Mapping[int, ShownPlace]) -> str:
    """A question with the names of the places that it gives by number; a number of no place stays."""

    def name(found: re.Match[str]) -> str:
        return known[number].name if (number := int(found[1])) in known else found[0]

    return _NUMBER.sub(name, question)


def _without_repeated(question: str) -> str:
    """A French question without the pronoun that repeats its own subject ("Comment le cache se vide-t-il ?")."""
    inverted = _INVERTED.match(question)
    repeats = inverted is not None and re.search(r"\w", _BEFORE_A_VERB.sub("", inverted[1]))
    return f"{inverted[1]}{question[inverted.end() :]}" if inverted and repeats else question


def places_of(turn: Turn) -> tuple[ShownPlace, ...]:
    """The places a turn showed, in the order of their numbers: its evidence, else its citations, else what a change
    affects, else its files."""
    if turn.evidence:
        return tuple(ShownPlace(e.number, e.path, e.symbol) for e in sorted(turn.evidence, key=lambda e: e.number))
    if turn.citations:
        return tuple(ShownPlace(c.number, c.path, c.symbol) for c in turn.citations)
    if isinstance(turn.result, ImpactReport):
        return tuple(ShownPlace(n, a.path, a.symbol) for n, a in enumerate(turn.result.affected, 1))
    return tuple(ShownPlace(n, f.path) for n, f in enumerate(turn.files, 1))


def _focus(last: Turn, shown: Sequence[ShownPlace]) -> ShownPlace | None:
    """The last topic: the name in the last question, else the place that its answer cites, else the first place
    shown."""
    if named := parse(last.question).names:
        of_name = (p for p in shown if p.symbol.rpartition(".")[2] == named[0].rpartition(".")[2])
        return next(of_name, ShownPlace(0, "", named[0]))
    cited = next((c.number for c in last.citations if c.supported), None)
    return next((p for p in shown if p.number == cited), shown[0] if shown else None)


def _is_open(question: str, last: Turn) -> bool:
    """Whether the subject of a question is a pronoun that may just as well mean the repository: the last question named
    nothing, and the place that its answer showed first is only a guess at what the pronoun means."""
    return _SUBJECT.search(question) is not None and not parse(last.question).names


def own_words(text: str) -> int:
    """How many content words a question has: those that aren't stop words."""
    words = (word.lower() for word in _WORD.findall(text))
    return sum(word not in STOP_EN and word not in STOP_FR for word in words)
