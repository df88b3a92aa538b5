"""What a language model finds: narrow questions a domain, a quoted line, then a second pass that tries to refute it.

Opinions of small models are worth little, so a finding counts only when the model is surer of it than it is of clean
code, quotes a changed line for it, and still calls it a fault when asked for the opposite. At most medium severity.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, Field, create_model

from repopilot.errors import ModelError
from repopilot.llm.model import Model
from repopilot.prompts import defused, nonce, render
from repopilot.review.code import Target
from repopilot.review.questions import LEFT_OUT, Question, questions_for
from repopilot.trace import Step
from repopilot.types import Finding
from repopilot.workspace import Workspace

STANDS = 0.5
"""Confidence of the second pass below which a finding is dropped."""
_MOST_FILES = {"embedded": 1, "ollama": 4, "openai": 12}
"""Files the model reads, by kind of model: on a CPU each costs ten to thirty seconds."""
_CODE_TOKENS = {"embedded": 900, "ollama": 1800, "openai": 4000}
_AROUND = 6
_NEAR = 3
_QUOTABLE = 60
_NAME = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(")


@dataclass(frozen=True, slots=True)
class Passage:
    """Changed lines of one file with what stands around them; `lines` maps the changed ones to their text, `mark`
    delimits untrusted text and is the same for all questions: a repeated beginning is read only once."""

    path: str
    shown: str
    lines: dict[int, str]
    around: str
    mark: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model is shown of a review. `turn` is held while a domain asks: on one processor several at once
    would each have the same code read anew."""

    model: Model
    refuter: Model
    passages: tuple[Passage, ...]
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


