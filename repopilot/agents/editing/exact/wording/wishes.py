"""What is asked for by a verb: `rename X to Y`, `X should be called Y`, `make X inherit from Y`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot.agents.editing.exact.wording.clause import (
    THIRD_PERSON,
    Clause,
    Part,
    Reading,
    after_words,
    modal_at,
    only_pronouns,
    participle_action,
    parts_of,
    tells_kind,
    verb_at,
    words_of,
)
from repopilot.agents.editing.exact.wording.lexicon import ADJECTIVES, COMPLEMENTS, DETERMINERS, FILLERS, STATE, WHATS
from repopilot.agents.editing.exact.wording.task_tokens import Token


def is_subject(segment: Sequence[Token]) -> bool:
    """Whether a verb's word is a noun here: `limit is too low`."""
    return len(segment) > 2 and segment[1].kind == "word" and STATE.fullmatch(segment[1].low) is not None


def imperative(segment: list[Token], reading: Reading) -> bool:
    """Read what a verb at the start asks for; whether it was understood."""
    action, length = verb_at(segment)
    verb = " ".join(t.low for t in segment[:length])
    caused = _caused(segment[length:]) if verb in _CAUSING else None
    if caused is not None:
        return _should(segment[length : length + caused], segment[length + caused :], reading)
    parts = parts_of(segment[length:])
    target: tuple[Token, ...] = ()
    if parts and not parts[0].role:
        target = parts[0].tokens
        parts = parts[1:]
    target, parts = _resolved(action, verb, target, parts, reading)
    if not target and parts and any(p.role == "label" for p in reading.waiting):
        label = next(p for p in reading.waiting if p.role == "label")
        reading.waiting.remove(label)
        target = label.tokens
    parts = [*reading.take_waiting(), *parts]
    if target and verb in _MENDING and not any(t.kind in ("name", "quoted", "path", "literal") for t in target):
        reading.waiting = [*parts, Part("label", tuple(target))]
        return all(tells_kind(t) or t.low in DETERMINERS or t.low in FILLERS for t in target)
    if target:
        reading.about = target
    reading.clauses.append(Clause(action, verb, tuple(target), tuple(parts), reading.text))
    return True


_CAUSING = frozenset("make let have get fais faire faites".split())


_CAUSED = frozenset(("base", "rename", "use", "require", "default", "text", "move", "export", "have"))


def _caused(tokens: Sequence[Token]) -> int | None:
    """Where what a thing is made to do begins: `make X inherit from Y`."""
    for at in range(1, min(len(tokens), 7)):
        said = tokens[at].kind == "word" and tokens[at].low not in ADJECTIVES
        if said and tokens[at].low not in ("be", "default") and _complement(tokens[at:])[0] in _CAUSED:
            return at
        if tokens[at].low == "default" and at + 1 < len(tokens) and tokens[at + 1].low == "to":
            return at
    return None


def _resolved(
    action: str, verb: str, target: tuple[Token, ...], parts: list[Part], reading: Reading
) -> tuple[tuple[Token, ...], list[Part]]:
    """A target whose pronoun or `the method` is what was spoken of before."""
    if not reading.about or not target:
        return target, parts
    while len(target) > 1 and target[-1].low in _PARTICLES:
        target = target[:-1]
    code = [t for t in target if t.kind in ("name", "path", "quoted", "literal")]
    if action == "call" and len(code) == 1 and len(target) > 1 and target[0].low in _THAT:
        kinds = tuple(t for t in target if tells_kind(t))
        held = [t for t in reading.said if t not in reading.about]
        if kinds and held and WHATS.get(kinds[0].low) in ("parameter", "attribute", "variable", "key"):
            return (*kinds, held[-1]), [Part("to", (code[0],)), Part("in", reading.about), *parts]
        return reading.about, [Part("to", (code[0],)), *parts]
    if only_pronouns(target):
        return reading.about, parts
    if _pronoun_then_value(target) and verb in ("give", "donne", "donner"):
        return (*reading.about, *target[1:]), parts
    if _pronoun_then_value(target):
        return reading.about, [Part("to", target[1:]), *parts]
    if (
        not code
        and target[0].low in _THAT
        and all(t.low in DETERMINERS or t.low in FILLERS or tells_kind(t) for t in target)
    ):
        kinds = tuple(t for t in target if tells_kind(t))
        names = [t for t in reading.about if t.kind != "word"] or [t for t in reading.about if not tells_kind(t)]
        if any(t.low in ("file", "fichier") for t in kinds):
            names = [t for t in (*reading.about, *reading.said) if t.is_path][:1]
        return ((*kinds, *names) if names else target), parts
    return target, parts


