"""Reads JSON that code under test may have written, within bounds of size, depth and time. Pure but for the clock."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

MAX_LINES = 100_000
MAX_LINE = 512 * 1024
MAX_SECONDS = 5.0
_MAX_BYTES = 16 * 1024 * 1024
_MAX_DEPTH = 64
_MAX_CONTAINERS = 500_000  # an empty object takes 64 bytes in memory, however short its text
_MAX_VALUES = 2_000_000
_TOKEN = re.compile(rb'[\[\]{},]|"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.S)


class ReportExceedsBounds(ValueError):
    """A report is larger, or takes longer to read, than any honest one."""


def lines_of(raw: bytes, most: int = MAX_LINES, seconds: float = MAX_SECONDS) -> Iterator[bytes]:
    """The lines of a report that are not empty.

    Args:
        raw: the report.
        most: how many lines it may have, empty ones included.
        seconds: CPU time that the caller may take for all lines.

    Yields:
        Each line without its end.

    Raises:
        ReportExceedsBounds: it has more lines, a longer line, or took longer.
    """
    if len(raw) > _MAX_BYTES or raw.count(b"\n") > most:
        raise ReportExceedsBounds("too large")
    deadline = time.thread_time() + seconds
    for line in raw.split(b"\n"):
        if len(line) > MAX_LINE or time.thread_time() > deadline:
            raise ReportExceedsBounds("a line too long, or too much to read")
        if line.strip():
            yield line


def json_of(raw: bytes) -> Any:
    """The value of a JSON document; None for anything else, and for one that is too deep or has too many values."""
    if len(raw) > _MAX_BYTES or not _is_bounded(raw):
        return None
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _is_bounded(raw: bytes) -> bool:
    """Whether a document's depth and number of values are within bounds."""
    if raw.count(b"[") + raw.count(b"{") <= _MAX_DEPTH and raw.count(b",") <= _MAX_VALUES:
        return True
    depth = containers = values = 0
    for token in _TOKEN.finditer(raw):
        match token[0]:
            case b"[" | b"{":
                depth = depth + 1
                containers = containers + 1
            case b"]" | b"}":
                depth -= 1
            case b",":
                values += 1
        if depth > _MAX_DEPTH or containers > _MAX_CONTAINERS or values > _MAX_VALUES:
            return False
    return True
