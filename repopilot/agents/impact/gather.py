"""The evidence about a change before it is judged: dependents, tests, co-changed files, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repopilot.agents.impact.change import Change
from repopilot.agents.impact.codebase import Codebase, changed_nodes, codebase_of
from repopilot.agents.impact.dependents import LIKELY, affected_places, covering_tests, uses_of_removed
from repopilot.agents.impact.fix_history import recent_fixes
from repopilot.code.languages import grammar
from repopilot.i18n import Message, message
from repopilot.index.store import Index
from repopilot.repo.co_change import CoChangeCount, changed_together
from repopilot.resolve.uses.unused import said_unused
from repopilot.resolve.uses.usage import Usage
from repopilot.results import AffectedPlace, CoveringTest

if TYPE_CHECKING:
    from repopilot.repo.history import Commit
    from repopilot.resolve.names import Resolver

LEAST_HISTORY = 10
"""Commits. With fewer, co-change can't be distinguished from chance, and counts as missing evidence."""
_FEW_NAMES = 3
_MOST_PATHS = 3


@dataclass(frozen=True)
class ImpactEvidence:
    """What was found about `changes` in an index.

    Attributes:
        affected: what depends on the changes, tests included, nearest first; ids empty.
        tests: the test files that cover them, surest first; ids empty.
        co_changed: files of past commits to the changed files.
        history: how many past commits were looked at.
        fixes: how many of the last commits to the changed files were fixes.
        usages: the usages behind the direct dependents.
    """

    index: Index
    base: Codebase
    changes: Sequence[Change]
    affected: Sequence[AffectedPlace]
    tests: Sequence[CoveringTest]
    co_changed: Sequence[CoChangeCount]
    history: int
    fixes: int
    usages: Sequence[Usage] = ()


def gather(
    index: Index, changes: Sequence[Change], commits: Sequence[Commit], resolver: Resolver | None = None
) -> ImpactEvidence:
    """Gather all evidence of what some changes touch.

    Args:
        index: the repository's index.
        changes: what changes.
        commits: past commits, the newest first; () when no history is known.
        resolver: of the repository.

    Returns:
        The evidence.
    """
    base = codebase_of(index)
    places, usages = affected_places(base, changes, resolver)
    affected = [*places, *uses_of_removed(index, changes)]
    tests = covering_tests(base, changes, affected)
    paths = {path for change in changes for path in (change.path, change.old_path) if path}
    co_changed = changed_together(commits, paths, len(index.files))
    fixes = recent_fixes(commits, paths)
    return ImpactEvidence(index, base, changes, affected, tests, co_changed, len(commits), fixes, usages)


def find_gaps(evidence: ImpactEvidence) -> list[str]:
    """Why the evidence may be incomplete, in words; [] when it isn't."""
    index = evidence.index
    gaps: list[str] = [
        message("impact.gaps.of_file", path=change.path, problem=problem)
        for change in evidence.changes
        for problem in (*change.problems, *_parse_problems(index, change.path))
    ]
    broken = sorted({a.path for a in evidence.affected if a.path in index.files and not index.files[a.path].parsed})
    if broken:
        gaps.append(message("impact.gaps.broken_files", count=len(broken), paths=", ".join(broken[:_MOST_PATHS])))
    if unresolved := unresolved_calls(evidence):
        gaps.append(_unresolved_gap(evidence, unresolved))
    if unused := unused_so_far(evidence):
        gaps.append(unused)
    if not evidence.history:
        gaps.append(message("impact.gaps.no_history"))
    elif evidence.history < LEAST_HISTORY:
        gaps.append(message("impact.gaps.short_history", count=evidence.history))
    return gaps


def is_used(evidence: ImpactEvidence) -> bool:
    """Whether other code is likely to use the changed definitions directly."""
    return any(item.distance == 1 and item.confidence >= LIKELY for item in evidence.affected)


def unused_so_far(evidence: ImpactEvidence) -> Message | None:
    """Where the changed names occur although no use of them is likely; None where one is, or where they don't occur."""
    usages = evidence.usages
    names = [name for change in evidence.changes for name in (*change.symbols, change.path)]
    if not names or is_used(evidence):
        return None
    whole = Usage(
        by_name=tuple(place for usage in usages for place in usage.by_name),
        mentions=tuple(place for usage in usages for place in usage.mentions),
    )
    return None if whole.absent else said_unused(names[0], whole, evidence.index)


def unresolved_calls(evidence: ImpactEvidence) -> int:
    """How many calls fit several definitions, one of them changed."""
    graph = evidence.base.graph
    nodes = [graph.nodes[n] for change in evidence.changes for n in changed_nodes(evidence.base, change)]
    names = {node.name.rpartition(".")[2] for node in nodes if node.kind in ("class", "function")}
    return sum(graph.unresolved.get(name, 0) for name in names)


def _parse_problems(index: Index, path: str) -> list[str]:
    info = index.files.get(path)
    if info is None or info.kind != "code":
        return []
    if grammar(info.language) is None:
        return [message("impact.gaps.no_grammar", language=info.language)]
    return [] if info.parsed else [message("impact.gaps.syntax_errors")]


def _unresolved_gap(evidence: ImpactEvidence, count: int) -> str:
    """The gap of unresolved calls; for only a few changed names, with the files that use them most."""
    names = {name.rpartition(".")[2] for change in evidence.changes for name in change.symbols}
    changed = {change.path for change in evidence.changes}
    uses = (use for name in names for use in evidence.index.references(name)) if len(names) <= _FEW_NAMES else ()
    places = Counter(use.path for use in uses if use.path not in changed)
    if not places:
        return message("impact.gaps.unresolved", count=count)
    paths = ", ".join(path for path, _ in places.most_common(_MOST_PATHS))
    return message("impact.gaps.unresolved_in", count=count, paths=paths)
