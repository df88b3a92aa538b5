"""The two states of a change as a working copy: its original is the state before, its edits are the change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from repopilot.errors import UsageError
from repopilot.repo import history
from repopilot.repo.patches.patch import FileDiff, added_lines, parse_patch, removed_lines
from repopilot.repo.read import text_at
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.types import Skip, Snapshot, Symbol, innermost
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TouchedSymbol:
    """A definition that a change touches: `before` is None for one that it adds, `after` for one that it removes."""

    path: str
    name: str
    before: Symbol | None
    after: Symbol | None

    @property
    def is_function(self) -> bool:
        """Whether it is a function or a method."""
        symbol = self.after or self.before
        return symbol is not None and symbol.kind in ("function", "method")

    @property
    def how(self) -> str:
        """`added`, `removed`, `signature` or `changed`."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "signature" if self.before.signature != self.after.signature else "changed"


@asynccontextmanager
async def both_states(
    states: tuple[Snapshot, Snapshot], workspace: Workspace
) -> AsyncIterator[tuple[WorkingCopy, WorkingCopy]]:
    """The states before and after a change, to look at and to run tests on.

    Args:
        states: the repository before and after.
        workspace: the open repository, at any state.

    Yields:
        The state before, and a working copy of it with the change as its edits. Binary files, files that are too
        large, and files kept out as secret stay as they are in the open repository.

    Raises:
        SourceError: a state can't be read.
        StorageError: there is no room for it.
    """
    old, new = states
    settings = workspace.settings
    back = await asyncio.to_thread(history.diff, workspace.snapshot, old.commit, None, settings)
    change = back
    if new is not workspace.snapshot:
        change = await asyncio.to_thread(history.diff, workspace.snapshot, old.commit, new.commit, settings)
    async with working_copy(workspace) as opened:
        await asyncio.to_thread(_edit, opened, back, old)
        base = await asyncio.to_thread(lambda: opened.workspace)
        async with working_copy(base) as copy:
            await asyncio.to_thread(_edit, copy, change, new)
            yield opened, copy


def _edit(copy: WorkingCopy, diffs: Iterable[FileDiff], state: Snapshot) -> None:
    """Give the files that differ the texts that they have in a state. Blocking."""
    read = [diff for diff in diffs if not (diff.binary or diff.left_out)]
    allowed = {}
    for path in dict.fromkeys(path for diff in read for path in (diff.old_path, diff.path)):
        text = text_at(state, path)
        try:
            known = copy.text(path)
        except UsageError:  # kept out as secret or ignored
            continue
        if not isinstance(text, Skip) and text != known:
            allowed[path] = text
    if allowed:
        copy.edit(allowed)


def touched_symbols(copy: WorkingCopy) -> tuple[TouchedSymbol, ...]:
    """The definitions around the changed lines, in the order of the files. Blocking."""
    before = copy.original.index
    after = copy.workspace.index
    found: dict[tuple[str, Symbol | None, Symbol | None], TouchedSymbol] = {}
    for change in copy.changes():
        diff = parse_patch(change.diff)[0]
        old = before.outline(change.path)
        new = after.outline(change.path)
        touched: list[tuple[Symbol | None, Symbol | None]]
        touched = [(_other(one, new, old), one) for one in _around(new, after.text(change.path), added_lines(diff))]
        touched += [(one, _other(one, old, new)) for one in _around(old, before.text(change.path), removed_lines(diff))]
        for was, now in dict.fromkeys(touched):
            name = (now or was).qualified  # type: ignore[union-attr]
            found[change.path, was, now] = TouchedSymbol(change.path, name, was, now)
    return tuple(found.values())


def _other(one: Symbol, own: list[Symbol], others: list[Symbol]) -> Symbol | None:
    """The same definition in the other state. Among overloads, the one with the same signature; overloads whose
    signature is in one state only are paired from the end, since TypeScript's last overload is the one with a body."""
    mine, theirs = ([each for each in side if each.qualified == one.qualified] for side in (own, others))
    same = [each for each in theirs if each.signature == one.signature]
    if same:
        alike = [each for each in mine if each.signature == one.signature]
        return same[min(alike.index(one), len(same) - 1)]
    known = ({each.signature for each in side} for side in (mine, theirs))
    unpaired = [
        [each for each in side if each.signature not in other]
        for side, other in zip((theirs, mine), known, strict=True)
    ]
    place = len(unpaired[1]) - unpaired[1].index(one)
    return unpaired[0][-place] if place <= len(unpaired[0]) else None


def _around(symbols: list[Symbol], text: str | None, lines: Iterable[int]) -> list[Symbol]:
    """The innermost definitions around the lines that aren't blank."""
    rows = (text or "").split("\n")
    held = (line for line in sorted(lines) if line <= len(rows) and rows[line - 1].strip())
    return [symbol for line in held if (symbol := innermost(symbols, line)) is not None]


def told_once(touched: Sequence[TouchedSymbol]) -> list[TouchedSymbol]:
    """The definitions to show in full: a function includes those inside it, a class is shown by its touched members."""

    def holds(outer: TouchedSymbol, inner: TouchedSymbol) -> bool:
        return outer.path == inner.path and inner.name.startswith(f"{outer.name}.")

    found = []
    for each in touched:
        is_told = any(outer.is_function and holds(outer, each) for outer in touched)
        by_members = not each.is_function and any(holds(each, inner) for inner in touched)
        if not (is_told or by_members):
            found.append(each)
    return found
