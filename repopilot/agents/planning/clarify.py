"""What a plan lacks, as a question with choices, where code can't tell which places a task has to change. Pure over the
index."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.planning.edit_places import source_places, task_of
from repopilot.agents.planning.requirements import Requirements
from repopilot.agents.planning.task_evidence import TaskEvidence, without_mentions
from repopilot.agents.planning.touched_files import role_of, voters_of
from repopilot.code.graph.graph import DEPENDING, Graph
from repopilot.index.store import Index
from repopilot.index.tokens import expand, words
from repopilot.results import PlanQuestion
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR, VAGUE

SURE = 0.4
"""How likely the best source file must be touched for a plan without asking."""
LEAST_COVERAGE, GOOD_COVERAGE = 0.2, 0.4
"""How much of what the task is about the best source file must speak of: for a plan, and for one without a doubt. Of
100 real features the best two files were right in 9 of 10 cases above the second, in every other one below it."""
MANY_SIMILAR = 3
CODE = ("source", "exports")
MOST_OPTIONS = 4
_ONLY_A_PRONOUN = re.compile(
    r"^\W*\w+\s+(?:it|this|that|these|them|things|everything|(?:the |all )?(?:code|project|repo(?:sitory)?)|ça|"
    r"cela|tout|l(?:e (?:code|projet)|e dépôt))\b(?!\s+(?:to|in|from|with|for|when|on|dans|de|pour|quand)\b)",
    re.I,
)


def missing(wanted: Requirements, evidence: TaskEvidence, index: Index, language: str) -> PlanQuestion | None:
    """What has to be known before a plan can name places.

    Args:
        wanted: a goal of the task.
        evidence: what is known about where it has to change the repository.
        index: the repository.
        language: of the question.

    Returns:
        The question; None where the places are clear enough for a plan.
    """
    if any(f.named for f in evidence.files):
        return None
    subject = [] if _ONLY_A_PRONOUN.match(wanted.goal) else subject_words(without_mentions(wanted.goal))
    if not subject:
        return _question("planning.missing.subject", wanted, _central(evidence.graph), language)
    if not any(_occurs(word, index) for word in subject):
        return _question("planning.missing.unknown", wanted, _central(evidence.graph), language)
    best = next((f for f in evidence.files if f.role in CODE), None)
    if best and best.probability >= SURE and _spoken_of(wanted, best.path, evidence, index) >= LEAST_COVERAGE:
        return None
    options = _places(wanted, evidence, index) or _central(evidence.graph)
    return _question("planning.missing.place", wanted, options, language)


def doubt(wanted: Requirements, evidence: TaskEvidence, index: Index, language: str) -> PlanQuestion | None:
    """Which other places are worth considering for a plan whose best one speaks of little of the task.

    Args:
        wanted: a goal of the task.
        evidence: what is known about where it has to change the repository.
        index: the repository.
        language: of the question.

    Returns:
        The question; None where the places are sure.
    """
    best = next((f for f in evidence.files if f.role in CODE), None)
    if best is None or any(f.named for f in evidence.files):
        return None
    if _spoken_of(wanted, best.path, evidence, index) >= GOOD_COVERAGE:
        return None
    first, *others = _places(wanted, evidence, index)
    return _question("planning.missing.other", wanted, others, language, place=first) if others else None


def _spoken_of(wanted: Requirements, path: str, evidence: TaskEvidence, index: Index) -> float:
    """`coverage` of a goal by a file, without its conditions: they say how, not where. All of it where most similar
    commits touched the file; of a French goal nothing is known, as the repository's words are English."""
    text = without_mentions(wanted.text)
    if any(f.path == path and f.similar >= MANY_SIMILAR for f in evidence.files):
        return 1.0
    for point in wanted.points:
        text = text.replace(point, " ")
    if parse(text).language != "en":
        return 1.0
    return coverage(subject_words(text), path, evidence, index)


def _places(wanted: Requirements, evidence: TaskEvidence, index: Index) -> list[str]:
    """The best place of each of the likeliest source files."""
    task = task_of(wanted, evidence.names, index)
    sources = [f for f in evidence.files if f.role in CODE][: MOST_OPTIONS + 1]
    return [place.name for f in sources for place in source_places(f, evidence.hits, task, index)[:1]]


def subject_words(goal: str) -> list[str]:
    """The words of a goal that say what it is about."""
    left_out = STOP_EN | STOP_FR | VAGUE
    return [w for w in dict.fromkeys(words(goal)) if w.lower() not in left_out and len(w) > 1]


def coverage(subject: Sequence[str], path: str, evidence: TaskEvidence, index: Index) -> float:
    """How much of what a task is about a file speaks of, by its text and by the similar commits that touched it.

    Args:
        subject: the words that say what the task is about.
        path: the file.
        evidence: what is known about where the task has to change the repository.
        index: the repository.

    Returns:
        Between 0 and 1; rare words weigh more, those that occur nowhere most.
    """
    subjects = [v.commit.subject for v in voters_of(evidence.past) if path in v.commit.paths]
    said = " ".join([path, index.text(path) or "", *subjects])
    known = frozenset(token for word in words(said) for token in expand(word))
    weights = {word: _rarity(word, index) for word in subject}
    total = sum(weights.values())
    return sum(w for word, w in weights.items() if known & frozenset(expand(word))) / total if total else 0.0


def _rarity(word: str, index: Index) -> float:
    lexical = index.lexical
    numbers = [lexical.tokens[token] for token in expand(word) if token in lexical.tokens]
    return max(float(lexical.rarity[n]) for n in numbers) if numbers else float(lexical.rarity.max(initial=1.0))


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


def _question(
    key: str, wanted: Requirements, options: Sequence[str], language: str, **values: str
) -> PlanQuestion | None:
    chosen = tuple(f"@{option}" for option in dict.fromkeys(options))[:MOST_OPTIONS]
    if not chosen:
        return None
    return PlanQuestion(i18n.text(key, language, topic=wanted.topic or wanted.goal, **values), chosen)
