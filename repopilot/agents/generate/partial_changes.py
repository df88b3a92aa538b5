"""A model's change without the parts that the task doesn't speak of: it often does more than was asked. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Sequence

from repopilot.agents.coding import edits
from repopilot.index.tokens import tokens_of
from repopilot.tools import file_change
from repopilot.tools.file_change import Changes

MOST_PARTIAL = 3
"""How many are tried: each is a run of the tests."""
_MOST_PARTS = 8


def partial_changes(changes: Changes, task: str, text_of: Callable[[str], str | None]) -> Iterator[Changes]:
    """The change without one part, then without all, of those that add nothing the task names.

    Where none names what the task does, nothing tells which parts are asked for.

    Args:
        changes: what a model wrote, of one existing file; others have no partial changes.
        task: what was asked for.
        text_of: the text of a file as it is stored, with its line ends and secrets.

    Yields:
        Changes of the same file that parse, the largest first.
    """
    (change, *others) = changes
    before = text_of(change.path)
    if others or change.change != "modified" or before is None:
        return
    old, new = before.split("\n"), change.content.split("\n")
    operations = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    parts: list[_Part] = [each for each in operations if each[0] != "equal"]
    words = tokens_of(task)
    doubtful = [part for part in parts if not _named(part, old, new, words)]
    if not 0 < len(doubtful) < len(parts) <= _MOST_PARTS:
        return
    for dropped in [*([part] for part in reversed(doubtful)), *([doubtful] if len(doubtful) > 1 else [])]:
        text = "\n".join(_without(old, new, parts, dropped))
        if edits.problem_of(change.path, text, before) is None:
            yield (file_change.change(change.path, text, before),)


_Part = tuple[str, int, int, int, int]


def _named(part: _Part, old: list[str], new: list[str], words: set[str]) -> bool:
    """Whether a part changes lines with a quoted text that has words of the task, or adds a name that has."""
    _, old_first, old_last, new_first, new_last = part
    texts = re.findall(r"\"[^\"]*\"|'[^']*'|\w+", "\n".join([*old[old_first:old_last], *new[new_first:new_last]]))
    quoted = {word for text in texts if text[0] in "\"'" for word in tokens_of(text)}
    added = set(re.findall(r"\w+", "\n".join(new[new_first:new_last])))
    added -= set(re.findall(r"\w+", "\n".join(old[old_first:old_last])))
    return bool(quoted & words) or any(tokens_of(name) & words for name in added)


def _without(old: Sequence[str], new: Sequence[str], parts: Sequence[_Part], dropped: Collection[_Part]) -> list[str]:
    """The new lines with some parts as they were."""
    lines = list(new)
    for part in reversed(parts):
        if part in dropped:
            _, old_first, old_last, new_first, new_last = part
            lines[new_first:new_last] = old[old_first:old_last]
    return lines
