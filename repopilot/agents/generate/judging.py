"""The examination of one version of a change: debate, type check, the Controller's verdict."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from repopilot import i18n
from repopilot.agents.generate import scoring
from repopilot.agents.generate.debate import TriedTest, debate, text_of_test, try_objection
from repopilot.agents.generate.edit_tests import tested
from repopilot.agents.generate.evidence import ChangeContext, gather_evidence, old_texts
from repopilot.agents.generate.scoring import ChangeEvidence, Objection, Opinions
from repopilot.results import TestReport
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes
from repopilot.tools.test_suites import NewTest, place_of_new_test
from repopilot.tools.verifying.type_errors import TypeCheck, type_check
from repopilot.trace import Step, result_or_none
from repopilot.types import Verdict
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Debated:
    """What the reviewers say, and what the Critic's tests show: those of earlier versions, then that of this one."""

    opinions: Opinions = field(default_factory=Opinions)
    tried: tuple[TriedTest, ...] = ()

    @property
    def objection(self) -> Objection:
        """The result of the tests that counts."""
        return scoring.counting([each.shown for each in self.tried])


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


async def tests_of(context: ChangeContext, changes: Changes, step: Step) -> TestReport | None:
    """What the tests of a version say; None where they can't be run, which the step says."""
    return await result_or_none(tested(context, changes, step), i18n.message("generate.work.tests"), step)


async def judged(
    context: ChangeContext,
    changes: Changes,
    report: TestReport | None,
    step: Step,
    debated: Debated = NOT_DEBATED,
) -> Version:
    """The Controller's verdict on a version."""
    async with step.child("controller", "agent") as judging:
        typed = await types_of(context, changes, judging)
        evidence = await gather_evidence(context, changes, report, typed, judging)
        evidence = replace(evidence, objection=debated.objection)
        opinions = debated.opinions
        verdict = scoring.judge(evidence, opinions)
        judging.note(score=verdict.score, decision=verdict.decision, dropped_points=opinions.dropped)
        shown = "\n".join(f"- {i18n.translated(reason, context.language)}" for reason in verdict.reasons)
        await judging.write(f"{verdict.score}/10 {verdict.decision}\n{shown}")
    reasons = scoring.decisive_reasons(evidence, opinions)
    return Version(changes, evidence, opinions, verdict, reasons, report, debated.tried)


async def types_of(context: ChangeContext, changes: Changes, step: Step) -> TypeCheck:
    """The type checker's result for a version, cached; the step says when it can't be run."""
    if context.inputs is not None and changes not in context.types:
        checking = type_check(changes, context.inputs, context.workspace, step)
        work = i18n.message("generate.work.types")
        context.types[changes] = await result_or_none(checking, work, step) or TypeCheck()
    return context.types.get(changes, TypeCheck())


async def debated(
    context: ChangeContext,
    changes: Changes,
    step: Step,
    earlier: Sequence[TriedTest] = (),
    ends: float | None = None,
) -> Debated:
    """Have a version debated, and run the Critic's tests on it.

    Args:
        context: the task and the repository.
        changes: the version.
        step: the step of the work.
        earlier: tests of the Critic that failed on earlier versions; they are tried again.
        ends: the deadline of the reviewers' replies on the monotonic clock; None for no limit.

    Returns:
        What was said and shown.
    """
    workspace = context.workspace
    async with step.child("debate", "agent", context.task) as debating:
        work = i18n.message("generate.work.debate")
        known = {each.test: each for each in earlier}
        place = await _place_of_test(context, changes, [each.path for each in earlier])
        debating_it = debate(context.task, changes, workspace, debating, ends, place)
        said = await result_or_none(debating_it, work, debating)
        opinions = said or Opinions(unread=("critic", "defender"))
        tried = [await _tried_again(each, changes, context, debating) for each in known.values()]
        written = text_of_test(opinions.test)
        if place is not None and written not in known:
            before = old_texts(changes, workspace)
            new = TriedTest(test=written, path=place.path)
            tried.append(await try_objection(new, changes, before, context, debating))
        found = Debated(opinions, tuple(tried))
        debating.note(issues=[f"{i.path}:{i.line} {i.problem}" for i in opinions.issues], objection=found.objection)
    return found


async def _place_of_test(context: ChangeContext, changes: Changes, used: Sequence[str]) -> NewTest | None:
    """Where a test of the Critic goes, None where none can be run."""
    if context.inputs is None:
        return None
    return await asyncio.to_thread(place_of_new_test, changes, context.workspace, used)


async def _tried_again(tried: TriedTest, changes: Changes, context: ChangeContext, step: Step) -> TriedTest:
    """The result on this version of a test that failed on an earlier one."""
    now = await try_objection(tried, changes, {}, context, step)
    if now.shown not in ("refuted", "none"):
        return tried
    return replace(tried, shown="kept" if tried.shown == "regression" else "met")
