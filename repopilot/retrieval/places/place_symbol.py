"""The definition that a place is shown as: what the splitter and the ranking put together is taken apart. Pure."""

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


def definition_spans(outline: Sequence[Symbol], chunk: Chunk) -> list[tuple[int, int]]:
    """Take apart what the splitter and the ranking put together: the first and last lines of the definitions in a place
    that hold no other, and of what stands between them. What a function defines belongs to it. The whole place where it
    is a document or holds none.

    Args:
        outline: the definitions of its file.
        chunk: the place.
    """
    functions = [s for s in outline if s.kind in ("function", "method")]
    inside = [s for s in outline if chunk.kind != "doc" and chunk.start_line <= s.start_line <= chunk.end_line]
    inside = [
        s for s in inside if not any(s is not f and f.start_line <= s.start_line <= f.end_line for f in functions)
    ]
    leaves = [s for s in inside if not any(s is not o and s.start_line <= o.start_line <= s.end_line for o in inside)]
    cuts = {chunk.start_line, *(s.start_line for s in leaves), *(s.end_line + 1 for s in leaves)}
    starts = sorted(cut for cut in cuts if cut <= chunk.end_line)
    return list(zip(starts, [*(start - 1 for start in starts[1:]), chunk.end_line], strict=True))


def _commented(symbols: Sequence[Symbol], chunk: Chunk, line: int) -> Symbol | None:
    """The definition that follows a line without a blank one in between."""
    following = min((s for s in symbols if s.start_line > line), key=lambda s: s.start_line, default=None)
    if following is None:
        return None
    between = chunk.text.split("\n")[line - chunk.start_line : following.start_line - chunk.start_line]
    return following if all(text.strip() for text in between) else None
