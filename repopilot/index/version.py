"""The version an index is written in: any change to what is stored, split or counted makes old ones be rebuilt."""

from __future__ import annotations

from repopilot.code import split
from repopilot.index import lexical

SCHEMA = 1


def version() -> str:
    """Schema, splitter and lexical index."""
    return f"{SCHEMA}.{split.VERSION}.{lexical.VERSION}"
