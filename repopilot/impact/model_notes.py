"""Risks and recommendations in the model's words, each based on items of the evidence; the rest is dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel, Field

from repopilot.errors import ModelError
from repopilot.i18n import message, reason
from repopilot.llm import structured
from repopilot.llm.model import Model, billions
from repopilot.prompts import nonce, render, sanitized
from repopilot.results import ImpactReport, Recommendation, RiskReason
from repopilot.trace import Step

SMALLEST = 1.0
"""Billions of parameters from which on a model's sentences were worth reading."""

_AFFECTED_SHOWN, _TESTS_SHOWN, _CO_CHANGED_SHOWN = 12, 6, 6
_MOST_NOTES = 4
_MAX_TOKENS = 400
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


class ModelNote(BaseModel):
    """One sentence and the ids of the items it rests on."""

    text: str = Field(max_length=300)
    evidence: list[str] = Field(min_length=1, max_length=4)


class ModelNotes(BaseModel):
    """What the model is asked for."""

    risks: list[ModelNote] = Field(max_length=_MOST_NOTES)
    recommendations: list[ModelNote] = Field(max_length=_MOST_NOTES)


async def with_model_notes(report: ImpactReport, model: Model, step: Step) -> ImpactReport:
    """Add what the model says about the evidence.

    Args:
        report: the report with its evidence.
        model: the model to ask; one of fewer than SMALLEST billion parameters is not asked.
        step: the step of the work.

    Returns:
        The report with the sentences that are supported; unchanged when the model fails, is too small, or has none.
    """
    from llama_index.core.llms import ChatMessage

    if billions(model.name) < SMALLEST:
        step.note(model_notes=message("impact.model_too_small", model=model.name))
        return report
    mark = nonce()
    items = evidence_items(report)
    listed = "\n".join(f"{key}: {sanitized(text, mark)}" for key, text in items.items())
    messages = [
        ChatMessage(role="system", content=render("impact_system")),
        ChatMessage(role="user", content=render("impact_user", mark=mark, risk=report.risk, evidence=listed)),
    ]
    async with step.child("risks and recommendations", "llm", listed) as asking:
        try:
            found = await structured.ask(model, messages, ModelNotes, asking, max_tokens=_MAX_TOKENS)
        except ModelError as error:
            asking.degrade(message("impact.model_failed", error=reason(error)))
            return report
        if found is None:
            asking.degrade(message("impact.model_malformed"))
            return report
        risks = supported_notes(found.risks, items)
        recommendations = supported_notes(found.recommendations, items)
        offered = len(found.risks) + len(found.recommendations)
        asking.note(said=offered, dropped=offered - len(risks) - len(recommendations))
    return replace(
        report,
        risks=(*report.risks, *(RiskReason(n.text, tuple(n.evidence), source="model") for n in risks)),
        recommendations=(
            *report.recommendations,
            *(Recommendation(n.text, tuple(n.evidence), "model") for n in recommendations),
        ),
    )


def supported_notes(notes: Iterable[ModelNote], items: Mapping[str, str]) -> list[ModelNote]:
    """Keep the notes that the evidence supports.

    A note must rest on an item, and on one for everything it names (in backticks, or as a path); ids that it should
    have given for what it names are added. Dropped is also what names nothing beyond the change itself (items M…),
    what takes another file for the changed one, and what denies a connection: the evidence is of connections that
    exist.

    Args:
        notes: what the model wrote.
        items: the evidence by id, see `evidence_items`.

    Returns:
        The supported notes, each text once.
    """
    found: dict[str, ModelNote] = {}
    for note in notes:
        ids = [key for key in dict.fromkeys(note.evidence) if key in items]
        text = " ".join(note.text.split())
        naming = [_item_naming(name, ids, items) for name in _names(text)]
        if ids and all(naming) and _informative(text, ids, items):
            evidence = list(dict.fromkeys([*ids, *naming]))
            found.setdefault(text, ModelNote.model_construct(text=text, evidence=evidence))
    return list(found.values())


def _informative(text: str, ids: Iterable[str], items: Mapping[str, str]) -> bool:
    changed = " ".join(item for key, item in items.items() if key.startswith("M"))
    names = _names(text)
    beyond = any(name not in changed for name in names) if names else any(not key.startswith("M") for key in ids)
    mistaken = any(name not in changed for phrase in _CHANGES.findall(text) for name in _names(phrase))
    return beyond and not mistaken and not _DENIES.search(text)


def _names(text: str) -> list[str]:
    return [name.strip("()") for name in (*_QUOTED.findall(text), *_PATH.findall(text))]


def _item_naming(name: str, ids: Iterable[str], items: Mapping[str, str]) -> str:
    """The id of the item that has a name in it, one of `ids` if possible; '' when none does."""
    return next((key for key in (*ids, *items) if name in items[key]), "")


def evidence_items(report: ImpactReport) -> dict[str, str]:
    """The evidence as short lines for the prompt by id, the most important first."""
    items: dict[str, str] = {}
    for changed in report.changed:
        what = ", ".join(changed.symbols[:6]) or "the whole file"
        items[changed.id] = f"changes {changed.path} ({changed.status}): {what}"
        for found in changed.interface or ():
            items[found.id] = f"interface of {changed.path}: {found.symbol} {found.how}"
        for table in changed.tables:
            items[table.id] = f"schema: {table.name}"
    for place in report.affected[:_AFFECTED_SHOWN]:
        items[place.id] = f"{place.path} {place.symbol} {place.reason}, {place.distance} hops away"
    for test in report.covering_tests[:_TESTS_SHOWN]:
        items[test.id] = f"test {test.path} {', '.join(test.tests[:4])} {test.reason}"
    for file in report.co_changed[:_CO_CHANGED_SHOWN]:
        items[file.id] = f"{file.path} co-changed in {file.together} of {file.of} past commits"
    return items