def reading_of(targets: Sequence[Target], workspace: Workspace) -> Reading | None:
    """The files with the most changed code, each cut to what the model can read at once; None without a model. Sync."""
    model = workspace.model
    if model is None or not targets:
        return None
    budget = min(_CODE_TOKENS.get(model.kind, 900), model.context_window // 3)
    ordered = sorted(targets, key=lambda t: -len(t.changed) if t.changed is not None else -len(t.new.text) // 40)
    chosen = ordered[: _MOST_FILES.get(model.kind, 1)]
    passages = tuple(_passage(target, model, budget, workspace) for target in chosen)
    return Reading(model, workspace.reviewer or model, passages)


async def opinions(domain: str, reading: Reading | None, known: Sequence[Finding], step: Step) -> list[Finding]:
    """The model's findings in one domain that survived; none without a model. A failing model is said, not raised."""
    if reading is None:
        return []
    asked = questions_for(domain, reading.model.name)
    if not asked:
        step.note(model=f"{reading.model.name} is not asked about {domain}: its answers were no better than chance")
        return []
    async with step.child("model", "agent", f"{len(reading.passages)} passages") as reviewing, reading.turn:
        survived: list[Finding] = []
        try:
            for passage in reading.passages:
                survived += await _of_passage(passage, asked, known, reading, reviewing)
        except ModelError as error:
            reviewing.degrade(f"the model's {domain} review was cut short: {error}")
        reviewing.note(findings=len(survived))
    return survived


async def _of_passage(
    passage: Passage, asked: Sequence[Question], known: Sequence[Finding], reading: Reading, step: Step
) -> list[Finding]:
    survived: list[Finding] = []
    for question in asked:
        if not await _suspected(question, passage, reading.model, step):
            continue
        finding = await _quoted(question, passage, reading.model, step)
        if finding is None or _told(finding, known):
            continue
        if await _survives(finding, question, passage, reading.refuter, step):
            survived.append(finding)
    return survived


def _passage(target: Target, model: Model, budget: int, workspace: Workspace) -> Passage:
    lines = target.new.safe.split("\n")
    changed = target.changed if target.changed is not None else frozenset(range(1, len(lines) + 1))
    near = sorted({n for c in changed for n in range(max(1, c - _AROUND), min(len(lines), c + _AROUND) + 1)})
    shown: list[str] = []
    marked: dict[int, str] = {}
    left, previous = budget, 0
    for number in near:
        text = f"{'>' if number in changed else ' '} {lines[number - 1][:300]}"
        left -= model.count_tokens(text) + 1
        if left < 0:
            break
        if previous and number != previous + 1:
            shown.append("  …")
        shown.append(text)
        previous = number
        if number in changed:
            marked[number] = lines[number - 1]
    mark = nonce()
    around = _around(target.new.path, marked, workspace)
    return Passage(target.new.path, defused("\n".join(shown), mark), marked, defused(around, mark), mark)


def _around(path: str, lines: dict[int, str], workspace: Workspace) -> str:
    """Signatures of what the changed lines call, and places that call what they define."""
    rows: list[str] = []
    for name in list(dict.fromkeys(_NAME.findall("\n".join(lines.values()))))[:12]:
        symbols = [s for s in workspace.index.symbols(name) if s.signature]
        if len(symbols) == 1 and symbols[0].path != path:
            rows.append(f"It calls {symbols[0].signature[:120]} ({symbols[0].path})")
        elif len(symbols) == 1:
            callers = [r for r in workspace.index.references(name) if r.path != path][:2]
            rows += [f"{r.path}:{r.line} calls {name}" for r in callers]
    return "\n".join(rows[:6])


def _messages(passage: Passage, ending: str):
    """The same beginning for every question about a passage, then `ending`."""
    from llama_index.core.llms import ChatMessage

    user = render("review_user", path=passage.path, mark=passage.mark, code=passage.shown, around=passage.around,
                  question=ending)  # fmt: skip
    return [ChatMessage(role="system", content=render("review_system")), ChatMessage(role="user", content=user)]


async def _suspected(question: Question, passage: Passage, model: Model, step: Step) -> bool:
    from repopilot.llm.structured import choose_word

    ending = render("review_question", asks=question.asks, left_out=LEFT_OUT[question.domain])
    async with step.child(f"{question.rule}: {passage.path}", "llm", question.asks) as asking:
        word, confidence = await choose_word(model, _messages(passage, ending), ("yes", "no"), asking)
        odds = confidence if word == "yes" else 1 - confidence
        suspected = word is not None and (odds >= question.least if _tells(model) else word == "yes")
        asking.note(suspected=suspected)
    return suspected


async def _quoted(question: Question, passage: Passage, model: Model, step: Step) -> Finding | None:
    """The changed line the model quotes for its suspicion; None when it quotes none."""
    from repopilot.llm.structured import ask

    choices = _quotable(passage)
    if not choices:
        return None
    quote = create_model("Quote", quote=(Literal[tuple(choices)], Field(description="the faulty line, copied")))
    ending = render("review_quote", asks=question.asks)
    async with step.child("quote", "llm", question.asks) as asking:
        reply: BaseModel | None = await ask(model, _messages(passage, ending), quote, asking, max_tokens=120)
    if reply is None:
        return None
    line = choices[reply.quote]  # type: ignore[attr-defined]
    return Finding(passage.path, line, question.severity, question.rule, question.message, "model", question.domain,
                   passage.lines[line].strip())  # fmt: skip


def _quotable(passage: Passage) -> dict[str, int]:
    """The changed lines that can be quoted, by their text: those with a word that stand there only once."""
    found: dict[str, list[int]] = {}
    for number, text in passage.lines.items():
        if re.search(r"\w\w", text) and len(text.strip()) <= 200:
            found.setdefault(text.strip(), []).append(number)
    return {text: numbers[0] for text, numbers in list(found.items())[:_QUOTABLE] if len(numbers) == 1}


def _told(finding: Finding, known: Sequence[Finding]) -> bool:
    """Whether an analyser has spoken of this place in this domain."""
    return any(
        f.path == finding.path and f.domain == finding.domain and abs(f.line - finding.line) <= _NEAR for f in known
    )


async def _survives(finding: Finding, question: Question, passage: Passage, model: Model, step: Step) -> bool:
    """Ask for the opposite: only a finding that stands even then is kept."""
    from repopilot.llm.structured import choose_word

    ending = render("review_refute", mark=passage.mark, quote=defused(finding.quote, passage.mark), asks=question.asks)
    async with step.child(f"refute line {finding.line}", "llm", finding.message) as refuting:
        word, confidence = await choose_word(model, _messages(passage, ending), ("wrong", "fault"), refuting)
        stands = word == "fault" and (confidence >= STANDS or not _tells(model))
        refuting.note(stands=stands)
    return stands


def _tells(model: Model) -> bool:
    """Whether a word's probability is known."""
    return model.kind in ("embedded", "openai")
