"""What a task says before it asks: what `it` means afterwards, what is missing, what nobody uses. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot.agents.editing.exact.wording.clause import (
    AND,
    Clause,
    Part,
    Reading,
    after_words,
    before_words,
    marker_at,
    parts_of,
    says_state,
    tells_kind,
    words_of,
)
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS, FILLERS, PRONOUNS, STATE
from repopilot.agents.editing.exact.wording.plain_wording import is_condition
from repopilot.agents.editing.exact.wording.task_tokens import Token


def is_passed(segment: Sequence[Token], reading: Reading) -> bool:
    """`callers that left it out pass False`: the value belongs to the last clause."""
    words = words_of(segment)
    match = re.match(
        r"(?:(?:the |all )?callers? .*)?(?:pass|give|hand|should pass|passent|passer)(?: in| on)?\b", words
    )
    value = after_words(segment, match.end())[:1] if match else []
    if not value or value[0].kind not in ("literal", "quoted") or not reading.clauses:
        return False
    reading.extend_last(Part("pass", tuple(value)))
    return True


_HAS = frozenset(
    "has takes contains lists carries holds says reads prend contient a dit affiche declares defines imports".split()
)


def statement(segment: list[Token], reading: Reading) -> bool:
    """Something that is said before what to do about it: it is what `it` means afterwards."""
    code = [t for t in segment if t.kind in ("name", "path", "quoted", "literal")]
    reading.stated = True
    if reading.clauses:
        if is_condition(segment):
            return False
        return not any(t.kind in ("quoted", "literal") for t in code) and (not code or says_state(segment))
    at = next((n for n, t in enumerate(segment) if t.kind == "word" and t.low in _HAS and n), None)
    held = _held(segment[at + 1 :]) if at is not None else ()
    unused = _unused(segment)
    if unused is not None:
        reading.about, place = unused
        reading.waiting += [Part("in", place)] if place else []
    elif at is not None and held:
        reading.about = held
        reading.waiting.append(
            Part("label", tuple(t for t in segment[:at] if t.kind != "word" or t.low not in FILLERS))
        )
    elif code:
        subject = [t for t in segment[: segment.index(code[0]) + 1] if t.kind != "sign"]
        reading.about = tuple(subject[-3:]) if all(t.kind == "word" for t in subject[-3:-1]) else tuple(code[:1])
        reading.about = tuple(t for t in reading.about if t in code or tells_kind(t))
        reading.said += code
    elif (
        len(segment) > 2
        and segment[0].kind == "word"
        and STATE.match(segment[1].low)
        and segment[0].low not in PRONOUNS
    ):
        reading.about = (segment[0],)
    return True


def no_default(segment: list[Token], reading: Reading) -> bool:
    """`encoding has no default anymore`."""
    match = re.search(
        r"\b(?:has|have|takes|gets|n'a|a) (?:no |pas de |plus de )(?:longer a )?(?:default|valeur par)",
        words_of(segment),
    )
    subject = tuple(before_words(segment, match.start())) if match else ()
    if not subject:
        return False
    reading.clauses.append(Clause("no_default", "", subject, tuple(reading.take_waiting()), reading.text))
    return True


def _unused(segment: Sequence[Token]) -> tuple[tuple[Token, ...], tuple[Token, ...]] | None:
    """`f doesn't use X`, `X is ignored by f`: X, and f."""
    words = words_of(segment)
    for pattern, swapped in ((_NOT_USING, False), (_NOT_USED, True)):
        match = pattern.search(words)
        if match is None:
            continue
        before, after = before_words(segment, match.start()), after_words(segment, match.end())
        thing, place = (before, after) if swapped else (after, before)
        thing = [t for t in thing if t.low not in DETERMINERS and t.low not in FILLERS and t.kind != "sign"]
        place = [t for t in place if t.low not in DETERMINERS and t.kind != "sign"]
        if 1 <= len(thing) <= 2 and len(place) <= 2:
            return tuple(thing), tuple(place)
    return None


_NOT_USING = re.compile(
    r"\b(?:doesn't|does not|no longer|never|don't|n'|ne)\s?(?:use|uses|need|needs|look at|looks at|read|reads|call|"
    r"calls|utilise)\b(?: plus| pas)?(?: its)?"
    r"|\bhas no (?:need|use) (?:of|for)\b(?: its)?"
)


_NOT_USED = re.compile(
    r"\b(?:is|are) (?:ignored|unused|not used|never used|no longer used|unneeded|useless|not needed|never read)(?: "
    r"(?:by|in))\b"
)


def _held(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """`a parameter peek` at the start of words."""
    kept = [t for t in tokens if t.low not in DETERMINERS][:2]
    if len(kept) < 2 or not tells_kind(kept[0]) or tells_kind(kept[1]) or marker_at(kept[1:])[0]:
        return ()
    return tuple(kept)


def is_missing(segment: list[Token], reading: Reading) -> bool:
    """`X is missing in Y`, `il manque X dans Y`: X is to be added to Y."""
    words = words_of(segment)
    match = _MISSING.search(words)
    if match is None:
        return False
    before, after = before_words(segment, match.start()), after_words(segment, match.end())
    if match["there"]:
        parts = parts_of(after)
        target = parts[0].tokens if parts and not parts[0].role else ()
        parts = parts[1:]
    else:
        target, parts = _leading_names(before), parts_of(after)
    into = next((p for p in parts if p.role in ("in", "from", "of", "de", "à", "to")), None)
    if not target or into is None or not any(t.kind != "word" for t in (*target, *into.tokens)):
        return False
    parts = [Part("to", p.tokens) if p.role in ("in", "from", "of") else p for p in parts]
    target = tuple(_quoted(t) for t in target)
    reading.about = target
    reading.clauses.append(Clause("add", "add", target, (*parts, *reading.take_waiting()), reading.text))
    return True


def _quoted(token: Token) -> Token:
    """A plain word as the text that is missing in a list."""
    plain = token.kind == "word" and token.low not in AND and token.low not in DETERMINERS and not tells_kind(token)
    return replace(token, text=f'"{token.text}"', kind="quoted") if plain else token


def _leading_names(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The names at the start of words: `a and b` of `a and b are used but`."""
    kept: list[Token] = []
    for token in tokens:
        if (
            token.kind == "word"
            and token.low not in AND
            and token.low not in DETERMINERS
            and not tells_kind(token)
            and kept
        ):
            break
        kept.append(token)
    return tuple(kept)


_MISSING = re.compile(
    r"\b(?:(?:is|are|was) (?:still |also )?(?:missing|absent|not listed|not included|not registered|not mentioned|"
    r"not part)|(?:isn't|aren't) "
    r"(?:listed|included|registered|part|mentioned)|manque(?:nt)? (?=dans|a |au|de )|n'est pas|est absente?)(?: "
    r"yet)?|(?P<there>il manque|"
    r"(?:there is|there's|we) (?:no|missing))\b"
)
