"""Debate: a Critic and a Defender read a change in parallel; their points must quote the change, and code decides.

The Critic may write a test; the sandbox decides whether it is right. The Controller is `scoring.judge`.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from pydantic import BaseModel

from repopilot import i18n
from repopilot.agents.generate.evidence import ChangeContext
from repopilot.agents.generate.scoring import Issue, Objection, Opinions, objection_key
from repopilot.agents.testing.attempts import some_failed
from repopilot.code.languages import is_product_path
from repopilot.code.split import analysed
from repopilot.errors import ModelError, RepoPilotError
from repopilot.llm.model import Model
from repopilot.llm.stream import prompt_of, prompt_tokens
from repopilot.llm.structured import ask
from repopilot.llm.token_estimate import CHARS_PER_TOKEN
from repopilot.prompts import nonce, render, sanitized
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.sandbox.baseline import failing_without
from repopilot.sandbox.controls.mutants import changed_lines
from repopilot.sandbox.failures import missing_modules
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.run_tests import tests_at
from repopilot.tools.test_suites import NewTest, run_selected
from repopilot.trace import Step
from repopilot.types import FileChange, Symbol
from repopilot.workspace import Workspace

CRITIC_FOCUS = "logic errors, security, unhandled edge cases"
DEFENDER_FOCUS = "robustness, style, testability"
MOST_POINTS = 12
LONGEST_TASK = 8000
"""Characters."""
SHORTEST_QUOTE = 6
"""Characters. A shorter quote could occur anywhere."""
REVIEW_TOKENS = 2048
"""The longest reply, thinking included; less in a small context window."""
LONGEST_FAILURE = 600
"""Characters of a test's failure message."""
SHARE_FOR_CODE = 2
"""One token in two of the window goes to the code."""
_BEGINNING = 6000
"""Characters shown of the existing test beside which the Critic's test goes."""
_FENCE = re.compile(r"^```\w*\n?|\n?```$")
SHORTEST_REVIEW = 60
"""Tokens. A reviewer that can't write this many in the time left isn't asked."""

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
    ends: float | None
    """The deadline of its reply on the monotonic clock; None for no limit."""
    told: str = ""
    """What it reads beside the change."""

    def seconds(self, prompt_tokens: int) -> float | None:
        """The time left, None without a limit; 0 where it is too short for the model's speed."""
        if self.ends is None:
            return None
        left = max(0.0, self.ends - time.monotonic())
        pace = self.model.pace
        return 0.0 if pace is not None and pace.seconds(prompt_tokens, SHORTEST_REVIEW) > left else left


@dataclass(frozen=True, slots=True)
class TriedTest:
    """The Critic's test: what it showed of a version, its text, its failure message, and its path."""

    shown: Objection = "none"
    test: str = ""
    failure: str = ""
    path: str = ""

    @property
    def borne_out(self) -> bool:
        """Whether the test shows that the objection is right."""
        return self.shown in ("regression", "fails")

    @property
    def proved(self) -> bool:
        """Whether it failed on an earlier version and passes on this one."""
        return self.shown in ("kept", "met")


