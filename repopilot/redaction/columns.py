"""Secrets in table columns whose name promises them: CSV, Markdown, `INSERT INTO`, `COPY … FROM stdin`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.redaction.bounded_pattern import compile_bounded
from repopilot.redaction.randomness import is_password, looks_random
from repopilot.redaction.secret_names import Promise, promise_of

SQL_ANCHORS = ("insert into", "copy ")
_MOST_ROWS = 2_000
_CELL_NAME = re.compile(r"""[\s"'`*\[]*([A-Za-z][\w .#-]{0,40}?)[\s"'`*\]]*""")
_END_OF_CELL = re.compile(r"[\w #-]{0,40}[\"'`*\]]{0,3} *[,;|\t\n]")
_RULER = re.compile(r"[\s|:+-]+")
_INSERT = compile_bounded(r"(?i)insert into\s+([\w.`\"\[\]]{1,80})\s*(?:\(([^()]{1,2000})\))?\s*values\s*")
_COPY = compile_bounded(r"(?i)copy\s+([\w.\"]{1,80})\s*\(([^()]{1,2000})\)\s*from\s+stdin[^\n]*\n")
_SQL_VALUE = compile_bounded(
    r"""\s*(?:[NEX]?'(?P<quoted>(?:[^'\\\n]|''|\\.){0,2000})'|(?P<other>[^,()'\n]{0,200}(?:\([^()\n]*\))?))\s*(?P<end>[,)])"""
)


def column_values(text: str, at: int, anchor: str) -> Iterator[tuple[int, int, str]]:
    """The secrets of the column whose name holds an anchor.

    Args:
        text: any text.
        at: where the anchor stands in it.
        anchor: part of a name.

    Yields:
        Start, end and the rule's name.
    """
    if not _END_OF_CELL.match(text, at):
        return
    start = text.rfind("\n", max(0, at - 400), at) + 1
    end = text.find("\n", at, at + 400)
    if end < 0 or (separator := _separator(text, start, end)) is None:
        return
    if text.count(separator, text.rfind("\n", max(0, start - 400), max(0, start - 1)) + 1, start) == text.count(
        separator, start, end
    ):
        return  # a row among others, not a heading
    names = [_CELL_NAME.fullmatch(cell) for cell in text[start:end].strip("|").split(separator)]
    if not all(names):
        return
    promises = {
        n: promise for n, name in enumerate(names) if name and (promise := promise_of(name[1].replace(" ", "_")))
    }
    if promises:
        yield from _rows(text, end + 1, separator, len(names), promises)


def _separator(text: str, start: int, end: int) -> str | None:
    """What separates the cells of a heading; None where the line isn't one."""
    for separator in ("\t", "|", ";", ","):
        if separator in text[start:end]:
            ruler = text[end + 1 : max(end + 1, text.find("\n", end + 1))]
            return separator if separator in ruler and not re.search(r"[(){}=<>]", text[start:end]) else None
    return None


def _rows(
    text: str, at: int, separator: str, cells: int, promises: dict[int, Promise]
) -> Iterator[tuple[int, int, str]]:
    for _ in range(_MOST_ROWS):
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        line = text[at:end]
        stripped = line.strip("|") if separator == "|" else line
        row = stripped.split(separator)
        if len(row) != cells:
            return
        if not _RULER.fullmatch(line):
            start = at + line.find(stripped)
            for number, cell in enumerate(row):
                if number in promises and _is_secret(value := cell.strip(" \t\"'`"), promises[number]):
                    first = start + cell.find(value)
                    yield first, first + len(value), promises[number].value
                start += len(cell) + len(separator)
        at = end + 1
        if at >= len(text):
            return


def inserted_values(text: str, at: int, anchor: str) -> Iterator[tuple[int, int, str]]:
    """The secrets among the rows of an SQL statement that fills a table.

    Args:
        text: any text.
        at: where one of `SQL_ANCHORS` stands in it.
        anchor: the one that stands there.

    Yields:
        Start, end and the rule's name.
    """
    if anchor == "copy ":
        if (copy := _COPY.match(text, at)) is not None:
            names = copy[2].split(",")
            yield from _rows(text, copy.end(), "\t", len(names), _promises(copy[1], names))
    elif (insert := _INSERT.match(text, at)) is not None:
        yield from _tuples(text, insert.end(), insert[1], insert[2].split(",") if insert[2] else [])


def _promises(table: str, names: list[str]) -> dict[int, Promise]:
    return {n: promise for n, name in enumerate(names) if (promise := _promise_of_column(name.strip(' `"[]\n\t')))}


def _promise_of_column(name: str) -> Promise | None:
    return promise_of(re.sub(r"_(?:hash|digest|encrypted|value)$", "", name))


def _tuples(text: str, at: int, table: str, names: list[str]) -> Iterator[tuple[int, int, str]]:
    promises = _promises(table, names)
    of_table = promise_of(re.sub(r"\W", "", table.rpartition(".")[2])) if not names else None
    number = 0
    while text[at : at + 1] == "(" and number < _MOST_ROWS:
        at = at + 1
        column = 0
        number = number + 1
        while (value := _SQL_VALUE.match(text, at)) is not None:
            promise = promises.get(column, of_table)
            quoted = value["quoted"]
            if promise and quoted and _is_secret(quoted, Promise.KEY if of_table else promise):
                yield *value.span("quoted"), promise.value
            at = value.end()
            column = column + 1
            if value["end"] == ")":
                break
        else:
            return
        following = re.compile(r"\s*,\s*(?=\()").match(text, at)
        at = following.end() if following else len(text)


def _is_secret(value: str, promise: Promise) -> bool:
    if promise is Promise.PASSWORD:
        return is_password(value)
    return len(value) >= 12 and looks_random(value)
