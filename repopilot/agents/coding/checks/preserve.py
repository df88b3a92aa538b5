"""Which definitions an edit must keep. Pure."""

from __future__ import annotations

import re

from repopilot.agents.coding.edit_kinds import asked_for
from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import analyse
from repopilot.code.symbols import reachable
from repopilot.index.tokens import NAME_PART
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.types import FileChange

_TAKING_AWAY = frozenset(("delete", "rename", "move"))
"""The kinds of edit that take a name away."""
_OMISSION = re.compile(
    r"^(?:#|//|/\*|--|<!--)? ?(?:\.{3}|…)? ?(?:rest of|existing|remaining|previous|unchanged|other|same)\b.{0,50}"
    r"\b(?:code|unchanged|same|methods?|functions?|here|file|implementation|class)\b.*$",
    re.I,
)


def leaves_out(change: FileChange) -> bool:
    """Whether a model wrote a remark instead of code: "rest of the code unchanged"."""
    old = set((before_change(change) or "").split("\n"))
    # Each run of spaces becomes one space: the time to match several runs grows with the cube of their length.
    new = (" ".join(line.split()) for line in change.content.split("\n") if line not in old)
    return any(_OMISSION.match(line) for line in new)


def unrequested_removals(path: str, new: str, old: str, task: str) -> list[str]:
    """Public names of `old` that `new` lacks without the task asking for that.

    Args:
        path: the file.
        new: the edited text.
        old: the text before.
        task: asks for a removal when it asks for an edit of such a kind, and mentions the name, a word of it, or a
            definition around it that is lost, too.

    Returns:
        Qualified names, sorted.
    """
    lost = public_names(path, old) - public_names(path, new)
    if not lost:
        return []
    mentioned = set(re.findall(r"[^\W_]+", task.lower()))
    asked = asked_for(task) & _TAKING_AWAY
    meant = {name for name in lost if asked and mentioned & _words(name.rpartition(".")[2])}
    return sorted(name for name in lost if not any(f"{name}.".startswith(f"{outer}.") for outer in meant))


def _words(name: str) -> set[str]:
    """`with_discount` and `withDiscount` as with, discount, and the full name."""
    return {name.lower(), *(w.lower() for w in NAME_PART.findall(name))}


def public_names(path: str, text: str) -> set[str]:
    """Names a file offers to others: its top-level definitions and their members without a leading underscore."""
    language = language_of(path)
    if language is None or file_kind(path) != "code":
        return set()
    symbols = reachable(analyse(path, text, language, "code").symbols)
    return {s.qualified for s in symbols if not any(part.startswith("_") for part in s.qualified.split("."))}