async def debate(
    task: str,
    changes: Sequence[FileChange],
    workspace: Workspace,
    step: Step,
    ends: float | None = None,
    place: NewTest | None = None,
) -> Opinions:
    """Ask both reviewers, in parallel or with a deadline the Critic first, and keep the points that quote the code.

    The Critic is the second model where there is one, else the same model with another prompt and temperature. Without
    a deadline, the first model replaces a second one that fails or takes longer than a change may.

    Args:
        task: what the change is for.
        changes: the files under review.
        workspace: the repository, with its models.
        step: the step of the debate.
        ends: the deadline of their replies on the monotonic clock; None for no limit. A reviewer without enough time
            makes no points.
        place: where a test of the Critic would go, None where none can be run.

    Returns:
        The opinions. A reviewer that fails is named in `unread`.
    """
    if workspace.model is None:
        step.degrade(i18n.message("generate.no_debate"))
        return Opinions(unread=("critic", "defender"))
    asked = await asyncio.to_thread(_about_test, place, workspace)
    critic = _Reviewer("critic", CRITIC_FOCUS, Critique, 0.2, workspace.reviewer or workspace.model, ends, asked)
    defender = _Reviewer("defender", DEFENDER_FOCUS, Defence, 0.7, workspace.model, ends)
    step.note(critic=critic.model.name, defender=defender.model.name)
    read = partial(_review, task=task, changes=changes, step=step)
    limit = workspace.settings.edit_timeout_s if ends is None and workspace.reviewer else None
    criticising = read(critic) if limit is None else _second_opinion(critic, defender.model, read, limit, step)
    reviews = [criticising, read(defender)]
    critique, defence = await asyncio.gather(*reviews) if ends is None else [await each for each in reviews]
    issues, dropped = quoted_issues(critique.issues if isinstance(critique, Critique) else (), changes)
    points = defence.points[:MOST_POINTS] if isinstance(defence, Defence) else []
    defended = tuple(p.argument for p in points if place_of(p.quote, changes))
    unread = tuple(name for name, reply in (("critic", critique), ("defender", defence)) if reply is None)
    for name in unread:
        step.degrade(i18n.message(f"generate.unread.{name}"))
    test = critique.test if isinstance(critique, Critique) else ""
    return Opinions(issues, defended, unread, dropped + len(points) - len(defended), test)


async def _second_opinion(
    critic: _Reviewer,
    first: Model,
    read: Callable[[_Reviewer], Awaitable[BaseModel | None]],
    seconds: float,
    step: Step,
) -> BaseModel | None:
    """The Critic's reply; the first model's where the second model gives no usable reply in time."""
    reply = None
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            reply = await read(critic)
    if reply is not None:
        return reply
    step.degrade(i18n.message("generate.no_second_opinion", name=critic.model.name, first=first.name))
    return await read(replace(critic, model=first))


async def _review(reviewer: _Reviewer, task: str, changes: Sequence[FileChange], step: Step) -> BaseModel | None:
    """The reviewer's reply, None when it fails or can't be read."""
    mark = nonce()
    system = render(reviewer.name, focus=reviewer.focus)
    if reviewer.told:
        system = f"{system}\n{render('critic_test')}"
    shown = await asyncio.to_thread(code_shown, changes, reviewer.model)
    code = sanitized(f"{shown}{reviewer.told}", mark)
    user = render("debate_user", mark=mark, code=code, task=sanitized(task[:LONGEST_TASK], mark))
    messages = prompt_of(system, user)
    seconds = reviewer.seconds(await prompt_tokens(reviewer.model, messages))
    if seconds == 0.0:
        return _late(reviewer, step)
    try:
        async with asyncio.timeout(seconds), step.child(reviewer.name, "llm", task) as reviewing:
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
    except TimeoutError:
        return _late(reviewer, step)


def _late(reviewer: _Reviewer, step: Step) -> BaseModel:
    """An empty reply for a reviewer without enough time; the step says so."""
    step.degrade(i18n.message(f"generate.late.{reviewer.name}"))
    return reviewer.schema.model_construct(issues=[], points=[])


def code_shown(changes: Sequence[FileChange], model: Model) -> str:
    """What reviewers read of a change: each file's diff, product files before tests and documents; then each product
    file in full where the window has room, else its changed functions."""
    room = model.context_window // SHARE_FOR_CODE
    ordered = sorted(changes, key=lambda change: not is_product_path(change.path))
    shown = "\n\n".join(f"{c.path} ({c.change})\n{c.diff or c.content}" for c in ordered)[: int(room * CHARS_PER_TOKEN)]
    for change in ordered:
        if change.change != "modified" or not is_product_path(change.path):
            continue
        whole = f"{change.path}, as it is now\n{change.content}"
        fits = model.count_tokens(f"{shown}\n\n{whole}") <= room
        for part in [whole] if fits else _changed_functions(change):
            longer = f"{shown}\n\n{part}"
            if model.count_tokens(longer) <= room:
                shown = longer
    return shown


