"""A clause while it becomes an edit, and what all forms of edits need to read it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.clause import Clause, Part
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS, FILLERS, NUMBERS, UNITS
from repopilot.agents.editing.exact.wording.noun_phrases import NounPhrase, bare_name, kind_of_word, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token, joined

PLACE_ROLES = ("in", "on", "of", "de", "for", "from", "à", "label", "as")


_FILES = {
    "pyproject": "pyproject.toml",
    "requirements": "requirements.txt",
    "readme": "README",
    "changelog": "CHANGELOG",
}


_DESCRIBING = frozenset(("line", "text", "type", "version", "base", "code", "import", "file", "module", "key", "list"))
DECLARING = frozenset(("var", "let", "const", "static", "pub", "final"))
"""Words that begin a declaration in some language."""
_ENDS = frozenset("top beginning start end bottom head debut fin haut bas tete".split())


@dataclass(slots=True)
class EditFrame:
    """A clause while its parts are given their places."""

    clause: Clause
    parts: list[Part]
    target: NounPhrase
    left_over: bool = False
    places: list[NamedPlace] = field(default_factory=list)

    def take(self, *roles: str) -> Part | None:
        """Take the first part of one of the roles out of the frame."""
        for role in roles:
            for part in self.parts:
                if part.role == role:
                    self.parts.remove(part)
                    return part
        return None

    def has(self, *roles: str) -> bool:
        """Whether a part of a role is left."""
        return any(p.role in roles for p in self.parts)

    def text(self, tokens: Sequence[Token]) -> str:
        """The words of the task that tokens stand for."""
        return joined(tokens, self.clause.text)

    def place_parts(self) -> tuple[NamedPlace, ...]:
        """Take all that is left as places; what isn't one is left over."""
        found: list[NamedPlace] = []
        for part in self.parts:
            phrase = noun_phrase(part.tokens)
            place = phrase.place if part.role in PLACE_ROLES else None
            files = [t for t in (*phrase.names, *phrase.words) if t.is_path or t.low in _FILES]
            if place is not None:
                found.append(place)
            elif part.role in PLACE_ROLES and files and len(files) == len(phrase.names) + len(phrase.words):
                found += [NamedPlace(_FILES.get(t.low, bare_name(t)), "file") for t in files]
            elif phrase.names or phrase.words or phrase.literals or part.role not in PLACE_ROLES:
                self.left_over = True
        self.parts = []
        return (*self.places, *found)

    def phrase_words(self) -> tuple[str, ...]:
        """Take the words of the target and of parts that only describe it."""
        said = (*self.target.words, *self.target.names)
        words = [
            t.low
            for t in self.target.tokens
            if t in said or kind_of_word(t.low) in _DESCRIBING or t.low in ("minimum", "minimal", "minimale")
        ]
        for part in list(self.parts):
            phrase = noun_phrase(part.tokens)
            if part.role in ("of", "de", "for", "on", "in", "à") and not phrase.names and not phrase.literals:
                words += [t.low for t in phrase.words]
                self.parts.remove(part)
        return tuple(words)


def only_says_where(part: Part) -> bool:
    """Whether a part says no more than `at the top`."""
    words = [t for t in part.tokens if t.low not in DETERMINERS and t.low not in FILLERS]
    return part.role in ("in", "à", "on", "to") and bool(words) and all(t.low in _ENDS for t in words)


def value_text_of(frame: EditFrame, tokens: Sequence[Token]) -> str:
    """The text of a value: without article, unit and the words that say what it is."""
    kept = list(tokens)
    while (
        kept
        and kept[0].kind == "word"
        and (kept[0].low in DETERMINERS or kept[0].low in BEFORE_VALUE)
        and len(kept) > 1
    ):
        kept.pop(0)
    while (
        kept and kept[-1].kind == "word" and len(kept) > 1 and (kept[-1].low in UNITS or kept[-1].low in _AFTER_VALUE)
    ):
        kept.pop()
    text = re.sub(r"^(\d[\d_.]*)(?:s|ms|secs?|mins?|px)$", r"\1", frame.text(kept))
    only = kept[0] if len(kept) == 1 else None
    if only is not None and only.kind == "word" and only.low in NUMBERS:
        return NUMBERS[only.low]
    if only is not None and (only.is_code or only.text[0] in "«"):
        return only.inner
    return text


BEFORE_VALUE = frozenset("be have become value valeur of only just about to string text number".split())


_AFTER_VALUE = frozenset("instead everywhere too please now each total long max maximum by default".split())


def old_value(frame: EditFrame) -> str:
    """The value that is there, where the clause says so."""
    part = frame.take("old")
    return value_text_of(frame, _without_pronoun(part.tokens)) if part is not None else ""


def _without_pronoun(tokens: Sequence[Token]) -> Sequence[Token]:
    return [t for t in tokens if not (t.kind == "word" and t.low in ("it", "its", "the", "le", "la"))] or tokens


def mention_place(tokens: Sequence[Token]) -> tuple[list[Token], list[NamedPlace]]:
    """Tokens without the paths among them, and the paths as places."""
    paths = [t for t in tokens if t.is_path]
    if not paths or len(paths) == len([t for t in tokens if t.kind in ("path", "name", "quoted", "literal")]):
        return list(tokens), []
    return [t for t in tokens if not t.is_path], [NamedPlace(bare_name(t), "file") for t in paths]


def from_value(frame: EditFrame) -> str:
    """`from 10`, `de 10`: a value, no place."""
    for role in ("from", "de"):
        for part in frame.parts:
            value = [t for t in part.tokens if t.kind in ("literal", "quoted", "name")]
            alone = all(t in value or t.low in UNITS or t.low in DETERMINERS for t in part.tokens)
            if part.role == role and len(value) == 1 and alone and (role == "from" or value[0].kind == "literal"):
                frame.parts.remove(part)
                return value_text_of(frame, part.tokens)
    return ""


def is_sentence(tokens: Sequence[Token]) -> bool:
    """Whether words can't be a value: prose."""
    words = [t for t in tokens if t.kind == "word" and t.low not in UNITS and t.low not in DETERMINERS]
    return len(words) > 2 or (len(words) > 1 and len(words) < len(tokens))


def unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "`\"'" else text


def without_heads(tokens: Sequence[Token]) -> list[Token]:
    """Tokens without the article and the words that say what it is."""
    kept = list(tokens)
    while len(kept) > 1 and kept[0].kind == "word":
        low = kept[0].low
        declares = low in DECLARING
        if not declares and (low in DETERMINERS or low in FILLERS or kind_of_word(low) or low in ("enum", "another")):
            kept.pop(0)
        else:
            break
    while len(kept) > 1 and kept[-1].kind == "word" and kept[0].kind != "word" and kind_of_word(kept[-1].low):
        kept.pop()
    return kept


FrameOf = Callable[[EditFrame], Iterator[ExactTask]]
