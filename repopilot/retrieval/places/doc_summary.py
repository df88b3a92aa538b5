"""The first sentence of the docstring or the comment of a definition or a file. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST = 200
"""Most characters of a summary."""
_COMMENT = re.compile(
    r"\s*(?:#++(?!\[|!|(?:include|define|undef|if\w*|elif|else|endif|pragma|nullable|region|endregion|error|warning|import)\b)|//[/!]?|/\*+|\*(?!/)|--|;;)\s?(?P<said>.*?)(?:\*+/)?\s*$"
)
_DOCSTRING = re.compile(r"^\s*(?:[rRuU]?)(\"\"\"|''')(?P<said>.*?)(?:\1|\Z)", re.S)
_HEAD_END = re.compile(r":\s*(?:#.*)?$")
"""The end of the head of a definition in Python, with a remark for a tool behind it."""
_NAMED = re.compile(r"<\w+\s+\w+=\"(?:[A-Z]:)?([^\">]*)\"\s*/>")
"""A tag that stands for a name, as in C#: `<see cref="LogEvent"/>`."""
_MARKUP = re.compile(
    r"</?\w+[^>]*>|\{@\w+\s*([^}]*)\}|:\w+:`~?([^`]*)`|(?<![\w\]])\[(`?[A-Za-z][\w.:#]*`?)\](?:\[[\w.:#]+\]|\([^()\s]*\))?"
)
_LEAD = re.compile(r"^(?:@brief|\\brief|@summary)\s+")
_TAG = re.compile(r"^\s*(?:@!?\w+|:\w+[^:]*:|\\\w+)(?:\s|$)")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!\b[A-Z]\.)\s")
_BLOCK_MARKS = re.compile(r"^\s*/\*+!?|\s*\*+/\s*$|^[ \t]*\*+[ \t]?", re.M)
_LINE_COMMENT = re.compile(r"\s*(?://|#)")
_LICENCE = re.compile(r"copyright|licen[cs]|SPDX|bug reports?\b|\bauto-?generated", re.I)
"""A comment at the head of a file that says nothing of the code."""
_DIRECTIVE = re.compile(
    r"^(?:\s*--\s)?+(?:[^\w@]*+(?:@\w++|\w[\w-]*+[:=]\s?)[\w, \t=-]*+"
    r"|[^\w@]*+\w++-[\w-]++(?:[\s,]++@?\w*+[-/][\w/-]*+)*+"
    r"|(?>[^\w@]*?-[-:=])[\w, \t=-]*+)\W*$"
)
"""A comment for a tool: `ruff: noqa`, `coding=utf-8`, `@ts-nocheck`, `eslint-disable no-console`; or a ruler."""
_FOR_TOOLS = re.compile(
    r"-\*-|\bvim?:|^\W*[\w@]+-(?:ignore|disable|enable|expect-error)\b|^https?://\S+$"
    r"|^go:\w+\s|^\+build\s|^ReSharper (?:disable|restore)\b|^\W*[\w-]+[: ]+(?:on|off)\W*$"
)
"""A line of a comment that tells a reader nothing: for an editor or a linter, or just an address."""
_MOST_LINES = 12
_LONGEST_BLOCK = 80
_LONGEST_LINE = 2 * LONGEST


def doc_summary(lines: Sequence[str], start: int, end: int) -> str:
    """Find the first sentence of a definition's documentation.

    Args:
        lines: all lines of the file.
        start: the first line of the definition, 1-based, with its decorators.
        end: its last line, inclusive.

    Returns:
        One sentence without comment marks and markup, at most LONGEST characters; '' where there is none.
    """
    return first_sentence(documentation(lines, start, end))


def documentation(lines: Sequence[str], start: int, end: int) -> str:
    """The docstring of a definition, else the comment above it, without comment marks; arguments as `doc_summary`."""
    inside = _docstring(lines[start - 1 : end])
    while start > 1 and _LINE_COMMENT.match(lines[start - 2]) and _DIRECTIVE.match(lines[start - 2]):
        start -= 1
    remarks = start
    while remarks > 1 and lines[remarks - 2].lstrip().startswith("//"):
        remarks -= 1
    block = _block_above(lines, start) or _block_above(lines, remarks)
    return inside or block or _comment_above(lines, start)


