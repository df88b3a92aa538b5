"""Text from outside, made safe to handle: valid Unicode. Pure."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def valid(text: str) -> str:
    """A text that every encoder and library takes: JSON and arguments of a program can bring halves of surrogate pairs,
    in whose place stands U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
