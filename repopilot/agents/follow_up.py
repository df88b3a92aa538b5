"""What a follow-up question refers to, and the question it stands for.

A number in a question ("[3]") is the place shown under it. A short question with a pronoun ("who calls it?") refers to
the last topic; one without any content word ("why?"), and one that continues or corrects the last question by the
router's classifier ("and the async one?"), is read behind that question. "This project" and "the code" mean the
repository, so such a question stands on its own.

Without a model that uses tools this decides what is meant; with one, it only helps the search for the evidence that is
shown at once: the model gets the conversation itself (last_turns.py). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.results import Explanation, ImpactReport, Turn
from repopilot.retrieval.query.asked import OF_THE_REPOSITORY, asked
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR
from repopilot.routing import classifier
from repopilot.routing.router import FOLLOW_UP_CHANCE

REPOSITORY = {"en": "this repository", "fr": "ce dépôt"}
"""What a pronoun stands for after an overview."""
OWN_WORDS = 4
"""A question with at least this many content words stands on its own."""
OWN_WORDS_INVERTED = 2
"""The same with an inverted French pronoun, which mostly repeats the subject before it ("Le cache se vide-t-il ?")."""
TURNS_REMEMBERED = 3
_NUMBER = re.compile(r"\[(\d{1,2})\]")
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|this|these|those|that|one)\b|"
    r"\b(?:son|sa|ses|leurs?|ça|cela|cette|cet|ces|celui|celles?|ceux)\b|"
    r"(?<!y a-t-)\b(?:ils?|elles?)\b|\b(?:qui|on|je|où|ne) l['’]",
    re.I,
)
"""Pronouns and demonstratives, a closed class. "L'" is mostly an article, and "il" of "y a-t-il" refers to nothing."""
_INVERTED = re.compile(r"-(?:t-)?(?:il|elle)s?\b", re.I)
_REPOSITORY = re.compile(
    r"\b(?!(?:this|that|ce) code\b)(?:this|the|that|our|your|ce|cet|cette|le|la|notre|votre|du|au) (?:whole |entire )?"
    r"(?:project|repo|repository|code ?base|code|library|package|projet|dépôt|bibliothèque|paquet)\b"
    r"(?! (?:of|in|for|de|du|dans|that|which|qui) \w)",
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
    recent = _recent(turns)
    if not recent or not question.strip():
        return question
    if _NUMBER.search(question):
        return with_places(question, turns)
    last = recent[-1]
    # The repository counts as a content word, and is no pronoun.
    rest = _REPOSITORY.sub(" software ", question)
    pronoun = _PRONOUN.search(rest) is not None
    if _stands_alone(question, own_words(rest), pronoun):
        return question
    if pronoun and isinstance(last.result, Explanation) and last.result.form == "overview":
        known = rest != question
        return question if known else f"{question} {REPOSITORY[parse(question).language]}"
    focus = _focus(last, _shown(recent))
    if pronoun and focus is not None:
        return f"{question} {focus.name}"
    return f"{last.question} {question}" if own_words(last.question) else question


def _stands_alone(question: str, own: int, pronoun: bool) -> bool:
    """Whether a question with some content words of its own refers to nothing that was said before."""
    query = parse(question)
    if own >= OWN_WORDS or (own and (query.names or query.paths)) or asked(question) in OF_THE_REPOSITORY:
        return True
    if pronoun:
        return _INVERTED.search(question) is not None and own >= OWN_WORDS_INVERTED
    return own > 0 and classifier.chances(question)[classifier.SAME] < FOLLOW_UP_CHANCE


def with_places(question: str, turns: Sequence[Turn]) -> str:
    """A question with the names of the places that it gives by number; a number of no place stays.

    Args:
        question: as the user asked it.
        turns: the conversation before it, oldest first.
    """
    known = {place.number: place for place in reversed(_shown(_recent(turns)))}

    def name(found: re.Match[str]) -> str:
        return known[number].name if (number := int(found[1])) in known else found[0]

    return _NUMBER.sub(name, question)


def _recent(turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns[-TURNS_REMEMBERED:] if turn.intent != "REFUSE"]


def _shown(recent: Sequence[Turn]) -> tuple[ShownPlace, ...]:
    """The places of the last turn that showed any."""
    return next((places for turn in reversed(recent) if (places := places_of(turn))), ())


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


def own_words(text: str) -> int:
    """How many content words a question has: those that aren't stop words."""
    words = (word.lower() for word in _WORD.findall(text))
    return sum(word not in STOP_EN and word not in STOP_FR for word in words)
