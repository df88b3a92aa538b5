"""Debate: a Critic and a Defender read a change in parallel; what they say must quote it, and code decides.

The Critic may write a test; the sandbox decides whether it is right. The Controller is `scoring.judge`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from repopilot import i18n
from repopilot.agents.generate.evidence import Examination
from repopilot.agents.generate.scoring import Issue, Objection, Opinions, objection_key
from repopilot.agents.testing.attempts import some_failed
from repopilot.errors import ModelError, RepoPilotError
from repopilot.llm.model import CHARS_PER_TOKEN, Model
from repopilot.llm.structured import ask
from repopilot.prompts import nonce, render, sanitized
from repopilot.sandbox.failures import missing_modules
from repopilot.tools.file_change import texts_of
from repopilot.tools.test_suites import TestSelection, run_selected
from repopilot.trace import Step
from repopilot.types import FileChange, TestRun
from repopilot.workspace import Workspace

CRITIC_FOCUS = "logic errors, security, unhandled edge cases"
DEFENDER_FOCUS = "robustness, style, testability"
OBJECTION_TEST = "test_objection_of_the_critic.py"
MOST_POINTS = 12
LONGEST_TASK = 8000
"""Characters."""
SHORTEST_QUOTE = 6
"""Characters. A shorter quote could stand anywhere."""
REVIEW_TOKENS = 2048
"""The longest reply, thinking included; less in a small context window."""
LONGEST_FAILURE = 600
"""Characters of what a test says."""
SHARE_FOR_CODE = 2
"""One token in two of the window goes to the code."""

log = logging.getLogger(__name__)


class CriticPoint(BaseModel):
    """An issue and the line of the new code it quotes."""

    quote: str
    problem: str
    severity: Literal["critical", "high", "medium", "low"] = "medium"


class Critique(BaseModel):
    """The Critic's reply."""

    issues: list[CriticPoint]
    test: str = ""


class DefencePoint(BaseModel):
    """A point in favour and the line of the new code it quotes."""

    quote: str
    argument: str


class Defence(BaseModel):
    """The Defender's reply."""

    points: list[DefencePoint]


@dataclass(frozen=True, slots=True)
class _Reviewer:
    """One side of the debate: its name is that of its prompt and of its step."""

    name: Literal["critic", "defender"]
    focus: str
    schema: type[BaseModel]
    temperature: float
    model: Model


@dataclass(frozen=True, slots=True)
class TriedTest:
    """The Critic's test, what it showed of a version, and what it says where it fails."""

    shown: Objection = "none"
    test: str = ""
    failure: str = ""

    @property
    def borne_out(self) -> bool:
        """Whether the test shows that the objection is right."""
        return self.shown in ("regression", "fails")


async def debate(task: str, changes: Sequence[FileChange], workspace: Workspace, step: Step) -> Opinions:
    """Ask both reviewers in parallel and keep what quotes the code.

    The Critic is the second model where there is one, else the same with another prompt and temperature.

    Args:
        task: what the change is for.
        changes: the files under review.
        workspace: the repository, with its models.
        step: the step of the debate.

    Returns:
        The opinions. A reviewer that fails is named in `unread`.
    """
    if workspace.model is None:
        step.degrade(i18n.message("generate.no_debate"))
        return Opinions(unread=("critic", "defender"))
    critic = _Reviewer("critic", CRITIC_FOCUS, Critique, 0.2, workspace.reviewer or workspace.model)
    defender = _Reviewer("defender", DEFENDER_FOCUS, Defence, 0.7, workspace.model)
    step.note(critic=critic.model.name, defender=defender.model.name)
    critique, defence = await asyncio.gather(
        _review(critic, task, changes, step), _review(defender, task, changes, step)
    )
    issues, dropped = quoted_issues(critique.issues if isinstance(critique, Critique) else (), changes)
    points = defence.points[:MOST_POINTS] if isinstance(defence, Defence) else []
    defended = tuple(p.argument for p in points if place_of(p.quote, changes))
    unread = tuple(name for name, reply in (("critic", critique), ("defender", defence)) if reply is None)
    for name in unread:
        step.degrade(i18n.message(f"generate.unread.{name}"))
    test = critique.test if isinstance(critique, Critique) else ""
    return Opinions(issues, defended, unread, dropped + len(points) - len(defended), test)


