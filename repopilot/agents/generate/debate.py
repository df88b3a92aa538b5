"""Debate: a Critic and a Defender read a change in parallel; what they say must quote it, and code decides.

The Critic may hand in a test; the sandbox decides whether it is right. The Controller is `scoring.judge`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from repopilot.agents.generate.scoring import Issue, Objection, Opinions, failed
from repopilot.errors import ModelError, RepoPilotError
from repopilot.llm.model import Model
from repopilot.llm.structured import ask
from repopilot.prompts import defused, nonce, render
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.sandbox.run import missing_modules
from repopilot.settings import Settings
from repopilot.trace import Step
from repopilot.types import FileChange
from repopilot.workspace import Workspace

CRITIC_FOCUS = "logic errors, security, unhandled edge cases"
DEFENDER_FOCUS = "robustness, style, testability"
OBJECTION_TEST = "test_objection_of_the_critic.py"
MOST_POINTS = 4
SHOWN_CHARS = 6000
SHORTEST_QUOTE = 6
REVIEW_TOKENS = 450

log = logging.getLogger(__name__)


class CriticPoint(BaseModel):
    quote: str
    problem: str
    severity: Literal["critical", "high", "medium", "low"] = "medium"


class Critique(BaseModel):
    issues: list[CriticPoint]
    test: str = ""


class DefencePoint(BaseModel):
    quote: str
    argument: str


class Defence(BaseModel):
    points: list[DefencePoint]


async def debate(task: str, changes: Sequence[FileChange], workspace: Workspace, step: Step) -> Opinions:
    """What both reviewers say that holds, their calls in parallel. Never fails: a reviewer that does leaves a note.

    The Critic is the second model where there is one, else the same with another prompt and temperature.
    """
    if workspace.model is None:
        step.degrade("no debate: no language model answers")
        return Opinions(unread=("critic", "defender"))
    critic = workspace.reviewer or workspace.model
    asked = await asyncio.gather(
        _review("critic", CRITIC_FOCUS, Critique, 0.2, critic, task, changes, step),
        _review("defender", DEFENDER_FOCUS, Defence, 0.7, workspace.model, task, changes, step),
    )
    critique, defence = asked
    issues, dropped = quoted_issues(critique.issues if isinstance(critique, Critique) else (), changes)
    points = defence.points[:MOST_POINTS] if isinstance(defence, Defence) else []
    defended = tuple(p.argument for p in points if place_of(p.quote, changes))
    unread = tuple(name for name, reply in (("critic", critique), ("defender", defence)) if reply is None)
    for who in unread:
        step.degrade(f"the {who}'s reply could not be read: the score comes from evidence alone")
    test = critique.test if isinstance(critique, Critique) else ""
    return Opinions(issues, defended, unread, dropped + len(points) - len(defended), test)


async def _review(
    name: str, focus: str, schema: type[BaseModel], temperature: float, model: Model, task: str,
    changes: Sequence[FileChange], step: Step,
) -> BaseModel | None:  # fmt: skip
    from llama_index.core.llms import ChatMessage

    mark = nonce()
    user = render("debate_user", mark=mark, code=defused(shown(changes), mark), task=task[:2000])
    messages = [ChatMessage(role="system", content=render(name, focus=focus)), ChatMessage(role="user", content=user)]
    try:
        async with step.child(name, "llm", task) as reviewing:
            return await ask(model, messages, schema, reviewing, max_tokens=REVIEW_TOKENS, temperature=temperature)
    except ModelError as error:
        log.warning("%s: %s", name, error)
        return None


def shown(changes: Sequence[FileChange]) -> str:
    """The new code as reviewers read it: short files whole, else the diff; at most SHOWN_CHARS."""
    parts = [f"{c.path}\n{c.content if len(c.content) < SHOWN_CHARS // 2 else c.diff}" for c in changes]
    return "\n\n".join(parts)[:SHOWN_CHARS]


def quoted_issues(points: Sequence[CriticPoint], changes: Sequence[FileChange]) -> tuple[tuple[Issue, ...], int]:
    """The points whose quote stands in the new code, once each, and how many were dropped."""
    kept: dict[tuple[str, int], Issue] = {}
    for point in points[:MOST_POINTS]:
        place = place_of(point.quote, changes)
        if place:
            kept.setdefault(
                place, Issue(*place, point.quote.strip()[:200], point.problem.strip()[:400], point.severity)
            )
    return tuple(kept.values()), len(points) - len(kept)


def place_of(quote: str, changes: Sequence[FileChange]) -> tuple[str, int] | None:
    """(path, 1-based line) of the first line of a quote in the new texts, blanks aside; None when it isn't there."""
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
    test: str,
    changes: Sequence[FileChange],
    before: Mapping[str, str],
    settings: Settings,
    inputs: Path | None,
    step: Step,
) -> Objection:
    """Run the Critic's test on the new code and, where it fails and there was an old version, on that. Python only.

    `before` are the old texts of changed files. A test that can't be run decides nothing.
    """
    body = test.strip().removeprefix("```python").removeprefix("```").removesuffix("```").strip()
    if "def test" not in body or not any(c.path.endswith(".py") and c.change != "deleted" for c in changes):
        return "none"
    async with step.child("try the objection", "tool", body) as trying:
        result = await _tried(body, changes, before, settings, inputs, trying)
        trying.note(result=result)
        await trying.write(result)
    return result


async def _tried(
    body: str,
    changes: Sequence[FileChange],
    before: Mapping[str, str],
    settings: Settings,
    inputs: Path | None,
    step: Step,
) -> Objection:
    new = {c.path: c.content for c in changes if c.change != "deleted"}
    try:
        run = await run_in_sandbox({**new, OBJECTION_TEST: body}, [OBJECTION_TEST], settings, inputs)
        if run.genuine:
            return "refuted"
        if not failed(run) or run.errors or missing_modules(run):
            return "not run"
        if not before:
            return "fails"
        old = await run_in_sandbox({**new, **before, OBJECTION_TEST: body}, [OBJECTION_TEST], settings, inputs)
        return "regression" if old.passed and not failed(old) else "not run"
    except RepoPilotError as error:
        step.degrade(f"the critic's test was not run: {error}")
        return "not run"
