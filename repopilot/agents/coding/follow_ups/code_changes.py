"""What a change does to definitions: added, removed, renamed. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from repopilot.code.languages import file_kind, is_test_path, language_of
from repopilot.code.split import analyse
from repopilot.types import Symbol

_SAME_BODY = 0.6
"""How much of its text a renamed definition shares with the old one, at least."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A definition under another name."""

    old: Symbol
    new: Symbol


@dataclass(frozen=True, slots=True)
class CodeChanges:
    """What changes in the definitions of one file that is no test.

    Attributes:
        path: of the file; `new_text` is its text after the change.
        before, after: its definitions by qualified name.
        renamed: definitions with another name.
        added, removed: definitions that are new or gone, renamed ones not among them.
    """

    path: str
    new_text: str
    before: Mapping[str, Symbol]
    after: Mapping[str, Symbol]
    renamed: tuple[Renamed, ...]
    added: tuple[Symbol, ...]
    removed: tuple[Symbol, ...]


def code_changes(path: str, old_text: str, new_text: str) -> CodeChanges | None:
    """Compare two texts of a file.

    Args:
        path: the file.
        old_text: its text before the change, '' for a new file.
        new_text: its text after it.

    Returns:
        What changes; None for a test, and for what is no code.
    """
    language = language_of(path)
    if language is None or file_kind(path) != "code" or is_test_path(path):
        return None
    before, after = _by_name(path, old_text, language), _by_name(path, new_text, language)
    removed = [s for name, s in before.items() if name not in after]
    added = [s for name, s in after.items() if name not in before]
    renamed = _renamed(removed, added, old_text.split("\n"), new_text.split("\n"))
    old_names, new_names = {r.old.qualified for r in renamed}, {r.new.qualified for r in renamed}
    return CodeChanges(
        path,
        new_text,
        before,
        after,
        tuple(renamed),
        tuple(s for s in added if s.qualified not in new_names and not _inside(s, new_names)),
        tuple(s for s in removed if s.qualified not in old_names and not _inside(s, old_names)),
    )


def _by_name(path: str, text: str, language: str) -> dict[str, Symbol]:
    found: dict[str, Symbol] = {}
    for symbol in analyse(path, text, language, "code").symbols:
        found.setdefault(symbol.qualified, symbol)
    return found


def _inside(symbol: Symbol, names: set[str]) -> bool:
    return any(symbol.qualified.startswith(f"{name}.") for name in names)


def _renamed(removed: list[Symbol], added: list[Symbol], old: list[str], new: list[str]) -> list[Renamed]:
    """Pairs of a removed and an added definition of the same kind and owner with nearly the same text."""
    found: list[Renamed] = []
    taken: set[str] = set()
    for gone in removed:
        likely = [s for s in added if s.kind == gone.kind and _owner(s) == _owner(gone) and s.qualified not in taken]
        scored = [(_alike(_text(gone, old), _text(s, new), gone.name, s.name), s) for s in likely]
        best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        if best[1] is not None and best[0] >= _SAME_BODY:
            found.append(Renamed(gone, best[1]))
            taken.add(best[1].qualified)
    return found


def _alike(old: str, new: str, old_name: str, new_name: str) -> float:
    """How much of the texts is the same when the name is not looked at."""
    first, second = old.replace(old_name, "\0").strip(), new.replace(new_name, "\0").strip()
    return (
        difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()
        if max(len(first), len(second)) < 20_000
        else 0.0
    )


def _owner(symbol: Symbol) -> str:
    return symbol.qualified.rpartition(".")[0]


def _text(symbol: Symbol, lines: list[str]) -> str:
    return "\n".join(lines[symbol.start_line - 1 : symbol.end_line])
