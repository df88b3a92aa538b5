"""The parts of a plan: a model's draft checked against the repository, or parts without a model; and their risk. Pure
over the index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from pydantic import BaseModel

from repopilot.agents.exploration import Exploration
from repopilot.agents.generate.edits import safe_path
from repopilot.agents.generate.places import named_paths
from repopilot.agents.planning.plan import PlanPart, PlanQuestion, split_task
from repopilot.code.languages import file_kind, is_doc_path, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.types import Risk

MOST_QUESTIONS = 3
WIDELY_USED = 20
"""Uses of a file's names from which on changing it is a high risk."""


class PartDraft(BaseModel):
    title: str
    files: list[str] = []
    depends_on: list[int] = []


class QuestionDraft(BaseModel):
    question: str
    options: list[str] = []


class PlanDraft(BaseModel):
    questions: list[QuestionDraft] = []
    parts: list[PartDraft]


def checked_parts(drafts: Sequence[PartDraft], index: Index) -> list[PlanPart]:
    """The drafts with paths that exist or could be made, and a computed risk; empty titles and repetitions go."""
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
    kept = []
    for draft in drafts:
        options = tuple(dict.fromkeys(o.strip() for o in draft.options if o.strip()))[:4]
        answered = any(re.search(rf"\b{re.escape(o.lower())}\b", task.lower()) for o in options)
        if len(options) >= 2 and draft.question.strip() and not answered:
            kept.append(PlanQuestion(draft.question.strip(), options))
    return tuple(kept[:MOST_QUESTIONS])


def _real_paths(paths: Sequence[str], index: Index) -> tuple[str, ...]:
    """Paths of the index (also by their ending), and new ones that stay inside; folders and nonsense go."""
    kept = []
    for path in paths:
        try:
            bare = safe_path(path.strip("`"))
        except GenerationFailed:
            continue
        endings = [p for p in index.files if p == bare or p.endswith("/" + bare)]
        if endings or PurePosixPath(bare).suffix:
            kept.append(endings[0] if len(endings) == 1 else bare)
    return tuple(dict.fromkeys(kept))[:6]


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


def fallback_parts(task: str, found: Exploration, index: Index) -> list[PlanPart]:
    """A plan without a model: the parts the task itself names, else one for each folder the search found, then tests
    and documentation."""
    named = split_task(task)
    hits = list(dict.fromkeys(h.chunk.path for h in found.results.hits))
    if named:
        groups = [(title, _files_for(title, hits, index)) for title in named]
    else:
        groups = _by_folder(task, [p for p in hits if not is_test_path(p) and not is_doc_path(p)])
    parts = [
        PlanPart(n, title, files, risk_of(files, index), (n - 1,) if n > 1 else ())
        for n, (title, files) in enumerate(groups, 1)
    ]
    for title, files in (
        ("Cover it with tests", [p for p in hits if is_test_path(p)]),
        ("Bring the documentation up to date", [p for p in hits if is_doc_path(p)]),
    ):
        if not any(word in task.lower() for word in title.lower().split()[-1:]):
            parts.append(PlanPart(len(parts) + 1, title, tuple(files[:3]), "LOW", (len(parts),) if parts else ()))
    return parts


def _files_for(title: str, hits: Sequence[str], index: Index) -> tuple[str, ...]:
    words = set(re.findall(r"[a-z]{4,}", title.lower()))
    return tuple(dict.fromkeys([*named_paths(title, index), *(p for p in hits if any(w in p.lower() for w in words))]))[
        :4
    ]


def _by_folder(task: str, paths: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(str(PurePosixPath(path).parent), []).append(path)
    goal = " ".join(task.split())[:80]
    return [
        (f"{goal}: {'the top folder' if f == '.' else f}", tuple(files[:4])) for f, files in list(folders.items())[:5]
    ]
