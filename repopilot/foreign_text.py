"""Makes text from outside safe to handle and to show: valid Unicode in which nothing is hidden or disguised. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIDDEN = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"  # terminals obey them
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff"  # invisible, or changing the direction of the text after them
)
_CONCEALING = re.compile(f"[{_HIDDEN}]|\r(?!\n)")
_UNFIT_FOR_NAMES = re.compile(f"[{_HIDDEN}\t\r\n`\u200c\u200d]")
_LOOKALIKES = "аеорсухіјѕԁһԛԝѵьАВЕКМНОРСТХІЈЅҮοναΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
"""Letters of the Cyrillic and Greek scripts that look like Latin ones."""
_MIXED = re.compile(rf"\b(?=\w*[A-Za-z])\w*[{_LOOKALIKES}]\w*")
_LOOKALIKE = re.compile(f"[{_LOOKALIKES}]")
_SPAN = re.compile(r"((?<!`)(`+)(?!`).+?(?<!`)\2(?!`))")
_BOLD = re.compile(r"(?<!\S)\*\*([^\s*](?:[^*]*[^\s*])?)\*\*(?![\w*])")
_COMMENT = re.compile(
    r"(?P<code>^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).){1,400}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<first>^ {0,3})?<!--(?:-?>|.*?(?:-->|\Z))",
    re.DOTALL | re.MULTILINE,
)
_PLAIN_WORD = re.compile(r"[\w+#.-]{1,40}")
_MARKDOWN = re.compile(r"[\\`*_\[\]<>&|~$]")
CODE_SPAN = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<label>[\w+#-]*)[^\n]*\n?(?P<code>.*?)(?:^[ \t]*(?P=fence)|\Z)", re.M | re.S
)
"""A block of code in Markdown, to the end of the text where it is cut off; what follows its last fence isn't part."""
_BLOCK = re.compile(r"^(?=[-+=#/])|^(\d{1,9})(?=[.)])")
_REFERENCE = re.compile(r"@|[#!$%&~](?=\d)|\bG[HL]-(?=\d)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)
"""Text that hosts turn into a mention, a reference or a link, wherever it stands in prose."""


def without_surrogates(text: str) -> str:
    """Replace lone surrogates by U+FFFD, so that every encoder and library accepts a text: JSON and program arguments
    can contain them."""
    return _SURROGATE.sub("\ufffd", text)


def escaped(text: str) -> str:
    """Escape the hidden characters of a text, such as `\\u202e`: control characters except tab and line feed, direction
    marks, zero-width characters. A JSON document keeps its meaning, since it has them in strings only."""
    return _CONCEALING.sub(_escape, text)


def visible(text: str) -> str:
    """Escape a text as `escaped` does, and also letters that look like Latin ones in a word with Latin letters."""
    shown = escaped(text)
    return shown if shown.isascii() else _MIXED.sub(lambda word: _LOOKALIKE.sub(_escape, word[0]), shown)


def code_span(text: str, longest: int = 160) -> str:
    """A text on one line as Markdown's inline code, even if it contains backticks; cut where it is long."""
    line = " ".join(text.split())
    line = line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
    fence = "`" * (_longest_run(line, "`") + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


def literal(text: str) -> str:
    """A text as one line of Markdown that a host shows literally, without headings, lists, links, images, HTML,
    mentions, references or commands. Text between backticks stays inline code; a comment in it, which could pose as one
    of our marks, is broken by a zero-width space."""
    parts = _SPAN.split(" ".join(visible(text).split()))
    del parts[2::3]  # the backticks alone
    parts[1::2] = [part.replace("<!--", "<!\u200b--") for part in parts[1::2]]
    parts[::2] = [_MARKDOWN.sub(r"\\\g<0>", without_references(part)) for part in parts[::2]]
    return _BLOCK.sub(r"\1\\", "".join(parts))


def literal_lines(text: str) -> str:
    """Each line of a text as `literal`; list items stay list items, bold text becomes plain."""
    lines = (_BOLD.sub(r"\1", line).strip() for line in text.splitlines())
    return "\n".join(f"- {literal(line[2:])}" if line.startswith("- ") else literal(line) for line in lines)


def literal_subject(text: str, longest: int = 120) -> str:
    """A text as the subject of a commit or the title of a pull request, without references, mentions, or instructions
    to CI (`[skip ci]`, `***NO_CI***`)."""
    line = " ".join(visible(text).split()).translate({ord("["): "(", ord("]"): ")"}).replace("***", "")
    line = line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
    return without_references(line)


def without_comments(text: str) -> str:
    """Markdown without HTML comments, which a host doesn't show, such as those of issue templates; code stays as it
    is."""
    return _COMMENT.sub(_without_comment, text)


def without_references(text: str) -> str:
    """A text in which mentions, references and links are broken by zero-width spaces, so that hosts ignore them."""
    return _REFERENCE.sub("\\g<0>\u200b", text)


def fence_of(text: str, mark: str = "`", least: int = 3) -> str:
    """A fence of at least so many marks, backticks or tildes, longer than any run of them in a text."""
    return mark * max(least, _longest_run(text, mark) + 1)


def fenced(text: str, language: str = "") -> str:
    """A text as a block of code between backticks, whatever backticks are in it. `language` is a plain word."""
    fence = fence_of(text)
    return f"{fence}{language}\n{text}\n{fence}"


def code_block(text: str, language: str = "") -> str:
    """A text from a repository as a block of code that no line of it ends. `language` is the name of its language, or
    the end of its file's name; one that isn't a plain word is left out."""
    fence = fence_of(text, "~", 4)
    return f"{fence}{language if _PLAIN_WORD.fullmatch(language) else ''}\n{text}\n{fence}"


def suffix_of(path: str) -> str:
    """What follows the last dot of a path, as the language of a block of code; '' for none."""
    return path.rpartition(".")[2] if "." in path else ""


def visible_values(value: Any, exact: frozenset[str] = frozenset()) -> Any:
    """A value for JSON with all its texts visible, except those below the keys `exact`."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: item if key in exact else visible_values(item, exact) for key, item in value.items()}
    return [visible_values(item, exact) for item in value] if isinstance(value, list | tuple) else value


def is_plain_name(path: str) -> bool:
    """Whether a path can be shown as it is, on a terminal and between backticks."""
    return not _UNFIT_FOR_NAMES.search(path)


def _longest_run(text: str, mark: str) -> int:
    return max(map(len, re.findall(f"{mark}+", text)), default=0)


def _without_comment(found: re.Match[str]) -> str:
    """The replacement of a match: code stays, a comment goes. An unclosed comment counts only at the start of a
    line."""
    if found["code"]:
        return found["code"]
    hidden = found[0].endswith("-->") or found["first"] is not None
    return "" if hidden else found[0]


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
