"""Hides known secrets wherever they are printed: a printed value no longer has its name beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from repopilot.redaction.redact import MARK, redacted, secrets_in

_SHORTEST = 6


def values_in(texts: Iterable[str]) -> frozenset[str]:
    """The secrets of files, as they would be printed."""
    values = {value.strip("\"' ") for text in texts for value in secrets_in(text)}
    return frozenset(value for value in values if len(value) >= _SHORTEST and "\n" not in value)


def without(values: Iterable[str], text: str) -> str:
    """The text without the secrets found in it, and without the given values."""
    return hidden(values, redacted(text))


def hidden(values: Iterable[str], text: str) -> str:
    """The text without the given values."""
    pattern = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    return re.sub(pattern, f"{MARK}known-value]", text) if pattern else text
