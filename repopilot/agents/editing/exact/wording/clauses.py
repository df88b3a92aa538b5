"""Splits a task into clauses: what to do, to what, and the parts that words like `to` introduce. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repopilot.agents.editing.exact.wording.clause import (
    AND,
    ARROWS,
    Clause,
    Part,
    Reading,
    marker_at,
    modal_at,
    only_pronouns,
    parts_of,
    says_state,
    tells_kind,
    verb_at,
    words_of,
)
from repopilot.agents.editing.exact.wording.lexicon import (
    ADJECTIVES,
    DETERMINERS,
    FILLERS,
    MARKERS,
    OTHER_WHATS,
    REASONS,
)
from repopilot.agents.editing.exact.wording.plain_wording import (
    about_callers,
    impolite,
    is_clitic,
    is_condition,
    with_default,
    without_asides,
    without_fillers,
)
from repopilot.agents.editing.exact.wording.statements import is_missing, is_passed, no_default, statement
from repopilot.agents.editing.exact.wording.task_tokens import Token, tokens_of
from repopilot.agents.editing.exact.wording.wishes import imperative, is_subject, subject_led

_SENTENCE_END = frozenset(".?!;")


_BREAKS = frozenset((",", ":", "–", "—", "-", "…"))


def clauses_of(task: str) -> list[Clause]:
    """The clauses of a task; [] where a part of it isn't understood.

    Args:
        task: without politeness.
    """
    reading = Reading(task)
    sentences = _sentences(without_asides(with_default(tokens_of(task)), reading))
    for sentence in sentences:
        _read_sentence(sentence, reading)
        if reading.failed:
            return []
    if reading.clauses:
        reading.extend_last(*reading.take_waiting())
    return reading.clauses


def _sentences(tokens: list[Token]) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "sign" and token.text in _SENTENCE_END:
            found.append([])
        else:
            found[-1].append(token)
    return [s for s in found if s]


_BECAUSE = frozenset("since because car parce puisque".split())


def _segments(tokens: Sequence[Token]) -> list[tuple[str, list[Token]]]:
    """A sentence cut at commas, colons, dashes and at `and` before a verb, each with the sign before it."""
    found: list[tuple[str, list[Token]]] = [("", [])]
    for at, token in enumerate(tokens):
        rest = tokens[at + 1 :]
        if token.low in _BECAUSE and token.kind == "word" and found[-1][1]:
            found.append((",", [token]))
            continue
        pair = (
            token.text == ":" and token.glued and at and tokens[at - 1].kind == "quoted" and not tokens[at - 1].is_code
        )
        if token.kind == "sign" and token.text in _BREAKS and not (token.text == "-" and token.glued) and not pair:
            found.append((token.text, []))
        elif (
            token.low in AND
            and token.kind in ("word", "sign")
            and (verb_at(rest)[0] or marker_at(rest)[0] == "old" or any(t.text in ARROWS for t in rest[1:3]))
        ):
            found.append(("and", []))
        else:
            found[-1][1].append(token)
    return [(sign, segment) for sign, segment in found if segment]


def _read_sentence(tokens: Sequence[Token], reading: Reading) -> None:
    segments = _segments(impolite(tokens, reading.text))
    before, waited, dropped = len(reading.clauses), list(reading.waiting), False
    for number, (sign, words) in enumerate(segments):
        following = segments[number + 1][0] if number + 1 < len(segments) else ""
        if sign and sign != "and" and REASONS.match(words_of(words)) and not modal_at(words):
            dropped = True
            reading.failed = reading.failed or (bool(reading.clauses) and is_condition(words))
            continue
        segment = without_fillers(impolite(words, reading.text))
        if not segment or about_callers(segment) or is_passed(segment, reading):
            continue
        if _read_segment(segment, sign, following, reading):
            dropped = False
        elif not dropped:
            reading.failed = True
            return
    if reading.stated and len(reading.clauses) == before:
        reading.waiting = [p for p in reading.waiting if p in waited or p.role == "label"]
    reading.stated = False


def _read_segment(segment: list[Token], sign: str, following: str, reading: Reading) -> bool:
    """Read one segment; whether it was understood."""
    if following == ":" and _is_label(segment):
        return statement(segment, reading) if says_state(segment) else _label(segment, reading)
    if is_clitic(segment):
        segment = [segment[1], segment[0], *segment[2:]]
    if _noun_led(segment, reading) or _labelled(segment, reading):
        return True
    if verb_at(segment)[0] and not is_subject(segment):
        return imperative(segment, reading)
    if is_missing(segment, reading) or no_default(segment, reading):
        return True
    if modal_at(segment):
        return subject_led(segment, reading) or (not reading.clauses and statement(segment, reading))
    if not reading.clauses and REASONS.match(words_of(segment)):
        return statement(segment, reading)
    return _arrow_led(segment, sign, reading) or _verbless(segment, sign, reading)


def _verbless(segment: list[Token], sign: str, reading: Reading) -> bool:
    """Read words without a verb."""
    role, length = marker_at(segment)
    if role and role != "that":
        return _adverbial(segment, length, sign, reading)
    if sign and _continued(segment, sign, reading):
        return True
    return statement(segment, reading)


def _labelled(segment: Sequence[Token], reading: Reading) -> bool:
    """What a label is to be: `a and b of f: keyword-only`, `requires-python: >=3.11`; `c8 ^10 as a dependency`."""
    parts = parts_of(segment)
    listed = next(
        (p for p in parts if p.role == "as" and any(OTHER_WHATS.get(t.low) == "dependency" for t in p.tokens)), None
    )
    label = next((p for p in reading.waiting if p.role == "label"), None)
    adjective = segment[0].kind == "word" and segment[0].low in ADJECTIVES and len(segment) <= 3
    value = len(segment) <= 2 and segment[0].kind == "literal"
    if listed is not None and parts[0].role == "" and not verb_at(segment)[0]:
        reading.clauses.append(Clause("add", "add", parts[0].tokens, tuple(parts[1:]), reading.text))
        return True
    if label is None or not (adjective or value) or (value and label.tokens[0].is_path and len(label.tokens) == 1):
        return False
    others = [p for p in reading.take_waiting() if p is not label]
    reading.clauses.append(
        Clause("be", "be", label.tokens, (*others, Part("complement", tuple(segment))), reading.text)
    )
    return True


def _noun_led(segment: Sequence[Token], reading: Reading) -> bool:
    """What is to be there, without a verb: `from a import b at the top of f.py`, `new entry "a": 1`."""
    statement = segment[0].kind == "literal" and segment[0].text.startswith("from ")
    if not statement and not _is_new(segment, reading):
        return False
    action, parts = "import" if statement else "add", parts_of(segment)
    others = reading.take_waiting()
    reading.clauses.append(Clause(action, action, parts[0].tokens, (*parts[1:], *others), reading.text))
    return True


def _is_new(segment: Sequence[Token], reading: Reading) -> bool:
    """Whether words name something new for a place: `new entry "a": 1`, `extra field size: int for Options`."""
    if segment[0].kind != "word" or segment[0].low not in _NEW or not any(tells_kind(t) for t in segment[1:4]):
        return False
    placed = any(p.role == "label" for p in reading.waiting) or any(
        p.role in ("to", "for", "in", "à") for p in parts_of(segment)
    )
    return placed and not modal_at(segment)


_NEW = frozenset("new extra another additional nouveau nouvelle nouvel".split())


def _label(segment: list[Token], reading: Reading) -> bool:
    """`X:` before what is to be done in or to X."""
    reading.about = reading.about if only_pronouns(segment) else tuple(segment)
    parts = parts_of(segment)
    reading.waiting += [
        Part("label", p.tokens) if not p.role else p
        for p in parts
        if any(t.kind != "word" or t.text[:1].isupper() for t in p.tokens) or p is parts[0]
    ]
    return True


def _adverbial(segment: list[Token], length: int, sign: str, reading: Reading) -> bool:
    """`in X`: where the last clause or the next one takes place."""
    verb = next((n for n in range(length + 1, min(length + 6, len(segment))) if verb_at(segment[n:])[0]), None)
    if verb is not None and any(t.kind in ("name", "path", "quoted") for t in segment[length:verb]):
        reading.waiting += parts_of(segment[:verb])
        return _read_segment(segment[verb:], sign, "", reading)
    parts = parts_of(segment)
    if reading.clauses and sign:
        reading.extend_last(*parts)
    else:
        reading.waiting += parts
    return True


def _is_label(segment: Sequence[Token]) -> bool:
    """Whether words name what the rest of the sentence is about."""
    names = [t for t in segment if t.kind in ("name", "path", "quoted") or (t.start and t.text[:1].isupper())]
    words = [t for t in segment if t.kind == "word" and t.low not in DETERMINERS]
    other = [t for t in words if not tells_kind(t) and t.low not in FILLERS and (t.low,) not in MARKERS]
    if len(segment) > 9 or len(other) > 2 or not (names or len(words) == 1):
        return False
    return not verb_at(segment)[0] and not modal_at(segment)


def _arrow_led(segment: list[Token], sign: str, reading: Reading) -> bool:
    """`X → Y`, `X = Y`, and after `X:` also `old → new`."""
    at = next(
        (n for n, t in enumerate(segment) if t.kind == "sign" and t.text in (*ARROWS, "=", ":=", "+=", "-=")), None
    )
    if at is None or at == len(segment) - 1:
        return False
    before, after = segment[:at], segment[at + 1 :]
    if segment[at].text in ("+=", "-="):
        action, role = ("add", "to") if segment[at].text == "+=" else ("remove", "from")
        reading.clauses.append(Clause(action, action, tuple(after), (Part(role, tuple(before)),), reading.text))
        return True
    left = parts_of(before)
    head = left[0].tokens if left and not left[0].role else ()
    parts = list(left[1:] if head else left)
    right = parts_of(after)
    if not right or right[0].role or (segment[at].text == "=" and says_state(after)):
        return False
    waiting = reading.take_waiting()
    label = next((p for p in waiting if p.role == "label"), None)
    literal = len(head) == 1 and head[0].kind in ("literal", "quoted")
    if label is not None and (literal or not head) and (len(label.tokens) > 1 or not label.tokens[0].is_path):
        parts = [*(p for p in waiting if p is not label), Part("old", head), *parts]
        head = label.tokens
    else:
        parts = [*waiting, *parts]
    if not head:
        return False
    reading.about = head
    reading.clauses.append(
        Clause("", segment[at].text, tuple(head), (*parts, Part("to", right[0].tokens), *right[1:]), reading.text)
    )
    return True


def _continued(segment: list[Token], sign: str, reading: Reading) -> bool:
    """More of what the last clause began: `remove a, b and c`; or what the next one is about."""
    code = [t for t in segment if t.kind in ("name", "quoted", "path", "literal")]
    if not reading.clauses:
        return False
    last = reading.clauses[-1]
    if sign == ":" and code:
        reading.extend_last(*(_colon(p) for p in parts_of(segment)))
        return True
    if sign in (",", "and") and code and all(t in code or t.low in DETERMINERS or t.low in AND for t in segment):
        if last.parts:
            tail = last.parts[-1]
            more = (*last.parts[:-1], Part(tail.role, (*tail.tokens, *segment)))
            reading.clauses[-1] = replace(last, parts=more)
        else:
            reading.clauses[-1] = replace(last, target=(*last.target, *segment))
        return True
    return bool(sign and not code and all(t.low in FILLERS or t.low in DETERMINERS for t in segment))


def _colon(part: Part) -> Part:
    return part if part.role else Part("colon", part.tokens)
