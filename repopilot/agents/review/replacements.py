"""Replacements for the lines of a finding, suggested by a tool or a model: checked, and applied to files. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from repopilot.code.formats.notebook import is_notebook
from repopilot.redaction.redact import MARK, redacted
from repopilot.tools.file_change import change, with_line_ends
from repopilot.types import FileChange, Finding, ReplacedLines

MOST_LINES = 40
"""Longer replacements are no suggestion to take over at a glance."""


def replacement(text: str, first: int, last: int, new: str) -> ReplacedLines | None:
    """The replacement of some lines of a file; None where it changes nothing, is too long, or either text holds a
    secret or a comment that could pose as one of our marks.

    Args:
        text: of the file.
        first: the first of the lines.
        last: the last of them.
        new: the lines that replace them, '' to remove them.
    """
    old = "\n".join(text.split("\n")[first - 1 : last])
    both = f"{old}\n{new}"
    fits = old != new and both.count("\n") <= MOST_LINES and MARK not in both and "<!--" not in both
    return ReplacedLines(first, last, old, new) if fits and redacted(both) == both else None


def replaced(text: str, found: ReplacedLines) -> str:
    """A file's text with a replacement; unchanged where its lines are no longer those to replace."""
    lines = text.split("\n")
    if "\n".join(lines[found.first - 1 : found.last]) == found.old:
        lines[found.first - 1 : found.last] = found.new.split("\n") if found.new else []
    return "\n".join(lines)


def files_with_replacements(
    findings: Iterable[Finding], text_of: Callable[[str], str | None]
) -> tuple[FileChange, ...]:
    """The files with all replacements except those in notebooks; of several that overlap, only the last is made.

    Args:
        findings: of a review.
        text_of: the text of a file as it is stored, None where there is none.
    """
    wanted = [(f.path, f.replacement) for f in findings if f.replacement and not is_notebook(f.path)]
    stored = {path: text_of(path) or "" for path, _ in wanted}
    texts = {path: text.replace("\r\n", "\n") for path, text in stored.items()}
    for path, found in sorted(wanted, key=lambda each: -each[1].last):  # from the end, as replacements move later lines
        texts[path] = replaced(texts[path], found)
    made = {path: with_line_ends(text, stored[path]) for path, text in sorted(texts.items())}
    return tuple(
        change(path, redacted(new), redacted(stored[path])) for path, new in made.items() if new != stored[path]
    )
