"""Changed files in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.types import FileChange


def changes_sentence(changes: Sequence[FileChange], language: str) -> str:
    """Names the files with the lines added and removed; '' without any."""
    files = ", ".join(_file(change, language) for change in changes)
    return i18n.text("generate.change", language, files=files) if files else ""


def _file(change: FileChange, language: str) -> str:
    lines = change.diff.split("\n")
    plus = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    minus = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return i18n.text(f"generate.{change.change}", language, path=change.path, plus=plus, minus=minus)
