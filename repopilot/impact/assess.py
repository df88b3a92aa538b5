"""The impact report of a change, from an index alone: what is affected, what covers it, how risky it is, and how
complete that is. No model has a part in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from repopilot.code.languages import file_kind, grammar, is_example_path, is_test_path, language_of
from repopilot.impact import risk
from repopilot.impact.change import Change, SymbolChange
from repopilot.impact.co_change import LEAST_TOGETHER, Together, changed_together
from repopilot.impact.codebase import Codebase, changed_nodes, codebase_of
from repopilot.impact.dependents import Covering, Reached, covering, named_elsewhere, reached
from repopilot.impact.rank_files import rank
from repopilot.impact.reasons import with_reasons
from repopilot.index.store import Index
from repopilot.results import ImpactReport

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

RANKED, AFFECTED, TESTS, TOGETHER = 50, 100, 30, 20
"""How many of each the report lists; `completeness` says how many there are."""

_MIGRATION = re.compile(r"(^|/)(migrations?|alembic/versions|db/migrate)/", re.IGNORECASE)
_LONG = 400
_FEW_NAMES = 3

LEAST_HISTORY = 10
"""Commits; below them co-change can't be told from chance, and counts as missing evidence."""


def assess(index: Index, changes: Sequence[Change], commits: Sequence[Commit] = ()) -> ImpactReport:
    """The report. `commits` are past commits for co-change, () when no history is known.

    Items have ids that `risks` and `recommendations` refer to: M changed files, A affected, T tests, C co-changed,
    I changes of the interface, S schema.
    """
    base = codebase_of(index)
    found = [*reached(base, changes), *named_elsewhere(index, changes)]
    tests = covering(base, changes, found)
    paths = {p for c in changes for p in (c.path, c.old_path) if p}
    together = changed_together(commits, paths, len(index.files))
    changed = _changed(base, changes)
    affected = [_affected(n, r) for n, r in enumerate((r for r in found if not is_test_path(r.path)), 1)]
    covers = [_covering(n, c) for n, c in enumerate(tests, 1)]
    often = [t for t in together if t.together >= LEAST_TOGETHER]
    shared = [_together(n, t) for n, t in enumerate((t for t in often if t.path in base.graph.by_path), 1)]
    gaps = _gaps(index, base, changes, found, commits)
    evidence = _evidence(base, changes, changed, affected, covers, gaps)
    reasons = risk.reasons(evidence)
    ranked = rank(base, changes, {c.path: _text(index, c) for c in changes}, together, tests)
    return ImpactReport(
        risk=risk.level(reasons, not gaps),
        ranked=tuple(with_reasons(index, base, changes, ranked[:RANKED], found, tests, together)),
        affected=tuple(affected[:AFFECTED]),
        covering_tests=tuple(covers[:TESTS]),
        co_changed=tuple(shared[:TOGETHER]),
        risks=tuple(
            {"text": r.text, "evidence": list(r.evidence), "points": r.points, "source": "rule"} for r in reasons
        ),
        recommendations=tuple(_recommendations(evidence, covers, shared)),
        completeness=_completeness(index, base, changes, gaps, len(commits), affected, covers),
        changed=tuple(changed),
    )


def _text(index: Index, change: Change) -> str:
    """The lines of the touched definitions; '' for a whole file."""
    wanted = {s.qualified: s for s in index.outline(change.path) if s.qualified in change.symbols}
    pieces = [index.lines(change.path, s.start_line, min(s.end_line, s.start_line + _LONG)) for s in wanted.values()]
    return "\n".join(piece for piece in pieces if piece)


