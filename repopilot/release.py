"""RepoPilot's version, and the commit it was made from."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from repopilot import __version__

_DESCRIBE = ("describe", "--always", "--exclude=*", "--abbrev=12", "--dirty")


@cache
def commit() -> str:
    """The commit, with "-dirty" where files of the checkout differ from it; '' where unknown. Blocking.

    In a package, a file written by `.ci/commit_hook.py` has it; in a checkout, git is asked.
    """
    package = Path(__file__).parent
    kept = package / "commit.txt"
    if kept.exists():
        return kept.read_text().strip()
    if not (package.parent / ".git").exists():
        return ""
    try:
        command = ["git", "-C", str(package.parent), *_DESCRIBE]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def release() -> str:
    """The version and the commit, as a message. Blocking."""
    from repopilot import i18n  # `--version` needs no texts

    return i18n.message("release.said", version=__version__, commit=commit() or i18n.message("release.unknown"))
