"""Puts secrets back into a text that was changed while they were redacted. Pure."""

from __future__ import annotations

import re

_REDACTED = re.compile(r"\[REDACTED:[\w.-]+\]")


def restored(new: str, redacted: str, raw: str) -> tuple[str, str | None]:
    """`new`, derived from redacted text, with the secrets of unchanged lines restored.

    Args:
        new: the changed text.
        redacted: the old text as it was shown.
        raw: the old text with its secrets.

    Returns:
        The text, and the first line whose secret can't be restored because it was changed; None without one.
    """
    hidden: dict[str, list[str]] = {}
    for shown, true in zip(redacted.split("\n"), raw.split("\n"), strict=False):
        if shown != true:
            hidden.setdefault(shown, []).append(true)
    lines = [hidden[line].pop(0) if hidden.get(line) else line for line in new.split("\n")]
    lost = next((line for line in lines if _REDACTED.search(line) and line not in raw.split("\n")), None)
    return "\n".join(lines), lost
