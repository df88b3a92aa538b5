"""Patterns of `.gitignore` and `.gitattributes`, matched without backtracking, which a hostile pattern could make last
for days. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_ANYWHERE = "^(?:.+/)?"
"""How pathspec writes `**` at the beginning of a pattern."""
_BETWEEN = "(?:/.+)?"
"""How pathspec writes `**` inside a pattern."""
_STAR = r"\[\^/\]\*"
_SIGN = r"(?:\\.|\[\^?+\]?+[^\]]*+\](?!\*)|[^\\\[/()])"
"""How pathspec writes `*`, and what matches one character of a name."""
_BETWEEN_STARS = re.compile(rf"{_STAR}({_SIGN}*+)(?={_STAR})", re.S)


def ignore_spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """The rules of a `.gitignore` file.

    Args:
        lines: of the file.
    """
    return GitIgnoreSpec.from_lines(lines, git_pattern)


def git_pattern(text: str) -> GitIgnoreSpecPattern:
    """A pattern as pathspec reads it; one that isn't valid matches nothing, as in git.

    Args:
        text: one line of a `.gitignore` file.
    """
    try:
        regex, include = GitIgnoreSpecPattern.pattern_to_regex(text)
        return GitIgnoreSpecPattern(None if regex is None else re.compile(_linear(regex)), include)
    except (ValueError, re.error):
        return GitIgnoreSpecPattern(None)


def _linear(regex: str) -> str:
    """The same regular expression without backtracking: only the first match of the part between two wildcards is
    tried, since whatever follows a later match also follows the first."""
    first, *rest = _BETWEEN_STARS.sub(r"(?>[^/]*?\1)", regex).split(_BETWEEN)
    if not rest:
        return first
    *middle, last = rest
    if first.startswith(_ANYWHERE):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_ANYWHERE)}(?=/|$))"
    return "".join([first, *(rf"(?>(?:/.+?)??{part}(?=/|$))" for part in middle), _BETWEEN, last])
