"""The review of a change by a model that uses tools: it looks at both states, proves by tests, and reports."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import Field

from repopilot.agents import loop
from repopilot.agents.conventions import Conventions
from repopilot.agents.review.findings import has_severe, weight_order
from repopilot.agents.review.given import Given, callers_of, message_of, sections, ways, within
from repopilot.agents.review.proving import ReviewTools, looking_tools
from repopilot.agents.review.states import both_states, touched_symbols
from repopilot.agents.review.walkthrough import by_model
from repopilot.errors import Cancelled, NoRunner, RepoPilotError, SandboxError
from repopilot.i18n import message, reason
from repopilot.llm.model import Model
from repopilot.prompts import delimiter, render, sanitized
from repopilot.redaction.redact import redacted
from repopilot.results import ChangedFileNote
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools import run_tests
from repopilot.tools.file_change import Changes
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, call
from repopilot.tools.talk import FINISH
from repopilot.tools.test_suites import compiled_suffix
from repopilot.tools.working_copy import WorkingCopy
from repopilot.trace import Step
from repopilot.types import Finding, Snapshot
from repopilot.workspace import Workspace

MOST_OPINIONS = 3
"""The most findings without a proof that count, beside those with one."""
LEAST_SEVERITY = "medium"
"""Findings without a proof that are less severe don't count."""
REFUTING = loop.Budget(steps=8, tokens=60_000, seconds=180.0)
"""The budget of a second look at an opinion."""
SHARE_OF_CONVENTIONS = 16
"""One sixteenth of the context window is for what the repository tells contributors."""
SHARE_OF_CHANGE = 3
"""One third of the context window is for what is known of the change before the model looks."""


@dataclass(frozen=True, slots=True)
class ModelReview:
    """What a model found.

    Attributes:
        findings: what is proved, then what is shown, then a few opinions that a second look didn't refute.
        folded: further opinions.
        notes: what was not done, and why.
        walkthrough: what the change does, file by file.
        finished: whether the review came to its end.
    """

    findings: tuple[Finding, ...] = ()
    folded: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    walkthrough: tuple[ChangedFileNote, ...] = ()
    finished: bool = False


class Judgement(Arguments):
    """The outcome of trying to refute a defect."""

    refuted: bool = Field(description="whether it is no defect of this change")
    why: str = Field(description="what shows that, in a sentence")


async def _judge(arguments: Judgement, context: ToolContext) -> ToolResult:
    """End the work: say whether the claimed defect is refuted."""
    return ToolResult(arguments.why, {"refuted": arguments.refuted})


JUDGE = Tool(FINISH.name, Judgement, "talk", _judge)


async def review_by_model(
    states: tuple[Snapshot, Snapshot], given: Given, workspace: Workspace, step: Step
) -> ModelReview:
    """Let the model review a change.

    Args:
        states: the repository before and after.
        given: what is known of the change.
        workspace: the repository, with a model that calls tools.
        step: the step of the review.

    Returns:
        What the model found; a note where it could not review.
    """
    try:
        async with (
            step.child("review by the model", "agent") as working,
            both_states(states, workspace) as (base, copy),
        ):
            assert workspace.model is not None
            told = "\n\n".join(filter(None, (given.told, await asyncio.to_thread(message_of, states))))
            changes = await asyncio.to_thread(copy.changes)
            reviewer = _Reviewer(workspace.model, base, changes, ToolContext(workspace, copy, working))
            return await reviewer.review(replace(given, told=told))
    except Cancelled:
        raise
    except RepoPilotError as error:
        note = message("review.model_failed", why=reason(error))
        step.degrade(note)
        return ModelReview(notes=(note,), walkthrough=given.walkthrough)