async def _review(reviewer: _Reviewer, task: str, changes: Sequence[FileChange], step: Step) -> BaseModel | None:
    """The reviewer's reply, None when it fails or can't be read."""
    from llama_index.core.llms import ChatMessage

    mark = nonce()
    system = render(reviewer.name, focus=reviewer.focus)
    code = sanitized(await asyncio.to_thread(code_shown, changes, reviewer.model), mark)
    user = render("debate_user", mark=mark, code=code, task=sanitized(task[:LONGEST_TASK], mark))
    messages = [ChatMessage(role="system", content=system), ChatMessage(role="user", content=user)]
    try:
        async with step.child(reviewer.name, "llm", task) as reviewing:
            return await ask(
                reviewer.model,
                messages,
                reviewer.schema,
                reviewing,
                max_tokens=min(REVIEW_TOKENS, reviewer.model.context_window // 4),
                temperature=reviewer.temperature,
            )
    except ModelError as error:
        log.warning("%s: %s", reviewer.name, error)
        return None


def code_shown(changes: Sequence[FileChange], model: Model) -> str:
    """What reviewers read of a change: the diff of each file, then each file whole where the window has room."""
    room = model.context_window // SHARE_FOR_CODE
    shown = "\n\n".join(f"{c.path} ({c.change})\n{c.diff or c.content}" for c in changes)[: int(room * CHARS_PER_TOKEN)]
    for change in changes:
        longer = f"{shown}\n\n{change.path}, as it is now\n{change.content}"
        if change.change == "modified" and model.count_tokens(longer) <= room:
            shown = longer
    return shown


def quoted_issues(points: Sequence[CriticPoint], changes: Sequence[FileChange]) -> tuple[tuple[Issue, ...], int]:
    """The points whose quote occurs in the new code, once each, and how many were dropped."""
    unique: dict[tuple[str, int], Issue] = {}
    for point in points[:MOST_POINTS]:
        place = place_of(point.quote, changes)
        if place:
            unique.setdefault(
                place, Issue(*place, point.quote.strip()[:200], point.problem.strip()[:400], point.severity)
            )
    return tuple(unique.values()), len(points) - len(unique)


def place_of(quote: str, changes: Sequence[FileChange]) -> tuple[str, int] | None:
    """The path and 1-based line where a quote begins in the new texts, white space aside; None when it isn't there."""
    first = next((line for line in quote.strip().split("\n") if line.strip()), "")
    wanted = " ".join(first.removeprefix("+").split())
    if len(wanted) < SHORTEST_QUOTE:
        return None
    for change in changes:
        for number, line in enumerate(change.content.split("\n"), 1):
            if wanted in " ".join(line.split()):
                return change.path, number
    return None


async def try_objection(
    test: str, changes: Sequence[FileChange], before: Mapping[str, str], examination: Examination, step: Step
) -> TriedTest:
    """Run the Critic's test on the new code and, where it fails and there was an old version, on that. Python only.

    Args:
        test: the text of the test, '' for none.
        changes: the files under review.
        before: the old texts of changed files, by path.
        examination: the repository, with the sandbox's settings.
        step: the step of the debate.

    Returns:
        What the test showed. A test that can't be run decides nothing.
    """
    body = text_of_test(test)
    if "def test" not in body or not any(c.path.endswith(".py") and c.change != "deleted" for c in changes):
        return TriedTest()
    tried = TriedTest("not run")
    async with step.child("try the objection", "tool", body) as trying:
        try:
            tried = await _objection(body, texts_of(changes), before, examination)
        except RepoPilotError as error:
            trying.degrade(i18n.message("generate.objection_not_run", error=i18n.reason(error)))
        trying.note(result=tried.shown)
        await trying.write(i18n.text(objection_key(tried.shown), examination.language))
    return tried


def text_of_test(reply: str) -> str:
    """The Critic's test without a fence around it."""
    return reply.strip().removeprefix("```python").removeprefix("```").removesuffix("```").strip()


async def run_review_test(test: str, path: str, files: Mapping[str, str], examination: Examination) -> TestRun:
    """Run a test of the Critic over some files, under a path that the repository lacks; a pass is verified."""
    selected = TestSelection((path,))
    return await run_selected(selected, {**files, path: test}, examination.workspace, examination.inputs, verify=True)


async def _objection(
    body: str, new: Mapping[str, str], before: Mapping[str, str], examination: Examination
) -> TriedTest:
    """What the test shows on the new texts, and on those with the old ones restored."""
    run = await run_review_test(body, OBJECTION_TEST, new, examination)
    if run.genuine:
        return TriedTest("refuted", body)
    if not some_failed(run) or run.errors or missing_modules(run):
        return TriedTest("not run", body)
    failure = "\n".join(each.assertion for each in run.failures)[:LONGEST_FAILURE]
    if not before:
        return TriedTest("fails", body, failure)
    old = await run_review_test(body, OBJECTION_TEST, {**new, **before}, examination)
    return TriedTest("regression" if old.passed and not some_failed(old) else "not run", body, failure)
