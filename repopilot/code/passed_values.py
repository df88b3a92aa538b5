"""The values that calls pass as arguments and that methods keep as attributes, in languages without declared types.
Pure.

They tell the types of parameters and attributes, see `code/graph/linker.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

UNTYPED = frozenset(("python", "javascript", "ruby"))
"""Languages in which parameters need no declared type."""
_LONGEST = 400
"""Bytes of the arguments of a call that are read."""
_ARGUMENTS = re.compile(rb"\(((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+)\)")
_ARGUMENT = re.compile(
    rb"(?:\s*(\w+)\s*(?:=|:(?!:))(?!=))?\s*((?:[^(),\[\]{}]++|\([^()]*+\)|\[[^\]]*+\]|\{[^}]*+\})++)"
)
_OBJECT = re.compile(r"(?:new\s+)?([A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*)(\(.*\))?", re.DOTALL)
_CLASS = re.compile(r"(?:[\w$]+\.)*(?:[A-Z][\w$]*|[A-Z][\w$]*\.new)\(\)")


def arguments(data: bytes, at: int) -> Iterator[tuple[str | int, str]]:
    """The arguments of a call, each by its position or name and with its value; only names, attributes and calls.

    Args:
        data: the file's text as UTF-8.
        at: the byte at which its parentheses open; nothing is yielded where none do.
    """
    inside = _ARGUMENTS.match(data, at, at + _LONGEST)
    for position, each in enumerate(_ARGUMENT.finditer(inside[1]) if inside else ()):
        value = written_object(each[2].decode("utf-8", "replace"))
        if value:
            yield each[1].decode("utf-8", "replace") if each[1] else position, value


def written_object(text: str) -> str:
    """What an expression names, as in `PassedValue`: a dotted name, or `Client()` for a call; '' for anything else."""
    found = _OBJECT.fullmatch(text.strip().replace("@", "self."))
    return f"{found[1].replace('::', '.')}{'()' if found[2] else ''}" if found else ""


def tells_type(value: str, parameters: Collection[str]) -> bool:
    """Whether a value may tell a type: `self`, an attribute of it, an object of a class, or a parameter.

    Args:
        value: as `written_object` returns it.
        parameters: those of the function around it.
    """
    if value.partition(".")[0] in ("self", "this"):
        return not value.endswith(")")
    if value.endswith(")"):
        return _CLASS.fullmatch(value) is not None
    return value in parameters
