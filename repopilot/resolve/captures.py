"""Names of a Python file that an edit gives another meaning on lines which it leaves as they are. Pure."""

from __future__ import annotations

import builtins
import difflib
import re
from collections.abc import Iterator

from repopilot.resolve.python_scopes import VARIABLES, PythonName, python_names

_MOST_NAMES = 60


def captured_names(before: str, after: str) -> Iterator[tuple[int, str]]:
    """The names that are another variable than before, while the one that they were is still there.

    Args:
        before: the text before the edit.
        after: the text after it.

    Yields:
        The line after the edit, and the name. Lines that another function or class now holds are left out: whoever
        moves them means its names.
    """
    olds = before.splitlines(keepends=True)
    news = after.splitlines(keepends=True)
    kept: dict[int, int] = {}
    words: set[str] = set()
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        if tag == "equal":
            kept.update(zip(range(i1, i2), range(j1, j2), strict=True))
        else:
            words |= set(re.findall(r"[^\W\d]\w*", "".join(news[j1:j2])))
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


def _at(text: str, one: PythonName) -> tuple[int, int]:
    """The line of a name, from 0, and its character there."""
    return text.count("\n", 0, one.start), one.start - text.rfind("\n", 0, one.start)


def _home(one: PythonName) -> tuple[str, str] | None:
    """The scope whose variable a name is, whatever stands before it."""
    return (one.home.kind, one.home.qualified) if one.home is not None else None
