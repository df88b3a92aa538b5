"""Folders that hold everything a user has: not repositories, and not to be named by a client of a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from repopilot import i18n
from repopilot.errors import SourceRefused

_HOMES = (Path("/home"), Path("/Users"))
_FIRST_PERSON = 500
"""The lowest user id of a person on macOS; on Linux people's ids begin at 1000."""


def is_wide(folder: Path) -> bool:
    """Whether a folder is the root, the home of a person, or holds homes.

    Args:
        folder: resolved.
    """
    return folder == Path(folder.anchor) or any(home.is_relative_to(folder) for home in _homes())


def _homes() -> Iterator[Path]:
    yield from (Path("~").expanduser().resolve(), *_HOMES)
    if sys.platform != "win32":
        import pwd  # there is none on Windows

        people = (each for each in pwd.getpwall() if each.pw_uid == 0 or each.pw_uid >= _FIRST_PERSON)
        yield from (Path(each.pw_dir).resolve() for each in people if each.pw_dir)


def require_narrow(folder: Path) -> None:
    """Check that a client may name a folder.

    Args:
        folder: resolved.

    Raises:
        SourceRefused: it is wide.
    """
    if is_wide(folder):
        raise SourceRefused(i18n.message("repo.wide_folder", folder=folder), i18n.message("repo.wide_folder_hint"))
