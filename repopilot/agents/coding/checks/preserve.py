"""What a rewritten file must keep: its header (shebang, licence, docstring), its end, its definitions. Pure.

Small models begin a rewrite at the first import; what stood above it is restored here, by code.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from repopilot.agents.coding.checks.edits import public_names
from repopilot.code.languages import file_kind, language_of
from repopilot.code.python_ast import read_python

_HASH = frozenset({"python", "ruby", "bash", "fish", "powershell", "perl", "r", "julia", "elixir", "tcl", "awk", "nim"})
_DASHES = frozenset({"sql", "lua", "haskell"})
_ABOUT_HEADER = re.compile(
    r"\b(?:docstrings?|comments?|commentaires?|headers?|en-t[êe]te|licen[cs]e|copyright|shebang|documentation|newline|"
    r"from scratch)\b",
    re.I,
)

_REWRITING = re.compile(
    r"\b(?:re-?writ\w+|re-?structur\w+|refactor\w*|replac\w+|split\w*|merg\w+|réécri\w+|remplac\w+)", re.I
)
_REMOVING = re.compile(
    r"\b(?:remov\w+|delet\w+|drop\w*|renam\w+|mov(?:e|ing)|extract\w*|inlin\w+|supprim\w+|renomm\w+|enl[èe]v\w+)", re.I
)
_ADDING = re.compile(r"\W*(?:please |can you |now )*(?:add|create|implement|write|ajoute\w*|crée\w*|écri\w*)\b", re.I)


class _Header(NamedTuple):
    """The parts of a text: shebang line, comment block and docstring with their blank lines, and the rest."""

    shebang: str
    comment: str
    docstring: str
    rest: str


def restore_header_and_footer(path: str, new: str, old: str, task: str) -> str:
    """Restore the header that a rewritten file lost, and its end.

    Args:
        path: the file.
        new: the rewritten text, with LF line ends.
        old: the text before, with LF line ends.
        task: a task about comments, headers or docstrings leaves `new` as it is.

    Returns:
        The text. A header that `new` replaced by another stays replaced.
    """
    if not old.strip() or not new.strip() or _ABOUT_HEADER.search(task):
        return new
    text = _with_header(path, new, old)
    return text.rstrip("\n") + old[len(old.rstrip("\n")) :]


def unrequested_removals(path: str, new: str, old: str, task: str) -> list[str]:
    """Public names of `old` that `new` lacks without the task asking for that.

    Args:
        path: the file.
        new: the rewritten text.
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


def _with_header(path: str, new: str, old: str) -> str:
    before, after = _header(path, old), _header(path, new)
    shebang = after.shebang or before.shebang
    comment = after.comment or (before.comment if _still_fits(before, after) else "")
    docstring = after.docstring or before.docstring
    return shebang + comment + docstring + after.rest


def _still_fits(before: _Header, after: _Header) -> bool:
    """Whether the old comment belongs to the file: it does when a blank line follows. A comment directly above code
    belongs to that code, so the code must still be there."""
    if before.comment.endswith("\n\n") or before.docstring:
        return True
    first, now = (header.rest.partition("\n")[0].partition("(")[0].strip() for header in (before, after))
    return first == now


def _header(path: str, text: str) -> _Header:
    shebang, text = _split_at_match(text, re.match(r"#!.*\n\s*", text))
    comment, text = _split_at_match(text, _comment_of(path).match(text))
    docstring, rest = _docstring(text) if language_of(path) == "python" else ("", text)
    return _Header(shebang, comment, docstring, rest)


def _split_at_match(text: str, match: re.Match[str] | None) -> tuple[str, str]:
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
    body = read_python(text).body
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
