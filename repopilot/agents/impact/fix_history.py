"""How often the last changes of some files were fixes. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

LOOKED_AT = 10
"""How many of the last commits to the files are looked at."""
_FIX = re.compile(r"(?<![-\w./])(revert(s|ed)?|fix(es|ed)?|regressions?|bug(fix)?)(?![-\w/]|\.\w)", re.IGNORECASE)
"""The words of a fix by themselves: `fix.sh` and `revert-page` are names."""
_OF_NO_CODE = re.compile(
    r"\b(typos?|docs?|documentation|docstrings?|lint|types?|typing|ci|tests?|changelog|spelling|format\w*|warnings?|"
    r"links?|comments?|style|whitespace|merge)\b",
    re.IGNORECASE,
)


def recent_fixes(commits: Sequence[Commit], paths: Collection[str]) -> int:
    """Count the fixes among the last changes of some files: code that was just fixed is likely to need another fix.

    Args:
        commits: past commits, the newest first.
        paths: the files.

    Returns:
        How many of the last LOOKED_AT commits to any of the files say that they fix or revert something.
    """
    touching = [commit for commit in commits if any(path in paths for path in commit.paths)]
    return sum(is_fix(commit.subject) for commit in touching[:LOOKED_AT])


def is_fix(subject: str) -> bool:
    """Whether a commit's subject says that it fixes or reverts code."""
    return bool(_FIX.search(subject)) and not _OF_NO_CODE.search(subject)
