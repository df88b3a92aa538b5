"""The state of the models as props of the first screen and of a repository's card."""

from __future__ import annotations

from repopilot import i18n
from repopilot.ui.available_models import Fetch, Models
from repopilot.ui.error_text import error_line
from repopilot.ui.progress_text import percent, progress_line


def model_props(models: Models, language: str) -> dict:
    """Which model answers, and what is under way.

    Returns:
        {state: `ok`, `busy` or `none`, text, notes: [text], pull: the button to pull a missing model, {name, label},
        or None}.
    """
    notes = [error_line(models.trouble, language)] if models.trouble else []
    status = models.status
    if status is None:
        return {"state": "busy", "text": i18n.text("ui.models.looking", language), "notes": notes, "pull": None}
    text = _sentence(models, language)
    if models.fetch is not None:
        text += " " + i18n.text("ui.models.fetching", language, what=_fetch_line(models.fetch, language))
    elif models.warming:
        text += " " + i18n.text("ui.models.loading", language)
    busy = models.warming or models.fetch is not None
    state = "busy" if busy else "none" if models.model is None else "ok"
    missing = status.missing_model if status.kind == "ollama" and models.fetch is None else None
    pull = {"name": missing, "label": i18n.text("ui.models.pull", language, name=missing)} if missing else None
    return {"state": state, "text": text, "notes": notes, "pull": pull}


def _sentence(models: Models, language: str) -> str:
    status = models.status
    if status is None or status.kind == "none" or models.model is None:
        return i18n.text("ui.models.none", language)
    last = status.notes[-1] if status.notes else status.detail
    return i18n.text("ui.models.answering", language, model=i18n.said(last, language))


def _fetch_line(fetch: Fetch, language: str) -> str:
    if fetch.progress is None:
        return fetch.name
    done = percent(fetch.progress)
    share = f"{i18n.text('ui.progress.percent', language, percent=done)} · " if done is not None else ""
    return i18n.text(
        "ui.models.fetch_line", language, name=fetch.name, progress=share + progress_line(fetch.progress, language)
    )