def _changed_functions(change: FileChange) -> Iterator[str]:
    """The functions of a file, in their new text, that contain changed lines; a class where no function does."""
    path = change.path
    found = analysed(path, change.content).symbols
    lines = change.content.split("\n")
    told = list[Symbol]()
    for line in sorted(changed_lines(before_change(change) or "", change.content)):
        around = [symbol for symbol in found if symbol.start_line <= line <= symbol.end_line]
        functions = [symbol for symbol in around if symbol.kind in ("function", "method")] or around
        told += functions[:1]
    for symbol in dict.fromkeys(told):
        body = "\n".join(lines[symbol.start_line - 1 : symbol.end_line])
        yield f"{path}:{symbol.start_line}-{symbol.end_line}, as it is now\n{body}"


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


def _about_test(place: NewTest | None, workspace: Workspace) -> str:
    """The path for the Critic's test, and the beginning of the test beside it; '' where no test can be run."""
    if place is None:
        return ""
    text = (workspace.index.text(place.beside) or "")[:_BEGINNING] if place.beside else ""
    beside = f"\n\n{place.beside}, a test that it stands beside\n{text}" if text else ""
    return f"{beside}\n\nYour test would be the new file {place.path}"


async def try_objection(
    test: TriedTest, changes: Changes, before: Mapping[str, str], context: ChangeContext, step: Step
) -> TriedTest:
    """Run the Critic's test on the new code and, where it fails, on the old version if there is one.

    Args:
        test: the Critic's test and its path; without text, there is no test.
        changes: the files under review.
        before: the old texts of changed files, by path.
        context: the repository, with the sandbox's settings.
        step: the step of the debate.

    Returns:
        What the test showed. A test that can't be run decides nothing.
    """
    if not test.test or (test.path.endswith(".py") and "def test" not in test.test):
        return TriedTest()
    tried = replace(test, shown="not run")
    async with step.child("try the objection", "tool", test.test) as trying:
        try:
            tried = await _objection(test, texts_of(changes), before, context)
        except RepoPilotError as error:
            trying.degrade(i18n.message("generate.objection_not_run", error=i18n.reason(error)))
        trying.note(result=tried.shown)
        await trying.write(i18n.text(objection_key(tried.shown), context.language))
    return tried


def text_of_test(reply: str) -> str:
    """The Critic's test without a fence around it."""
    return _FENCE.sub("", reply.strip()).strip()


async def _objection(
    test: TriedTest, new: Mapping[str, str], before: Mapping[str, str], context: ChangeContext
) -> TriedTest:
    """What the test shows on the new texts, and with the old texts restored. In languages other than Python nothing
    checks that a pass is genuine, so a pass counts for nothing."""
    own = {test.path: test.test}
    tests = await asyncio.to_thread(tests_at, (test.path,), context.workspace)
    run = await run_selected(tests, {**new, **own}, context.workspace, context.inputs, verify=True)
    if run.genuine or (tests.suite and run.passed and not some_failed(run)):
        return replace(test, shown="refuted" if run.genuine else "none", failure="")
    if not some_failed(run) or run.errors or missing_modules(run):
        return replace(test, shown="not run")
    failed = replace(test, failure="\n".join(each.assertion for each in run.failures)[:LONGEST_FAILURE])
    if not before:
        return replace(failed, shown="fails")
    old = await run_selected(tests, {**new, **before, **own}, context.workspace, context.inputs, verify=True)
    if old.errors and not (old.passed or old.failed):  # it needs what the change adds
        return replace(failed, shown="fails")
    if failing_without(run, old):
        return replace(failed, shown="regression")
    return replace(failed, shown="fails before" if some_failed(old) else "not run")
