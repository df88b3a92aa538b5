"""The beginning of a definition as text: signature and docstring, and a parameter more. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.types import Symbol

_TYPES = {"True": "bool", "False": "bool"}


def signature_end(lines: Sequence[str], first: int) -> int:
    """The line behind a function's signature or a class's first line, decorators included.

    Args:
        lines: the lines of the file.
        first: its first line, from 0.
    """
    depth = 0
    for number in range(first, len(lines)):
        code = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'", "''", lines[number]).partition("#")[0].rstrip()
        opening = code.endswith("{") and depth + code.count("(") - code.count(")") <= 0
        depth += sum(code.count(c) for c in "([") - sum(code.count(c) for c in ")]")
        if depth <= 0 and not code.lstrip().startswith("@") and (code.endswith(":") or opening):
            return number + 1
    return first + 1


def with_parameter(lines: Sequence[str], symbol: Symbol, name: str, default: str) -> list[str] | None:
    """The lines of a file with a parameter more in the signature of a Python function.

    Args:
        lines: the lines.
        symbol: the function.
        name: of the parameter.
        default: its value, '' for none.

    Returns:
        The lines; None where the parameter exists or the signature can't be read.
    """
    first, end = symbol.start_line - 1, signature_end(lines, symbol.start_line - 1)
    start = next((i for i in range(first, end) if re.match(r"\s*(?:async\s+)?def\b", lines[i])), None)
    if start is None:
        return None
    head = "\n".join(lines[start:end])
    opening, closing = head.find("("), _closing(head)
    inside = head[opening + 1 : closing]
    if closing < 0 or not default or re.search(rf"(?<!\w){re.escape(name)}\s*(?:[:=,]|$)", inside):
        return None
    annotated = re.search(r"\w\s*:", inside) is not None
    new = _declared(name, default, annotated)
    star = re.search(r"(?:^|,)\s*(\*\*\w)", inside)
    at = star.start(1) if star else len(inside.rstrip().rstrip(","))
    rest = inside[at:]
    if star:
        gap = re.search(r"\s*$", inside[:at])
        joined = inside[:at] + new + "," + (gap[0] if gap and gap[0] else " ") + rest
    elif "\n" in inside:
        indent = re.search(r"\n([ \t]*)\S[^\n]*\s*$", inside.rstrip() + "\n") or re.search(r"\n([ \t]*)\S", inside)
        joined = f"{inside[:at]},\n{indent[1] if indent else ''}{new}{rest}"
    else:
        joined = f"{inside[:at]}, {new}" if inside.strip() else new
    return [*lines[:start], *(head[: opening + 1] + joined + head[closing:]).split("\n"), *lines[end:]]


def _declared(name: str, default: str, annotated: bool) -> str:
    if not annotated:
        return f"{name}={default}"
    kind = _TYPES.get(default) or ("str" if default[:1] in "\"'" else "")
    kind = kind or ("int" if re.fullmatch(r"-?\d+", default) else "float" if re.fullmatch(r"-?[\d.]+", default) else "")
    return f"{name}: {kind} = {default}" if kind else f"{name}={default}"


def _closing(text: str) -> int:
    """Where the first parenthesis is closed; -1 where it isn't."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character == ")":
            return at
    return -1


def docstring_end(lines: Sequence[str], at: int) -> int:
    """The line behind a docstring that begins at a line; that line where there is none."""
    opening = re.match(r"\s*[rRbBuU]{0,2}(\"\"\"|''')", lines[at]) if at < len(lines) else None
    if opening is None:
        return at
    if lines[at].count(opening[1]) >= 2:
        return at + 1
    closing = (i for i in range(at + 1, len(lines)) if opening[1] in lines[i])
    return next(closing, at - 1) + 1


def shortened(lines: Sequence[str]) -> list[str]:
    """Lines of Python with only the first line of a long docstring."""
    for number, line in enumerate(lines):
        opening = re.match(r"\s*[rRbBuU]{0,2}(\"\"\"|''')", line)
        if opening and line.count(opening[1]) == 1:
            end = docstring_end(lines, number)
            text = next((text for text in lines[number:end] if text.strip(" \t\"'rR")), line)
            short = opening[0] + text.replace(opening[0], "", 1).strip() + opening[1]
            return [*lines[:number], short, *lines[end:]]
    return list(lines)


def body_start(lines: Sequence[str], first: int, language: str) -> int:
    """The line behind the decorators, the signature and the docstring of a function that begins at a line, from 0."""
    end = signature_end(lines, first)
    return docstring_end(lines, end) if language == "python" else end
