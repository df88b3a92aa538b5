"""Built-in functions of Python whose behaviour a class defines: "repr() of a Match" is about `Match.__repr__`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from repopilot.agents.editing.placed.wanted import CodeName, Wanted

_FUNCTIONS = "repr|str|len|bool|iter|hash|int|float|bytes|abs|reversed|round|next|format|dir"
_CALLED = re.compile(rf"`?(?<![\w.])({_FUNCTIONS})\((?:[a-z_]\w*)?\)`?")
_CLASS_NAME = re.compile(r"(?<![\w.])[A-Z]\w*")

Defines = Callable[[str], bool]


def with_protocol(wanted: Wanted, task: str, is_class: Defines, defines: Defines) -> Wanted:
    """What a task asks for, where it speaks of a built-in function instead of the method that Python calls for it.

    Args:
        wanted: what the task says.
        task: as the user wrote it.
        is_class: whether a name is that of a Python class of the repository.
        defines: whether the repository defines `Class.__method__`.

    Returns:
        A change of the method, or the method as something new where the class has none; `wanted` itself where the
        task names no such function, or not one class.
    """
    called = _CALLED.search(task)
    if called is None or wanted.name:
        return wanted
    classes = [name for name in dict.fromkeys(_CLASS_NAME.findall(task)) if is_class(name)]
    if len(classes) != 1:
        return wanted
    method = f"{classes[0]}.__{called[1]}__"
    others = tuple(name for name in wanted.names if name.text != called[1])
    if defines(method):
        named = CodeName(method, called.start(), called.end(), True)
        return replace(wanted, action="change", noun="", names=(named, *others))
    return replace(
        wanted, action="add", noun="method", name=f"__{called[1]}__", owner=classes[0], parameters="", names=others
    )
