"""Generate and test, from the task to checked files: explain ∥ generate, debate ∥ tests, controller, impact.

One failing agent never loses the others' results; cancelling the task stops every model call and sandbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.generate import evidence as checks
from repopilot.agents.generate import scoring
from repopilot.agents.generate.debate import debate, try_objection
from repopilot.agents.generate.evidence import Changes, Tested
from repopilot.agents.generate.generator import GenerationRequest, generate_files
from repopilot.agents.generate.render import GenerationOutcome, answer_text, details_of
from repopilot.agents.testing.checkout import checked_out
from repopilot.errors import RepoPilotError
from repopilot.llm import stream
from repopilot.prompts import render
from repopilot.results import Answer
from repopilot.retrieval.cite import verify
from repopilot.retrieval.query import parse
from repopilot.trace import Step, result_or_none
from repopilot.types import Citation, Verdict
from repopilot.workspace import Workspace

MOST_REVISIONS = 2
CONTEXT_TOKENS = 160


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the files, with what was found out about it."""

    changes: Changes
    evidence: scoring.ChangeEvidence
    opinions: scoring.Opinions
    verdict: Verdict
    tested: Tested | None
    merged: bool = False


async def generate(question: str, workspace: Workspace, step: Step) -> Answer:
    """Files for a task, with verdict, tests and impact in `details` (None where that agent failed or has no say).

    Without usable files the answer says why, and keeps what the other agents found.
    """
    found = await explore(question, workspace, step)
    context, made = await asyncio.gather(
        result_or_none(_context(question, found, workspace, step), "the explanation", step),
        _made(GenerationRequest(question, found), workspace, step),
    )
    text, citations = context or ("", ())
    if isinstance(made, RepoPilotError):
        return await _answered(
            GenerationOutcome(text, failure=str(made), language=found.results.query.language), citations, step
        )
    return await _answered(await checked(question, found, made, text, workspace, step), citations, step)


async def checked(
    task: str, found: Exploration | None, made: Changes, context: str, workspace: Workspace, step: Step
) -> GenerationOutcome:
    """Debate and test a version, let the Controller decide, follow its decision, and report the impact."""
    async with _inputs(made, workspace) as inputs:
        version = await _examined(task, made, workspace, step, inputs)
        version, revisions = await _revised(task, found, version, workspace, step, inputs)
        if version.verdict.decision == "MERGE_FEEDBACK":
            version = await _merged(task, found, version, workspace, step, inputs)
    impact = await result_or_none(_impact(version.changes, workspace, step), "the impact report", step)
    return GenerationOutcome(
        context,
        version.changes,
        version.verdict,
        version.opinions,
        version.tested,
        impact,
        revisions,
        merged=version.merged,
        unexercised=version.evidence.unexercised,
        language=parse(task).language,
    )


@asynccontextmanager
async def _inputs(changes: Changes, workspace: Workspace) -> AsyncIterator[Path | None]:
    """The repository as a folder where something can be run in it, else None."""
    if not any(c.path.endswith(".py") for c in changes):
        yield None
        return
    async with checked_out(workspace) as folder:
        yield folder


async def _made(request: GenerationRequest, workspace: Workspace, step: Step) -> Changes | RepoPilotError:
    """The generated files, or why there are none: the step of the generator shows it too."""
    try:
        async with step.child("generate", "agent", request.task) as generating:
            changes = await generate_files(request, workspace, generating)
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
            max_tokens=CONTEXT_TOKENS,
            temperature=0.1,
        )
        checked, citations = verify(text, found.pack.excerpts, workspace.index.commit, workspace.index.symbols)
        explaining.note(citations=len(citations))
        return (checked, citations) if any(c.supported for c in citations) else ("", ())  # else it rests on nothing


async def _examined(
    task: str, changes: Changes, workspace: Workspace, step: Step, inputs: Path | None, rounds: str = ""
) -> Version:
    """Debate and tests in parallel, then the Controller."""
    opinions, tested = await asyncio.gather(
        _debated(task, changes, workspace, step, inputs, rounds),
        result_or_none(checks.run_tests(task, changes, workspace, step, inputs), "the tests", step),
    )
    said, objection = opinions
    async with step.child(f"controller{rounds}", "agent") as judging:
        kept = tested.changes if tested else changes
        passing = (said.test,) if objection == "refuted" else ()
        evidence = await checks.evidence_on(task, kept, tested, workspace, judging, passing)
        evidence = replace(evidence, objection=objection if kept == changes else "none")
        verdict = scoring.judge(evidence, said)
        judging.note(score=verdict.score, decision=verdict.decision, dropped_points=said.dropped)
        await judging.write(f"{verdict.score}/10 {verdict.decision}\n" + "\n".join(f"- {r}" for r in verdict.reasons))
    return Version(kept, evidence, said, verdict, tested)


