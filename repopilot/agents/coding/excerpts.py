"""Which lines of the repository a small model is shown for a task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot.agents.coding.places import named_paths
from repopilot.code.languages import file_kind, is_test_path
from repopilot.types import Hit, innermost
from repopilot.workspace import Workspace

MOST_LINES = 44
MOST_EXCERPTS = 5
_AROUND = 5
"""Lines shown above and below the best one."""
_SMALL = 18
"""A definition with up to this many lines is shown in full."""
_FEW = 2
"""A name with more definitions than this says nothing about the place."""
_NAME = re.compile(r"[\w.]*\w{3,}")


@dataclass(frozen=True, slots=True)
class LineExcerpt:
    """Neighbouring lines of a file; `first` is the number of the first one, from 0."""

    path: str
    first: int
    lines: tuple[str, ...]


def shown_lines(task: str, hits: Sequence[Hit], workspace: Workspace) -> list[LineExcerpt]:
    """The lines that a task is likely about: the definitions that it names, then what the search found. Where it names
    files, only lines of these files.

    Args:
        task: as the user wrote it.
        hits: what the search found for it.
        workspace: the repository.
    """
    index = workspace.index
    windows: list[tuple[str, int, int]] = []
    for path, line in _places(task, hits, workspace):
        if len(windows) == MOST_EXCERPTS or sum(end - start for _, start, end in windows) >= MOST_LINES:
            break
        if any(path == other and start <= line <= end + 1 for other, start, end in windows):
            continue
        around = innermost(index.outline(path), line)
        start = line - _AROUND
        end = line + _AROUND
        if around is not None and around.end_line - around.start_line < _SMALL:
            start = around.start_line - 2
            end = around.end_line + 2
        start = max(0, start - 1)
        for window in [each for each in windows if each[0] == path and each[1] < end and start < each[2]]:
            windows.remove(window)
            start = min(start, window[1])
            end = max(end, window[2])
        windows.append((path, start, end))
    texts = {path: index.rows(path) for path, _, _ in windows}
    found = (LineExcerpt(path, start, tuple(texts[path][start:end])) for path, start, end in windows)
    return [excerpt for excerpt in found if any(line.strip() for line in excerpt.lines)]


def _places(task: str, hits: Sequence[Hit], workspace: Workspace) -> Iterator[tuple[str, int]]:
    """Lines by path, the likeliest first."""
    index = workspace.index
    named = [path for path in named_paths(task, index) if path in index.files]
    for name in dict.fromkeys(_NAME.findall(task)):
        symbols = [s for s in index.symbols(name) if (s.path in named if named else not is_test_path(s.path))]
        if len(symbols) <= _FEW:
            yield from ((symbol.path, symbol.start_line) for symbol in symbols)
    for hit in sorted(hits, key=lambda hit: (is_test_path(hit.chunk.path), file_kind(hit.chunk.path) != "code")):
        if not named or hit.chunk.path in named:
            lines = hit.lines or ((hit.chunk.start_line, hit.chunk.end_line),)
            yield from ((hit.chunk.path, first) for first, _ in lines)
    yield from ((path, 1) for path in named)
