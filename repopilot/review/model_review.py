"""What a language model finds: narrow questions, about code and then about the lines that look like the fault, and a
second pass that tries to refute it.

Opinions of small models are unreliable. A finding counts only for a line that code has picked, when the model is more
confident of it than of any clean code, and when no analyser reports anything there. Its severity is at most medium.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm.model import Model, billions
from repopilot.prompts import nonce, render, sanitized
from repopilot.review.code import ReviewTarget
from repopilot.review.suspects import KINDS, LARGE, SMALLEST, FaultKind, suspected_lines
from repopilot.trace import Step
from repopilot.types import Finding
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

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
    """Changed code of one file, as the model reads it.

    Attributes:
        path: of the file.
        code: the changed lines with those next to them.
        changed: the changed lines in `code` by their numbers.
        lines: all lines of the file.
        context: signatures of what the changed lines call, and callers of what they define.
        mark: delimits untrusted text. It is the same for all questions, so that the model reads their common beginning
            only once.
    """

    path: str
    code: str
    changed: dict[int, str]
    lines: tuple[str, ...]
    context: str
    mark: str


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """What a model reads of the code under review.

    Attributes:
        model: the model to ask.
        changed: the number of changed lines, of which the passages may leave some out.
        passages: one for each file that the model reads.
        lock: held while a domain asks. On one processor, domains asking at once would evict each other's code from the
            model's cache.
    """

    model: Model
    changed: int
    passages: tuple[Passage, ...]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def review_context(targets: Sequence[ReviewTarget], workspace: Workspace) -> ReviewContext | None:
    """The files with the most changed code, each cut to what the larger of the models can read at once.

    Args:
        targets: the files under review.
        workspace: the repository, its models and its index.

    Returns:
        What to ask about; None without a model or without files.
    """
    available = [model for model in (workspace.model, workspace.reviewer) if model is not None]
    if not available or not targets:
        return None
    model = max(available, key=lambda m: billions(m.name))
    budget = min(_CODE_TOKENS.get(model.kind, 900), model.context_window // 3)
    ordered = sorted(targets, key=_size, reverse=True)
    chosen = ordered[: _MOST_FILES.get(model.kind, 1)]
    passages = tuple(_passage(target, model, budget, workspace) for target in chosen)
    return ReviewContext(model, sum(_size(target) for target in targets), passages)


async def model_findings(
    domain: str, context: ReviewContext | None, known: Sequence[Finding], step: Step
) -> list[Finding]:
    """The model's findings in one domain that its second pass confirms.

    Args:
        domain: `security`, `performance` or `style`.
        context: what to ask about; None without a model.
        known: the analysers' findings, which are not repeated.
        step: the step of the domain. It reports a failing model.

    Returns:
        The findings; none without a model.
    """
    if context is None:
        return []
    if why := _reason_to_skip(domain, context.model):
        step.note(not_asked=why)
        return []
    async with step.child("model", "agent", _paths(context)) as reviewing, context.lock:
        confirmed: list[Finding] = []
        try:
            for passage in context.passages:
                confirmed += await _findings_in(passage, domain, known, context.model, reviewing)
        except ModelError as error:
            reviewing.degrade(i18n.message("review.model_failed", domain=domain, why=i18n.reason(error)))
        read = sum(len(passage.changed) for passage in context.passages)
        reviewing.note(findings=len(confirmed), lines_read=read, of_changed_lines=context.changed)
    return confirmed


def _paths(context: ReviewContext) -> str:
    return ", ".join(passage.path for passage in context.passages)


def _reason_to_skip(domain: str, model: Model) -> str:
    """Why a model is not asked in a domain; '' when it is."""
    size = billions(model.name)
    if not any(kind.domain == domain for kind in KINDS):
        return i18n.message("review.not_asked.domain", domain=i18n.message(f"review.domains.{domain}"))
    if size < SMALLEST:
        return i18n.message("review.not_asked.too_small", model=model.name)
    if size < LARGE and not _reports_confidence(model):
        return i18n.message("review.not_asked.no_confidence", model=model.name)
    return ""


async def _findings_in(
    passage: Passage, domain: str, known: Sequence[Finding], model: Model, step: Step
) -> list[Finding]:
    """The confirmed findings in a passage, at most one of each kind."""
    confirmed: list[Finding] = []
    for kind in (k for k in KINDS if k.domain == domain):
        lines = suspected_lines(kind, passage.changed, passage.lines)
        findings = [f for f in (_finding(kind, passage, line) for line in lines) if not _already_reported(f, known)]
        if not findings or not await _suspected(kind, passage, model, step):
            continue
        best = await _first_confirmed(kind, findings, passage, model, step)
        if best and not _already_reported(best, confirmed) and await _withstands(best, kind, passage, model, step):
            confirmed.append(best)
    return confirmed


def _finding(kind: FaultKind, passage: Passage, line: int) -> Finding:
    return Finding(
        path=passage.path,
        line=line,
        severity=kind.severity,
        rule=kind.rule,
        message=i18n.message(f"review.suspected.{kind.rule}"),
        source="model",
        domain=kind.domain,
        quote=passage.changed[line].strip(),
    )


def _size(target: ReviewTarget) -> int:
    return len(target.changed) if target.changed is not None else target.new.text.count("\n")


def _passage(target: ReviewTarget, model: Model, budget: int, workspace: Workspace) -> Passage:
    """A file's changed lines and those next to them, up to a number of tokens."""
    lines = target.new.safe.split("\n")
    changed = target.changed if target.changed is not None else frozenset(range(1, len(lines) + 1))
    near = sorted({n for c in changed for n in range(max(1, c - _AROUND), min(len(lines), c + _AROUND) + 1)})
    excerpt: list[str] = []
    read: dict[int, str] = {}
    left, previous = budget, 0
    for number in near:
        text = lines[number - 1][:300]
        left -= model.count_tokens(text) + 1
        if left < 0:
            break
        if previous and number != previous + 1:
            excerpt.append("…")
        excerpt.append(text)
        previous = number
        if number in changed:
            read[number] = lines[number - 1]
    mark = nonce()
    context = _related_code(target.new.path, read, workspace)
    return Passage(
        target.new.path, sanitized("\n".join(excerpt), mark), read, tuple(lines), sanitized(context, mark), mark
    )


