"""Finds JSON values in a model's text. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_TRIES = 300
"""Most brackets of a text at which parsing is tried."""
_DECODER = json.JSONDecoder(strict=False)
_OPENING = re.compile(r"[{\[]")


def json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """The outermost JSON objects and lists in a text: start, end and value of each."""
    at = 0
    for _ in range(MOST_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at = opening.start() + 1
            continue
        yield opening.start(), at, value
