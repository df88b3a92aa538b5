"""Secrets that stand in the statement of a telling name, but not beside it: on the next line, in another argument, cell
or tag. There the value alone has to show that it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.redaction.bounded_pattern import compile_bounded
from repopilot.redaction.randomness import is_bare_password, is_words_and_number, looks_random
from repopilot.redaction.secret_names import Promise

_LONGEST = 200
_MARK = "[REDACTED:"  # of redact.py, which builds on this module
_NEXT = compile_bounded(
    r"""\s*\n[ \t]*(?:[-{(]?\s*)?"""
    r"""(?:["']?(?:android:)?(?:[vV]alue|default|example|content|Text|String)["']?\s*[:=]|<\w+>|["'`(])"""
)
"""The beginning of a line that continues the statement before it."""
_CANDIDATE = re.compile(
    r"""["'`>](?P<enclosed>[^\s"'`<>]{8,200})(?=["'`<\\])|(?<![^\s(=:|,])(?P<bare>[^\s"'`<>()\[\]{},;=|]{8,120})(?![^\s),;|.])"""
)
_TWO_DIGITS = re.compile(r"\d\S{0,60}\d")
_MOST_CANDIDATES = 8
_CHECKSUM = re.compile(r"(?i)(?:sha|md)\d+[-_:=]|utf|P[\dT]")
_TOKEN = re.compile(r"(?:[\w+/~:-]+\.?){1,4}={0,2}(?:%3D){0,2}")
_SIGN = re.compile(r"[!#$%^&*?~@+]")
_BARE_SIGN = re.compile(r"[!#$?~@]")
_NO_PASSWORD = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]+$|.*%[0-9A-Fa-f]{2}|.*[&?]\w+=|[~^]\d|.*@(?:v?\d|\w+:)|.*#[\w-]+$|@\w|\$\w+[-.\w]*$|.*\$[a-z{(]|.*::|.*\\|\*|"
    r".*[*&()\[\]{}]$|&|.*[({\[]|.*\w[?!]$|/|.*/"
)


def values_in_statement(text: str, at: int, promise: Promise) -> Iterator[tuple[int, int]]:
    """The first value in a statement that can only be a secret; after a password's name, one that looks typed counts.

    Args:
        text: any text.
        at: the end of a name that promises a secret.
        promise: what the name promises.
    """
    for candidate in _candidates(text, at):
        group = "enclosed" if candidate["enclosed"] is not None else "bare"
        value = candidate[group].rstrip("\\" if group == "enclosed" else ".:\\")
        start = candidate.start(group)
        if _MARK in text[at:start]:
            return  # it was found before
        if _CHECKSUM.search(text, max(at, start - 8), start):
            continue
        if group == "enclosed" and promise is Promise.PASSWORD and is_typed(value) and "\n" not in text[at:start]:
            yield start, start + len(value)
            return
        if shows_itself(value, _SIGN if group == "enclosed" else _BARE_SIGN):
            yield start, start + len(value)
            return


def is_typed(value: str) -> bool:
    """Whether a literal on the line of a password's name is one that somebody typed."""
    return is_words_and_number(value) or (is_bare_password(value) and not _NO_PASSWORD.match(value))


def shows_itself(value: str, sign: re.Pattern[str] = _SIGN) -> bool:
    """Whether a value is a secret whatever stands beside it: long and random, or typed with digits and signs."""
    if _CHECKSUM.match(value):
        return False
    if len(value) >= 20 and looks_random(value):
        return _is_mixed(value) and _TOKEN.fullmatch(value) is not None
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    return (
        letters >= 3
        and digits >= 2
        and sign.search(value) is not None
        and is_bare_password(value)
        and not _NO_PASSWORD.match(value)
    )


def _is_mixed(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    if value.lower() == value:
        return 3 <= digits < len(value) and re.fullmatch(r"[0-9a-f-]{32,}", value) is not None
    return 2 <= digits < len(value)


def _candidates(text: str, at: int) -> Iterator[re.Match[str]]:
    end = text.find("\n", at, at + 3 * _LONGEST)
    if end < 0 and len(text) > at + 3 * _LONGEST:
        return  # a line of data
    end = min(end if end >= 0 else len(text), at + _LONGEST)
    if _NEXT.match(text, end):
        end = text.find("\n", end + 1, end + _LONGEST)
        end = end if end >= 0 else min(at + 2 * _LONGEST, len(text))
    if not _TWO_DIGITS.search(text, at, end):
        return
    for number, candidate in enumerate(_CANDIDATE.finditer(text, at, end)):
        if number == _MOST_CANDIDATES:
            return
        yield candidate
