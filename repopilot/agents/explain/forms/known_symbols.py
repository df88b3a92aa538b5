"""Finds the definitions that the names of a question mean: those of the program before those of its tests."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot.code import languages
from repopilot.index.store import Index
from repopilot.types import Symbol


def dotted(name: str) -> str:
    """A qualified name with dots, whatever the notation of its language, and without the parentheses of a call."""
    return languages.dotted(name).replace("/", ".").strip(".").rstrip("()")


def definitions(index: Index, names: Sequence[str]) -> list[Symbol]:
    """The definitions that a name means.

    Args:
        index: the repository.
        names: the name itself, then those of what it belongs to: classes, functions, files or modules.

    Returns:
        The definitions that belong to all of these, only those of the program itself where there are any, without bare
        declarations of what is defined elsewhere. [] for an unknown name.
    """
    found = index.symbols_in(dotted(names[0])) if names else []
    found = [symbol for symbol in found if all(_belongs(symbol, owner) for owner in names[1:])]
    own = [symbol for symbol in found if index.is_own(symbol.path)]
    return _distinct(own or found)


def _belongs(symbol: Symbol, owner: str) -> bool:
    wanted = dotted(owner).lower()
    around = f".{symbol.qualified}".rpartition(".")[0].lower()
    return f".{wanted}." in f"{around}." or _is_in_file(symbol.path, owner)


def _is_in_file(path: str, owner: str) -> bool:
    lower = path.lower()
    wanted = owner.lower().strip("/")
    stem = lower.rpartition("/")[2].partition(".")[0]
    return f"/{lower}".endswith(f"/{wanted}") or stem == wanted or f"/{wanted}/" in f"/{lower}"


def _distinct(symbols: Sequence[Symbol]) -> list[Symbol]:
    defined = [s for s in symbols if s.kind != "declaration"] or list(symbols)
    by_name: dict[tuple[str, str], Symbol] = {}
    for symbol in defined:
        key = (symbol.path, symbol.qualified)
        known = by_name.get(key)
        # Of overloads in one file the longest is the one with the body.
        if known is None or symbol.end_line - symbol.start_line > known.end_line - known.start_line:
            by_name[key] = symbol
    return list(by_name.values())
