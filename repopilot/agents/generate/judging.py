"""What is found out about one version of a change: the debate on it, the type checker, the Controller's verdict."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from repopilot import i18n
from repopilot.agents.generate import scoring
from repopilot.agents.generate.debate import TriedTest, debate, text_of_test, try_objection
from repopilot.agents.generate.evidence import Examination, gather_evidence, old_texts
from repopilot.agents.generate.scoring import ChangeEvidence, Objection, Opinions
from repopilot.results import TestReport
from repopilot.review.type_errors import new_type_errors
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes
from repopilot.trace import Step, result_or_none
from repopilot.types import Finding, Verdict
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Debated:
    """What the reviewers say, and what the Critic's tests show: those of earlier versions, then that of this one."""

    opinions: Opinions = field(default_factory=Opinions)
    tried: tuple[TriedTest, ...] = ()

    @property
    def objection(self) -> Objection:
        """What counts of the tests."""
        return scoring.worst([each.shown for each in self.tried])


NOT_DEBATED = Debated()


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the files, with what was found out about it. `report` is None when its tests could not be run;
    `tried` are the Critic's tests."""

    changes: Changes
    evidence: ChangeEvidence
    opinions: Opinions
    verdict: Verdict
    reasons: tuple[str, ...]
    report: TestReport | None
    tried: tuple[TriedTest, ...] = ()


@asynccontextmanager
async def inputs_of(changes: Changes, workspace: Workspace) -> AsyncIterator[Path | None]:
    """The repository as a folder where something can be run in it, else None."""
    if not any(c.path.endswith(".py") or language_of_tests(c.path) for c in changes):
        yield None
        return
    async with checked_out(workspace) as folder:
        yield folder


async def judged(
    examination: Examination,
    changes: Changes,
    report: TestReport | None,
    step: Step,
    suffix: str = "",
    debated: Debated = NOT_DEBATED,
) -> Version:
    """The Controller's verdict on a version."""
    async with step.child(f"controller{suffix}", "agent") as judging:
        evidence = replace(await _evidence(examination, changes, report, judging), objection=debated.objection)
        opinions = debated.opinions
        verdict = scoring.judge(evidence, opinions)
        judging.note(score=verdict.score, decision=verdict.decision, dropped_points=opinions.dropped)
        shown = "\n".join(f"- {i18n.said(reason, examination.language)}" for reason in verdict.reasons)
        await judging.write(f"{verdict.score}/10 {verdict.decision}\n{shown}")
    reasons = scoring.decisive_reasons(evidence, opinions)
    return Version(changes, evidence, opinions, verdict, reasons, report, debated.tried)


async def _evidence(
    examination: Examination, changes: Changes, report: TestReport | None, step: Step
) -> ChangeEvidence:
    """What is known about a version, with what the repository's type checker finds new in it."""
    evidence = await gather_evidence(examination, changes, report, step)
    return replace(evidence, findings=(*evidence.findings, *await type_errors(examination, changes, step)))


async def type_errors(examination: Examination, changes: Changes, step: Step) -> tuple[Finding, ...]:
    """What the type checker finds new in a version, remembered; one that can't be run is said on the step."""
    if examination.inputs is not None and changes not in examination.type_errors:
        checking = new_type_errors(changes, examination.inputs, examination.workspace, step)
        work = i18n.message("generate.work.types")
        examination.type_errors[changes] = await result_or_none(checking, work, step) or ()
    return examination.type_errors.get(changes, ())


async def debated(examination: Examination, changes: Changes, step: Step, earlier: Sequence[TriedTest] = ()) -> Debated:
    """Have a version debated, and try what the Critic objects to.

    Args:
        examination: the task and the repository.
        changes: the version.
        step: the step of the work.
        earlier: tests of the Critic that failed on earlier versions; they are tried again.

    Returns:
        What was said and shown.
    """
    workspace = examination.workspace
    async with step.child("debate", "agent", examination.task) as debating:
        work = i18n.message("generate.work.debate")
        said = await result_or_none(debate(examination.task, changes, workspace, debating), work, debating)
        opinions = said or Opinions(unread=("critic", "defender"))
        known = {each.test: each for each in earlier}
        tried = [await _tried_again(each, changes, examination, debating) for each in known.values()]
        if text_of_test(opinions.test) not in known:
            before = old_texts(changes, workspace)
            tried.append(await try_objection(opinions.test, changes, before, examination, debating))
        found = Debated(opinions, tuple(tried))
        debating.note(issues=[f"{i.path}:{i.line} {i.problem}" for i in opinions.issues], objection=found.objection)
    return found


async def _tried_again(tried: TriedTest, changes: Changes, examination: Examination, step: Step) -> TriedTest:
    """A test that failed on an earlier version, on this one."""
    now = await try_objection(tried.test, changes, {}, examination, step)
    return replace(tried, shown="none") if now.shown == "refuted" else tried
