"""Which definition a place is shown as, where small ones share a place. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from repopilot.types import Chunk, Symbol, innermost


def place_symbol(outline: Sequence[Symbol], chunk: Chunk, line: int, names: Collection[str]) -> Symbol | None:
    """The definition that a place is about.

    Args:
        outline: the definitions of its file.
        chunk: the place.
        line: the number of its best line.
        names: the identifiers of the query.

    Returns:
        Of the definitions that begin in the place the largest that the query names, else the innermost around the
        best line, else the one whose comment that line is, else the one that gave the place its name; None for no
        definition.
    """
    if not chunk.symbol or chunk.kind == "doc":
        return None
    inside = [s for s in outline if chunk.start_line <= s.start_line <= chunk.end_line]
    named = [s for s in inside if s.name in names or s.qualified in names]
    if named:
        return max(named, key=lambda s: s.end_line - s.start_line)
    return (
        innermost(inside, line)
        or _commented(inside, chunk, line)
        or next((s for s in inside if s.qualified == chunk.symbol), None)
    )


def _commented(symbols: Sequence[Symbol], chunk: Chunk, line: int) -> Symbol | None:
    """The definition that follows a line without a blank one in between."""
    following = min((s for s in symbols if s.start_line > line), key=lambda s: s.start_line, default=None)
    if following is None:
        return None
    between = chunk.text.split("\n")[line - chunk.start_line : following.start_line - chunk.start_line]
    return following if all(text.strip() for text in between) else None
