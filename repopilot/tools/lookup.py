"""The explorer's tools: what an agent may look up in the index at the pinned commit. Arguments are checked here.

Each returns text made to cost few tokens. A wrong argument raises UsageError with what would be right.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from repopilot.errors import UsageError
from repopilot.index import embed
from repopilot.index.store import Index
from repopilot.settings import Settings
from repopilot.types import Symbol

MOST_ROWS = 60
MOST_LINES = 200


def search(index: Index, query: str, k: int, settings: Settings) -> str:
    """Ranked passages: place, symbol and text of each, at most 20."""
    from repopilot.retrieval.search import search as ranked

    if not 1 <= k <= 20:
        raise UsageError(f"k is {k}; 1 to 20 passages can be asked for.")
    results = ranked(index, query, k, embedder=embed.choose(settings))
    parts = [
        f"{h.chunk.path}:{h.chunk.start_line}-{h.chunk.end_line} {h.chunk.symbol}\n{h.chunk.text}" for h in results.hits
    ]
    return "\n\n".join([*parts, *results.notes]) or "nothing found"


def files(index: Index, glob: str = "*") -> str:
    """Paths matching a glob (`*` crosses folders), one a line, at most MOST_ROWS."""
    found = sorted(p for p in index.files if fnmatch.fnmatch(p, glob))
    return in_rows(found) or f"no file matches {glob!r}"


def outline(index: Index, path: str) -> str:
    """The symbols of a file: lines, indentation by nesting, signature."""
    _known(index, path)
    rows = [
        f"{s.start_line}-{s.end_line} {'  ' * s.qualified.count('.')}{s.signature or s.name}"
        for s in index.outline(path)
    ]
    return in_rows(rows) or f"{path} defines no symbols"


def symbol(index: Index, path: str, name: str) -> str:
    """The text of a definition, by its name or qualified name within a file ('' for the whole repository)."""
    last = name.rpartition(".")[2]
    found = [s for s in index.symbols(last) if name in (s.name, s.qualified) and path in ("", s.path)]
    if not found:
        raise UsageError(f"No symbol {name!r}{f' in {path}' if path else ''}.", "Ask for the outline first.")
    if len(found) > 1:
        return in_rows([f"{s.path}:{s.start_line} {s.qualified}" for s in found])
    return _span(index, found[0])


def references(index: Index, name: str) -> str:
    """Where a name is used: path:line kind in scope, one a line."""
    rows = [f"{r.path}:{r.line} {r.kind}{f' in {r.scope}' if r.scope else ''}" for r in index.references(name)]
    return in_rows(rows) or f"no references to {name!r}"


def read(index: Index, path: str, start: int = 1, end: int = MOST_LINES) -> str:
    """Lines `start` to `end` of a file, 1-based, inclusive, at most MOST_LINES, numbered."""
    _known(index, path)
    lines = (index.text(path) or "").split("\n")
    if not 1 <= start <= len(lines) or end < start:
        raise UsageError(f"{path} has lines 1 to {len(lines)}; {start}-{end} was asked for.")
    last = min(end, start + MOST_LINES - 1, len(lines))
    return "\n".join(f"{n} {lines[n - 1]}" for n in range(start, last + 1))


def _known(index: Index, path: str) -> None:
    if path not in index.files:
        name = path.rpartition("/")[2]
        near = [p for p in index.files if p.endswith(name)][:3] if name else []
        raise UsageError(f"No file {path!r} in the index.", f"Did you mean {', '.join(near)}?" if near else "")


def _span(index: Index, found: Symbol) -> str:
    lines = (index.text(found.path) or "").split("\n")[found.start_line - 1 : found.end_line]
    shown = lines[:MOST_LINES]
    more = [f"… {len(lines) - len(shown)} more lines"] if len(lines) > len(shown) else []
    return "\n".join([f"{found.path}:{found.start_line}-{found.end_line}", *shown, *more])


def in_rows(rows: Sequence[str]) -> str:
    """One a line, at most MOST_ROWS, and how many more there are."""
    more = [f"… {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
    return "\n".join([*rows[:MOST_ROWS], *more])
