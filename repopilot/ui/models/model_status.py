"""The state of the models as props of the first screen and of a repository's card."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.errors import RepoPilotError
from repopilot.i18n.format import duration, size
from repopilot.llm.servers.address import is_loopback, without_credentials
from repopilot.ui.error_text import error_line
from repopilot.ui.models.available_models import Fetch, Models
from repopilot.ui.progress_text import percent, progress_line

if TYPE_CHECKING:
    from repopilot.llm.choice.status import ModelStatus, SizeOffer


def model_props(models: Models, language: str) -> dict:
    """Which model answers and why, how fast it is, and whether one is being fetched, loaded or measured.

    Returns:
        {state: `ok`, `busy` or `none`, text, notes: [text], offer: another size with the button to get it,
        {name, text, label}, or None}.
    """
    notes = [_trouble(error, wait, language) for error, wait in models.troubles]
    notes += [i18n.translated(models.reviewer_note, language)] if models.reviewer_note else []
    if (store := models.settings.chroma_url) and not is_loopback(store):
        notes.append(i18n.text("ui.models.vectors_at", language, url=without_credentials(store)))
    status = models.status
    if status is None:
        return {"state": "busy", "text": i18n.text("ui.models.looking", language), "notes": notes, "offer": None}
    busy = models.warming or models.fetch is not None
    state = "busy" if busy else "none" if models.model is None else "ok"
    text = " ".join([_sentence(models, status, language), *_under_way(models, language)])
    return {"state": state, "text": text, "notes": notes, "offer": _offer(models, status, language)}


def _sentence(models: Models, status: ModelStatus, language: str) -> str:
    if status.kind == "none" or models.model is None:
        return f"{i18n.text('ui.models.none', language)} {i18n.text('llm.way.none', language)}"
    last = status.notes[-1] if status.notes else status.detail
    answering = i18n.text("ui.models.answering", language, model=i18n.translated(last, language))
    way = i18n.text(f"llm.way.{models.model.way}", language)
    return " ".join(filter(None, (answering, i18n.translated(status.speed_note, language), way)))


def _trouble(error: RepoPilotError, wait: float, language: str) -> str:
    again = i18n.text("ui.models.again", language, duration=duration(math.ceil(wait / 10) * 10 or 1, language))
    return f"{error_line(error, language)} {again}"


def _under_way(models: Models, language: str) -> list[str]:
    if models.fetch is not None:
        return [i18n.text("ui.models.fetching", language, what=_fetch_line(models.fetch, language))]
    if models.warming:
        return [i18n.text("ui.models.loading", language)]
    return [i18n.text("ui.models.measuring", language)] if models.measuring else []


def _offer(models: Models, status: ModelStatus, language: str) -> dict | None:
    """The button for another size; None while a model is being fetched, or if this one is downloaded automatically."""
    if models.fetch is not None:
        return None
    offer = status.offer
    ollama = status.kind == "ollama"
    if offer is None or (not ollama and offer.name == status.missing_model and models.settings.auto_download):
        return None
    label = i18n.text("ui.models.pull" if ollama else "ui.models.fetch", language, name=offer.name)
    return {"name": offer.name, "text": _offer_text(offer, language), "label": label}


def _offer_text(offer: SizeOffer, language: str) -> str:
    parts = []
    if offer.speed is not None:
        parts.append(i18n.text("ui.models.offer_seconds", language, seconds=offer.speed.answer_seconds()))
    if offer.bytes is not None:
        parts.append(i18n.text("ui.models.offer_size", language, size=size(offer.bytes, language)))
    if offer.licence:
        parts.append(i18n.translated(offer.licence, language))
    return i18n.text("ui.models.offer", language, name=offer.name, facts=", ".join(parts)) if parts else ""


def _fetch_line(fetch: Fetch, language: str) -> str:
    if fetch.progress is None:
        return fetch.name
    done = percent(fetch.progress)
    share = f"{i18n.text('ui.progress.percent', language, percent=done)} · " if done is not None else ""
    return i18n.text(
        "ui.models.fetch_line", language, name=fetch.name, progress=share + progress_line(fetch.progress, language)
    )
