"""Generate and test, from the task to checked files: explain ∥ generate, debate ∥ tests, controller, impact.

One failing agent never loses the others' results; cancelling the task stops every model call and sandbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.editor import edit_files
from repopilot.agents.editing.edits import Changes
from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.generate import scoring
from repopilot.agents.generate.debate import debate, try_objection
from repopilot.agents.generate.evidence import (
    Examination,
    gather_evidence,
    lost_names,
    old_texts,
    run_and_repair_tests,
)
from repopilot.agents.generate.render import GenerationOutcome, answer_text
from repopilot.agents.generate.scoring import ChangeEvidence, Objection, Opinions
from repopilot.agents.testing.attempts import no_worse
from repopilot.agents.testing.checkout import checked_out
from repopilot.errors import RepoPilotError
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.prompts import render
from repopilot.results import Answer, ImpactReport, TestReport
from repopilot.retrieval.cite import verify
from repopilot.retrieval.query.parse import reply_language
from repopilot.trace import Step, result_or_none
from repopilot.types import Citation, Verdict
from repopilot.workspace import Workspace

MOST_REVISIONS = 2
CONTEXT_TOKENS = 160


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the files, with what was found out about it. `report` is None when its tests could not be run."""

    changes: Changes
    evidence: ChangeEvidence
    opinions: Opinions
    verdict: Verdict
    reasons: tuple[str, ...]
    report: TestReport | None
    merged: bool = False


async def generate(question: str, workspace: Workspace, step: Step) -> Answer:
    """Files for a task, with the Controller's verdict, tests and impact in the answer's `result`.

    Args:
        question: the task as the user wrote it.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The answer. Without usable files it says why, and keeps what the other agents found.
    """
    found = await explore(question, workspace, step)
    language = reply_language(question, workspace.settings)
    context, changes = await asyncio.gather(
        result_or_none(_context(question, found, workspace, step), i18n.message("generate.work.explanation"), step),
        _edit(EditRequest(question, found, language=language), workspace, step),
    )
    text, citations = context or ("", ())
    if isinstance(changes, RepoPilotError):
        failure = i18n.said(i18n.reason(changes), language)
        return await _answer(GenerationOutcome(text, failure=failure, language=language), citations, step)
    async with _inputs(changes, workspace) as inputs:
        examination = Examination(question, workspace, inputs, language)
        outcome = await _decide(examination, found, changes, step)
    work = i18n.message("generate.work.impact")
    impact = await result_or_none(_impact(outcome.changes, workspace, step), work, step)
    return await _answer(replace(outcome, context=text, impact=impact), citations, step)


async def _decide(examination: Examination, found: Exploration, changes: Changes, step: Step) -> GenerationOutcome:
    """Debate and test a version, let the Controller decide, and follow its decision."""
    version = await _examine(examination, changes, step)
    version, revisions = await _revise(examination, found, version, step)
    if version.verdict.decision == "MERGE_FEEDBACK":
        version = await _merge(examination, found, version, step)
    return GenerationOutcome(
        changes=version.changes,
        verdict=version.verdict,
        reasons=version.reasons,
        opinions=version.opinions,
        tests=version.report,
        revisions=revisions,
        merged=version.merged,
        unexercised=version.evidence.unexercised,
        language=examination.language,
    )


@asynccontextmanager
async def _inputs(changes: Changes, workspace: Workspace) -> AsyncIterator[Path | None]:
    """The repository as a folder where something can be run in it, else None."""
    if not any(c.path.endswith(".py") for c in changes):
        yield None
        return
    async with checked_out(workspace) as folder:
        yield folder


async def _edit(request: EditRequest, workspace: Workspace, step: Step) -> Changes | RepoPilotError:
    """The generated files, or why there are none: the step of the generator shows it too."""
    try:
        async with step.child("generate", "agent", request.task) as generating:
            changes = (await edit_files(request, workspace, generating)).changes
            generating.note(files=[c.path for c in changes])
            await generating.write("\n".join(c.diff for c in changes))
            return changes
    except RepoPilotError as error:
        return error


async def _context(
    question: str, found: Exploration, workspace: Workspace, step: Step
) -> tuple[str, tuple[Citation, ...]]:
    """Two or three verified sentences on the code around the task; nothing without a model or excerpts."""
    from llama_index.core.llms import ChatMessage

    if workspace.model is None or not found.pack.excerpts:
        return "", ()
    async with step.child("explain", "agent", question) as explaining:
        prompt = render("context_user", context=found.pack.text, task=question[:1000])
        text = await stream.chat(
            workspace.model,
            [ChatMessage(role="user", content=prompt)],
            explaining,
            ChatOptions(CONTEXT_TOKENS, temperature=0.1),
        )
        checked, citations = verify(text, found.pack.excerpts, workspace.index.commit, workspace.index.symbols)
        explaining.note(citations=len(citations))
        return (checked, citations) if any(c.supported for c in citations) else ("", ())


async def _examine(examination: Examination, changes: Changes, step: Step, suffix: str = "") -> Version:
    """Debate and tests in parallel, then the Controller. `suffix` numbers the steps of further versions."""
    (opinions, objection), tested = await asyncio.gather(
        _debate(examination, changes, step, suffix),
        result_or_none(run_and_repair_tests(examination, changes, step), i18n.message("generate.work.tests"), step),
    )
    async with step.child(f"controller{suffix}", "agent") as judging:
        current, report = (tested.changes, tested.report) if tested else (changes, None)
        passing = (opinions.test,) if objection == "refuted" else ()
        evidence = await gather_evidence(examination, current, report, judging, passing)
        evidence = replace(evidence, objection=objection if current == changes else "none")
        verdict = scoring.judge(evidence, opinions)
        judging.note(score=verdict.score, decision=verdict.decision, dropped_points=opinions.dropped)
        reasons = "\n".join(f"- {i18n.said(reason, examination.language)}" for reason in verdict.reasons)
        await judging.write(f"{verdict.score}/10 {verdict.decision}\n{reasons}")
    return Version(current, evidence, opinions, verdict, scoring.decisive_reasons(evidence, opinions), report)


