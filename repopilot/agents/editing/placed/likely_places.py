"""Which definitions a task most likely changes that names none, or several, or others: by the search, the task's words
and a failing test's calls."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.agents.editing.edit_request import Calls
from repopilot.agents.editing.placed.wanted import CodeName
from repopilot.code.languages import file_kind
from repopilot.index.store import Index
from repopilot.index.tokens import tokens_of
from repopilot.types import Hit, Symbol

MOST_FILES = 6
_KINDS = frozenset({"function", "method", "macro"})
_LEAST_TABLE = 4
"""Lines of a variable's value that is worth being changed by its lines."""
_WEIGHTS = {
    "file": 2.0,
    "hit": 8.0,
    "named": 3.0,
    "owner named": 3.0,
    "in subject": 1.5,
    "owner words": 6.0,
    "words": 8.0,
    "length": 0.5,
    "stub": -1.5,
    "called": 3.0,
    "recent": 2.0,
    "raised": 2.5,
}
"""Fitted to 149 commits that change one function each, and rounded; positive where more is likelier."""


@dataclass(frozen=True, slots=True)
class Likely:
    """A definition, and how likely it is that it changes, as a logarithm but for a constant."""

    symbol: Symbol
    score: float


def likely_definitions(
    task: str, names: Sequence[CodeName], hits: Sequence[Hit], index: Index, calls: Calls | None = None
) -> list[Likely]:
    """The definitions that a task may change, the likeliest first.

    Args:
        task: what to change; its first line counts most.
        names: the code in it.
        hits: what a search found for it, of the project's own code.
        index: knows the definitions.
        calls: what a failing test ran.
    """
    files = {path: 1.0 / (rank + 1) for rank, path in enumerate(dict.fromkeys(h.chunk.path for h in hits))}
    files = dict(list(files.items())[:MOST_FILES])
    if calls is not None:
        files |= {path: 0.0 for path, _ in calls.order if path not in files and path in index.files}
    found = [s for path in files if file_kind(path) == "code" for s in index.outline(path) if _may_change(s)]
    if calls is not None:
        ran = [s for s in found if (s.path, s.name) in calls.order or s.kind not in _KINDS]
        found = ran or found
    texts = {s: tokens_of(index.lines(s.path, s.start_line, s.end_line) or "") for s in found}
    subject = task.strip().partition("\n")[0]
    measured = _Words(tokens_of(subject), Counter(word for text in texts.values() for word in text), len(found))
    code = {name.last for name in names}
    result = []
    for symbol in found:
        facts = {
            "file": files[symbol.path],
            "hit": _rank_of(symbol, hits),
            "named": symbol.name in code,
            "owner named": symbol.qualified.rpartition(".")[0].rpartition(".")[2] in code,
            "in subject": re.search(rf"(?<!\w){re.escape(symbol.name)}(?!\w)", subject) is not None,
            "owner words": measured.share(tokens_of(symbol.qualified.rpartition(".")[0])),
            "words": measured.share(texts[symbol]),
            "length": math.log(symbol.end_line - symbol.start_line + 1),
            "stub": symbol.path.endswith(".pyi"),
            **(_ran(symbol, calls) if calls is not None else {}),
        }
        result.append(Likely(symbol, sum(_WEIGHTS[name] * value for name, value in facts.items())))
    best: dict[tuple[str, str], Likely] = {}
    for each in sorted(result, key=lambda each: -each.score):  # an overloaded function has several definitions
        best.setdefault((each.symbol.path, each.symbol.qualified), each)
    return list(best.values())


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a task, and how many of the definitions have each."""

    words: set[str]
    spread: Counter[str]
    count: int

    def share(self, found: set[str]) -> float:
        """How much of the task's words some words have; those that few definitions have weigh more."""
        total = sum(self._weight(word) for word in self.words)
        return sum(self._weight(word) for word in self.words & found) / total if total else 0.0

    def _weight(self, word: str) -> float:
        return math.log(1 + self.count / (1 + self.spread[word]))


def _may_change(symbol: Symbol) -> bool:
    table = symbol.kind in ("variable", "field") and symbol.end_line - symbol.start_line >= _LEAST_TABLE
    return symbol.kind in _KINDS or (table and re.search(r"[\[({]", symbol.signature or "[") is not None)


def _rank_of(symbol: Symbol, hits: Sequence[Hit]) -> float:
    """1 for the definition that the best hit is about, less for others."""
    for rank, hit in enumerate(hits):
        chunk = hit.chunk
        if chunk.path != symbol.path:
            continue
        if chunk.symbol == symbol.qualified or any(
            symbol.start_line <= first <= symbol.end_line for first, _ in hit.lines[:3]
        ):
            return 1.0 / (rank + 1)
    return 0.0


def _ran(symbol: Symbol, calls: Calls) -> dict[str, float]:
    order = calls.order.get((symbol.path, symbol.name))
    raised = any(path == symbol.path and symbol.start_line <= line <= symbol.end_line for path, line in calls.raised)
    return {"called": float(order is not None), "recent": order or 0.0, "raised": float(raised)}
