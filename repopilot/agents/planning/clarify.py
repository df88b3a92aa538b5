"""What a plan lacks, as a question with choices, where code can't tell which places a task has to change. Pure over the
index."""

from __future__ import annotations

from repopilot import i18n
from repopilot.agents.planning.edit_places import source_places, task_of
from repopilot.agents.planning.requirements import Requirements
from repopilot.agents.planning.task_evidence import TaskEvidence
from repopilot.agents.planning.touched_files import role_of
from repopilot.code.graph.graph import DEPENDING, Graph
from repopilot.index.store import Index
from repopilot.index.tokens import expand, words
from repopilot.results import PlanQuestion
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR, VAGUE

SURE = 0.4
"""How likely the best source file must be touched for a plan without asking."""
MOST_OPTIONS = 4


def missing(wanted: Requirements, evidence: TaskEvidence, index: Index, language: str) -> PlanQuestion | None:
    """What has to be known before a plan can name places.

    Args:
        wanted: a goal of the task.
        evidence: what is known about where it has to change the repository.
        index: the repository.
        language: of the question.

    Returns:
        The question; None where the places are clear enough.
    """
    sources = [f for f in evidence.files if f.role in ("source", "exports")]
    if any(f.named for f in evidence.files):
        return None
    subject = subject_words(wanted.topic)
    if not subject:
        options = _central(evidence.graph)
        return _question("planning.missing.subject", wanted, options, language)
    best = max((f.probability for f in sources), default=0.0)
    if best >= SURE and any(f.rank for f in sources[:1]):
        return None
    task = task_of(wanted, evidence.names, index)
    places = [place.name for f in sources for place in source_places(f, evidence.hits, task, index)[:1]]
    unknown = [w for w in subject if not _occurs(w, index)]
    if len(unknown) == len(subject):
        return _question("planning.missing.unknown", wanted, _central(evidence.graph), language)
    return _question("planning.missing.place", wanted, places or _central(evidence.graph), language)


def subject_words(topic: str) -> list[str]:
    """The words of a topic that say what it is about."""
    found = [w.lower() for w in words(topic)]
    return [w for w in found if w not in STOP_EN and w not in STOP_FR and w not in VAGUE and len(w) > 1]


def _occurs(word: str, index: Index) -> bool:
    return any(token in index.lexical.tokens for token in expand(word))


def _central(graph: Graph) -> list[str]:
    """The source files that most others use."""
    counts = {
        path: len(
            {graph.file_of(link.node) for node in (n, *graph.inside(n)) for link in graph.incoming(node, DEPENDING)}
        )
        for path, n in graph.by_path.items()
        if role_of(path) == "source"
    }
    return sorted(counts, key=lambda path: (-counts[path], path))


def _question(key: str, wanted: Requirements, options: list[str], language: str) -> PlanQuestion | None:
    chosen = tuple(f"@{option}" for option in dict.fromkeys(options))[:MOST_OPTIONS]
    if not chosen:
        return None
    return PlanQuestion(i18n.text(key, language, topic=wanted.topic or wanted.goal), chosen)
