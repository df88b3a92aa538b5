"""Gathers what is known about where a task has to change the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from repopilot.agents.planning.requirements import Requirements, kind_word
from repopilot.agents.planning.touched_files import (
    FileEvidence,
    Past,
    commits_of_kind,
    named_files,
    touched_files,
    voters_of,
)
from repopilot.code.graph.graph import Graph
from repopilot.code.languages import is_test_path
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.repo.history import follow_renames
from repopilot.retrieval.past_commits import similar_commits
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.search import search
from repopilot.types import Hit

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder

PASSAGES = 60
_SIMILAR = 15


_CALLED = re.compile(
    r"\b(?:the|la|le)\s+([a-z_]\w{2,})\s+(?:command|subcommand|function|method|class|fixture|handler|view|endpoint)\b|"
    r"\b(?:commande|fonction|m[ée]thode|classe)\s+([a-z_]\w{2,})\b"
)
"""A plain word that is said to be a definition: "the insert command"."""
_PLACE_NAMED = re.compile(
    r"\b(?:to|in|on|of|into|from|class|à|dans|de|classe)\s+(?:(?:the|class|la|classe)\s+)*([A-Z][a-z0-9]+)\b(?!\s+[A-Z])"
)
"""A plain capitalised word behind a preposition: "to Signer"."""
_MENTION = re.compile(r"(?<!\w)@(?P<path>[\w./+-]+\.\w+)(?::(?P<symbol>[\w.]+))?")


@dataclass(frozen=True, slots=True)
class TaskEvidence:
    """What is known about where a task has to change the repository.

    Attributes:
        names: the identifiers in the goal.
        hits: the passages of the search, best first.
        past: the history.
        graph: the code graph.
        files: what speaks for each file, the likeliest first.
    """

    names: tuple[str, ...]
    hits: tuple[Hit, ...]
    past: Past
    graph: Graph
    files: list[FileEvidence]


def evidence_of(wanted: Requirements, index: Index, embedder: Embedder | None = None) -> TaskEvidence:
    """Search, read the history and the code graph for a goal.

    Args:
        wanted: the goal.
        index: the repository.
        embedder: makes vectors, None for lexical search alone.

    Returns:
        The evidence.

    Raises:
        IndexFailed: the index is damaged.
    """
    task = without_mentions(wanted.text)
    results = search(index, task, PASSAGES, embedder=embedder)
    commits = follow_renames(index.commits)
    names = tuple(dict.fromkeys([*goal_names(wanted), *_classes_named(wanted.goal, index)]))
    of_kind = commits_of_kind(kind_word(wanted.topic), commits)
    past = Past(commits, similar_commits(index, results.query, commits, _SIMILAR), of_kind)
    graph = graph_of(index)
    files = touched_files(results.files, past, graph, named_files(wanted.text, names, index))
    return TaskEvidence(names, results.hits, past, graph, files)


def _classes_named(goal: str, index: Index) -> Iterator[str]:
    """The plain capitalised words of a goal that classes of the repository are called, where they say a place."""
    for match in _PLACE_NAMED.finditer(goal):
        own = (s for s in index.symbols(match[1]) if not is_test_path(s.path))
        if any(s.kind in ("class", "struct", "interface") for s in own):
            yield match[1]


def goal_names(wanted: Requirements) -> tuple[str, ...]:
    """The identifiers in a goal, and those in backticks in all of its text; names of mentioned places first."""
    mentioned = [m["symbol"] for m in _MENTION.finditer(wanted.text) if m["symbol"]]
    quoted = [name for name in parse(wanted.text).names if f"`{name}" in wanted.text]
    goal = parse(without_mentions(wanted.goal)).names
    called = [name for match in _CALLED.finditer(wanted.goal) for name in match.groups() if name]
    return tuple(dict.fromkeys([*mentioned, *goal, *quoted, *called]))


def without_mentions(text: str) -> str:
    """A task without the places it mentions with an @: they say where, not what."""
    return _MENTION.sub(" ", text).strip()


def file_row(file: FileEvidence) -> dict[str, object]:
    """The evidence for a file as JSON, for the trace."""
    return {key: value for key, value in asdict(file).items() if value}


def similar_rows(evidence: TaskEvidence) -> list[dict[str, object]]:
    """The past commits most like the task as JSON, for the trace."""
    found = voters_of(evidence.past)
    return [{"commit": v.commit.sha[:12], "subject": v.commit.subject, "share": round(v.share, 2)} for v in found]