_PARTICLES = frozenset("out off away in up down over back there here instead too".split())


_THAT = frozenset("it that this the them these those le la les l' l ce cet cette".split())


_MENDING = frozenset("fix correct corriger corrige corrigez reword rephrase".split())


def _pronoun_then_value(tokens: Sequence[Token]) -> bool:
    pronoun = tokens[0].low in ("it", "that", "this", "them", "la", "le", "l'", "l")
    return len(tokens) > 1 and pronoun and not tells_kind(tokens[1])


def subject_led(segment: list[Token], reading: Reading) -> bool:
    """`X should be called Y`, `the timeout should default to 30`."""
    at, length = modal_at(segment) or (0, 0)
    subject, rest = segment[:at], segment[at + length :]
    said = words_of(segment[at : at + length])
    negative = "n't" in said or " not" in said or "ne " in said
    while subject and subject[-1].low in _NEGATIONS:
        negative = True
        subject = subject[:-1]
    if not length:
        rest = [replace(rest[0], low=THIRD_PERSON[rest[0].low]), *rest[1:]]
    rest = [t for t in rest if not (t.kind == "word" and t.low in _ADVERBS)]
    while rest and rest[0].low in ("not", "no", "longer", "pas", "plus"):
        negative = True
        rest = rest[1:]
    return bool(subject and rest) and _should(subject, rest, reading, negative=negative)


_NEGATIONS = frozenset(("no", "longer", "not", "doesn't", "ne", "don't", "n'"))


def _should(subject: Sequence[Token], rest: Sequence[Token], reading: Reading, *, negative: bool = False) -> bool:
    """Read what a thing should be or do."""
    parts = parts_of(subject)
    head = parts[0].tokens if parts and not parts[0].role else ()
    others = parts[1:] if head else parts
    if only_pronouns(head) or not head:
        head = reading.about or head
    if not head:
        return False
    action, verb, rest = _complement(rest)
    if action == "import" and all(t.kind == "word" for t in rest):
        return True  # `the others should import it from there`, which they do anyway
    if negative and action in ("move", "be") and verb.startswith(("belong", "be in", "be listed", "live")):
        reading.clauses.append(
            Clause("remove", "remove", tuple(head), (*others, Part("from", tuple(rest))), reading.text)
        )
        return True
    elif negative:
        action = _NOT.get(action, "")
        if not action:
            return False
    waiting = reading.take_waiting()
    reading.about = head
    rest_parts = parts_of(rest)
    if rest_parts and not rest_parts[0].role:
        rest_parts[0] = Part("complement", rest_parts[0].tokens)
    reading.clauses.append(Clause(action, verb, tuple(head), (*waiting, *others, *rest_parts), reading.text))
    return True


_NOT = {"export": "unexport", "have": "remove_from", "require": "remove_requirement", "decorate": "undecorate"}


def _complement(rest: Sequence[Token]) -> tuple[str, str, list[Token]]:
    """What the words after `should` ask for, the words that said so, and what is left."""
    words = words_of(rest)
    for pattern, action in COMPLEMENTS:
        match = re.match(pattern, words)
        if match:
            left = after_words(rest, match.end())
            return action, match[0], left
    length = 1 if rest[0].low in ("be", "etre", "to", "become", "devenir", "equal", "valoir", "get", "stay") else 0
    said = rest[length].low if length and len(rest) > length else ""
    action = participle_action(said) if said and said not in ADJECTIVES else ""
    if action and rest[length].kind == "word":
        return action, rest[length].low, list(rest[length + 1 :])
    if length:
        return "be", rest[0].low, list(rest[length:])
    action, used = verb_at(rest)
    return action, words_of(rest[:used]), list(rest[used:])


_ADVERBS = frozenset(
    "also really probably better aussi now simply just actually only rightly preferably best always".split()
)
