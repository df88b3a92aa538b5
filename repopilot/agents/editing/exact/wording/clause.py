"""A clause of a task, its parts, and what its words are: verbs, markers, modals. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from repopilot.agents.editing.exact.wording.lexicon import (
    LONGEST_MARKER,
    MARKERS,
    MODALS,
    OTHER_WHATS,
    PRONOUNS,
    STATE,
    VERBS,
    WHATS,
)
from repopilot.agents.editing.exact.wording.task_tokens import Token

ARROWS = ("→", "->", "=>", "⇒")


AND = frozenset("and & et then puis + plus".split())


_LONGEST_VERB = max(len(v.split()) for v in VERBS)


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a clause with the role that the word before them gives them."""

    role: str
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that is asked for.

    Attributes:
        action: what is to be done, a key of the lexicon's verbs or complements; '' for `X → Y`.
        verb: the word that said so, folded.
        target: what it is done to.
        parts: the rest.
        text: the task that the tokens count in.
    """

    action: str
    verb: str
    target: tuple[Token, ...]
    parts: tuple[Part, ...] = ()
    text: str = ""


@dataclass(slots=True)
class Reading:
    """A task while it is read: its clauses, what they are about, and parts that wait for a clause."""

    text: str
    clauses: list[Clause] = field(default_factory=list)
    about: tuple[Token, ...] = ()
    said: list[Token] = field(default_factory=list)
    waiting: list[Part] = field(default_factory=list)
    stated: bool = False
    failed: bool = False

    def take_waiting(self) -> list[Part]:
        """The parts that waited for a clause, which wait no longer."""
        waiting, self.waiting = self.waiting, []
        return waiting

    def extend_last(self, *parts: Part) -> None:
        """Give the last clause more parts."""
        last = self.clauses[-1]
        self.clauses[-1] = replace(last, parts=(*last.parts, *parts))


_EACH = frozenset(("remove", "export", "unexport", "add", "import"))


def distributed(clause: Clause) -> list[Clause]:
    """A clause for each of the things it names: `delete a, b and c`.

    Args:
        clause: of a task.
    """
    items = [t for t in clause.target if t.kind in ("name", "quoted", "literal")]
    first = next((n for n, t in enumerate(clause.target) if t in items), 0)
    listed = all(t in items or t.low in AND or t.text == "," for t in clause.target[first:])
    joined = any(t.low in AND or t.text == "," for t in clause.target[first:])
    if clause.action not in _EACH or len(items) < 2 or not listed or not (joined or clause.action == "remove"):
        return [clause]
    return [replace(clause, target=(*clause.target[:first], item)) for item in items]


def only_pronouns(tokens: Sequence[Token]) -> bool:
    """Whether words only point to what was spoken of before."""
    return bool(tokens) and all(t.low in PRONOUNS or t.low in ("both", "all", "deux", "line", "too") for t in tokens)


def after_words(tokens: Sequence[Token], characters: int) -> list[Token]:
    """The tokens behind so many characters of their words."""
    return list(tokens[len(before_words(tokens, characters)) :])


def says_state(segment: Sequence[Token]) -> bool:
    """Whether words say how something is: `X is too small`."""
    return any(t.kind == "word" and STATE.match(t.low) for t in segment[1:])


def tells_kind(token: Token) -> bool:
    """Whether a word says what kind of thing a name is of: `class`, `dependency`."""
    return token.kind == "word" and (token.low in WHATS or token.low in OTHER_WHATS)


def before_words(tokens: Sequence[Token], characters: int) -> list[Token]:
    """The tokens that begin within so many characters of their words."""
    at = 0
    for number, token in enumerate(tokens):
        if at >= characters:
            return list(tokens[:number])
        at += len(token.low) + 1
    return list(tokens)


def words_of(tokens: Sequence[Token]) -> str:
    """The folded words, joined by spaces."""
    return " ".join(t.low for t in tokens)


def verb_at(tokens: Sequence[Token]) -> tuple[str, int]:
    """What the verb at the start asks for, and how many words it has; ('', 0) for no verb."""
    for length in range(min(_LONGEST_VERB, len(tokens)), 0, -1):
        words = tokens[:length]
        if all(t.kind == "word" for t in words):
            said = " ".join(t.low for t in words)
            action = VERBS.get(said) or (VERBS.get(base_of_gerund(said)) if length == 1 else None)
            if action:
                return action, length
    return "", 0


def base_of_gerund(word: str) -> str:
    """The verb of a word in -ing; the word itself for others."""
    if not word.endswith("ing") or len(word) < 6:
        return word
    stem = word[:-3]
    doubled = len(stem) > 2 and stem[-1] == stem[-2]
    return next((v for v in (stem, stem + "e", stem[:-1] if doubled else stem) if v in VERBS), word)


_IRREGULAR = {
    "made": "make",
    "put": "put",
    "set": "set",
    "cut": "cut",
    "given": "set",
    "kept": "keep",
    "taken": "remove",
    "brought": "bring",
    "hidden": "hide",
    "let": "let",
}


def participle_action(word: str) -> str:
    """What a past participle asks for: `removed`, `supprimée`; '' for none.

    Args:
        word: folded.
    """
    base = _IRREGULAR.get(word)
    stems = [word, word.removesuffix("d"), word.removesuffix("ed"), word[:-3] if word.endswith("ed") else word]
    stems += [
        word.removesuffix("ied") + "y",
        word.removesuffix("s"),
        word.removesuffix("es"),
        word.removesuffix("ee") + "e",
    ]
    return VERBS.get(base or "", "") or next((VERBS[s] for s in stems if s in VERBS), "")


THIRD_PERSON = dict(
    pair.split("=")
    for pair in (
        "goes=go belongs=belong gets=get wants=have deserves=have becomes=become devient=become deviennent=become "
        "become=become passe=passer moves=move needs=have"
    ).split()
)


def modal_at(tokens: Sequence[Token]) -> tuple[int, int] | None:
    """Where `should` or the like stands, and how many words it has."""
    for at in range(1, len(tokens)):
        for modal in _MODALS:
            if tuple(t.low for t in tokens[at : at + len(modal)]) == modal and tokens[at].kind == "word":
                return at, len(modal)
        if tokens[at].kind == "word" and tokens[at].low in THIRD_PERSON and at < len(tokens) - 1:
            return at, 0
    return None


_MODALS = sorted((tuple(m.split()) for m in MODALS), key=len, reverse=True)


def marker_at(tokens: Sequence[Token]) -> tuple[str, int]:
    """The role that the marker at the start gives to what follows, and how many words it has; ('', 0) for none."""
    for length in range(min(LONGEST_MARKER, len(tokens)), 0, -1):
        words = tokens[:length]
        if all(t.kind in ("word", "sign") for t in words):
            role = MARKERS.get(tuple(t.low for t in words))
            if role:
                return role, length
    return "", 0


def parts_of(tokens: Sequence[Token]) -> list[Part]:
    """The parts of a clause, the first perhaps without a role."""
    owner: list[Token] = []
    found: list[tuple[str, list[Token]]] = [("", [])]
    at = 0
    while at < len(tokens):
        role, length = marker_at(tokens[at:])
        if tokens[at].low == "'s" and found[-1][1] and found[-1][1][-1].kind == "name":
            owner.append(found[-1][1].pop())
            at += 1
            continue
        if role == "that" and (at + 1 == len(tokens) or tells_kind(tokens[at + 1]) or tokens[at + 1].low == "one"):
            role, length = "", 0  # `that parameter`
        if not role:
            role, length = _french_a(tokens, at)
        if role:
            found.append((role, []))
            at += length
        else:
            found[-1][1].append(tokens[at])
            at += 1
    found += [("of", [token]) for token in owner]
    kept = [Part(role, tuple(items)) for role, items in found if items or role in _NEEDED]
    return [p for p in kept if p.tokens or p.role]


_NEEDED = frozenset(("that", "default", "old", "like", "without", "before", "after", "besides"))
"""Roles whose part means something even where it is empty: then it isn't understood."""


def _french_a(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """`a` for `à`, as it is typed in a hurry: before a value, in French words."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    french = any(t.kind == "word" and t.low in _FRENCH for t in tokens)
    if tokens[at].low == "a" and french and following is not None and following.kind in ("literal", "quoted", "name"):
        return "à", 1
    return "", 0


_FRENCH = frozenset(
    "le la les l l' l’ du des de d' un une dans constante valeur parametre attribut fonction classe par defaut".split()
)
