"""What a language model finds: narrow questions, about code and then about the lines that look like the fault, and a
second pass that tries to refute it.

Opinions of small models are worth little, so a finding counts only when the model is surer of it than of clean code,
for a line that code has picked, and when no analyser reports anything there. At most medium severity.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm.model import Model, billions
from repopilot.prompts import nonce, render, sanitized
from repopilot.review.code import ReviewTarget
from repopilot.review.suspects import KINDS, LARGE, SMALLEST, Kind, suspected_lines
from repopilot.trace import Step
from repopilot.types import Finding
from repopilot.workspace import Workspace

LEAST_CONFIRMATION = 0.35
"""Confidence below which the second pass has refuted a finding."""
_LEFT_OUT = {
    "security": "style, speed, and anything that needs no attacker",
    "performance": "style, security, and differences too small to measure",
}
_MOST_FILES = {"embedded": 1, "ollama": 4, "openai": 12}
"""Files the model reads, by kind of model: on a CPU each costs five to thirty seconds."""
_CODE_TOKENS = {"embedded": 900, "ollama": 1800, "openai": 4000}
_AROUND = 2
_NEAR = 3
_NAME = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(")


@dataclass(frozen=True, slots=True)
class Passage:
    """Changed lines of one file with what stands around them; `lines` maps the changed ones to their text, `text` is
    the whole file, `mark` delimits untrusted text and is the same for all questions: a repeated beginning is read only
    once."""

    path: str
    shown: str
    lines: dict[int, str]
    text: tuple[str, ...]
    around: str
    mark: str


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """What the model is shown of a review, of so many `changed` lines. `turn` is locked while a domain asks: on
    one processor several at once would each have the same code read anew."""

    model: Model
    changed: int
    passages: tuple[Passage, ...]
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


def review_context(targets: Sequence[ReviewTarget], workspace: Workspace) -> ReviewContext | None:
    """The files with the most changed code, each cut to what the larger of the models can read at once; None without a
    model. Sync."""
    there = [model for model in (workspace.model, workspace.reviewer) if model is not None]
    if not there or not targets:
        return None
    model = max(there, key=lambda m: billions(m.name))
    budget = min(_CODE_TOKENS.get(model.kind, 900), model.context_window // 3)
    ordered = sorted(targets, key=_size, reverse=True)
    chosen = ordered[: _MOST_FILES.get(model.kind, 1)]
    passages = tuple(_passage(target, model, budget, workspace) for target in chosen)
    return ReviewContext(model, sum(_size(target) for target in targets), passages)


async def opinions(domain: str, reading: ReviewContext | None, known: Sequence[Finding], step: Step) -> list[Finding]:
    """The model's findings in one domain that its second pass confirms; none without a model. A failing model is
    reported by the step, not raised."""
    if reading is None:
        return []
    if why := _reason_to_skip(domain, reading.model):
        step.note(not_asked=why)
        return []
    async with step.child("model", "agent", f"{len(reading.passages)} passages") as reviewing, reading.turn:
        confirmed: list[Finding] = []
        try:
            for passage in reading.passages:
                confirmed += await _of_passage(passage, domain, known, reading, reviewing)
        except ModelError as error:
            reviewing.degrade(i18n.message("review.model_failed", domain=domain, why=i18n.reason(error)))
        read = sum(len(passage.lines) for passage in reading.passages)
        reviewing.note(findings=len(confirmed), lines_read=read, of_changed_lines=reading.changed)
    return confirmed


def _reason_to_skip(domain: str, model: Model) -> str:
    """Why a model is not asked in a domain; '' when it is."""
    size = billions(model.name)
    if not any(kind.domain == domain for kind in KINDS):
        return f"not asked about {domain}: small models' answers were no better than chance"
    if size < SMALLEST:
        return f"{model.name} is not asked: models of its size found nothing that the analysers had missed"
    if size < LARGE and not _knows_confidence(model):
        return f"{model.name} is not asked: its server doesn't tell how sure it is, and a bare yes means little"
    return ""


async def _of_passage(
    passage: Passage, domain: str, known: Sequence[Finding], reading: ReviewContext, step: Step
) -> list[Finding]:
    confirmed: list[Finding] = []
    for kind in (k for k in KINDS if k.domain == domain):
        lines = suspected_lines(kind, passage.lines, passage.text)
        findings = [f for f in (_finding(kind, passage, line) for line in lines) if not _already_reported(f, known)]
        if not findings or not await _suspected(kind, passage, reading.model, step):
            continue
        best = await _first_confirmed(kind, findings, passage, reading.model, step)
        if (
            best
            and not _already_reported(best, confirmed)
            and await _is_confirmed(best, kind, passage, reading.model, step)
        ):
            confirmed.append(best)
    return confirmed


def _finding(kind: Kind, passage: Passage, line: int) -> Finding:
    return Finding(passage.path, line, kind.severity, kind.rule, kind.message, "model", kind.domain,
                   passage.lines[line].strip())  # fmt: skip


def _size(target: ReviewTarget) -> int:
    return len(target.changed) if target.changed is not None else target.new.text.count("\n")


def _passage(target: ReviewTarget, model: Model, budget: int, workspace: Workspace) -> Passage:
    lines = target.new.safe.split("\n")
    changed = target.changed if target.changed is not None else frozenset(range(1, len(lines) + 1))
    near = sorted({n for c in changed for n in range(max(1, c - _AROUND), min(len(lines), c + _AROUND) + 1)})
    shown: list[str] = []
    marked: dict[int, str] = {}
    left, previous = budget, 0
    for number in near:
        text = lines[number - 1][:300]
        left -= model.count_tokens(text) + 1
        if left < 0:
            break
        if previous and number != previous + 1:
            shown.append("…")
        shown.append(text)
        previous = number
        if number in changed:
            marked[number] = lines[number - 1]
    mark = nonce()
    around = _around(target.new.path, marked, workspace)
    return Passage(
        target.new.path, sanitized("\n".join(shown), mark), marked, tuple(lines), sanitized(around, mark), mark
    )


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


async def _suspected(kind: Kind, passage: Passage, model: Model, step: Step) -> bool:
    """Whether the model thinks that the passage has such a fault at all."""
    if not kind.least:
        return True
    ending = render("review_question", asks=kind.asks)
    return await _says_yes(ending, f"{kind.rule}: {passage.path}", kind.least, passage, model, step)


async def _first_confirmed(
    kind: Kind, findings: Sequence[Finding], passage: Passage, model: Model, step: Step
) -> Finding | None:
    """The first of the findings that a reviewer would be right with."""
    for finding in findings:
        ending = render("review_claim", asks=kind.asks, quote=sanitized(finding.quote, passage.mark))
        if await _says_yes(ending, f"{kind.rule} line {finding.line}", kind.holds, passage, model, step):
            return finding
    return None


async def _is_confirmed(finding: Finding, kind: Kind, passage: Passage, model: Model, step: Step) -> bool:
    """Ask for the opposite: only a finding that stands even then is kept."""
    ending = render("review_refute", asks=kind.asks, quote=sanitized(finding.quote, passage.mark),
                    left_out=_LEFT_OUT[kind.domain])  # fmt: skip
    return await _says_yes(ending, f"refute line {finding.line}", LEAST_CONFIRMATION, passage, model, step)


async def _says_yes(ending: str, name: str, least: float, passage: Passage, model: Model, step: Step) -> bool:
    """Whether the model says yes, surely enough where it tells how sure it is."""
    from repopilot.llm.structured import choose_word

    async with step.child(name, "llm", ending) as asking:
        word, confidence = await choose_word(model, _messages(passage, ending), ("yes", "no"), asking)
        odds = confidence if word == "yes" else 1 - confidence
        says = word is not None and (odds >= least if _knows_confidence(model) else word == "yes")
        asking.note(odds=round(odds, 2), least=least)
    return says


def _already_reported(finding: Finding, known: Sequence[Finding]) -> bool:
    """Whether an analyser has reported something at this place in this domain."""
    return any(
        f.path == finding.path and f.domain == finding.domain and abs(f.line - finding.line) <= _NEAR for f in known
    )


def _knows_confidence(model: Model) -> bool:
    """Whether a word's probability is known."""
    return model.kind in ("embedded", "openai")
