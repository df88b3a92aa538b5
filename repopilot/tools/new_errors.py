"""Errors that a change brings into a file: names that don't exist, members of the object itself that nobody defines."""

from __future__ import annotations

from repopilot.code.languages import language_of
from repopilot.review.code import Code
from repopilot.review.linters import AnalyserFailed, ruff_errors


def new_errors(path: str, before: str, after: str) -> list[str]:
    """Undefined and redefined names, and the like, that a file didn't have before, by ruff.

    Args:
        path: the file; only Python is looked at.
        before: its text before the change.
        after: its text after it.

    Returns:
        The messages of ruff; [] without ruff.
    """
    if language_of(path) != "python":
        return []
    try:
        old, new = (
            [finding.message for finding in ruff_errors([Code(path, text, text, "python")])]
            for text in (before, after.replace("\r\n", "\n"))
        )
    except AnalyserFailed:
        return []
    return [message for message in dict.fromkeys(new) if new.count(message) > old.count(message)]
