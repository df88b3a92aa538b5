"""Numbers, sizes, durations and commits as people read them, in the reader's language. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from repopilot import i18n

Item = TypeVar("Item")


def duration(seconds: float, language: str = "en") -> str:
    """`12 ms`, `3.2 s`, `2 min 5 s`, `1 h 3 min`; in French `3,2 s`."""
    if seconds < 1:
        return i18n.text("format.milliseconds", language, value=max(0, round(seconds * 1000)))
    if seconds < 60:
        return i18n.text("format.seconds", language, value=seconds)
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return i18n.text("format.minutes", language, minutes=minutes, seconds=rest)
    hours, minutes = divmod(minutes, 60)
    return i18n.text("format.hours", language, hours=hours, minutes=minutes)


def count(number: float, noun: str, language: str = "en") -> str:
    """A number with its noun: `1 file`, `12,345 files`; in French `12 345 fichiers`.

    Args:
        number: how many.
        noun: its key below `[format]` in the catalogue, for example `file`.
        language: of the reader.

    Raises:
        KeyError: the catalogue has no such noun.
    """
    return i18n.text(f"format.{noun}", language, count=number)


def list_row(name: str, said: str, language: str) -> str:
    """A row of a list, in Markdown: a name, a colon with the language's spaces, and what is said of it."""
    return f"- {name}{i18n.text('format.colon', language)} {said}"


def listed(items: Sequence[Item], most: int, written: Callable[[Item], str]) -> str:
    """The first items as they are written, separated by commas, and how many more there are: `a, b +3`."""
    more = f" +{len(items) - most}" if len(items) > most else ""
    return ", ".join(map(written, items[:most])) + more


def size(amount: float, language: str = "en") -> str:
    """Bytes, in decimal units: `812 B`, `1.4 MB`; in French `1,4 Mo`."""
    unit = "B"
    for larger in ("KB", "MB", "GB"):
        if amount < 1000:
            break
        amount = amount / 1000
        unit = larger
    shown = i18n.number(amount, language, ".0f" if unit == "B" or amount >= 100 else ".1f")
    return i18n.text(f"format.size_{unit.lower()}", language, amount=shown)


def commit_words(commit: str, language: str = "en") -> str:
    """`commit abc1234`, with `+dirty` behind it where the folder differs; words where there is no version control."""
    if commit == "unversioned":
        return i18n.text("format.unversioned", language)
    sha, plus, dirty = commit.partition("+")
    return i18n.text("format.commit", language, commit=sha[:7] + plus + dirty)


def short_commit(commit: str) -> str:
    """A SHA by its first ten digits; `unversioned` and `…+dirty` keep what they say."""
    sha, plus, dirty = commit.partition("+")
    return f"{sha[:10] if len(sha) == 40 else sha}{plus}{dirty}"
