"""Places of the repository as a model reads them: the best with numbered lines, the others as one line each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from repopilot.i18n import joined, message
from repopilot.index.store import Index
from repopilot.retrieval.places.focus import adjacent
from repopilot.tools import result_types
from repopilot.tools.registry import ToolResult
from repopilot.types import Symbol, innermost

WHOLE = 2
"""Number of places whose lines are printed."""
MOST_LINES = 60
"""Most lines that are printed of a place; of a longer one only those that matter."""
_BEFORE = 4
"""Lines printed before one that matters, where the definition around it is long."""
_AROUND = 24
"""Lines printed in all around one that matters."""
_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class PrintedPlace:
    """Lines of a file. `title` names them where no definition begins in them; `best` are the lines that matter."""

    path: str
    start: int
    end: int
    title: str = ""
    best: tuple[int, ...] = ()


def told(
    index: Index,
    places: Sequence[PrintedPlace],
    notes: Sequence[str] = (),
    shown: Collection[str] = (),
    most: int = MOST_LINES,
) -> ToolResult:
    """Print places, the best first.

    Args:
        index: the repository.
        places: what was found.
        notes: remarks to add.
        shown: results that the reader still sees: places in them are not printed again.
        most: lines of a place that are printed.

    Returns:
        The text, and as data a row for each range of lines that is printed, or for each place that isn't.
    """
    rows: list[result_types.CodePlace] = []
    parts: list[str] = []
    for number, place in enumerate(places):
        lines = index.rows(place.path)
        outline = index.outline(place.path)
        names = _names(place, outline)
        head = f"{place.path}:{place.start}-{place.end} {', '.join(names)}".rstrip()
        ranges = _ranges(place, outline, most) if number < WHOLE else []
        printed = [numbered(lines[start - 1 : end], start) for start, end in ranges]
        known = any(place.path in text and all(part in text for part in printed) for text in shown)
        if ranges and not known:
            parts.append(joined([head, *_with_cuts(place, ranges, printed)], "\n"))
            rows += [_row(place, *span, names, "\n".join(lines[span[0] - 1 : span[1]])) for span in ranges]
        else:
            parts.append(message("tools.printed_above", place=head) if ranges else head)
            rows.append(_row(place, place.start, place.end, names, ""))
    return ToolResult(joined([*parts, *notes], "\n"), {"places": rows, "notes": list(notes)})


def numbered(lines: Sequence[str], start: int) -> str:
    """Lines with their numbers."""
    return "\n".join(f"{number} {line}" for number, line in enumerate(lines, start))


def _row(place: PrintedPlace, start: int, end: int, names: Sequence[str], text: str) -> result_types.CodePlace:
    return {
        "path": place.path,
        "start_line": start,
        "end_line": end,
        "symbol": place.title or ", ".join(names),
        "text": text,
    }


def _names(place: PrintedPlace, outline: Sequence[Symbol]) -> list[str]:
    """The definitions that begin in a place, else the one around it."""
    inside = [s.qualified for s in outline if place.start <= s.start_line <= place.end]
    names = list(dict.fromkeys(inside)) or [place.title]
    more = [f"+{len(names) - _MOST_NAMES}"] if len(names) > _MOST_NAMES else []
    return [*names[:_MOST_NAMES], *more]


def _ranges(place: PrintedPlace, outline: Sequence[Symbol], most: int) -> list[tuple[int, int]]:
    """The lines to print: all of a place that is short enough, else the definitions around the lines that matter."""
    if place.end - place.start < most:
        return [(place.start, place.end)]
    chosen: dict[int, None] = {}
    for line in place.best:
        around = innermost(outline, line)
        first = max(place.start, line - _BEFORE)
        last = min(place.end, line - _BEFORE + _AROUND)
        if around is not None and around.end_line - around.start_line < most // 2:
            first = max(place.start, around.start_line)
            last = min(place.end, around.end_line)
        if len(chosen) + last - first < most:
            chosen.update(dict.fromkeys(range(first, last + 1)))
    return adjacent(list(chosen)) or [(place.start, place.start + most - 1)]


def _with_cuts(place: PrintedPlace, ranges: Sequence[tuple[int, int]], printed: Sequence[str]) -> Iterator[str]:
    """The printed ranges, and between them notes on the lines left out."""
    at = place.start
    for (start, end), text in zip(ranges, printed, strict=True):
        if start > at:
            yield message("tools.cut", start=at, end=start - 1)
        yield text
        at = end + 1
    if at <= place.end:
        yield message("tools.cut", start=at, end=place.end)
