"""The version an index is written in: any change to what is stored, split or counted makes old ones be rebuilt."""

from __future__ import annotations

from repopilot.code import split
from repopilot.index import lexical

SCHEMA = 2


def version() -> str:
    """Of everything in a generation."""
    return f"{SCHEMA}.{split.VERSION}.{lexical.VERSION}"


def splitter() -> str:
    """Of what decides the texts of the chunks, and with them the vectors."""
    return str(split.VERSION)
