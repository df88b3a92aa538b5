"""Secrets that stand in the statement of a telling name, but not beside it: on the next line, in another argument, cell
or tag. There the value alone has to show that it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.redaction.randomness import is_bare_password, looks_random

_LONGEST = 200
_NEXT = re.compile(
    r"""\s*\n[ \t]*(?:[-{(]?\s*)?(?:["']?(?:android:)?(?:[vV]alue|default|example|content|Text|String)["']?\s*[:=]|<\w+>|["'`(])"""
)
"""The beginning of a line that goes on with the statement before it."""
_CANDIDATE = re.compile(
    r"""["'`>](?P<enclosed>[^\s"'`<>]{8,200})(?=["'`<\\])|(?<![^\s(=:|,])(?P<bare>[^\s"'`<>()\[\]{},;=|]{8,120})(?![^\s),;|.])"""
)
_MOST_CANDIDATES = 8
_SIGN = re.compile(r"[!#$%^&*?~@+]")
_BARE_SIGN = re.compile(r"[!#$?~@]")
_NO_PASSWORD = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]+$|.*%[0-9A-Fa-f]{2}|.*[&?]\w+=|[~^]\d|.*@(?:v?\d|\w+:)|.*#[\w-]+$|@\w|\$\w+[-.\w]*$|.*\$[a-z{(]|.*::|.*\\|\*|"
    r".*[*&]$|&|.*\w[?!]$|/|.*/"
)


def values_in_statement(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The first value of a statement that nothing but a secret looks like.

    Args:
        text: any text.
        at: the end of a name that promises a secret.
    """
    for candidate in _candidates(text, at):
        enclosed = candidate["enclosed"] is not None
        value = candidate["enclosed"] if enclosed else candidate["bare"].rstrip(".:")
        value = value.rstrip("\\")
        if shows_itself(value, _SIGN if enclosed else _BARE_SIGN):
            start = candidate.start("enclosed" if enclosed else "bare")
            yield start, start + len(value)
            return


def shows_itself(value: str, sign: re.Pattern[str] = _SIGN) -> bool:
    """Whether a value is a secret whatever stands beside it: long and drawn at random, or made up with digits and signs."""
    if len(value) >= 20 and looks_random(value):
        return _is_mixed(value)
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    return (
        letters >= 3
        and digits >= 2
        and sign.search(value) is not None
        and is_bare_password(value)
        and not _NO_PASSWORD.match(value)
    )


def _is_mixed(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    return 3 <= digits < len(value) and (re.fullmatch(r"[0-9a-f-]{32,}", value) is not None or value.lower() != value)


def _candidates(text: str, at: int) -> Iterator[re.Match[str]]:
    end = text.find("\n", at, at + 3 * _LONGEST)
    if end < 0 and len(text) > at + 3 * _LONGEST:
        return  # a line of data
    end = min(end if end >= 0 else len(text), at + _LONGEST)
    if _NEXT.match(text, end):
        end = text.find("\n", end + 1, end + _LONGEST)
        end = end if end >= 0 else min(at + 2 * _LONGEST, len(text))
    for number, candidate in enumerate(_CANDIDATE.finditer(text, at, end)):
        if number == _MOST_CANDIDATES:
            return
        yield candidate
