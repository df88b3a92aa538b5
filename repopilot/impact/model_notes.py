"""Risks and recommendations in the model's words, each tied to items of the evidence; the rest is dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel, Field

from repopilot.errors import ModelError
from repopilot.llm import structured
from repopilot.llm.model import Model, billions
from repopilot.prompts import defused, nonce, render
from repopilot.results import ImpactReport
from repopilot.trace import Step

_SHOWN = {"affected": 12, "covering_tests": 6, "co_changed": 6}
_KEPT = 4
SMALLEST = 1.0
"""Billions of parameters from which on a model's sentences were worth reading."""
_CHANGES = re.compile(
    r"\bchang(?:es?|ing)(?: made)? (?:in|to|of) (?:the )?(?:file )?\S+|\bmodif(?:y|ies|ying) (?:the )?\S+",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|\w+n't|never|no) (?:\w+ ){0,2}(?:related|affect\w*|impact\w*|depend\w*|used)\b|\bunrelated\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]+)`")
_PATH = re.compile(r"\b[\w/-]+\.(?:py|js|ts|tsx|go|java|rs|rb|php|c|cpp|cs|kt)\b")


class Point(BaseModel):
    """One sentence and the ids of the items it rests on."""

    text: str = Field(max_length=300)
    evidence: list[str] = Field(min_length=1, max_length=4)


class Points(BaseModel):
    """What the model is asked for."""

    risks: list[Point] = Field(max_length=_KEPT)
    recommendations: list[Point] = Field(max_length=_KEPT)


async def with_prose(impact: ImpactReport, model: Model, step: Step) -> ImpactReport:
    """The report with what the model adds. Unchanged when the model fails, is too small for it, or says nothing that
    holds."""
    from llama_index.core.llms import ChatMessage

    if billions(model.name) < SMALLEST:
        step.note(prose=f"{model.name} is not asked for risks: what it says only repeats what changes")
        return impact
    mark = nonce()
    items = evidence_items(impact)
    listed = "\n".join(f"{key}: {defused(text, mark)}" for key, text in items.items())
    messages = [
        ChatMessage(role="system", content=render("impact_system")),
        ChatMessage(role="user", content=render("impact_user", mark=mark, risk=impact.risk, evidence=listed)),
    ]
    async with step.child("risks and recommendations", "llm", listed) as asking:
        try:
            found = await structured.ask(model, messages, Points, asking, max_tokens=400)
        except ModelError as error:
            asking.degrade(f"impact report without the model's words: {error}")
            return impact
        if found is None:
            asking.degrade("impact report without the model's words: its reply had not the right form")
            return impact
        kept = {"risks": tied(found.risks, items), "recommendations": tied(found.recommendations, items)}
        said = len(found.risks) + len(found.recommendations)
        asking.note(said=said, dropped=said - sum(map(len, kept.values())))
    return replace(impact, risks=(*impact.risks, *kept["risks"]),
                   recommendations=(*impact.recommendations, *kept["recommendations"]))  # fmt: skip


def tied(points: Iterable[Point], items: Mapping[str, str]) -> list[dict]:
    """Those that rest on an item, and on one for everything they name (in backticks, or as a path); ids that a point
    should have given for what it names are added.

    Dropped is also what names nothing beyond the change itself (items M…), what takes another file for the changed
    one, and what denies a connection: the evidence is of connections that exist.
    """
    kept: list[dict] = []
    for point in points:
        ids = [key for key in dict.fromkeys(point.evidence) if key in items]
        text = " ".join(point.text.split())
        bearing = [_bearing(name, ids, items) for name in _named(text)]
        if ids and all(bearing) and _tells(text, ids, items):
            kept.append({"text": text, "evidence": list(dict.fromkeys([*ids, *bearing])), "source": "model"})
    return [point for n, point in enumerate(kept) if point["text"] not in (p["text"] for p in kept[:n])]


def _tells(text: str, ids: Iterable[str], items: Mapping[str, str]) -> bool:
    changed = " ".join(said for key, said in items.items() if key.startswith("M"))
    named = _named(text)
    beyond = any(name not in changed for name in named) if named else any(not key.startswith("M") for key in ids)
    mistaken = any(name not in changed for found in _CHANGES.findall(text) for name in _named(found))
    return beyond and not mistaken and not _DENIES.search(text)


def _named(text: str) -> list[str]:
    return [name.strip("()") for name in (*_QUOTED.findall(text), *_PATH.findall(text))]


def _bearing(name: str, ids: Iterable[str], items: Mapping[str, str]) -> str:
    """The item that holds a name, one of `ids` if possible; '' when none does."""
    return next((key for key in (*ids, *items) if name in items[key]), "")


def evidence_items(impact: ImpactReport) -> dict[str, str]:
    """The evidence as short lines by id, the most telling first."""
    items: dict[str, str] = {}
    for changed in impact.changed:
        what = ", ".join(changed["symbols"][:6]) or "the whole file"
        items[changed["id"]] = f"changes {changed['path']} ({changed['status']}): {what}"
        for found in changed["interface"] or ():
            items[found["id"]] = f"interface of {changed['path']}: {found['symbol']} {found['how']}"
        for table in changed["tables"]:
            items[table["id"]] = f"schema: {table['name']}"
    for item in impact.affected[: _SHOWN["affected"]]:
        items[item["id"]] = f"{item['path']} {item['symbol']} {item['reason']}, {item['distance']} hops away"
    for item in impact.covering_tests[: _SHOWN["covering_tests"]]:
        items[item["id"]] = f"test {item['path']} {', '.join(item['tests'][:4])} {item['reason']}"
    for item in impact.co_changed[: _SHOWN["co_changed"]]:
        items[item["id"]] = f"{item['path']} changed along in {item['together']} of {item['of']} past commits"
    return items
