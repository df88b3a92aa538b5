"""The parts of a plan: a model's draft checked against the repository, or parts without a model; their order and risk.
Pure over the index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from pydantic import BaseModel

from repopilot import i18n
from repopilot.agents.editing.edits import safe_path
from repopilot.agents.editing.places import named_paths
from repopilot.agents.exploration import Exploration
from repopilot.code.languages import file_kind, is_doc_path, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.results import PlanPart, PlanQuestion
from repopilot.types import Risk

MOST_PARTS = 12
MOST_QUESTIONS = 3
WIDELY_USED = 20
"""From so many uses of a file's names on, changing it is a high risk."""
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.+)$", re.M)
_THEN = re.compile(r"(?:,|;|\.)?\s*\b(?:and )?(?:then|after that|finally|at the end|puis|ensuite|enfin)\b,?\s*", re.I)
_COLON_LIST = re.compile(r",\s*(?:and |et )?|;\s*|\s+(?:and|et)\s+")
_LIST = re.compile(r",\s*(?:and |et )?(?:also )?|;\s*|\s+and also\s+")


class PartDraft(BaseModel):
    """A part as the model writes it."""

    title: str
    files: list[str] = []
    depends_on: list[int] = []


class QuestionDraft(BaseModel):
    """A question as the model writes it."""

    question: str
    options: list[str] = []


class PlanDraft(BaseModel):
    """The model's reply."""

    questions: list[QuestionDraft] = []
    parts: list[PartDraft]


def checked_parts(drafts: Sequence[PartDraft], index: Index) -> list[PlanPart]:
    """The drafts with paths that exist or could be created, and a computed risk; without empty and repeated titles."""
    parts, titles = [], set()
    for number, draft in enumerate(drafts, 1):
        title = " ".join(draft.title.split()).strip("`*# ")[:200]
        if title and title.lower() not in titles:
            titles.add(title.lower())
            files = _real_paths(draft.files, index)
            parts.append(
                PlanPart(number, title, files, risk_of(files, index), tuple(d for d in draft.depends_on if d != number))
            )
    return parts


def checked_questions(drafts: Sequence[QuestionDraft], task: str) -> tuple[PlanQuestion, ...]:
    """Questions with at least two options, none of which the task already names."""
    questions = []
    for draft in drafts:
        options = tuple(dict.fromkeys(o.strip() for o in draft.options if o.strip()))[:4]
        answered = any(re.search(rf"\b{re.escape(o.lower())}\b", task.lower()) for o in options)
        if len(options) >= 2 and draft.question.strip() and not answered:
            questions.append(PlanQuestion(draft.question.strip(), options))
    return tuple(questions[:MOST_QUESTIONS])


def _real_paths(paths: Sequence[str], index: Index) -> tuple[str, ...]:
    """Paths of the index, also by their ending, and new ones inside the repository; folders are left out."""
    found = []
    for path in paths:
        try:
            bare = safe_path(path.strip("`"))
        except GenerationFailed:
            continue
        endings = [p for p in index.files if p == bare or p.endswith("/" + bare)]
        if endings or PurePosixPath(bare).suffix:
            found.append(endings[0] if len(endings) == 1 else bare)
    return tuple(dict.fromkeys(found))[:6]


def risk_of(files: Sequence[str], index: Index) -> Risk:
    """HIGH for a schema or a file whose names are used in many places, MEDIUM for other existing code, LOW for new
    files, tests and documents, UNKNOWN without files."""
    if not files:
        return "UNKNOWN"
    existing = [f for f in files if f in index.files and not is_test_path(f) and not is_doc_path(f)]
    if any(file_kind(f) == "schema" or _uses(f, index) >= WIDELY_USED for f in existing):
        return "HIGH"
    return "MEDIUM" if existing else "LOW"


def _uses(path: str, index: Index) -> int:
    names = [s.name for s in index.outline(path) if "." not in s.qualified][:20]
    return sum(r.path != path for name in names for r in index.references(name))


def fallback_parts(task: str, found: Exploration, index: Index, language: str) -> list[PlanPart]:
    """Plan without a model.

    Args:
        task: the task as the user wrote it.
        found: the exploration of the task.
        index: the repository's index.
        language: of the titles that are added.

    Returns:
        The parts that the task itself names, else one for each folder of the hits; then tests and documentation.
    """
    named = split_task(task)
    hits = list(dict.fromkeys(h.chunk.path for h in found.results.hits))
    if named:
        groups = [(title, _files_for(title, hits, index)) for title in named]
    else:
        groups = _by_folder(task, [p for p in hits if not is_test_path(p) and not is_doc_path(p)], language)
    parts = [
        PlanPart(n, title, files, risk_of(files, index), (n - 1,) if n > 1 else ())
        for n, (title, files) in enumerate(groups, 1)
    ]
    last = (("test", "tests", is_test_path), ("doc", "documentation", is_doc_path))
    for word, key, belongs in last:
        if word not in task.lower():
            title, files = i18n.text(f"planning.part.{key}", language), tuple(p for p in hits if belongs(p))[:3]
            parts.append(PlanPart(len(parts) + 1, title, files, "LOW", (len(parts),) if parts else ()))
    return parts


def ordered(parts: Iterable[PlanPart]) -> tuple[PlanPart, ...]:
    """The parts numbered from 1, each behind those it depends on; unknown and circular dependencies go."""
    given = list(parts)[:MOST_PARTS]
    known = {p.number for p in given}
    left = given
    placed: list[PlanPart] = []
    while left:
        done = {p.number for p in placed}
        free = next((p for p in left if not (set(p.depends_on) & known) - done - {p.number}), left[0])
        placed.append(free)
        left = [p for p in left if p is not free]
    numbers = {p.number: position for position, p in enumerate(placed, 1)}
    return tuple(
        replace(
            p,
            number=numbers[p.number],
            depends_on=tuple(sorted(numbers[d] for d in set(p.depends_on) & known if numbers[d] < numbers[p.number])),
        )
        for p in placed
    )


def split_task(task: str) -> Sequence[str]:
    """The parts that a task names itself: its list items, its "first … then …", or the list behind its colon."""
    items = [m.strip() for m in _ITEM.findall(task)]
    if len(items) >= 2:
        return items[:MOST_PARTS]
    steps = [
        s.strip(" ,.;") for s in _THEN.split(re.sub(r"^\s*(?:first|d'abord)\b,?\s*", "", task.strip(), flags=re.I))
    ]
    if len(steps) >= 2 and all(steps):
        return steps[:MOST_PARTS]
    head, colon, listed = task.partition(":")
    named = [part.strip(" .") for part in (_COLON_LIST.split(listed) if colon else _LIST.split(task))]
    if len(named) >= 3 and all(named):
        return [f"{head.strip()}: {part}" if colon else part for part in named][:MOST_PARTS]
    return []


def _files_for(title: str, hits: Sequence[str], index: Index) -> tuple[str, ...]:
    words = set(re.findall(r"[a-z]{4,}", title.lower()))
    return tuple(dict.fromkeys([*named_paths(title, index), *(p for p in hits if any(w in p.lower() for w in words))]))[
        :4
    ]


def _by_folder(task: str, paths: Sequence[str], language: str) -> list[tuple[str, tuple[str, ...]]]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(str(PurePosixPath(path).parent), []).append(path)
    goal = " ".join(task.split())[:80]
    top = i18n.text("planning.top_folder", language)
    return [(f"{goal}: {top if f == '.' else f}", tuple(files[:4])) for f, files in list(folders.items())[:5]]
