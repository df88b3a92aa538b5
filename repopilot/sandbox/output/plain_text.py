"""Strips terminal escapes and control characters from a program's output. Pure."""

from __future__ import annotations

import re

LONGEST_TEXT = 8_000
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)?"  # DCS, SOS, PM, APC
    r"|\x1b.?",
    re.S,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: object, longest: int = LONGEST_TEXT) -> str:
    """Remove terminal escapes, control characters (except tab and newline), marks that change the direction of text,
    and lone surrogates, which can't be encoded.

    Args:
        text: a program's output; anything but text, numbers and booleans becomes '', since nested values may be
            arbitrarily deep.
        longest: the most characters to return.

    Returns:
        The text.
    """
    if not isinstance(text, (str, int, float)):
        return ""
    cut = str(text)[: 4 * longest]
    return _CONTROL.sub("", _ESCAPE.sub("", cut))[:longest]
