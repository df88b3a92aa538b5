"""Which definitions an edit must keep. Pure."""

from __future__ import annotations

import re

from repopilot.agents.coding.checks.edits import public_names

_REWRITING = re.compile(
    r"\b(?:re-?writ\w+|re-?structur\w+|refactor\w*|replac\w+|split\w*|merg\w+|réécri\w+|remplac\w+)", re.I
)
_REMOVING = re.compile(
    r"\b(?:remov\w+|delet\w+|drop\w*|renam\w+|mov(?:e|ing)|extract\w*|inlin\w+|supprim\w+|renomm\w+|enl[èe]v\w+)", re.I
)
_ADDING = re.compile(r"\W*(?:please |can you |now )*(?:add|create|implement|write|ajoute\w*|crée\w*|écri\w*)\b", re.I)


def unrequested_removals(path: str, new: str, old: str, task: str) -> list[str]:
    """Public names of `old` that `new` lacks without the task asking for that.

    Args:
        path: the file.
        new: the edited text.
        old: the text before.
        task: asks for a removal when it speaks of removing and mentions the name or a word of it; a task to rewrite the
            file asks for all.

    Returns:
        Qualified names, sorted.
    """
    lost = public_names(path, old) - public_names(path, new)
    if not lost or _REWRITING.search(task):
        return []
    mentioned = set(re.findall(r"[^\W_]+", task.lower()))
    removing = _REMOVING.search(task) is not None and not _ADDING.match(task)  # "add a method remove" removes nothing
    return sorted(name for name in lost if not (removing and mentioned & _words(name.rpartition(".")[2])))


def _words(name: str) -> set[str]:
    """`with_discount` and `withDiscount` as with, discount, and the full name."""
    return {name.lower(), *(w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))}
