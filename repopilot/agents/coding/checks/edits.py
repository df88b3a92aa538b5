"""What a model's code must hold to become a change of a file: syntax, nothing left out, secrets. Pure."""

from __future__ import annotations

import re

from repopilot import i18n
from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import analyse
from repopilot.errors import GenerationFailed
from repopilot.redaction.restore import restored
from repopilot.tools.file_change import (
    Problem,
    syntax_error,
)

_OMISSION = re.compile(
    r"^(?:#|//|/\*|--|<!--)? ?(?:\.{3}|…)? ?(?:rest of|existing|remaining|previous|unchanged|other|same)\b.{0,50}"
    r"\b(?:code|unchanged|same|methods?|functions?|here|file|implementation|class)\b.*$",
    re.I,
)


def problem_of(path: str, text: str, before: str | None) -> Problem | None:
    """What makes a generated text unusable: a syntax error that the old text did not have, or code left out ("rest of
    the code unchanged").

    Args:
        path: the file, whose name tells the language.
        text: the generated text.
        before: the old text, None for a new file.

    Returns:
        The first problem; None without one, or where the language has no grammar.
    """
    old = set((before or "").split("\n"))
    for number, line in enumerate(text.split("\n"), 1):
        # On one space each: the time to match several runs of spaces grows with the third power of their length.
        if line.strip() and _OMISSION.match(" ".join(line.split())) and line not in old:
            left_out = i18n.message("generate.problem.left_out", line=number, text=repr(line.strip()))
            return Problem(number, left_out)
    fault = syntax_error(path, text)
    if fault is None or (before is not None and syntax_error(path, before) is not None):
        return None
    return fault


def with_secrets(new: str, redacted: str, raw: str) -> str:
    """`new`, derived from redacted text, with the secrets of unchanged lines restored.

    Args:
        new: the generated text.
        redacted: the old text as the model saw it.
        raw: the old text with its secrets.

    Raises:
        GenerationFailed: a line with a redacted value was changed, so its value can't be restored.
    """
    text, lost = restored(new, redacted, raw)
    if lost is not None:
        raise GenerationFailed(
            i18n.message("generate.secret_line"), i18n.message("generate.secret_line_hint", line=lost.strip()[:80])
        )
    return text


def public_names(path: str, text: str) -> set[str]:
    """Names a file offers to others: its top-level definitions and their members without a leading underscore."""
    language = language_of(path)
    if language is None or file_kind(path) != "code":
        return set()
    symbols = analyse(path, text, language, "code").symbols
    return {s.qualified for s in symbols if not any(part.startswith("_") for part in s.qualified.split("."))}
