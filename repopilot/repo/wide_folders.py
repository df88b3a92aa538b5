"""Folders that hold all that a user has: no repository, and nothing that a client of a server may name."""

from __future__ import annotations

from pathlib import Path

from repopilot import i18n
from repopilot.errors import SourceRefused


def is_wide(folder: Path) -> bool:
    """Whether a folder is the root, the user's home, or holds it.

    Args:
        folder: resolved.
    """
    return folder == Path(folder.anchor) or Path("~").expanduser().resolve().is_relative_to(folder)


def require_narrow(folder: Path) -> None:
    """That a client may name a folder.

    Args:
        folder: resolved.

    Raises:
        SourceRefused: it is wide.
    """
    if is_wide(folder):
        raise SourceRefused(i18n.message("repo.wide_folder", folder=folder), i18n.message("repo.wide_folder_hint"))
