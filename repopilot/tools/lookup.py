"""What agents and MCP clients may look up in the index of a repository at one commit. Arguments are checked here.

Each function returns text that costs few tokens, and raises UsageError on a wrong argument, with a hint what is right.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from repopilot.code.languages import reads_symbols
from repopilot.errors import UsageError
from repopilot.i18n import joined, message
from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.results import RankedPlace
from repopilot.retrieval import skipped_files
from repopilot.retrieval.places.focus import adjacent
from repopilot.tools import result_types
from repopilot.tools.registry import ToolResult
from repopilot.types import Symbol

MOST_ROWS = 60
"""Rows of a list; what is left out is counted."""
MOST_LINES = 200
"""Lines of code in one reply."""
_MOST_PASSAGES = 20
_MOST_SIMILAR = 3


def search(index: Index, query: str, k: int, embedder: Embedder | None) -> ToolResult:
    """Rank the passages for a question, identifier or traceback.

    Args:
        index: the repository.
        query: the question, identifier or traceback.
        k: the most passages, 1 to 20.
        embedder: for dense retrieval; None for lexical retrieval alone.

    Returns:
        Place, symbol and text of each passage, and notes on what could not be searched.

    Raises:
        UsageError: `k` is less than 1 or too large.
    """
    from repopilot.retrieval.result_page import search_page

    if not 1 <= k <= _MOST_PASSAGES:
        raise UsageError(message("tools.passages", k=k, most=_MOST_PASSAGES))
    found = search_page(index, query, k, embedder=embedder)
    parts = [_passage(place) for place in found.places]
    text = "\n\n".join([*parts, *found.notes]) or message("tools.nothing_found")
    rows = [_place(each.path, each.start_line, each.end_line, each.title, each.text) for each in found.places]
    return ToolResult(text, {"places": rows, "notes": list(found.notes)})


def _place(path: str, start: int, end: int, symbol: str, text: str) -> result_types.CodePlace:
    return {"path": path, "start_line": start, "end_line": end, "symbol": symbol, "text": text}


def _passage(place: RankedPlace) -> str:
    """A place with all of its text; a long one also with the numbers of the lines that matter."""
    head = f"{place.path}:{place.start_line}-{place.end_line} {place.title}"
    if len(place.lines) <= place.end_line - place.start_line:
        ranges = adjacent([line.number for line in place.lines])
        numbers = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
        head = f"{head} ({message('tools.best_lines', lines=numbers)})"
    return f"{head}\n{place.text}"


def files(index: Index, glob: str = "*") -> ToolResult:
    """List the paths that match a glob (`*` matches folders too), one a line, at most MOST_ROWS."""
    found = sorted(p for p in index.files if fnmatch.fnmatch(p, glob))
    data = {"paths": found[:MOST_ROWS], "left_out": max(0, len(found) - MOST_ROWS)}
    return ToolResult(join_rows(found) or message("tools.no_match", glob=glob), data)


def outline(index: Index, path: str) -> ToolResult:
    """List the symbols of a file: lines, signature, indented by nesting.

    Raises:
        UsageError: the file isn't in the index.
    """
    _require_file(index, path)
    found = index.outline(path)
    rows = [f"{s.start_line}-{s.end_line} {'  ' * s.qualified.count('.')}{s.short_signature or s.name}" for s in found]
    symbols = [
        {
            "name": s.qualified,
            "start_line": s.start_line,
            "end_line": s.end_line,
            "signature": s.short_signature or s.name,
        }
        for s in found[:MOST_ROWS]
    ]
    data = {"path": path, "symbols": symbols, "left_out": len(found) - len(symbols)}
    language = index.files[path].language
    none = "tools.no_symbols" if reads_symbols(language) else "tools.no_symbols_of"
    return ToolResult(join_rows(rows) or message(none, path=path, language=language), data)


def symbol(index: Index, path: str, name: str) -> ToolResult:
    """Show the text of a definition, or the places of several of one name.

    Args:
        index: the repository.
        path: the file that defines it, '' for any.
        name: its name or qualified name.

    Raises:
        UsageError: there is no such definition.
    """
    last = name.rpartition(".")[2]
    found = [s for s in index.symbols(last) if name in (s.name, s.qualified) and path in ("", s.path)]
    if not found:
        key = "tools.unknown_symbol_in" if path else "tools.unknown_symbol"
        raise UsageError(message(key, name=name, path=path), message("tools.unknown_symbol_hint"))
    if len(found) > 1:
        rows = [_place(s.path, s.start_line, s.end_line, s.qualified, "") for s in found[:MOST_ROWS]]
        text = join_rows([f"{s.path}:{s.start_line} {s.qualified}" for s in found])
        return ToolResult(text, {"places": rows, "notes": []})
    return _span(index, found[0])


def read(index: Index, path: str, start: int = 1, end: int = MOST_LINES) -> ToolResult:
    """Show numbered lines of a file, at most MOST_LINES.

    Args:
        index: the repository.
        path: of the file.
        start: the first line, from 1.
        end: the last line, inclusive.

    Returns:
        A line each, with its number.

    Raises:
        UsageError: the file isn't in the index, or has no such lines.
    """
    _require_file(index, path)
    lines = (index.text(path) or "").split("\n")
    if not 1 <= start <= len(lines) or end < start:
        raise UsageError(message("tools.lines", path=path, last=len(lines), start=start, end=end))
    last = min(end, start + MOST_LINES - 1, len(lines))
    shown = lines[start - 1 : last]
    text = "\n".join(f"{n} {line}" for n, line in enumerate(shown, start))
    return ToolResult(text, {"path": path, "start_line": start, "end_line": last, "total": len(lines), "lines": shown})


def _require_file(index: Index, path: str) -> None:
    if path not in index.files:
        if why := skipped_files.reason(index, path):
            raise UsageError(message("retrieval.skipped_file", path=path, reason=why))
        name = path.rpartition("/")[2]
        similar = [p for p in index.files if p.endswith(name)][:_MOST_SIMILAR] if name else []
        hint = message("tools.similar_files", paths=", ".join(similar)) if similar else ""
        raise UsageError(message("tools.unknown_file", path=path), hint)


def _span(index: Index, found: Symbol) -> ToolResult:
    lines = (index.text(found.path) or "").split("\n")[found.start_line - 1 : found.end_line]
    shown = lines[:MOST_LINES]
    more = [f"… {len(lines) - len(shown)} more lines"] if len(lines) > len(shown) else []
    text = "\n".join([f"{found.path}:{found.start_line}-{found.end_line}", *shown, *more])
    row = _place(found.path, found.start_line, found.end_line, found.qualified, "\n".join(shown))
    return ToolResult(text, {"places": [row], "notes": more})


def join_rows(rows: Sequence[str]) -> str:
    """Rows as lines, at most MOST_ROWS, and how many more there are."""
    more = [message("tools.more_rows", count=len(rows) - MOST_ROWS)] if len(rows) > MOST_ROWS else []
    return joined([*rows[:MOST_ROWS], *more], "\n") if rows else ""