async def _debate(examination: Examination, changes: Changes, step: Step, suffix: str) -> tuple[Opinions, Objection]:
    """What the reviewers say, and what the Critic's test shows."""
    workspace = examination.workspace
    async with step.child(f"debate{suffix}", "agent", examination.task) as debating:
        debated = debate(examination.task, changes, workspace, debating)
        opinions = await result_or_none(debated, i18n.message("generate.work.debate"), debating)
        opinions = opinions or Opinions(unread=("critic", "defender"))
        before = old_texts(changes, workspace)
        objection = await try_objection(opinions.test, changes, before, examination, debating)
        debating.note(issues=[f"{i.path}:{i.line} {i.problem}" for i in opinions.issues], objection=objection)
    return opinions, objection


async def _revise(examination: Examination, found: Exploration, version: Version, step: Step) -> tuple[Version, int]:
    """Ask for another version while the Controller wants one, at most MOST_REVISIONS times, and choose the best one.

    A version that comes back unchanged ends it.
    """
    best, latest, done = version, version, 0
    first = EditRequest(examination.task, found, language=examination.language)
    while latest.verdict.decision == "REQUEST_REVISION" and done < MOST_REVISIONS:
        done += 1
        feedback = scoring.requested_corrections(latest.evidence, latest.opinions)
        request = replace(first, feedback=feedback, drafts=latest.changes, seed=done)
        changes = await _edit(request, examination.workspace, step)
        if isinstance(changes, RepoPilotError):
            step.degrade(i18n.message("generate.revision_failed", number=done, why=i18n.reason(changes)))
            break
        if changes == latest.changes:
            step.degrade(i18n.message("generate.revision_same", number=done))
            break
        latest = await _examine(examination, changes, step, f" {done + 1}")
        if latest.verdict.score > best.verdict.score:
            best = latest
    return best, done


async def _merge(examination: Examination, found: Exploration, version: Version, step: Step) -> Version:
    """The version with the reviewers' points worked in, if it keeps the public names and does no worse in the tests
    and to the analysers; else the version as it was, and why."""
    wishes = scoring.requested_corrections(version.evidence, version.opinions)
    if not wishes or not scoring.worth_merging(version.evidence, version.opinions):
        return version
    async with step.child("merge feedback", "agent", "\n".join(wishes)) as merging:
        first = EditRequest(examination.task, found, language=examination.language)
        request = replace(first, feedback=wishes, drafts=version.changes, seed=3)
        changes = await _edit(request, examination.workspace, merging)
        if isinstance(changes, RepoPilotError):
            merging.degrade(i18n.message("generate.original_kept", why=i18n.reason(changes)))
            return version
        written = version.report.new_tests if version.report else None
        work = run_and_repair_tests(examination, changes, merging, written)
        tested = await result_or_none(work, i18n.message("generate.work.tests"), merging)
        report = tested.report if tested else None
        evidence = await gather_evidence(examination, changes, report, merging)
        verdict = scoring.judge(evidence, Opinions())
        why = why_not_merged(version, changes, evidence)
        merging.note(kept="original" if why else "merged", score=verdict.score)
        if why:
            merging.degrade(i18n.message("generate.original_kept", why=why))
            return version
    return Version(
        tested.changes if tested else changes,
        evidence,
        version.opinions,
        replace(verdict, decision="MERGE_FEEDBACK"),
        scoring.decisive_reasons(evidence, Opinions()),
        report,
        merged=True,
    )


def why_not_merged(version: Version, merged: Changes, evidence: ChangeEvidence) -> str:
    """Why a merged version must not replace the original.

    Args:
        version: the original.
        merged: the merged files.
        evidence: what is known about them.

    Returns:
        The reason in words, '' when it may replace it.
    """
    drafts = {c.path: c for c in version.changes}
    lost = [n for c in merged if c.path in drafts for n in sorted(lost_names(c, drafts[c.path].content))]
    if lost:
        return i18n.message("generate.merge.loses", names=", ".join(lost[:3]))
    if not {c.path for c in version.changes} <= {c.path for c in merged}:
        return i18n.message("generate.merge.fewer_files")
    runs = (evidence.tests, version.evidence.tests), (evidence.written, version.evidence.written)
    if not all(no_worse(new, old) for new, old in runs):
        return i18n.message("generate.merge.worse_tests")
    if len(evidence.findings) > len(version.evidence.findings):
        return i18n.message("generate.merge.more_findings")
    return ""


async def _impact(changes: Changes, workspace: Workspace, step: Step) -> ImpactReport:
    """What the generated code touches."""
    async with step.child("impact", "agent", ", ".join(c.path for c in changes)) as reporting:
        from repopilot.impact.agent import impact_report

        return await impact_report(workspace, reporting, (), patch="".join(c.diff for c in changes))


async def _answer(outcome: GenerationOutcome, citations: tuple[Citation, ...], step: Step) -> Answer:
    text = answer_text(outcome)
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, citations, outcome.changes, result=outcome.result)
