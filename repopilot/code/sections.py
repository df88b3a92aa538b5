"""Spans of files that aren't code: documentation by section, configuration by top-level key, schemas by table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.code.spans import LONGEST, Span, fits, merged, windows, with_comments
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
    r"([\w.\"`\[\]]+)|\s*alter\s+table\s+(?:only\s+)?(?:if\s+exists\s+)?([\w.\"`\[\]]+)", re.IGNORECASE)  # fmt: skip
_GRAPHQL = re.compile(r"(?:extend\s+)?(?:type|interface|input|enum|union|scalar)\s+(\w+)")
_PROTOBUF = re.compile(r"\s*(?:message|service|enum|struct|union|table|interface)\s+(\w+)")
_SCHEMA_STARTS = {"prisma": _PRISMA, "sql": _SQL, "graphql": _GRAPHQL, "protobuf": _PROTOBUF, "thrift": _PROTOBUF}


def doc_spans(lines: Sequence[str], language: str) -> list[Span]:
    """Sections between headings; the symbol is the path of headings (`Install > From source`)."""
    marks = _headings(lines, language)
    result = []
    if not marks or marks[0][0] > 1:
        result += _cut(lines, Span(1, (marks[0][0] if marks else len(lines) + 1) - 1, "doc"))
    trail: list[tuple[int, str]] = []
    for index, (line, level, title) in enumerate(marks):
        trail = [*(t for t in trail if t[0] < level), (level, title)]
        end = marks[index + 1][0] - 1 if index + 1 < len(marks) else len(lines)
        result += _cut(lines, Span(line, end, "doc", " > ".join(name for _, name in trail)))
    return _tiny_into_next(result, lines)


def config_spans(lines: Sequence[str]) -> list[Span]:
    """A small file whole, a larger one in windows that begin at its outermost keys."""
    if len(lines) <= LONGEST:
        return _cut(lines, Span(1, len(lines), "config"))
    indents = sorted({len(line) - len(line.lstrip()) for line in lines if re.match(r"\s*[\w\"'\[<@-]", line)})
    outer = set(indents[:2] if indents[:1] == [0] and lines[0][:1] in "{[<" else indents[:1])

    def begins(number: int) -> bool:
        line = lines[number - 1]
        return bool(re.match(r"\s*[\w\"'\[<@-]", line)) and len(line) - len(line.lstrip()) in outer

    return [Span(a, b, "config") for a, b in windows(lines, 1, len(lines), better=begins)]


def schema_spans(lines: Sequence[str], language: str) -> list[Span]:
    """A span for each model, table or message, named after it; what lies between goes by windows."""
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
            result += _cut(lines, Span(floor, start - 1, "schema"))
        limit = starts[index + 1][0] - 1 if index + 1 < len(starts) else len(lines)
        end = _statement_end(lines, number, limit, language)
        result += _cut(lines, Span(start, end, "schema", name, fixed=True))
        floor = end + 1
    if floor <= len(lines):
        result += _cut(lines, Span(floor, len(lines), "schema"))
    return merged(result, lines)


def unquoted(name: str) -> str:
    """A table's name without its schema's quotes: `"public"."users"` is `public.users`."""
    return re.sub(r"[\"`\[\]]", "", name)


def plain_spans(lines: Sequence[str], kind: ChunkKind) -> list[Span]:
    """Windows over the whole file."""
    return [Span(a, b, kind) for a, b in windows(lines, 1, len(lines))] if lines else []


def _statement_end(lines: Sequence[str], start: int, limit: int, language: str) -> int:
    for number in range(start, limit + 1):
        line = lines[number - 1]
        if (line.startswith("}") or (number == start and line.rstrip().endswith("}"))) if language != "sql" else (
            line.rstrip().endswith(";") or re.match(r"\s*GO\s*$", line)):  # fmt: skip
            return number
    return limit


def _headings(lines: Sequence[str], language: str) -> list[tuple[int, int, str]]:
    """(line, level, title) of every heading. Fenced code has none."""
    result: list[tuple[int, int, str]] = []
    pattern = {"markdown": _ATX, "asciidoc": _ASCIIDOC, "org": _ORG}.get(language)
    styles: list[str] = []
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
            under = _UNDERLINE.match(line[:300])
            if under and title and len(line.strip()) >= min(len(title), 3) and not _UNDERLINE.match(title) \
                    and (language != "rst" or len(line.rstrip()) >= len(title)):  # fmt: skip
                if under[1] not in styles:
                    styles.append(under[1])
                result.append((number - 1, styles.index(under[1]) + 1, title))
    return result


def _cut(lines: Sequence[str], span: Span) -> list[Span]:
    if fits(lines, span.start, span.end):
        return [span]
    return [Span(a, b, span.kind, span.symbol, span.owner, span.fixed) for a, b in windows(lines, span.start, span.end)]


def _tiny_into_next(spans: Sequence[Span], lines: Sequence[str]) -> list[Span]:
    """A heading without a body goes with the section after it, whose path of headings contains it."""
    result: list[Span] = []
    for span in spans:
        last = result[-1] if result else None
        within = last and last.symbol and span.symbol.startswith(last.symbol) and fits(lines, last.start, span.end)
        if within and sum(bool(line.strip()) for line in lines[last.start - 1 : last.end]) <= 2:
            result[-1] = Span(last.start, span.end, span.kind, span.symbol)
        else:
            result.append(span)
    return result
