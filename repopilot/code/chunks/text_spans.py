"""Spans of files other than code: documentation by section, configuration by top-level key, schemas by table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.code.chunks.spans import LONGEST, Span, fits, merged, windows, with_comments
from repopilot.types import ChunkKind

_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_ATX = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
_ASCIIDOC = re.compile(r"(={1,6})\s+(\S.*?)\s*$")
_ORG = re.compile(r"(\*{1,6})\s+(\S.*?)\s*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_PRISMA = re.compile(r"(model|enum|type|view|datasource|generator)\s+(\w+)\s*\{")
_SQL = re.compile(
    r"\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unlogged\s+|virtual\s+|materialized\s+|unique\s+)*"
    r"(?:table|view|index|trigger|function|procedure|type|sequence)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?"
    r"([\w.\"`\[\]]+)|\s*alter\s+table\s+(?:only\s+)?(?:if\s+exists\s+)?([\w.\"`\[\]]+)",
    re.IGNORECASE,
)
_GRAPHQL = re.compile(r"(?:extend\s+)?(?:type|interface|input|enum|union|scalar)\s+(\w+)")
_PROTOBUF = re.compile(r"\s*(?:message|service|enum|struct|union|table|interface)\s+(\w+)")
_SCHEMA_STARTS = {"prisma": _PRISMA, "sql": _SQL, "graphql": _GRAPHQL, "protobuf": _PROTOBUF, "thrift": _PROTOBUF}


def doc_spans(lines: Sequence[str], language: str) -> list[Span]:
    """Divide documentation into sections between headings.

    Args:
        lines: the lines of the file.
        language: markdown, rst, asciidoc or org; others have no headings.

    Returns:
        Spans in order; the symbol of each is its path of headings (`Install > From source`).
    """
    marks = _headings(lines, language)
    result = []
    if not marks or marks[0][0] > 1:
        result += _windowed(lines, Span(1, (marks[0][0] if marks else len(lines) + 1) - 1, "doc"))
    trail: list[tuple[int, str]] = []
    for index, (line, level, title) in enumerate(marks):
        trail = [*(t for t in trail if t[0] < level), (level, title)]
        end = marks[index + 1][0] - 1 if index + 1 < len(marks) else len(lines)
        result += _windowed(lines, Span(line, end, "doc", " > ".join(name for _, name in trail)))
    return _with_bare_headings_joined(result, lines)


def config_spans(lines: Sequence[str]) -> list[Span]:
    """Divide configuration: a small file is one span, a larger one windows that begin at its outermost keys."""
    if len(lines) <= LONGEST:
        return _windowed(lines, Span(1, len(lines), "config"))
    indents = sorted({len(line) - len(line.lstrip()) for line in lines if re.match(r"\s*[\w\"'\[<@-]", line)})
    outer = set(indents[:2] if indents[:1] == [0] and lines[0][:1] in "{[<" else indents[:1])

    def begins(number: int) -> bool:
        line = lines[number - 1]
        return bool(re.match(r"\s*[\w\"'\[<@-]", line)) and len(line) - len(line.lstrip()) in outer

    return [Span(a, b, "config") for a, b in windows(lines, 1, len(lines), preferred=begins)]


def schema_spans(lines: Sequence[str], language: str) -> list[Span]:
    """Divide a schema: one span for each model, table or message, named after it, and windows over the rest.

    Args:
        lines: the lines of the file.
        language: prisma, sql, graphql, protobuf or thrift.
    """
    pattern = _SCHEMA_STARTS.get(language)
    starts = []
    for number, line in enumerate(lines, 1):
        match = pattern.match(line[:500]) if pattern else None
        if match and (language != "protobuf" or not line[:1].isspace()):
            starts.append((number, unquoted(next(g for g in reversed(match.groups()) if g))))
    result: list[Span] = []
    floor = 1
    for index, (number, name) in enumerate(starts):
        start = max(floor, with_comments(lines, number, floor))
        if start > floor:
            result += _windowed(lines, Span(floor, start - 1, "schema"))
        limit = starts[index + 1][0] - 1 if index + 1 < len(starts) else len(lines)
        end = _statement_end(lines, number, limit, language)
        result += _windowed(lines, Span(start, end, "schema", name, fixed=True))
        floor = end + 1
    if floor <= len(lines):
        result += _windowed(lines, Span(floor, len(lines), "schema"))
    return merged(result, lines)


def unquoted(name: str) -> str:
    """A table's name without quotes: `"public"."users"` is `public.users`."""
    return re.sub(r"[\"`\[\]]", "", name)


def plain_spans(lines: Sequence[str], kind: ChunkKind) -> list[Span]:
    """Divide a file into windows of lines."""
    return [Span(a, b, kind) for a, b in windows(lines, 1, len(lines))] if lines else []


def _statement_end(lines: Sequence[str], start: int, limit: int, language: str) -> int:
    """The last line of the statement that begins on line `start`, at most `limit`."""
    for number in range(start, limit + 1):
        line = lines[number - 1]
        if language == "sql":
            ends = line.rstrip().endswith(";") or bool(re.match(r"\s*GO\s*$", line))
        else:
            ends = line.startswith("}") or (number == start and line.rstrip().endswith("}"))
        if ends:
            return number
    return limit


def _headings(lines: Sequence[str], language: str) -> list[tuple[int, int, str]]:
    """(line, level, title) of every heading outside fenced code."""
    result: list[tuple[int, int, str]] = []
    pattern = {"markdown": _ATX, "asciidoc": _ASCIIDOC, "org": _ORG}.get(language)
    styles: list[str] = []  # underlines of headings, in the order of their levels
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line) if language == "markdown" else None
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if fence:
            continue
        match = pattern.match(line[:300]) if pattern else None
        if match:
            result.append((number, len(match[1]), match[2]))
        elif number > 1 and (language == "rst" or (language == "markdown" and line[:1] in ("=", "-"))):
            title = lines[number - 2].strip()
            style = _underline(title, line, language)
            if style:
                if style not in styles:
                    styles.append(style)
                result.append((number - 1, styles.index(style) + 1, title))
    return result


def _underline(title: str, line: str, language: str) -> str:
    """The character that underlines a title, '' where the line is no underline of it."""
    match = _UNDERLINE.match(line[:300])
    if not match or not title or len(line.strip()) < min(len(title), 3) or _UNDERLINE.match(title):
        return ""
    return match[1] if language != "rst" or len(line.rstrip()) >= len(title) else ""


def _windowed(lines: Sequence[str], span: Span) -> list[Span]:
    return [Span(a, b, span.kind, span.symbol, span.owner, span.fixed) for a, b in windows(lines, span.start, span.end)]


def _with_bare_headings_joined(spans: Sequence[Span], lines: Sequence[str]) -> list[Span]:
    """Join a heading without a body to the section after it, whose path of headings begins with it."""
    result: list[Span] = []
    for span in spans:
        last = result[-1] if result else None
        if (
            last
            and _is_bare_heading(last, lines)
            and span.symbol.startswith(f"{last.symbol} > ")
            and fits(lines, last.start, span.end)
        ):
            result[-1] = Span(last.start, span.end, span.kind, span.symbol)
        else:
            result.append(span)
    return result


def _is_bare_heading(span: Span, lines: Sequence[str]) -> bool:
    return bool(span.symbol) and sum(bool(line.strip()) for line in lines[span.start - 1 : span.end]) <= 2
