"""Numbers as people read them. Pure."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """`12 ms`, `3.2 s`, `2 min 5 s`, `1 h 3 min`."""
    if seconds < 1:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def count(number: float, noun: str) -> str:
    """`1 file`, `12,345 files`."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith(("s", "x", "ch")) else "s")
    return f"{number:,.0f} {noun if number == 1 else plural}"


def size(amount: float) -> str:
    """Bytes: `812 B`, `1.4 MB`."""
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def commit_words(commit: str) -> str:
    """`commit abc1234`, with `+dirty` behind it where the folder differs, or that there is no version control."""
    if commit == "unversioned":
        return "no version control"
    sha, plus, dirty = commit.partition("+")
    return "commit " + sha[:7] + plus + dirty


def short_commit(commit: str) -> str:
    """A SHA by its first ten digits; `unversioned` and `…+dirty` keep what they say."""
    sha, plus, dirty = commit.partition("+")
    return f"{sha[:10] if len(sha) == 40 else sha}{plus}{dirty}"
