"""What a language model finds: one reviewer a domain, made to quote a changed line, then asked again to refute itself.

Opinions of small models are worth little, so a finding counts only when its quote is a changed line word for word and
the second pass, which is asked for the opposite, still says that it is a fault. Its severity is at most medium.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from repopilot.errors import ModelError
from repopilot.llm.model import Model
from repopilot.prompts import defused, nonce, render
from repopilot.review.code import Target
from repopilot.trace import Step
from repopilot.types import Finding
from repopilot.workspace import Workspace

SURE = 0.6
"""Confidence of the second pass below which a finding is dropped."""
_MOST_CALLS = {"embedded": 1, "ollama": 4, "openai": 12}
"""Files a domain's reviewer reads, by kind of model: on a CPU each costs ten to thirty seconds."""
_CODE_TOKENS = {"embedded": 900, "ollama": 1800, "openai": 4000}
_AROUND = 6
_NAME = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(")

_DOMAINS = {
    "security": (
        "injection, unsafe handling of input, missing checks of rights, secrets, weak cryptography",
        "style, naming, speed, documentation, or anything that needs no attacker",
    ),
    "performance": (
        "queries inside loops (N+1), quadratic work, repeated work, needless copies, unbounded memory",
        "style, naming, security, or differences too small to measure",
    ),
    "style": (
        "misleading names, dead code, duplicated code, swallowed errors, comments that contradict the code",
        "security, speed, formatting, or what is a matter of taste",
    ),
}


class Claim(BaseModel):
    """One fault as the model states it."""

    quote: str = Field(description="the faulty line, copied exactly", max_length=300)
    message: str = Field(description="what is wrong, one sentence", max_length=240)
    severity: Literal["medium", "low"] = "low"


class Claims(BaseModel):
    """What one reviewer found."""

    findings: list[Claim] = Field(default_factory=list, max_length=3)


@dataclass(frozen=True, slots=True)
class _Passage:
    """Changed lines of one file with what stands around them; `lines` maps the changed ones to their text."""

    path: str
    shown: str
    lines: dict[int, str]


async def opinions(
    domain: str, targets: Sequence[Target], known: Sequence[Finding], workspace: Workspace, step: Step
) -> list[Finding]:
    """The model's findings in one domain that survived; none without a model. A failing model is said, not raised."""
    model = workspace.model
    if model is None or not targets:
        return []
    passages = _passages(targets, model)
    survived: list[Finding] = []
    async with step.child("model", "agent", f"{len(passages)} passages") as reviewing:
        try:
            for passage in passages:
                for finding in await _claimed(domain, passage, known, workspace, model, reviewing):
                    if await _survives(finding, passage, workspace.reviewer or model, reviewing):
                        survived.append(finding)
        except ModelError as error:
            reviewing.degrade(f"the model's {domain} review was cut short: {error}")
        reviewing.note(findings=len(survived))
    return survived


def _passages(targets: Sequence[Target], model: Model) -> list[_Passage]:
    """The files with the most changed code first, each cut to what the model can read at once."""
    budget = min(_CODE_TOKENS.get(model.kind, 900), model.context_window // 3)
    ordered = sorted(targets, key=lambda t: -len(t.changed) if t.changed is not None else -len(t.new.text) // 40)
    return [_passage(target, model, budget) for target in ordered[: _MOST_CALLS.get(model.kind, 1)]]


def _passage(target: Target, model: Model, budget: int) -> _Passage:
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
    return _Passage(target.new.path, "\n".join(shown), marked)


async def _claimed(
    domain: str, passage: _Passage, known: Sequence[Finding], workspace: Workspace, model: Model, step: Step
) -> list[Finding]:
    """Claims whose quote is a changed line; how many were not is noted."""
    from llama_index.core.llms import ChatMessage

    from repopilot.llm.structured import ask

    wanted, unwanted = _DOMAINS[domain]
    mark = nonce()
    told = "; ".join(f.message for f in known if f.path == passage.path)[:400]
    user = render("review_user", path=passage.path, mark=mark, code=defused(passage.shown, mark), domain=domain,
                  around=defused(_around(passage, workspace), mark), known=told or "nothing")  # fmt: skip
    messages = [
        ChatMessage(role="system", content=render("review_system", domain=domain, wanted=wanted, unwanted=unwanted)),
        ChatMessage(role="user", content=user),
    ]
    async with step.child(f"review {passage.path}", "llm") as asking:
        reply = await ask(model, messages, Claims, asking, max_tokens=300)
        if reply is None:
            asking.degrade(f"the model's {domain} findings in {passage.path} could not be read")
            return []
        placed = [(claim, _line_of(claim.quote, passage)) for claim in reply.findings]
        asking.note(claims=len(placed), without_a_line=sum(line is None for _, line in placed))
    rule = {"security": "model-security", "performance": "model-performance", "style": "model-style"}[domain]
    return [
        Finding(
            passage.path,
            line,
            claim.severity,
            rule,
            _sentence(claim.message),
            "model",
            domain,
            passage.lines[line].strip(),
        )
        for claim, line in placed
        if line is not None
    ]


def _line_of(quote: str, passage: _Passage) -> int | None:
    """The changed line a quote copies, None unless exactly one does."""
    wanted = " ".join(quote.strip().lstrip(">").split())
    found = [n for n, text in passage.lines.items() if wanted and " ".join(text.split()) == wanted]
    return found[0] if len(found) == 1 and re.search(r"\w", wanted) else None


def _around(passage: _Passage, workspace: Workspace) -> str:
    """Signatures of what the changed lines call, and places that call what they define."""
    text = "\n".join(passage.lines.values())
    rows: list[str] = []
    for name in list(dict.fromkeys(_NAME.findall(text)))[:12]:
        symbols = [s for s in workspace.index.symbols(name) if s.signature]
        if len(symbols) == 1 and symbols[0].path != passage.path:
            rows.append(f"It calls {symbols[0].signature[:120]} ({symbols[0].path})")
        elif len(symbols) == 1:
            callers = [r for r in workspace.index.references(name) if r.path != passage.path][:2]
            rows += [f"{r.path}:{r.line} calls {name}" for r in callers]
    return "\n".join(rows[:6])


async def _survives(finding: Finding, passage: _Passage, model: Model, step: Step) -> bool:
    """Ask for the opposite: only a finding that stands even then is kept."""
    from llama_index.core.llms import ChatMessage

    from repopilot.llm.structured import choose_word

    mark = nonce()
    text = render("review_refute", path=passage.path, mark=mark, quote=defused(finding.quote, mark),
                  message=defused(finding.message, mark), code=defused(passage.shown, mark))  # fmt: skip
    async with step.child(f"refute line {finding.line}", "llm", finding.message) as refuting:
        word, confidence = await choose_word(
            model, [ChatMessage(role="user", content=text)], ("wrong", "fault"), refuting
        )
        stands = word == "fault" and (confidence >= SURE or model.kind in ("ollama", "scripted"))
        refuting.note(stands=stands)
    return stands


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else text + "."
