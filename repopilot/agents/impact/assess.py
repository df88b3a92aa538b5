"""The impact report of a change, from an index alone: what is affected, which tests cover it, how risky it is, and how
complete the report is. No model is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from repopilot.agents.impact import risk
from repopilot.agents.impact.change import Change
from repopilot.agents.impact.codebase import Codebase, changed_nodes
from repopilot.agents.impact.dependents import LIKELY
from repopilot.agents.impact.gather import ImpactEvidence, find_gaps, gather, is_used, unresolved_calls, unused_so_far
from repopilot.agents.impact.public_api import is_central, is_exported, may_be_used_outside
from repopilot.agents.impact.rank_files import rank
from repopilot.agents.impact.reasons import with_reasons
from repopilot.code.languages import file_kind, grammar, is_example_path, is_public, is_test_path, language_of
from repopilot.i18n import message
from repopilot.index.store import Index
from repopilot.repo.co_change import LEAST_TOGETHER
from repopilot.resolve.uses.covering_tests import is_test_place
from repopilot.resolve.uses.unused import said_unused
from repopilot.results import (
    AffectedPlace,
    ChangedFile,
    CoChange,
    Completeness,
    CoveringTest,
    ImpactReport,
    ImpactTarget,
    InterfaceChange,
    Recommendation,
    SchemaTable,
)

if TYPE_CHECKING:
    from repopilot.repo.history import Commit
    from repopilot.resolve.names import Resolver

RANKED = 50
"""Files that the report lists; `completeness` says how many of each kind there are."""
AFFECTED = 100
TESTS = 30
CO_CHANGED = 20

_MIGRATION = re.compile(r"(^|/)(migrations?|alembic/versions|db/migrate)/", re.IGNORECASE)
_MOST_LINES = 400
_MOST_CITED = 5
_OFTEN_TOGETHER = 3
_OFTEN_SHARE = 0.4
_OFTEN_LISTED = 3


def assess(
    index: Index, changes: Sequence[Change], commits: Sequence[Commit] = (), resolver: Resolver | None = None
) -> ImpactReport:
    """Report what some changes touch and how risky they are.

    Args:
        index: the repository.
        changes: what changes, one item per file.
        commits: past commits for co-change, () when no history is known.
        resolver: of the repository.

    Returns:
        The report, with only the first items of each list: RANKED, AFFECTED, TESTS, CO_CHANGED.
    """
    evidence = gather(index, changes, commits, resolver)
    changed = _changed_files(evidence)
    outside_tests = (item for item in evidence.affected if not is_test_place(item.path, item.symbol))
    affected = [replace(item, id=f"A{number}") for number, item in enumerate(outside_tests, 1)]
    tests = [replace(item, id=f"T{number}") for number, item in enumerate(evidence.tests, 1)]
    co_changed = _co_changed(evidence)
    gaps = find_gaps(evidence)
    judged = _risk_evidence(evidence, changed, affected, tests)
    reasons = risk.reasons(judged)
    texts = {change.path: _text(index, change) for change in changes}
    ranked = rank(evidence.base, changes, texts, evidence.co_changed, evidence.tests)
    return ImpactReport(
        risk=risk.level(reasons, not gaps),
        ranked=tuple(with_reasons(evidence, ranked[:RANKED])),
        affected=tuple(affected[:AFFECTED]),
        covering_tests=tuple(tests[:TESTS]),
        co_changed=tuple(co_changed[:CO_CHANGED]),
        risks=tuple(reasons),
        recommendations=tuple(_recommendations(judged, tests, co_changed)),
        completeness=_completeness(evidence, gaps, len(affected), len(tests)),
        changed=tuple(changed),
    )


def _text(index: Index, change: Change) -> str:
    """The lines of the touched definitions; '' where all of a file changes."""
    by_name = {symbol.qualified: symbol for symbol in index.outline(change.path) if symbol.qualified in change.symbols}
    spans = ((s.start_line, min(s.end_line, s.start_line + _MOST_LINES)) for s in by_name.values())
    pieces = [index.lines(change.path, start, end) for start, end in spans]
    return "\n".join(piece for piece in pieces if piece)


def _changed_files(evidence: ImpactEvidence) -> list[ChangedFile]:
    interface_ids = (f"I{number}" for number in count(1))
    schema_ids = (f"S{number}" for number in count(1))
    result = []
    for number, change in enumerate(evidence.changes, 1):
        interface = None
        if change.interface is not None:
            public = [f for f in change.interface if is_public(f.symbol, f.before or f.after, change.path)]
            interface = tuple(
                InterfaceChange(next(interface_ids), found.symbol, found.how, found.before, found.after)
                for found in public
            )
        tables = tuple(SchemaTable(next(schema_ids), name) for name in _tables(evidence.base, change))
        result.append(
            ChangedFile(
                id=f"M{number}",
                path=change.path,
                symbols=change.symbols,
                whole=change.whole,
                status=change.status,
                old_path=change.old_path,
                interface=interface,
                tables=tables,
            )
        )
    return result


def _tables(base: Codebase, change: Change) -> list[str]:
    """Tables the change declares or maps; a migration or schema file without one stands for itself."""
    graph = base.graph
    nodes = changed_nodes(base, change)
    tables = [node for node in nodes if graph.nodes[node].kind == "table"]
    tables += [
        link.node
        for node in nodes
        for link in graph.outgoing(node)
        if link.confidence == 1.0 and graph.nodes[link.node].kind == "table"
    ]
    names = [graph.nodes[node].name for node in tables]
    if not names and (_MIGRATION.search(change.path) or language_of(change.path) in ("sql", "prisma")):
        names = [change.path]
    return list(dict.fromkeys(names))


def _co_changed(evidence: ImpactEvidence) -> list[CoChange]:
    often = [found for found in evidence.co_changed if found.together >= LEAST_TOGETHER]
    present = [found for found in often if found.path in evidence.base.graph.by_path]
    return [
        CoChange(f"C{number}", found.path, found.together, found.of, round(found.together / found.of, 3))
        for number, found in enumerate(present, 1)
    ]


def _risk_evidence(
    evidence: ImpactEvidence,
    changed: Sequence[ChangedFile],
    affected: Sequence[AffectedPlace],
    tests: Sequence[CoveringTest],
) -> risk.RiskEvidence:
    changes = evidence.changes
    likely = [item for item in affected if item.confidence >= LIKELY]
    own = [item for item in likely if not is_example_path(item.path)]
    direct, second, third = (tuple(item.id for item in own if item.distance == hops) for hops in (1, 2, 3))
    # New definitions break nobody.
    interface = [found for file in changed for found in file.interface or () if found.how != "added"]
    unknown = any(file.interface is None for file in changed)
    removed = [found.id for found in interface if found.how == "removed"]
    files = list(zip(changed, changes, strict=True))
    public = [(file, change) for file, change in files if may_be_used_outside(change)]
    return risk.RiskEvidence(
        direct=direct,
        second=second,
        third=third,
        central=tuple(file.id for file, change in files if is_central(evidence.base, change)),
        interface=tuple(found.id for found in interface) if interface or not (unknown and public) else None,
        exported=tuple(file.id for file, change in public if is_exported(evidence.index, evidence.base, change)),
        removed=(*removed, *(file.id for file in changed if file.status == "deleted")),
        used=tuple(item.id for item in likely if item.distance == 1),
        schema=tuple(table.id for file in changed for table in file.tables),
        tests=tuple(test.id for test in tests if test.tests or all(change.whole for change in changes)),
        reaching=sum(bool(item.symbol) for item in evidence.affected if is_test_place(item.path, item.symbol)),
        fixes=evidence.fixes,
        changed=tuple(file.id for file in changed),
        code=any(file_kind(change.path) == "code" and not is_test_path(change.path) for change in changes),
    )


def _unused(evidence: ImpactEvidence) -> str:
    """The sentence that the change is unused, as far as is known; '' where a use is likely."""
    symbols = [name for change in evidence.changes for name in change.symbols]
    if is_used(evidence):
        return ""
    definitions = [s for c in evidence.changes for s in evidence.index.outline(c.path) if s.qualified in c.symbols]
    name = symbols[0] if symbols else evidence.changes[0].path
    return unused_so_far(evidence) or said_unused(name, None, evidence.index, definitions)


def _completeness(evidence: ImpactEvidence, gaps: Sequence[str], affected: int, tests: int) -> Completeness:
    files = evidence.index.files
    unparsed = [info for info in files.values() if info.kind == "code" and grammar(info.language) and not info.parsed]
    return Completeness(
        complete=not gaps,
        gaps=tuple(gaps),
        commit=evidence.index.commit,
        files=len(files),
        unparsed=len(unparsed),
        unresolved_calls=unresolved_calls(evidence),
        history_commits=evidence.history,
        affected=affected,
        covering_tests=tests,
        unused=_unused(evidence),
        targets=tuple(ImpactTarget(c.target or c.path, c.path, c.symbols) for c in evidence.changes),
    )


def _recommendations(
    evidence: risk.RiskEvidence, tests: Sequence[CoveringTest], co_changed: Sequence[CoChange]
) -> list[Recommendation]:
    found: list[Recommendation] = []

    def add(key: str, ids: Sequence[str], **values: object) -> None:
        found.append(Recommendation(message(f"impact.recommendations.{key}", **values), tuple(ids)))

    if tests:
        first = ([test for test in tests if test.id in evidence.tests] or tests)[:_MOST_CITED]
        add("run_tests", [test.id for test in first], paths=", ".join(test.path for test in first))
    if evidence.code and not evidence.tests:
        add("write_test", evidence.changed[:_MOST_CITED])
    if evidence.used:
        add("check_users", evidence.used[:_MOST_CITED])
    if evidence.removed and evidence.used:
        add("keep_alias", evidence.removed[:_MOST_CITED])
    if evidence.schema:
        add("write_migration", evidence.schema[:_MOST_CITED])
    often = [item for item in co_changed if item.share >= _OFTEN_SHARE and item.together >= _OFTEN_TOGETHER]
    if often:
        first_files = often[:_OFTEN_LISTED]
        add("check_co_changed", [f.id for f in first_files], paths=", ".join(f.path for f in first_files))
    return found