def _changed(base: Codebase, changes: Sequence[Change]) -> list[dict]:
    result, interface, schema = [], 0, 0
    for number, change in enumerate(changes, 1):
        item = {"id": f"M{number}", "path": change.path, "symbols": list(change.symbols), "whole": change.whole,
                "status": change.status, "old_path": change.old_path, "interface": None, "tables": []}  # fmt: skip
        if change.interface is not None:
            item["interface"] = []
            for found in (c for c in change.interface if _public(c, change.path)):
                interface += 1
                item["interface"].append({"id": f"I{interface}", "symbol": found.symbol, "how": found.how,
                                          "before": found.before, "after": found.after})  # fmt: skip
        for name in _tables(base, change):
            schema += 1
            item["tables"].append({"id": f"S{schema}", "name": name})
        result.append(item)
    return result


def _tables(base: Codebase, change: Change) -> list[str]:
    """Tables the change declares or maps; a migration or schema file without one stands for itself."""
    graph = base.graph
    nodes = changed_nodes(base, change)
    tables = [n for n in nodes if graph.nodes[n].kind == "table"]
    tables += [
        link.node
        for n in nodes
        for link in graph.outgoing(n)
        if link.confidence == 1.0 and graph.nodes[link.node].kind == "table"
    ]
    names = [graph.nodes[n].name for n in tables]
    if not names and (_MIGRATION.search(change.path) or language_of(change.path) in ("sql", "prisma")):
        names = [change.path]
    return list(dict.fromkeys(names))


def _public(change: SymbolChange, path: str) -> bool:
    """Can the definition be named from outside its file, by its language's conventions?"""
    if is_test_path(path):
        return False
    parts = change.symbol.split(".")
    signature, language = change.before or change.after, language_of(path)
    if language == "go":
        return all(part[:1].isupper() for part in parts)
    if language == "rust":
        return signature.startswith("pub")
    if language in ("java", "csharp", "kotlin", "swift", "php", "scala"):
        return not re.search(r"\b(private|fileprivate)\b", signature)
    return not any(part.startswith(("_", "#")) and not part.startswith("__") for part in parts)


def _affected(number: int, found: Reached) -> dict:
    return {"id": f"A{number}", "path": found.path, "symbol": found.symbol, "kind": found.kind, "line": found.line,
            "distance": found.distance, "confidence": found.confidence, "reason": found.reason,
            "via": found.via}  # fmt: skip


def _covering(number: int, found: Covering) -> dict:
    return {"id": f"T{number}", "path": found.path, "tests": list(found.tests), "distance": found.distance,
            "confidence": found.confidence, "reason": found.reason}  # fmt: skip


def _together(number: int, found: Together) -> dict:
    return {"id": f"C{number}", "path": found.path, "together": found.together, "of": found.of,
            "share": round(found.together / found.of, 3)}  # fmt: skip


def _evidence(base: Codebase, changes: Sequence[Change], changed: Sequence[Mapping], affected: Sequence[Mapping],
              covers: Sequence[Mapping], gaps: Sequence[str]) -> risk.RiskEvidence:  # fmt: skip
    first: dict[str, str] = {}
    for item in affected:
        if item["distance"] <= 2 and item["confidence"] >= 0.5 and not is_example_path(item["path"]):
            first.setdefault(item["path"], item["id"])
    items = [i for c in changed for i in c["interface"] or () if i["how"] != "added"]  # what is new breaks nobody
    unknown = any(c["interface"] is None for c in changed)
    code = any(file_kind(c.path) == "code" and not is_test_path(c.path) for c in changes)
    gone = [c["id"] for c in changed if c["status"] == "deleted"]
    return risk.RiskEvidence(
        dependent_files=tuple(first.values()),
        interface=tuple(i["id"] for i in items) if items or not unknown else None,
        removed=(*(i["id"] for i in items if i["how"] == "removed"), *gone),
        used=tuple(a["id"] for a in affected if a["distance"] == 1 and a["confidence"] >= 0.5),
        schema=tuple(t["id"] for c in changed for t in c["tables"]),
        tests=tuple(t["id"] for t in covers if t["tests"] or all(c.whole for c in changes)),
        changed=tuple(c["id"] for c in changed),
        code=code,
        gaps=tuple(gaps),
    )


