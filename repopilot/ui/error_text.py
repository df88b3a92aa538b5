"""An error as text, in the reader's language. Pure."""

from __future__ import annotations

from repopilot.errors import RepoPilotError
from repopilot.i18n import reason, said


def error_line(error: RepoPilotError, language: str) -> str:
    """What happened and what to do about it, in one line."""
    return said(reason(error), language)


def error_paragraphs(error: RepoPilotError, language: str) -> str:
    """What happened and, in a paragraph below, what to do about it."""
    return f"{said(error.message, language)}\n\n{said(error.hint, language)}".strip()
