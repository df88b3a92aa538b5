"""The ids of an answer's files: paths, with a prefix for follow-up edits, which may be of the same files. Pure."""

from __future__ import annotations

_FOLLOW_UP = "follow-up:"


def follow_up_id(path: str) -> str:
    """The id of the follow-up edits of a file."""
    return f"{_FOLLOW_UP}{path}"


def is_follow_up(id: str) -> bool:
    """Whether an id is that of follow-up edits."""
    return id.startswith(_FOLLOW_UP)
