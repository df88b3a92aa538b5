"""Changed files in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.repo.patches.diff_hunks import line_counts
from repopilot.types import FileChange

_MOST_NAMED = 5


def changes_sentence(changes: Sequence[FileChange], language: str) -> str:
    """Names the first files with the lines added and removed, and counts the others; '' without any."""
    if not changes:
        return ""
    files = i18n.first_names([_file(change, language) for change in changes], _MOST_NAMED)
    return i18n.text("generate.change", language, files=files)


def _file(change: FileChange, language: str) -> str:
    plus, minus = line_counts(change)
    return i18n.text(f"generate.{change.change}", language, path=change.path, plus=plus, minus=minus)
