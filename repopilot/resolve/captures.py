"""Names of a Python file whose meaning an edit changes on lines that it leaves alone. Pure."""

from __future__ import annotations

import builtins
import difflib
import re
from collections.abc import Iterator, Sequence

from repopilot.code.source_positions import rows_of
from repopilot.resolve.python_scopes import VARIABLES, PythonName, python_names

_MOST_NAMES = 60


def captured_names(before: str, after: str) -> Iterator[tuple[int, str]]:
    """Names on unchanged lines that now mean another variable, although the old variable still exists.

    Args:
        before: the text before the edit.
        after: the text after it.

    Yields:
        The line after the edit, and the name. Lines moved to another function or class are left out: whoever moves them
        expects its names.
    """
    olds = rows_of(before)
    news = rows_of(after)
    kept = kept_lines(olds, news)
    words = set(re.findall(r"[^\W\d]\w*", "\n".join(news[n] for n in sorted({*range(len(news))} - {*kept.values()}))))
    for name in sorted(words & set(re.findall(r"[^\W\d]\w*", before)))[:_MOST_NAMES]:
        then = {_at(before, one): one for one in python_names(before, name) if one.role in VARIABLES}
        now = {_at(after, one): one for one in python_names(after, name)}
        homes = {_home(one) for one in now.values() if one.role in ("bind", "imported")}
        for (line, column), one in then.items():
            found = now.get((kept.get(line, -1), column))
            was = _home(one)
            is_there = was in homes or (not was and hasattr(builtins, name))
            stays = found is not None and found.scope.qualified == one.scope.qualified
            if found is not None and stays and is_there and _home(found) != was:
                yield kept[line] + 1, name


def kept_lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The numbers, from 0, of the lines that a text keeps, each with its number in the new text."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)  # most lines, at little cost
    tail = next((n for n in range(shorter - head) if old[~n] != new[~n]), shorter - head)
    changed = old[head : len(old) - tail], new[head : len(new) - tail]
    blocks = difflib.SequenceMatcher(None, *changed, autojunk=False).get_matching_blocks()
    kept = {head + block.a + n: head + block.b + n for block in blocks for n in range(block.size)}
    return {**dict(enumerate(range(head))), **kept, **{len(old) + n: len(new) + n for n in range(-tail, 0)}}


def _at(text: str, one: PythonName) -> tuple[int, int]:
    """The line and the column of a name, both from 0."""
    return text.count("\n", 0, one.start), one.start - text.rfind("\n", 0, one.start)


def _home(one: PythonName) -> tuple[str, str] | None:
    """Kind and qualified name of the scope that binds a name: the same wherever the scope moves to."""
    return (one.home.kind, one.home.qualified) if one.home is not None else None
