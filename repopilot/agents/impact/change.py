"""What changes: files, symbols or diffs as the user names them, resolved against the index."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from repopilot.code.graph.graph import Graph, find
from repopilot.code.graph.nodes import Node, last_part
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.code.split import analysed
from repopilot.code.symbols import reachable
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.index.store import Index
from repopilot.redaction.redact import redacted
from repopilot.repo.patches.diff_hunks import Run, with_runs
from repopilot.repo.patches.patch import FileDiff, Status, added_lines, removed_lines
from repopilot.types import Symbol, innermost


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """How a definition changed for those who use it; `before` and `after` are signatures."""

    symbol: str
    how: Literal["added", "removed", "signature"]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that changes.

    Attributes:
        path: its current path; `old_path` its path before the change, '' if the same.
        symbols: the qualified names of the definitions touched.
        whole: whether all of the file changes; `symbols` is then empty.
        status: what happens to the file.
        interface: what changes for those who use the file, None while its new text isn't known.
        problems: why the evidence on this file is incomplete.
        target: what the user typed.
    """

    path: str
    symbols: tuple[str, ...] = ()
    whole: bool = False
    status: Status = "modified"
    old_path: str = ""
    interface: tuple[SymbolChange, ...] | None = None
    problems: tuple[str, ...] = ()
    target: str = ""


def changes_of_targets(targets: Sequence[str], index: Index, graph: Graph) -> list[Change]:
    """Turn files, folders and symbols into changes.

    A symbol that its file doesn't define (yet) is a gap in the evidence: the file's other targets, or all of it, count.

    Args:
        targets: `path`, `folder`, `path:Symbol` or `Symbol`; a name with several definitions means all
            of them outside tests and examples.
        index: the index they are looked up in.
        graph: its code graph.

    Returns:
        One change for each file.

    Raises:
        UsageError: a target is in no file of the index; the hint suggests similar names.
    """
    found: dict[str, list[Change]] = {}
    for target in targets:
        target = target.strip().removeprefix("./")
        for change in _of_target(target, index, graph):
            found.setdefault(change.path, []).append(change)
    return [_merged(changes) for changes in found.values()]


def changes_of_diffs(diffs: Iterable[FileDiff], index: Index) -> list[Change]:
    """A diff's files, with the definitions its hunks touch. The index may hold the text before or after the change."""
    named = (replace(diff, path=redacted(diff.path), old_path=redacted(diff.old_path)) for diff in diffs)
    return [_of_diff(diff, index) for diff in named]


def _of_target(target: str, index: Index, graph: Graph) -> list[Change]:
    if target in index.files:
        return [Change(target, whole=True, target=target)]
    folder = target.rstrip("/") + "/"
    inside = [path for path in index.files if path.startswith(folder)]
    if inside:
        return [Change(path, whole=True, target=target) for path in inside]
    nodes = [graph.nodes[n] for n in find(graph, target)]
    path, _, name = target.partition(":")
    if not nodes and name and path in index.files:
        return [Change(path, problems=(message("impact.gaps.undefined", name=name),), target=target)]
    if not nodes:
        raise UsageError(message("impact.errors.unknown_target", target=target), _spelled_like(target, index, graph))
    named = nodes if ":" in target else _outside_tests(nodes)
    return [Change(node.path, (node.name,), target=target) for node in named]


def _outside_tests(nodes: Sequence[Node]) -> Sequence[Node]:
    """The definitions outside tests and examples; where there are none, all of them."""
    return [node for node in nodes if not (is_test_path(node.path) or is_example_path(node.path))] or nodes


def _merged(changes: Sequence[Change]) -> Change:
    names = tuple(dict.fromkeys(name for c in changes for name in c.symbols))
    problems = tuple(dict.fromkeys(problem for c in changes for problem in c.problems))
    target = ", ".join(dict.fromkeys(c.target for c in changes))
    whole = not names or any(c.whole for c in changes)
    return Change(changes[0].path, () if whole else names, whole, problems=problems, target=target)


