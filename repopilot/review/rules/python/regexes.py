"""Regular expressions that take exponential time on some texts, told from their parsed form. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]

_REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT)
_SAMPLE = [chr(n) for n in range(32, 127)] + ["\t", "\n", "é"]


@cache
def catastrophic(pattern: str) -> bool:
    """Whether a repeat without end contains only one such repeat that must match and nothing else that must, or two
    branches that begin alike: then one text can be read in exponentially many ways. Something has to follow that can
    fail. False for what doesn't parse."""
    try:
        items = list(_parser.parse(pattern))
    except (re.error, RecursionError, OverflowError):
        return False
    return any(_ambiguous(body) for body in _endless(items, False))


def _endless(items: list, followed: bool) -> Iterator[list]:
    """The bodies of unbounded repeats after which something must match."""
    for number, (kind, value) in enumerate(items):
        more = followed or any(_must(item) for item in items[number + 1 :])
        if kind in _REPEATS:
            low, high, body = value
            if high == code.MAXREPEAT and more:
                yield list(body)
            yield from _endless(list(body), more or high != low)
        elif kind is code.SUBPATTERN:
            yield from _endless(list(value[3]), more)
        elif kind is code.BRANCH:
            for branch in value[1]:
                yield from _endless(list(branch), more)


def _must(item: tuple) -> bool:
    """Takes part in deciding whether the text matches."""
    kind, value = item
    if kind is code.AT:
        return value not in (code.AT_BEGINNING, code.AT_BEGINNING_STRING)
    return _least(item) > 0


def _least(item: tuple) -> int:
    """The fewest characters an item takes."""
    kind, value = item
    if kind in _REPEATS:
        return value[0] * sum(map(_least, value[2]))
    if kind is code.SUBPATTERN:
        return sum(map(_least, value[3]))
    if kind is code.BRANCH:
        return min(sum(map(_least, branch)) for branch in value[1])
    return 0 if kind in (code.AT, code.ASSERT, code.ASSERT_NOT) else 1


def _ambiguous(body: list) -> bool:
    """An endless repeat, and nothing but such repeats that must match: `(\\w+\\s?)*`; or branches that begin alike."""
    if len(body) == 1 and body[0][0] is code.SUBPATTERN:
        return _ambiguous(list(body[0][1][3]))
    if len(body) == 1 and body[0][0] is code.BRANCH:
        firsts = [_first(list(branch)) for branch in body[0][1][1]]
        singles = [f for f in firsts if f]
        return any(a & b for n, a in enumerate(singles) for b in singles[n + 1 :]) and all(
            len(branch) == 1 for branch in body[0][1][1]
        )
    if any(item[0] in (code.AT, code.ASSERT, code.ASSERT_NOT) for item in body):
        return False
    endless = [item for item in body if item[0] in _REPEATS and item[1][1] == code.MAXREPEAT]
    needed = [item for item in body if _least(item) > 0]
    alike = [_first([item]) for item in needed]
    return bool(endless) and all(item in endless for item in needed) and (len(needed) < 2 or bool(alike[0] & alike[1]))


def _first(items: list) -> frozenset[str]:
    """The characters of the sample with which a branch of one item can begin."""
    if not items:
        return frozenset()
    kind, value = items[0]
    if kind is code.SUBPATTERN:
        return _first(list(value[3]))
    if kind in _REPEATS:
        return _first(list(value[2]))
    if kind is code.LITERAL:
        return frozenset({chr(value)})
    if kind is code.ANY:
        return frozenset(_SAMPLE) - {"\n"}
    return frozenset(c for c in _SAMPLE if _in(kind, value, c))


def _in(kind: object, value: object, character: str) -> bool:
    if kind is not code.IN:
        return False
    parts = list(value)  # type: ignore[call-overload]
    negated = bool(parts) and parts[0][0] is code.NEGATE
    found = any(_member(k, v, character) for k, v in parts[negated:])
    return found != negated


def _member(kind: object, value: object, character: str) -> bool:
    if kind is code.LITERAL:
        return chr(value) == character  # type: ignore[arg-type]
    if kind is code.RANGE:
        return value[0] <= ord(character) <= value[1]  # type: ignore[index]
    letter = {
        code.CATEGORY_DIGIT: r"\d",
        code.CATEGORY_WORD: r"\w",
        code.CATEGORY_SPACE: r"\s",
        code.CATEGORY_NOT_DIGIT: r"\D",
        code.CATEGORY_NOT_WORD: r"\W",
        code.CATEGORY_NOT_SPACE: r"\S",
    }
    return bool(re.match(letter.get(value, "(?!)"), character))  # type: ignore[arg-type]
