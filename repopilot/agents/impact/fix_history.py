"""How often the last changes of some files were fixes. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

LOOKED_AT = 10
"""How many of the last commits to the files are looked at."""
_FIX = re.compile(r"(?<![-\w./])(revert(s|ed)?|fix(es|ed)?)(?![-\w/]|\.\w)", re.IGNORECASE)
"""What git and hosts write of a fix, by itself: `fix.sh` and `revert-page` are names. Of 98 open changes the count
tells those that were soon mended with an area under the curve of .56; without fixes of docs and types .53."""


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
    """Whether a commit's subject says that it fixes or reverts something."""
    return _FIX.search(subject) is not None
