"""Which files a change has to touch, and why: by the search, the last similar changes, the files that change together
with the best place, its tests, and the names in the task. Pure over the index."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from repopilot.agents.coding.places import named_paths
from repopilot.code.graph.graph import Edge, Graph
from repopilot.code.languages import file_kind, is_doc_path, is_test_path
from repopilot.index.file_roles import is_vendored
from repopilot.index.store import Index
from repopilot.repo.co_change import changed_together
from repopilot.repo.history import Commit
from repopilot.retrieval.ranking.past_commits import SimilarCommit

Role = Literal["source", "exports", "tests", "docs", "changelog", "config", "vendored"]

MOST_SEARCHED = 40
MOST_SIMILAR = 5
MOST_MAINS = 2
RECENT = 300
"""How many of the newest commits to a file are counted."""
_LARGEST = 20
_LEAST_TEST = 0.5
_CHANGELOG = re.compile(r"(?:change ?logs?|changes|history|news|release[-_ ]?notes)\b", re.I)
_EXPORTING = ("__init__.py", "index.ts", "index.js", "index.mjs", "mod.rs", "lib.rs")


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """What speaks for a file being touched.

    Attributes:
        path: the file, which exists.
        role: what it is for.
        rank: among the files of the search, from 1; 0 for not found.
        similar: how many of the `of` most similar past commits touched it; `share` weighs them by their similarity.
        together: how many of the `changes` newest commits to `main` touched it too.
        main: the source file that this is counted for, '' for none.
        tests_main: it is a test of the main source files.
        linked: it uses a main source file, or is used by one.
        named: the task names it, or a definition of it.
        probability: how likely it is to be touched, by all of this.
    """

    path: str
    role: Role
    rank: int = 0
    similar: int = 0
    of: int = 0
    share: float = 0.0
    together: int = 0
    changes: int = 0
    main: str = ""
    tests_main: bool = False
    linked: bool = False
    named: bool = False
    probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Past:
    """Past commits, newest first, with the paths their files have now; and those most like the task, best first."""

    commits: Sequence[Commit] = ()
    similar: Sequence[SimilarCommit] = ()


def role_of(path: str) -> Role:
    """What a file is for."""
    if is_vendored(path):
        return "vendored"
    if is_test_path(path):
        return "tests"
    if _CHANGELOG.match(path.rpartition("/")[2]) and file_kind(path) == "doc":
        return "changelog"
    if is_doc_path(path):
        return "docs"
    if file_kind(path) == "config":
        return "config"
    return "exports" if path.rpartition("/")[2] in _EXPORTING else "source"


def named_files(task: str, names: Sequence[str], index: Index) -> frozenset[str]:
    """The files that a task names by their path, or by a definition that at most two files have.

    Args:
        task: as the user wrote it.
        names: the identifiers in its goal.
        index: the repository.
    """
    found = {path for path in named_paths(task, index) if path in index.files}
    mentioned = {path for path in found if f"@{path}" in task}
    if mentioned:
        return frozenset(mentioned)
    for name in names:
        places = {s.path for s in index.symbols(name) if not is_test_path(s.path)}
        if len(places) <= 2:
            found |= places
    return frozenset(found)


def touched_files(
    searched: Sequence[str], past: Past, graph: Graph, named: frozenset[str] = frozenset()
) -> list[FileEvidence]:
    """Find the files that a change touches.

    Args:
        searched: the files of the search for the task, best first.
        past: the history.
        graph: the code graph, whose files are those that exist.
        named: files that the task names.

    Returns:
        Every file that anything speaks for, the likeliest first.
    """
    found = _first_evidence(searched, past, graph, named)
    sources = [e for e in found.values() if e.role in ("source", "exports")]
    mains = sorted(sources, key=lambda e: (not e.named, -_odds(e, FIRST)))[:MOST_MAINS]
    for number, main in enumerate(mains):
        better = {m.path for m in mains[:number]}
        for path, (together, changes) in _co_changed(main.path, past.commits, graph).items():
            if path in better:
                continue
            known = found.get(path) or FileEvidence(path, role_of(path))
            if changes and together / (changes + 2) > known.together / (known.changes + 2):
                found[path] = replace(known, together=together, changes=changes, main=main.path)
    _add_neighbours(found, mains[:1], graph)
    own = (e for e in found.values() if e.role != "vendored" or e.named)
    weighed = (replace(e, probability=_logistic(_odds(e, SECOND))) for e in own)
    return sorted(weighed, key=lambda e: (-e.probability, e.path))


def voters_of(past: Past) -> Sequence[SimilarCommit]:
    """The commits most like the task that changed code, at most MOST_SIMILAR; where fewer than two did, any commits."""
    changed_code = [v for v in past.similar if any(role_of(p) in ("source", "exports") for p in v.commit.paths)]
    return (changed_code if len(changed_code) > 1 else past.similar)[:MOST_SIMILAR]


def _first_evidence(
    searched: Sequence[str], past: Past, graph: Graph, named: frozenset[str]
) -> dict[str, FileEvidence]:
    voters = voters_of(past)
    total = sum(v.share for v in voters) or 1.0
    ranks = {path: rank for rank, path in enumerate(searched[:MOST_SEARCHED], 1)}
    touched = {path for v in voters for path in v.commit.paths}
    return {
        path: FileEvidence(
            path,
            role_of(path),
            rank=ranks.get(path, 0),
            similar=sum(path in v.commit.paths for v in voters),
            of=len(voters),
            share=sum(v.share for v in voters if path in v.commit.paths) / total,
            named=path in named,
        )
        for path in dict.fromkeys([*named, *ranks, *sorted(touched)])
        if path in graph.by_path
    }


def _co_changed(main: str, commits: Sequence[Commit], graph: Graph) -> Mapping[str, tuple[int, int]]:
    """(together, of) by path: how many of the newest commits to a file touched another that still exists."""
    own = [c for c in commits if main in c.paths and 1 < len(c.paths) <= _LARGEST][:RECENT]
    found = changed_together(own, {main})
    return {each.path: (each.together, each.of) for each in found if each.path in graph.by_path}


def _add_neighbours(found: dict[str, FileEvidence], mains: Sequence[FileEvidence], graph: Graph) -> None:
    """Mark the tests of the main files, and the files linked with them by the code graph."""
    for main in mains:
        number = graph.by_path[main.path]
        for link in graph.incoming(number, (Edge.TESTS,)):
            if link.confidence >= _LEAST_TEST:
                path = graph.nodes[link.node].path
                known = found.get(path) or FileEvidence(path, role_of(path))
                found[path] = replace(known, tests_main=True)
        ends = [*graph.incoming(number, (Edge.IMPORTS,)), *graph.outgoing(number, (Edge.IMPORTS,))]
        for path in {graph.nodes[graph.file_of(link.node)].path for link in ends} - {main.path}:
            if path in found:
                found[path] = replace(found[path], linked=True)


def features(evidence: FileEvidence) -> dict[str, float]:
    """The evidence as numbers, by name, most between 0 and 1."""
    rate = evidence.together / (evidence.changes + 2) if evidence.changes else 0.0
    return {
        "one": 1.0,
        "rank": 1 / (1 + evidence.rank) ** 0.5 if evidence.rank else 0.0,
        "first": float(evidence.rank == 1),
        "top": float(0 < evidence.rank <= 3),
        "share": evidence.share,
        "most similar": float(evidence.similar > 0),
        "rate": rate,
        "tests main": float(evidence.tests_main),
        "linked": float(evidence.linked),
        "named": float(evidence.named),
        evidence.role: 1.0,
        f"{evidence.role} rate": rate,
        f"{evidence.role} share": evidence.share,
    }


def _odds(evidence: FileEvidence, weights: Mapping[str, float]) -> float:
    return sum(value * weights.get(name, 0.0) for name, value in features(evidence).items())


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


# Fitted by bench/train_plans.py on commits of six repositories; FIRST is used before co-change is known.
FIRST: Mapping[str, float] = {
    "exports": -1.15,
    "exports share": -0.27,
    "first": 0.5,
    "most similar": 0.22,
    "named": 1.14,
    "one": -2.69,
    "rank": 2.93,
    "share": 0.51,
    "source": -1.54,
    "source share": 0.77,
    "top": 1.3,
}
SECOND: Mapping[str, float] = {
    "changelog": 1.05,
    "changelog rate": 0.52,
    "changelog share": 0.83,
    "config": 0.27,
    "config rate": -0.06,
    "config share": 0.08,
    "docs": -0.65,
    "docs rate": 0.98,
    "docs share": 1.17,
    "exports": -1.22,
    "exports rate": -0.12,
    "exports share": -0.5,
    "first": 0.54,
    "linked": -0.35,
    "most similar": 0.5,
    "named": 1.29,
    "one": -3.46,
    "rank": 4.56,
    "rate": 2.19,
    "share": 1.34,
    "source": -1.51,
    "source rate": 0.19,
    "source share": -0.72,
    "tests": -1.39,
    "tests main": 0.83,
    "tests rate": 0.68,
    "tests share": 0.47,
    "top": 0.86,
}
