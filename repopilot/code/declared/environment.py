"""Environment variables that code reads, in many languages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.code.declared.declaration import Declaration, LineNumbers, without_comments

WORDS = ("environ", "getenv", "env", "lookupenv", "envvar", "getenvironmentvariable", "get_env", "option_env")
"""Words one of which stands in every text that reads an environment variable."""

_NAME = r"[\"'](?P<name>[A-Za-z_]\w*)[\"']"
_READS = re.compile(
    rf"(?:\b_?environ(?:\.get|\.pop|\.setdefault|b\.get)?\s*[\[(]|\bgetenvb?\(|\b[gG]et_?[eE]nv\(|\bLookupEnv\(|"
    rf"\bsecure_getenv\(|"
    rf"\benv::var(?:_os)?\(|\b(?:option_)?env!\(|\bENV(?:\.(?:fetch|key\?|has_key\?|dig|include\?))?\s*[\[(]\s*|"
    rf"\bGetEnvironmentVariable\(|\$_(?:ENV|SERVER)\[|\benvironment\[|\bget_env\(|\bDeno\.env\.get\(|process\.env\[|"
    rf"\b(?:envvar|auto_envvar_prefix)\s*=\s*\[?|\benv\s*=\s*(?=\"[A-Z_]+\"))\s*{_NAME}|"
    r"\b(?:process\.env|import\.meta\.env)\.(?P<dotted>[A-Za-z_]\w*)|"
    r"[\"'](?P<asked>[A-Za-z_]\w*)[\"']\s+(?:not\s+)?in\s+(?:\w+\.)*_?environ\b"
)
_QUICK = re.compile(
    r"environ|getenv|Getenv|[gG]et_?[eE]nv|LookupEnv|env::|env!|ENV[\[.]|EnvironmentVariable|_ENV\[|_SERVER\[|"
    r"process\.env|Deno\.env|"
    r"meta\.env|envvar|\benv\s*=\s*\""
)
"""What every text that reads an environment variable holds; quick to look for."""
_BY_VARIABLE = re.compile(
    r"(?:\benviron(?:\.get)?[\[(]|\bgetenv\(|\bGetenv\(|\bLookupEnv\(|\benv::var(?:_os)?\(|"
    r"\bENV(?:\.fetch)?[\[(]|process\.env\[)"
    r"\s*(?P<variable>[A-Za-z_][\w.]*)\s*[\]),]"
)
_LITERAL_ARGUMENT = re.compile(r"\b\w+(?:\.\w+)?\s*\(\s*[\"'](?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)[\"']")
_CONSTANT = r"\b{name}\b\s*(?::[^=\n]+)?=\s*[\"']([A-Za-z_]\w*)[\"']"


def environment_variables(path: str, text: str, language: str) -> Iterator[Declaration]:
    """The environment variables that a text reads.

    Args:
        path: the file.
        text: its text.
        language: its language.

    Yields:
        Each reading, in the order of the text. Where a variable of the text names what is read, the names it may have:
        that of a constant, or the upper-case arguments of calls.
    """
    if not _QUICK.search(text):
        return
    lines = LineNumbers(text)
    text = without_comments(text, language)
    if language == "python" and not re.search(r"\bos\.environb?\b|from os import[^\n]*\benviron", text):
        # A WSGI server's environ is no environment of the process.
        text = re.sub(r"\b(_?)environ\b", r"\1_______", text)
    found = {match.start(): match["name"] or match["dotted"] or match["asked"] for match in _near(_READS, text)}
    for match in _near(_BY_VARIABLE, text):
        constant = re.search(_CONSTANT.format(name=re.escape(match["variable"])), text)
        if constant:
            found[match.start()] = constant[1]
        elif match["variable"].islower():
            found |= {m.start("name"): m["name"] for m in _LITERAL_ARGUMENT.finditer(text)}
    for at, name in sorted(found.items()):
        yield Declaration(name, path, lines.at(at))


def _near(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern in the lines that may hold one, and the line after each: much faster than in all."""
    done = 0
    for quick in _QUICK.finditer(text):
        start = max(done, text.rfind("\n", 0, quick.start()) + 1)
        end = text.find("\n", quick.end())
        done = len(text) if end < 0 else text.find("\n", end + 1)
        done = len(text) if done < 0 else done
        if start < done:
            yield from pattern.finditer(text, start, done)


_PARAGRAPH = re.compile(r"(?:[^\n]+\n?)+")
_ABOUT = re.compile(r"environment(?:al)?\s+variables?|env(?:ironment)?\s+vars?\b", re.I)
_MENTIONED = re.compile(r"[`$*]\{?(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])\b")


def documented_variables(path: str, text: str) -> Iterator[Declaration]:
    """The environment variables that documentation names in paragraphs about them."""
    lines = LineNumbers(text)
    for paragraph in _PARAGRAPH.finditer(text):
        if _ABOUT.search(paragraph[0]):
            for match in _MENTIONED.finditer(paragraph[0]):
                yield Declaration(match["name"], path, lines.at(paragraph.start() + match.start()))
