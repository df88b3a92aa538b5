"""An error as text, in the reader's language. Pure."""

from __future__ import annotations

from repopilot.errors import RepoPilotError
from repopilot.i18n import reason, text, translated


def error_line(error: RepoPilotError, language: str) -> str:
    """What happened and what to do about it, in one line."""
    return translated(reason(error), language)


def error_paragraphs(error: RepoPilotError, language: str, request: str = "") -> str:
    """What happened, what to do about it, and the id of the request, if any, in a paragraph each."""
    id = text("ui.errors.request", language, id=request) if request else ""
    return "\n\n".join(filter(None, (translated(error.message, language), translated(error.hint, language), id)))
