"""The vendored list of token formats: `known_formats.json`, made by `bench/vendor_secret_formats.py`, with its licence.

A pattern is compiled when one of its anchors occurs for the first time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from repopilot.redaction.randomness import entropy, is_placeholder

_BEFORE = 120
_BEHIND = 400
_BEHIND_LONG = 4_000
_LONG = re.compile(r"\{\d*,?(?:[3-9]\d\d|\d{4,})\}|[\])]\+")


class KnownFormat(NamedTuple):
    """One format; `group` is the group of the secret in `pattern`, 0 for the first one that matched."""

    name: str
    anchors: tuple[str, ...]
    pattern: str
    group: int
    entropy: float


@cache
def known_formats() -> tuple[KnownFormat, ...]:
    """The formats of the list."""
    listed = json.loads((files(__package__) / "known_formats.json").read_text("utf-8"))["formats"]
    return tuple(KnownFormat(**entry | {"anchors": tuple(entry["anchors"])}) for entry in listed)


def secrets_near(text: str, number: int, places: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """The secrets of one format.

    Args:
        text: any text.
        number: of the format in `known_formats()`.
        places: where its anchors stand in the text, ascending.

    Yields:
        Start, end and the rule's name.
    """
    form = known_formats()[number]
    pattern = _compiled(number)
    behind = _BEHIND_LONG if _LONG.search(form.pattern) else _BEHIND
    for start, end in _windows(places, behind):
        for match in pattern.finditer(text, start, end):
            span = match.span(form.group or _first_group(match))
            value = text[slice(*span)]
            if entropy(value or " ") > form.entropy and not is_placeholder(value):
                yield *span, form.name


@cache
def _compiled(number: int) -> re.Pattern[str]:
    return re.compile(known_formats()[number].pattern)


def _first_group(match: re.Match[str]) -> int:
    return next((n for n, value in enumerate(match.groups(), 1) if value), 0)


def _windows(places: Sequence[int], behind: int) -> Iterator[tuple[int, int]]:
    """The parts of the text to search: around each place, joined where they overlap, so that none is searched twice."""
    start = max(0, places[0] - _BEFORE)
    end = places[0] + behind
    for place in places[1:]:
        if place - _BEFORE > end:
            yield start, end
            start = place - _BEFORE
        end = place + behind
    yield start, end