@dataclass(slots=True)
class _Reviewer:
    """A model that reviews one change. The context's working copy is the state before it, with the change as its
    edits."""

    model: Model
    base: WorkingCopy
    changes: Changes
    context: ToolContext
    notes: list[str] = field(default_factory=list)

    async def review(self, given: Given) -> ModelReview:
        """Let the model look, report, and look again at findings without a proof."""
        workspace = self.context.workspace
        reviewing = ReviewTools(self.base, self.context.working_copy)
        tests, can_run = await self._covering_tests(reviewing)
        task = await self._task(given, tests)
        looking = looking_tools(self.base)
        running = run_tests.TOOLS if can_run else ()
        tools = (*looking, *running, *reviewing.tools(can_run=can_run or reviewing.alone))
        told = []
        if can_run or reviewing.alone:
            told.append(render("review_prove", path=await asyncio.to_thread(reviewing.usual_path) or "…"))
        told += [] if can_run else [tests]
        system = render("review_system", name=workspace.snapshot.name, tests="\n\n".join(told))
        worker = loop.LoopModel(self.model, loop.Budget.of(workspace.settings))
        work = loop.begin(task, self.context, worker, tools, system)
        done = await work.work()
        if done.ended == "finished" and work.left().over() is None:
            questions = "\n".join(f"- {question}" for question in ways(self.changes))
            async with self.context.step.child("look again", "agent", questions) as again:
                done = await work.go_on(render("review_ways", questions=questions), again)
        walked = given.walkthrough
        if done.ended == "finished" and work.left().over() is None:
            paths = "\n".join(note.path for note in walked)
            mark = delimiter(paths)
            asked = render("review_walkthrough", mark=mark, paths=sanitized(paths, mark))
            async with self.context.step.child("walkthrough", "agent") as walking:
                done = await work.go_on(asked, walking)
            walked = await asyncio.to_thread(by_model, done.summary, walked, self._exists)
        if done.note:
            self.notes.append(message("review.model_stopped", why=done.note))
        found = await self._ordered(tuple(reviewing.findings.values()), looking)
        return replace(found, notes=tuple(self.notes), walkthrough=walked, finished=done.ended == "finished")

    def _exists(self, path: str, name: str) -> bool:
        """Whether a name stands in a changed file, in either state, or is defined anywhere. Blocking."""
        copy = self.context.working_copy
        texts = (copy.drafts().get(path), copy.original.index.text(path))
        return any(name in (text or "") for text in texts) or bool(copy.workspace.index.symbols(name))

    async def _covering_tests(self, reviewing: ReviewTools) -> tuple[str, bool]:
        """Results of the covering tests on both states, and whether the repository's tests can run here. Where only
        their runner is unknown, JavaScript tests of the review still run with Node."""
        paths = [change.path for change in self.changes]
        if not any(path.endswith(".py") or language_of_tests(path) for path in paths):
            if compiled_suffix(paths, self.context.working_copy.original.index) and shutil.which("cc"):
                reviewing.alone = True
                return message("review_tools.by_compiler"), False
            return self._no_tests(message("review.no_runner"))
        async with self.context.step.child("covering tests", "tool", ", ".join(paths)) as running:
            try:
                ran = await call(run_tests.TOOLS[0], {}, replace(self.context, step=running))
            except NoRunner as error:
                if not any(language_of_tests(path) == "javascript" for path in paths):
                    return self._no_tests(reason(error))
                reviewing.alone = True
                self.notes.append(message("review.covering_not_run", why=error.message))
                return message("review_tools.by_node", why=error.message), False
            except SandboxError as error:
                return self._no_tests(reason(error))
            await running.write(ran.text)
        if ran.data["tests"] and not ran.data["passed"] + ran.data["failed"]:
            why = ran.text.partition("\n")[0]
            self.notes.append(message("review.covering_not_run", why=why))
            return message("review_tools.all_the_same", why=why), True
        return ran.text, True

    def _no_tests(self, why: str) -> tuple[str, bool]:
        note = message("review.only_opinions", why=why)
        self.context.step.degrade(note)
        self.notes.append(note)
        return message("review_tools.no_tests_here"), False

    async def _task(self, given: Given, tests: str) -> str:
        """The model's task, with what is known of the change."""
        copy = self.context.working_copy
        touched = await asyncio.to_thread(touched_symbols, copy)
        parts = await asyncio.to_thread(lambda: list(sections(copy, touched, given, tests)))
        parts += await callers_of(touched, self.context, replace(self.context, working_copy=self.base))
        room = self.model.context_window
        count = self.model.count_tokens
        workspace = self.context.workspace
        guides = Conventions(
            workspace.index, "Review a change", room // SHARE_OF_CONVENTIONS, count, workspace.embedder
        )
        parts.append(("What the repository tells contributors", await asyncio.to_thread(guides.of, "")))
        change = redacted(await asyncio.to_thread(within, parts, room // SHARE_OF_CHANGE, count))
        mark = delimiter(change)
        return render("review_task", mark=mark, change=sanitized(change, mark))

    async def _ordered(self, found: Sequence[Finding], looking: Sequence[Tool]) -> ModelReview:
        """The findings by weight; opinions that are mild, refuted or too many are folded."""
        ordered = sorted(found, key=lambda f: (weight_order(f), f.path, f.line))
        kept = [finding for finding in ordered if finding.proof is not None]
        folded = []
        opinions = 0
        for finding in [each for each in ordered if each.proof is None]:
            wanted = opinions < MOST_OPINIONS and has_severe((finding,), LEAST_SEVERITY)
            if wanted and await self._stands(finding, looking):
                opinions += 1
                kept.append(finding)
            else:
                folded.append(finding)
        return ModelReview(tuple(kept), tuple(folded))

    async def _stands(self, finding: Finding, looking: Sequence[Tool]) -> bool:
        """Whether the same model, asked to refute an opinion, does not."""
        claim = f"{finding.path}:{finding.line}: {finding.failure}"
        diff = next((redacted(c.diff) for c in self.changes if c.path == finding.path), "")
        fits = self.model.count_tokens(diff) < self.model.context_window // SHARE_OF_CHANGE
        diff = diff if fits else ""
        mark = delimiter(claim + diff)
        task = render("review_refute", mark=mark, claim=sanitized(claim, mark), diff=sanitized(diff, mark))
        system = render("review_refute_system", name=self.context.workspace.snapshot.name)
        async with self.context.step.child("second look", "agent", claim) as looking_again:
            context = replace(self.context, step=looking_again)
            done = await loop.run(task, context, loop.LoopModel(self.model, REFUTING), (*looking, JUDGE), system)
            judged = [each.data["refuted"] for each in done.calls if each.name == JUDGE.name and each.ok]
            stands = bool(judged) and not judged[-1]
            looking_again.note(stands=stands, why=done.summary)
        return stands