def head_summary(text: str) -> str:
    """Find the first sentence of a file's documentation: of the module's docstring, or of the first comment that isn't
    a licence.

    Args:
        text: of the file.

    Returns:
        As `doc_summary`.
    """
    lines = [line[:_LONGEST_LINE] for line in text.split("\n")]
    number = 0
    while number < len(lines):
        if not lines[number].strip() or lines[number].startswith("#!"):
            number += 1
            continue
        if _DOCSTRING.match(lines[number]) and (found := _DOCSTRING.match("\n".join(lines[number:]))):
            said = first_sentence(found["said"])
            return "" if _LICENCE.search(said) else said
        end = _comment_end(lines, number)
        if end == number:
            return ""
        block = "\n".join(lines[number:end])
        is_said = not _LICENCE.search(block) and not all(map(_DIRECTIVE.match, lines[number:end]))
        is_said &= not (lines[end - 1].startswith("//") and lines[end : end + 1] and lines[end].startswith("import "))
        if is_said and (said := first_sentence(_head_comment(lines[number:end]))):
            return said
        number = end
    return ""


def without_markup(text: str) -> str:
    """A comment's text without the tags of documentation tools, which keep the names in them."""
    return _MARKUP.sub(lambda found: found[1] or found[2] or found[3] or "", text)


def first_sentence(text: str) -> str:
    """The first sentence of a comment, a docstring or a paragraph without its markup; '' where it says too little.

    Args:
        text: without comment marks.
    """
    paragraph: list[str] = []
    for line in text.strip().split("\n"):
        line = _LEAD.sub("", line.strip())
        if _FOR_TOOLS.search(line):
            continue
        if (not line and paragraph) or _TAG.match(line):
            break
        paragraph.append(line)
    named = _NAMED.sub(r"\1", " ".join(filter(None, paragraph)))
    first = _SENTENCE_END.split(without_markup(named), maxsplit=1)[0].strip()
    if sum(character.isalpha() for character in first) < 8:
        return ""
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1].rstrip()}…"


def _head_comment(lines: Sequence[str]) -> str:
    """The text of a comment's first lines."""
    if "/*" in lines[0]:
        return _BLOCK_MARKS.sub("", "\n".join(lines[:_LONGEST_BLOCK]))
    return _comment_above(lines, min(len(lines), _MOST_LINES) + 1)


def _comment_end(lines: Sequence[str], start: int) -> int:
    """The number of lines up to the end of the comment that begins at `start`; `start` where none does."""
    end = start
    while end < len(lines) and lines[end].lstrip().startswith("/*"):
        closed = next((n + 1 for n in range(end, len(lines)) if "*/" in lines[n]), start)
        if closed == start or (end > start and closed > end + 1):
            return end  # a block of several lines begins a comment of its own
        end = closed
    if end > start:
        return end
    while end < len(lines) and _COMMENT.match(lines[end]) and lines[end].strip():
        end += 1
    return end


def _docstring(body: Sequence[str]) -> str:
    """The docstring below the head of a Python definition."""
    head = next((n for n, line in enumerate(body[:_MOST_LINES]) if _HEAD_END.search(line)), None)
    if head is None:
        return ""
    found = _DOCSTRING.match("\n".join(body[head + 1 : head + 1 + _MOST_LINES]))
    return found["said"] if found else ""


def _block_above(lines: Sequence[str], start: int) -> str:
    """The block comment that ends on the line above, with or without a star at the head of its lines."""
    if start < 2 or not lines[start - 2].rstrip().endswith("*/"):
        return ""
    first = next((n for n in range(start - 2, max(-1, start - 2 - _LONGEST_BLOCK), -1) if "/*" in lines[n]), None)
    return _BLOCK_MARKS.sub("", "\n".join(lines[first : start - 1])) if first is not None else ""


def _comment_above(lines: Sequence[str], start: int) -> str:
    """The comment that ends on the line above, or begins the definition itself."""
    number = start - 1
    while number > 0 and start - number <= _LONGEST_BLOCK and _COMMENT.match(lines[number - 1]):
        number -= 1
    if number > 0 and _COMMENT.match(lines[number - 1]):
        return ""  # its first line isn't known
    if number == start - 1:
        inside = lines[number : number + _MOST_LINES]
        start += next((n for n, line in enumerate(inside) if not _COMMENT.match(line)), len(inside))
    said = [found["said"] for line in lines[number : start - 1] if (found := _COMMENT.match(line))]
    return "\n".join(said)
