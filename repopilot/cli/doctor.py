"""Prints what the checks of this machine found."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.checks import Check
from repopilot.cli.output import say


def show(found: Sequence[Check], language: str) -> None:
    """Print the checks: a mark, what was found, and below it what to do, in `language`."""
    marks = {"ok": "✓", "degraded": "~", "broken": "✗"}
    for check in found:
        say(f"{marks[check.state]} {check.name:16} {i18n.translated(check.detail, language)}")
        if check.fix:
            say(f"  {'':16} → {i18n.translated(check.fix, language)}")