async def _debated(
    task: str, changes: Changes, workspace: Workspace, step: Step, inputs: Path | None, rounds: str
) -> tuple[scoring.Opinions, scoring.Objection]:
    """What the reviewers say, and what the Critic's test shows."""
    async with step.child(f"debate{rounds}", "agent", task) as debating:
        said = await result_or_none(
            debate(task, changes, workspace, debating), "the debate", debating
        ) or scoring.Opinions(unread=("critic", "defender"))
        before = checks.old_texts(changes, workspace)
        objection = await try_objection(said.test, changes, before, workspace.settings, inputs, debating)
        debating.note(issues=[f"{i.path}:{i.line} {i.problem}" for i in said.issues], objection=objection)
    return said, objection


async def _revised(
    task: str, found: Exploration | None, version: Version, workspace: Workspace, step: Step, inputs: Path | None
) -> tuple[Version, int]:
    """While the Controller asks for it, at most MOST_REVISIONS times, another version; the best one is kept.

    What the coder gives back unchanged is not asked for again.
    """
    best, latest, done = version, version, 0
    while latest.verdict.decision == "REQUEST_REVISION" and done < MOST_REVISIONS:
        done += 1
        request = GenerationRequest(
            task,
            found,
            feedback=tuple(scoring.wishes(latest.evidence, latest.opinions)),
            drafts=latest.changes,
            seed=done,
        )
        made = await _made(request, workspace, step)
        if isinstance(made, RepoPilotError) or made == latest.changes:
            why = str(made) if isinstance(made, RepoPilotError) else "the same code again"
            step.degrade(f"revision {done} brought nothing: {why}")
            break
        latest = await _examined(task, made, workspace, step, inputs, f" {done + 1}")
        if latest.verdict.score > best.verdict.score:
            best = latest
    return best, done


async def _merged(
    task: str, found: Exploration | None, version: Version, workspace: Workspace, step: Step, inputs: Path | None
) -> Version:
    """The version with the reviewers' points worked in, if it keeps the public names and does no worse in the tests
    and to the analysers; else the version as it was, and why."""
    wishes = tuple(scoring.wishes(version.evidence, version.opinions))
    if not wishes or not scoring.worth_merging(version.evidence, version.opinions):
        return version
    async with step.child("merge feedback", "agent", "\n".join(wishes)) as merging:
        made = await _made(
            GenerationRequest(task, found, feedback=wishes, drafts=version.changes, seed=3), workspace, merging
        )
        if isinstance(made, RepoPilotError):
            merging.degrade(f"the original is kept: {made}")
            return version
        same = version.tested.own_tests if version.tested else None
        tested = await result_or_none(
            checks.run_tests(task, made, workspace, merging, inputs, same), "the tests", merging
        )
        evidence = await checks.evidence_on(task, made, tested, workspace, merging)
        verdict = scoring.judge(evidence, scoring.Opinions())
        why = why_not_merged(version, made, evidence)
        merging.note(kept="original" if why else "merged", score=verdict.score)
        if why:
            merging.degrade(f"the original is kept: {why}")
            return version
    return replace(
        version,
        changes=tested.changes if tested else made,
        evidence=evidence,
        tested=tested,
        verdict=replace(verdict, decision="MERGE_FEEDBACK"),
        merged=True,
    )


def why_not_merged(version: Version, made: Changes, evidence: scoring.ChangeEvidence) -> str:
    """Why a merged version must not replace the original, '' when it may."""
    drafts = {c.path: c for c in version.changes}
    lost = [n for c in made if c.path in drafts for n in sorted(checks.lost_names(c, drafts[c.path].content))]
    if lost:
        return f"the merged version loses {', '.join(lost[:3])}"
    if not {c.path for c in version.changes} <= {c.path for c in made}:
        return "the merged version leaves files out"
    runs = (evidence.tests, version.evidence.tests), (evidence.written, version.evidence.written)
    if not all(scoring.no_worse(new, old) for new, old in runs):
        return "the merged version does worse in the tests"
    if len(evidence.findings) > len(version.evidence.findings):
        return "the analysers find more in the merged version"
    return ""


async def _impact(changes: Changes, workspace: Workspace, step: Step) -> Mapping[str, object]:
    """What the generated code touches, as JSON."""
    async with step.child("impact", "agent", ", ".join(c.path for c in changes)) as reporting:
        from repopilot.impact.agent import impact_json, impact_report

        return impact_json(await impact_report(workspace, reporting, (), patch="".join(c.diff for c in changes)))


async def _answered(outcome: GenerationOutcome, citations: tuple[Citation, ...], step: Step) -> Answer:
    text = answer_text(outcome)
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, citations, outcome.changes, details=details_of(outcome))
