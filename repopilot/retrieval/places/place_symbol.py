"""The definition that a place is shown as, and the definitions that the splitter and the ranking joined. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from repopilot.types import Chunk, Symbol, innermost

_OWN = frozenset(("function", "method", "class"))
"""Kinds of definitions that are places of their own within a class."""


def place_symbol(outline: Sequence[Symbol], chunk: Chunk, line: int, names: Collection[str]) -> Symbol | None:
    """The definition that a place is about.

    Args:
        outline: the definitions of its file.
        chunk: the place.
        line: the number of its best line.
        names: the identifiers of the query.

    Returns:
        Of the definitions that begin in the place: the largest one that the query names, else the innermost one around
        the best line, else the one whose comment contains the best line, else the one that the place is named after;
        None without any.
    """
    if not chunk.symbol or chunk.kind == "doc":
        return None
    inside = [s for s in outline if chunk.start_line <= s.start_line <= chunk.end_line]
    named = [s for s in inside if s.name in names or s.qualified in names]
    if named:
        return max(named, key=lambda s: s.end_line - s.start_line)
    return (
        innermost(_without_fields(inside), line)
        or _commented(inside, chunk, line)
        or next((s for s in inside if s.qualified == chunk.symbol), None)
    )


def definition_spans(outline: Sequence[Symbol], chunk: Chunk) -> list[tuple[int, int]]:
    """Split a place into its innermost definitions, each with the comment above it, and the parts between them. Gives
    the first and last line of each. Definitions inside a function belong to the function, and the fields of a class to
    the class. A document, or a place without definitions, stays whole.

    Args:
        outline: the definitions of its file.
        chunk: the place.
    """
    functions = [s for s in outline if s.kind in ("function", "method")]
    inside = [s for s in outline if chunk.kind != "doc" and chunk.start_line <= s.start_line <= chunk.end_line]
    inside = [
        s for s in inside if not any(s is not f and f.start_line <= s.start_line <= f.end_line for f in functions)
    ]
    own = _without_fields(inside)
    leaves = [s for s in own if not any(_is_within(each, s) for each in own)]
    lines = chunk.text.split("\n")
    cuts = {chunk.start_line, *(s.end_line + 1 for s in leaves)}
    for leaf in leaves:
        start = leaf.start_line
        while start not in cuts and start > chunk.start_line and _goes_on(lines[: start - chunk.start_line]):
            start -= 1
        cuts.add(start)
    starts = sorted(cut for cut in cuts if cut <= chunk.end_line)
    return list(zip(starts, [*(start - 1 for start in starts[1:]), chunk.end_line], strict=True))


def _without_fields(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Some definitions without the fields of a class among them."""
    classes = [s for s in symbols if s.kind == "class"]
    return [s for s in symbols if s.kind in _OWN or not any(_is_within(s, each) for each in classes)]


def _is_within(symbol: Symbol, other: Symbol) -> bool:
    return symbol is not other and other.start_line <= symbol.start_line <= other.end_line


def _goes_on(before: Sequence[str]) -> bool:
    """Whether the last line belongs to what follows: it isn't blank, or it is the blank line after a closed comment."""
    return bool(before[-1].strip() or (before[-2:-1] and before[-2].strip() == "*/"))


def _commented(symbols: Sequence[Symbol], chunk: Chunk, line: int) -> Symbol | None:
    """The definition that follows a line without a blank one in between."""
    following = min((s for s in symbols if s.start_line > line), key=lambda s: s.start_line, default=None)
    if following is None:
        return None
    between = chunk.text.split("\n")[line - chunk.start_line : following.start_line - chunk.start_line]
    return following if all(text.strip() for text in between) else None
