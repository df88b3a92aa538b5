"""What changes: files, symbols or diffs as the user names them, made exact against the index."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repopilot.code.graph.graph import Graph, find
from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import analyse
from repopilot.errors import UsageError
from repopilot.index.store import Index
from repopilot.repo.history import FileDiff
from repopilot.repo.patch import Status
from repopilot.types import Symbol


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """How a definition's outside changed. `how` is added, removed or signature."""

    symbol: str
    how: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that changes. `symbols` are the qualified names touched; empty with `whole` means all of the file.

    `interface` is None while the new text isn't known, else what changes for those who use the file. `problem` says
    why the evidence on this file is incomplete, '' when it isn't.
    """

    path: str
    symbols: tuple[str, ...] = ()
    whole: bool = False
    status: Status = "modified"
    old_path: str = ""
    interface: tuple[SymbolChange, ...] | None = None
    problem: str = ""
    asked: str = ""


def changes_of_targets(targets: Sequence[str], index: Index, graph: Graph) -> list[Change]:
    """Files, `path:Symbol` and symbol names as changes; a name with several definitions means all of them.

    A symbol its file doesn't define (yet) is a gap in the evidence: the file's other targets, or all of it, are taken.
    Raises UsageError when a target is in no file of the index, with what is spelled like it.
    """
    found: dict[str, list[Change]] = {}
    for target in targets:
        target = target.strip().removeprefix("./")
        for change in _of_target(target, index, graph):
            found.setdefault(change.path, []).append(change)
    return [_joined(changes) for changes in found.values()]


def changes_of_diffs(diffs: Iterable[FileDiff], index: Index) -> list[Change]:
    """A diff's files, with the definitions its hunks touch. The index may hold the text before or after the change."""
    return [_of_diff(diff, index) for diff in diffs]


def _of_target(target: str, index: Index, graph: Graph) -> list[Change]:
    if target in index.files:
        return [Change(target, whole=True, asked=target)]
    folder = target.rstrip("/") + "/"
    inside = [path for path in index.files if path.startswith(folder)]
    if inside:
        return [Change(path, whole=True, asked=target) for path in inside]
    nodes = [graph.nodes[n] for n in find(graph, target)]
    path, _, name = target.partition(":")
    if not nodes and name and path in index.files:
        return [Change(path, problem=f"defines no {name}", asked=target)]
    if not nodes:
        raise UsageError(
            f"“{target}” is neither a file nor a symbol of this repository.", _spelled_like(target, index, graph)
        )
    return [Change(node.path, (node.name,), asked=target) for node in nodes]


def _joined(changes: Sequence[Change]) -> Change:
    names = tuple(dict.fromkeys(name for c in changes for name in c.symbols))
    problems = "; ".join(dict.fromkeys(c.problem for c in changes if c.problem))
    asked = ", ".join(dict.fromkeys(c.asked for c in changes))
    whole = not names or any(c.whole for c in changes)
    return Change(changes[0].path, () if whole else names, whole, problem=problems, asked=asked)


def _spelled_like(target: str, index: Index, graph: Graph) -> str:
    path, _, name = target.rpartition(":")
    last = name.rpartition(".")[2]
    pool = [*index.files, *graph.by_name, *(p.rsplit("/", 1)[-1] for p in index.files)]
    likely = difflib.get_close_matches(path or target, pool, 2, 0.7) + difflib.get_close_matches(last, pool, 3, 0.7)
    return f"Did you mean {', '.join(dict.fromkeys(likely))}?" if likely else "Check the spelling."


def _of_diff(diff: FileDiff, index: Index) -> Change:
    base = {"status": diff.status, "old_path": diff.old_path if diff.old_path != diff.path else "", "asked": diff.path}
    path = diff.path if diff.path in index.files else diff.old_path
    text = index.text(path)
    if diff.binary:
        problem = "a binary file: what it means can't be read"
        return Change(diff.path, whole=True, problem=problem, **base)  # type: ignore[arg-type]
    if text is None:
        return _unindexed(diff, base)
    before, after = _sides(text.split("\n"), diff)
    if before is None or after is None:
        return Change(
            path, whole=True, problem="the diff doesn't fit the indexed text: all of the file is taken", **base
        )  # type: ignore[arg-type]
    old, new = _symbols(diff.old_path, before), _symbols(diff.path, after)
    touched = _touched(old, _removed(diff)) | _touched(new, _added(diff))
    known = {s.qualified for s in index.outline(path)}
    names = tuple(sorted(touched & known))
    gone = diff.status == "deleted"
    return Change(path, names, whole=gone or not names, interface=_interface(old, () if gone else new), **base)  # type: ignore[arg-type]


