"""Impact: what a change touches, be it named, already made or only wished for. A model is asked only about a wish."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.agents.explain.render import citations_of
from repopilot.agents.impact.impact_report import impact_report
from repopilot.agents.impact.question import ImpactRequest, read_request, wished
from repopilot.agents.impact.render import impact_markdown
from repopilot.agents.wishes.likely_places import CODE
from repopilot.agents.wishes.planning_loop import plan_by_loop
from repopilot.agents.wishes.touched_files import role_of
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.results import Answer, ImpactReport
from repopilot.retrieval.query.parse import reply_language
from repopilot.routing.audience import for_its_reader
from repopilot.trace import Step
from repopilot.types import Evidence
from repopilot.workspace import Workspace

_CITED = 10


async def impact(question: str, workspace: Workspace, step: Step) -> Answer:
    """Report what a change would touch: a change of the files, symbols, commits or generated code that the question
    names, or one that it describes as a wish.

    Args:
        question: in English or French; the answer is in its language.
        workspace: the repository and the conversation.
        step: the step of the work.

    Returns:
        The report as text, in `result` as an ImpactReport.

    Raises:
        UsageError: nothing in the repository has to do with the question.
        SourceError: it names an unknown commit.
    """
    language = reply_language(question, workspace.settings)
    async with step.child("what changes", "tool", question) as reading:
        request = await asyncio.to_thread(read_request, question, workspace)
        if workspace.uses_tools and (request.note or not request):
            request = await _places_by_model(question, request, workspace, reading)
        reading.note(targets=list(request.targets), diff=request.diff, files=[c.path for c in request.changes])
        if not request:
            raise UsageError(message("impact.errors.no_target"), message("impact.errors.no_target_hint"))
        if request.note:
            reading.degrade(request.note)
    if request.changes:
        report = await impact_report(workspace, step, patch="".join(change.diff for change in request.changes))
    else:
        report = await impact_report(workspace, step, request.targets, diff=request.diff)
    evidence = await asyncio.to_thread(_evidence, report, workspace)
    numbers = {item.id: e.number for item, e in zip(report.affected, evidence, strict=False)}
    report = replace(report, note=request.note)
    text = impact_markdown(report, numbers, language)
    await step.answer(text)
    return Answer(text, citations_of(evidence, workspace.index.commit), evidence=evidence, result=report)


async def impact_of(workspace: Workspace, step: Step, targets: Sequence[str]) -> ImpactReport:
    """As `impact_report`; a single target of several words that is no path is a wish or a question."""
    if len(targets) == 1 and " " in targets[0].strip() and targets[0] not in workspace.index.files:
        report = (await impact(*for_its_reader(targets[0], workspace), step)).result
        assert isinstance(report, ImpactReport)
        return report
    return await impact_report(workspace, step, targets)


async def _places_by_model(wish: str, request: ImpactRequest, workspace: Workspace, step: Step) -> ImpactRequest:
    """The request with the places that a model with tools expects the wish to change; unchanged where it names none."""
    parts, why = await plan_by_loop(wish, request.targets, workspace, step)
    places = tuple(
        part.place for part in parts if role_of(part.files[0]) in CODE and part.files[0] in workspace.index.files
    )
    if places:
        return ImpactRequest(places, note=wished(places, "by_model"))
    step.degrade(why or message("planning.no_loop_plan"))
    return request


def _evidence(report: ImpactReport, workspace: Workspace) -> tuple[Evidence, ...]:
    """The first affected places as evidence, each with its one line of code."""
    return tuple(
        evidence_of_lines(workspace.index, n, (place.path, place.line, place.line), place.symbol)
        for n, place in enumerate(report.affected[:_CITED], 1)
    )