def _gaps(
    index: Index, base: Codebase, changes: Sequence[Change], found: Sequence[Reached], commits: Sequence[Commit]
) -> list[str]:
    """Why the evidence may be incomplete, in words; [] when it isn't."""
    gaps = [f"{c.path}: {c.problem}" for c in changes if c.problem]
    for change in changes:
        info = index.files.get(change.path)
        if info is not None and info.kind == "code":
            if grammar(info.language) is None:
                gaps.append(f"{change.path}: calls in {info.language} are not read")
            elif not info.parsed:
                gaps.append(f"{change.path}: has syntax errors (or macros) and was read in parts")
    broken = sorted({r.path for r in found if not index.files[r.path].parsed})
    if broken:
        gaps.append(f"{len(broken)} affected files have syntax errors: {', '.join(broken[:3])}")
    guesses = _unresolved(base, changes)
    if guesses:
        gaps.append(f"{guesses} calls fit several definitions, one of them changed here{_mostly(index, changes)}")
    if not commits:
        gaps.append("no history: files that change together are not known")
    elif len(commits) < LEAST_HISTORY:
        gaps.append(f"a history of {len(commits)} commits is too short to tell which files change together")
    return gaps


def _unresolved(base: Codebase, changes: Sequence[Change]) -> int:
    nodes = [base.graph.nodes[n] for change in changes for n in changed_nodes(base, change)]
    names = {node.name.rpartition(".")[2] for node in nodes if node.kind in ("class", "function")}
    return sum(base.graph.unresolved.get(name, 0) for name in names)


def _mostly(index: Index, changes: Sequence[Change]) -> str:
    """Where the changed names are used most outside their own files; '' unless just a few names are meant."""
    names = {name.rpartition(".")[2] for c in changes for name in c.symbols}
    if not names or len(names) > _FEW_NAMES:
        return ""
    inside = {c.path for c in changes}
    places = Counter(r.path for name in names for r in index.references(name) if r.path not in inside)
    most = ", ".join(path for path, _ in places.most_common(3))
    return f" (that name is used most in {most})" if most else ""


def _completeness(index: Index, base: Codebase, changes: Sequence[Change], gaps: Sequence[str], past: int,
                  affected: Sequence[Mapping], covers: Sequence[Mapping]) -> dict:  # fmt: skip
    unparsed = [
        path for path, info in index.files.items() if info.kind == "code" and grammar(info.language) and not info.parsed
    ]
    return {
        "complete": not gaps,
        "gaps": list(gaps),
        "commit": index.commit,
        "files": len(index.files),
        "unparsed": len(unparsed),
        "unresolved_calls": _unresolved(base, changes),
        "history_commits": past,
        "affected": len(affected),
        "covering_tests": len(covers),
        "targets": [{"target": c.asked or c.path, "path": c.path, "symbols": list(c.symbols)} for c in changes],
    }


def _recommendations(evidence: risk.RiskEvidence, covers: Sequence[Mapping], shared: Sequence[Mapping]) -> list[dict]:
    found: list[dict] = []

    def add(text: str, ids: Sequence[str]) -> None:
        found.append({"text": text, "evidence": list(ids), "source": "rule"})

    if covers:
        add(f"Run {', '.join(c['path'] for c in covers[:5])}.", [c["id"] for c in covers[:5]])
    if evidence.code and not evidence.tests:
        add("Write a test for the changed code first: none was found that reaches it.", evidence.changed[:5])
    if evidence.used:
        add("Look at the places that use what changes.", evidence.used[:5])
    if evidence.removed and evidence.used:
        add("Keep the old name as an alias, or change its users in the same commit.", evidence.removed[:5])
    if evidence.schema:
        add("Write a migration and try it on a copy of real data.", evidence.schema[:5])
    often = [c for c in shared if c["share"] >= 0.4 and c["together"] >= 3]
    if often:
        add(
            f"Check {', '.join(c['path'] for c in often[:3])}: changed along in most past commits.",
            [c["id"] for c in often[:3]],
        )
    return found
