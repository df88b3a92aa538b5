"""What a rewritten file must not lose by the way: its head (shebang, licence, docstring), its end, definitions. Pure.

Small models begin a whole-file rewrite at the first import; what stood above it is put back here, by code.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from repopilot.agents.generate.edits import public_names
from repopilot.code.languages import file_kind, language_of
from repopilot.code.python_ast import parse_python

_HASH = frozenset({"python", "ruby", "bash", "fish", "powershell", "perl", "r", "julia", "elixir", "tcl", "awk", "nim"})
_DASHES = frozenset({"sql", "lua", "haskell"})
_MEANT = re.compile(
    r"\b(?:docstrings?|comments?|commentaires?|headers?|en-t[êe]te|licen[cs]e|copyright|shebang|documentation|newline|"
    r"from scratch)\b",
    re.I,
)

_SWEEPING = re.compile(
    r"\b(?:re-?writ\w+|re-?structur\w+|refactor\w*|replac\w+|split\w*|merg\w+|réécri\w+|remplac\w+)", re.I
)
_REMOVING = re.compile(
    r"\b(?:remov\w+|delet\w+|drop\w*|renam\w+|mov(?:e|ing)|extract\w*|inlin\w+|supprim\w+|renomm\w+|enl[èe]v\w+)", re.I
)
_ADDING = re.compile(r"\W*(?:please |can you |now )*(?:add|create|implement|write|ajoute\w*|crée\w*|écri\w*)\b", re.I)


class _Head(NamedTuple):
    """The parts of a text: shebang line, comment block and docstring with their blank lines, and the rest."""

    shebang: str
    comment: str
    docstring: str
    rest: str


def restore_header_and_footer(path: str, new: str, old: str, task: str) -> str:
    """`new` with the head of `old` that it lost, and ending as `old` ends. Both with LF.

    A head that `new` replaced by another stays replaced, and a task about comments, headers or docstrings is let be.
    """
    if not old.strip() or not new.strip() or _MEANT.search(task):
        return new
    text = _with_head(path, new, old)
    return text.rstrip("\n") + old[len(old.rstrip("\n")) :]


def unrequested_removals(path: str, new: str, old: str, task: str) -> list[str]:
    """Public names of `old` that `new` lacks, sorted, except where the task asks for that: a rewriting of the whole, or
    a removal, when it mentions the name or a word of it."""
    lost = public_names(path, old) - public_names(path, new)
    if not lost or _SWEEPING.search(task):
        return []
    said = set(re.findall(r"[^\W_]+", task.lower()))
    removing = _REMOVING.search(task) is not None and not _ADDING.match(task)  # "add a method remove" removes nothing
    return sorted(name for name in lost if not (removing and said & _words(name.rpartition(".")[2])))


def _words(name: str) -> set[str]:
    """`with_discount` and `withDiscount` as with, discount, and the whole."""
    return {name.lower(), *(w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))}


def _with_head(path: str, new: str, old: str) -> str:
    before, after = _head(path, old), _head(path, new)
    shebang = after.shebang or before.shebang
    comment = after.comment or (before.comment if _still_fits(before, after) else "")
    docstring = after.docstring or before.docstring
    return shebang + comment + docstring + after.rest


def _still_fits(before: _Head, after: _Head) -> bool:
    """A comment set off by a blank line speaks of the file; one that touches code belongs to the code below it."""
    if before.comment.endswith("\n\n") or before.docstring:
        return True
    first, now = (head.rest.partition("\n")[0].partition("(")[0].strip() for head in (before, after))
    return first == now


def _head(path: str, text: str) -> _Head:
    shebang, text = _cut(text, re.match(r"#!.*\n\s*", text))
    comment, text = _cut(text, _comment_of(path).match(text))
    docstring, rest = _docstring(text) if language_of(path) == "python" else ("", text)
    return _Head(shebang, comment, docstring, rest)


def _cut(text: str, match: re.Match[str] | None) -> tuple[str, str]:
    return (match[0], text[match.end() :]) if match else ("", text)


def _comment_of(path: str) -> re.Pattern[str]:
    """One or more comments at the very beginning, with the blank lines between and after them."""
    language = language_of(path) or ""
    if language in _HASH or file_kind(path) == "config":
        one = r"#(?!!).*"
    elif language in _DASHES:
        one = r"--.*"
    elif language in ("html", "xml", "vue", "svelte"):
        one = r"<!--(?s:.*?)-->"
    else:
        one = r"//.*|/\*(?s:.*?)\*/"
    return re.compile(rf"(?:(?:{one})[ \t]*\n[ \t\n]*(?=\S|\Z))+")


def _docstring(text: str) -> tuple[str, str]:
    """A module's docstring with the blank lines after it, and the rest."""
    try:
        body = parse_python(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", text
    first = body[0] if body else None
    if not (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    ):
        return "", text
    lines = text.split("\n")
    end = first.end_lineno or 1
    while end < len(lines) and not lines[end].strip():
        end += 1
    return "\n".join(lines[:end]) + "\n", "\n".join(lines[end:])
