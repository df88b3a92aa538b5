"""What code finds for a question before any model is asked: an answer of a known form, and the evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from repopilot.agents.explain.evidence_places import LINES, evidence_for, evidence_rows
from repopilot.agents.explain.forms.code_answer import CodeAnswer
from repopilot.agents.explain.forms.dispatch import answer_by_code
from repopilot.agents.explain.mentioned import mentioned_places
from repopilot.agents.exploration import retrieve
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import lines_for_model
from repopilot.i18n import Language
from repopilot.retrieval import skipped_files
from repopilot.retrieval.claims import claim_of, last_name
from repopilot.retrieval.pack import Pack
from repopilot.retrieval.search import Results
from repopilot.trace import Step
from repopilot.types import Evidence, Excerpt
from repopilot.workspace import Workspace

NOTHING_PACKED = Pack("", (), 0, 0, "")


@dataclass(frozen=True, slots=True)
class Findings:
    """What code found for a question.

    Attributes:
        question: as it was asked.
        results: the results of the search.
        evidence: the places of the code's answer, then those of the search, best first, numbered from 1.
        code: the answer by code, whose text cites the evidence; None where the question has no form that code knows.
        map: the outline of the repository for a question about all of it, else ''.
        language: the language of the answer: the one in the settings, else the question's.
        pack: the evidence as a model reads it; empty until one is asked.
        problems: messages about mentions in the question that lead nowhere.
    """

    question: str
    results: Results
    evidence: tuple[Evidence, ...]
    code: CodeAnswer | None = None
    map: str = ""
    language: Language = "en"
    pack: Pack = NOTHING_PACKED
    problems: tuple[str, ...] = ()


async def find(question: str, workspace: Workspace, step: Step) -> Findings:
    """Search for a question, in two visible steps. The second notes the evidence, which can be shown from then on.

    Args:
        question: as the user asked it.
        workspace: the repository and the conversation.
        step: the step of the agent.

    Returns:
        The findings. Finding nothing is a result, not an error.
    """
    results = await retrieve(question, workspace, step, documentation=True)
    async with step.child("read", "tool", question) as showing:
        found = await asyncio.to_thread(_findings, question, results, workspace)
        if found.code is not None:
            showing.note(form=found.code.form, sure=found.code.sure)
            await showing.write(found.code.text)
        for problem in found.problems:
            showing.degrade(problem)
        showing.note(evidence=evidence_rows(found.evidence), commit=workspace.index.commit)
    return found


def excerpts_of(found: Findings, workspace: Workspace) -> tuple[Excerpt, ...]:
    """The evidence with all lines of each place, under the same numbers."""
    return tuple(_excerpt(place, workspace) for place in found.evidence)


def _findings(question: str, results: Results, workspace: Workspace) -> Findings:
    language = workspace.settings.language or results.query.language
    index = workspace.index
    code = answer_by_code(question, results, workspace, language)
    if code is not None and workspace.uses_tools and not _speaks_of_all(code, question):
        code = None
    first = code.places if code else tuple(_skipped(workspace, results))
    mentioned, problems = mentioned_places(question, workspace, len(first) + 1)
    evidence = evidence_for(index, results, (*first, *mentioned))
    outline = lines_for_model(overview_of(index)) if results.query.kind == "overview" else ""
    return Findings(question, results, evidence, code, outline, language, problems=tuple(problems))


def _speaks_of_all(code: CodeAnswer, question: str) -> bool:
    """Whether an answer by code contains all names of code in the question, or, without such names, is about the
    repository as a whole. Any other answer covers only a part of the question, or another question."""
    places = "\n".join(f"{e.path} {e.symbol}\n" + "\n".join(row for _, row in e.lines) for e in code.places)
    told = f"{code.text}\n{places}"
    asked = {last_name(anchor.text) for anchor in claim_of(question).anchors if anchor.kind != "quote"}
    return all(name in told for name in asked) if asked else code.form == "overview"


def _skipped(workspace: Workspace, results: Results) -> Iterator[Evidence]:
    """The beginnings of the files that the query names and that were skipped when the index was built."""
    limit = workspace.settings.max_file_kb << 10
    for each in skipped_files.excerpts(workspace.index, workspace.snapshot, results.query, limit):
        lines = tuple(enumerate(each.text.split("\n")[: LINES[0]], each.start_line))
        yield Evidence(each.number, each.path, each.start_line, lines[-1][0], each.symbol, lines)


def _excerpt(place: Evidence, workspace: Workspace) -> Excerpt:
    text = workspace.index.lines(place.path, place.start_line, place.end_line)
    if text is None:  # a file outside of the index
        text = "\n".join(line for _, line in place.lines)
    return Excerpt(place.number, place.path, place.start_line, place.end_line, place.symbol, text)