def _unindexed(diff: FileDiff, base: dict) -> Change:
    """A file the index doesn't hold: new (and not there yet), deleted (and gone already), or not read."""
    lines = [line for hunk in diff.hunks for line in hunk.lines]
    if diff.status == "added":
        new = _symbols(diff.path, [line[1:] for line in lines if line.startswith("+")])
        return Change(diff.path, interface=_interface((), new), **base)
    if diff.status == "deleted":
        old = _symbols(diff.path, [line[1:] for line in lines if line.startswith("-")])
        problem = "deleted, and no longer in the index: who used it can only be told by name"
        names = tuple(s.qualified for s in old)
        return Change(diff.path, names, interface=_interface(old, ()), problem=problem, **base)
    return Change(diff.path, problem="not in the index (skipped when it was read)", **base)


def _sides(lines: list[str], diff: FileDiff) -> tuple[list[str] | None, list[str] | None]:
    """The file before and after the diff, from the side the index holds; None where it fits neither."""
    after = _applied(lines, diff, forward=True)
    if after is not None:
        return lines, after
    before = _applied(lines, diff, forward=False)
    return (None, None) if before is None else (before, lines)


def _applied(lines: Sequence[str], diff: FileDiff, forward: bool) -> list[str] | None:
    result: list[str] = []
    at = 0
    drop, add = ("-", "+") if forward else ("+", "-")
    for hunk in diff.hunks:
        start, count = (hunk.old_start, hunk.old_lines) if forward else (hunk.new_start, hunk.new_lines)
        first = start - 1 if count else start
        expected = [line[1:] for line in hunk.lines if line[:1] in (" ", drop)]
        if first < at or list(lines[first : first + len(expected)]) != expected:
            return None
        result += lines[at:first]
        result += [line[1:] for line in hunk.lines if line[:1] in (" ", add)]
        at = first + len(expected)
    return result + list(lines[at:])


def _symbols(path: str, lines: Sequence[str]) -> tuple[Symbol, ...]:
    return analyse(path, "\n".join(lines), language_of(path) or "", file_kind(path)).symbols


def _removed(diff: FileDiff) -> set[int]:
    return _lines(diff, "-", "+", lambda hunk: hunk.old_start)


def _added(diff: FileDiff) -> set[int]:
    return _lines(diff, "+", "-", lambda hunk: hunk.new_start)


def _lines(diff: FileDiff, kept: str, other: str, first) -> set[int]:
    found = set()
    for hunk in diff.hunks:
        number = first(hunk)
        for line in hunk.lines:
            if line.startswith(kept):
                found.add(number)
            if not line.startswith(other):
                number += 1
    return found


def _touched(symbols: Iterable[Symbol], lines: set[int]) -> set[str]:
    """The innermost definitions around the lines."""
    ordered = sorted(symbols, key=lambda s: s.end_line - s.start_line)
    found = set()
    for line in lines:
        inner = next((s for s in ordered if s.start_line <= line <= s.end_line), None)
        if inner is not None:
            found.add(inner.qualified)
    return found


def _interface(old: Iterable[Symbol], new: Iterable[Symbol]) -> tuple[SymbolChange, ...]:
    before = {s.qualified: s.signature for s in old if s.kind not in ("field", "variable")}
    after = {s.qualified: s.signature for s in new if s.kind not in ("field", "variable")}
    changes = [SymbolChange(n, "removed", before[n]) for n in before if n not in after]
    changes += [SymbolChange(n, "added", "", after[n]) for n in after if n not in before]
    changes += [
        SymbolChange(n, "signature", before[n], after[n]) for n in before if n in after and before[n] != after[n]
    ]
    return tuple(changes)