def _related_code(path: str, lines: dict[int, str], workspace: Workspace) -> str:
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


def _messages(passage: Passage, question: str) -> list[ChatMessage]:
    """A question about a passage, after the beginning that all questions about it share."""
    from llama_index.core.llms import ChatMessage

    user = render(
        "review_user",
        path=passage.path,
        mark=passage.mark,
        code=passage.code,
        around=passage.context,
        question=question,
    )
    return [ChatMessage(role="system", content=render("review_system")), ChatMessage(role="user", content=user)]


async def _suspected(kind: FaultKind, passage: Passage, model: Model, step: Step) -> bool:
    """Whether the model thinks that the passage has such a fault at all."""
    if not kind.passage_threshold:
        return True
    question = render("review_question", fault=kind.description)
    return await _says_yes(kind.rule, question, kind.passage_threshold, passage, model, step)


async def _first_confirmed(
    kind: FaultKind, findings: Sequence[Finding], passage: Passage, model: Model, step: Step
) -> Finding | None:
    """The first of the findings that the model agrees with."""
    for finding in findings:
        quote = sanitized(finding.quote, passage.mark)
        question = render("review_claim", fault=kind.description, quote=quote)
        if await _says_yes(f"{kind.rule} line {finding.line}", question, kind.line_threshold, passage, model, step):
            return finding
    return None


async def _withstands(finding: Finding, kind: FaultKind, passage: Passage, model: Model, step: Step) -> bool:
    """Whether the model confirms a finding when it is asked to refute it."""
    question = render(
        "review_refute",
        fault=kind.description,
        quote=sanitized(finding.quote, passage.mark),
        left_out=_LEFT_OUT[kind.domain],
    )
    return await _says_yes(f"refute line {finding.line}", question, LEAST_CONFIRMATION, passage, model, step)


async def _says_yes(name: str, question: str, threshold: float, passage: Passage, model: Model, step: Step) -> bool:
    """Whether the model says yes; where it reports its confidence, with at least that of the threshold."""
    from repopilot.llm.structured import choose_word

    async with step.child(name, "llm", question) as asking:
        word, confidence = await choose_word(model, _messages(passage, question), ("yes", "no"), asking)
        odds = confidence if word == "yes" else 1 - confidence
        asking.note(odds=round(odds, 2), least=threshold)
    return word is not None and (odds >= threshold if _reports_confidence(model) else word == "yes")


def _already_reported(finding: Finding, known: Sequence[Finding]) -> bool:
    """Whether an analyser has reported something at this place in this domain."""
    return any(
        f.path == finding.path and f.domain == finding.domain and abs(f.line - finding.line) <= _NEAR for f in known
    )


def _reports_confidence(model: Model) -> bool:
    """Whether the model's server returns the probabilities of its words."""
    return model.kind in ("embedded", "openai")
