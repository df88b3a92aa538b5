"""Compiles patterns whose runs of white space are bounded. Pure."""

from __future__ import annotations

import re

_MOST = 40
"""The most spaces, tabs and line ends between two parts of an assignment; nobody aligns code with more."""
_RUN = re.compile(r"(?P<space>\\s|\[ \\t\])(?P<times>[*+])(?!\+)")


def bounded(pattern: str) -> str:
    """A pattern in which `\\s*`, `\\s+`, `[ \\t]*` and `[ \\t]+` match a bounded number of characters.

    Where several of them follow one another, the time for a run of white space would grow with its square or cube.

    Args:
        pattern: has none of them inside brackets.
    """
    least = {"*": 0, "+": 1}
    return _RUN.sub(lambda m: f"{m['space']}{{{least[m['times']]},{_MOST}}}", pattern)


def compile_bounded(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern after `bounded`."""
    return re.compile(bounded(pattern), flags)