def _spelled_like(target: str, index: Index, graph: Graph) -> str:
    path, _, name = target.rpartition(":")
    last = name.rpartition(".")[2]
    names = {last_part(graph.nodes.name(node)) for node in graph.nodes.definitions.tolist()}
    pool = [*index.files, *names, *(p.rsplit("/", 1)[-1] for p in index.files)]
    likely = difflib.get_close_matches(path or target, pool, 2, 0.7) + difflib.get_close_matches(last, pool, 3, 0.7)
    if not likely:
        return message("impact.errors.check_spelling")
    return message("impact.errors.did_you_mean", names=", ".join(dict.fromkeys(likely)))


def _of_diff(diff: FileDiff, index: Index) -> Change:
    moved_from = diff.old_path if diff.old_path != diff.path else ""
    change = Change(diff.path, status=diff.status, old_path=moved_from, target=diff.path)
    path = diff.path if diff.path in index.files else diff.old_path
    text = index.text(path)
    if diff.left_out:
        return replace(change, whole=True, problems=(message("impact.gaps.too_large"),))
    if diff.binary:
        return replace(change, whole=True, problems=(message("impact.gaps.binary"),))
    if text is None:
        return _unindexed(diff, change)
    before, after = _sides(text.split("\n"), diff)
    if before is None or after is None:
        return replace(change, path=path, whole=True, problems=(message("impact.gaps.diff_mismatch"),))
    deleted = diff.status == "deleted"
    old = _symbols(diff.old_path, before)
    new = _symbols(diff.path, after)
    touched = _touched(old, removed_lines(diff)) | _touched(new, added_lines(diff))
    names = tuple(sorted(touched & {symbol.qualified for symbol in index.outline(path)}))
    interface = _interface(old, () if deleted else new)
    return replace(change, path=path, symbols=names, whole=deleted or not names, interface=interface)


def _unindexed(diff: FileDiff, change: Change) -> Change:
    """A file that isn't in the index: new, already deleted, or not read."""
    lines = [line for hunk in diff.hunks for line in hunk.lines]
    if diff.status == "added":
        new = _symbols(diff.path, [line[1:] for line in lines if line.startswith("+")])
        return replace(change, interface=_interface((), new))
    if diff.status == "deleted":
        old = _symbols(diff.path, [line[1:] for line in lines if line.startswith("-")])
        names = tuple(symbol.qualified for symbol in old)
        return replace(change, symbols=names, interface=_interface(old, ()), problems=(message("impact.gaps.deleted"),))
    return replace(change, problems=(message("impact.gaps.not_indexed"),))


def _sides(lines: list[str], diff: FileDiff) -> tuple[list[str] | None, list[str] | None]:
    """The file before and after the diff, from the side the index holds; None where it fits neither."""
    after = _applied(lines, diff, forward=True)
    if after is not None:
        return lines, after
    before = _applied(lines, diff, forward=False)
    return (None, None) if before is None else (before, lines)


def _applied(lines: list[str], diff: FileDiff, forward: bool) -> list[str] | None:
    """A file with a diff applied, or reverted where not `forward`; None where the diff doesn't fit it."""
    runs = []
    for hunk in diff.hunks:
        old = [line[1:] for line in hunk.lines if line[:1] in " -"]
        new = [line[1:] for line in hunk.lines if line[:1] in " +"]
        runs.append(Run(hunk.old_start, old, new) if forward else Run(hunk.new_start, new, old))
    return with_runs(lines, runs)


def _symbols(path: str, lines: Sequence[str]) -> tuple[Symbol, ...]:
    return analysed(path, "\n".join(lines)).symbols


def _touched(symbols: Sequence[Symbol], lines: Collection[int]) -> set[str]:
    """The innermost definitions around the lines."""
    return {inner.qualified for line in lines if (inner := innermost(symbols, line)) is not None}


def _interface(old: Collection[Symbol], new: Collection[Symbol]) -> tuple[SymbolChange, ...]:
    before = {s.qualified: s.signature for s in reachable(old) if s.kind not in ("field", "variable")}
    after = {s.qualified: s.signature for s in reachable(new) if s.kind not in ("field", "variable")}
    changes = [SymbolChange(n, "removed", before[n]) for n in before if n not in after]
    changes += [SymbolChange(n, "added", "", after[n]) for n in after if n not in before]
    changes += [
        SymbolChange(n, "signature", before[n], after[n]) for n in before if n in after and before[n] != after[n]
    ]
    return tuple(changes)
