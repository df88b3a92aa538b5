"""Reads the settings of INI, `.properties` and `.env` files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SECTION = re.compile(rb"[ \t]*\[([^\]]+)\]")
_SETTING = re.compile(rb"([ \t]*(?:export[ \t]+)?)([^\s=:#;\[!][^=:\r\n]*?)[ \t]*[=:][ \t]*")
_SPACED = re.compile(rb"([ \t]*)((?:\\.|[^\s=:#!\\])+)(?:[ \t]*[=:][ \t]*|[ \t]+)")
_QUOTED = re.compile(rb"\"(?:\\.|[^\"\\\r\n])*\"|'[^'\r\n]*'")
_COMMENT = re.compile(rb"(?:^|[ \t]+)[;#].*$")


class SettingLine(NamedTuple):
    """A setting: the section it is in, its key, and the bytes [start, end) of its value."""

    section: tuple[str, ...]
    key: str
    start: int
    end: int


def setting_lines(path: str, text: str) -> Iterator[SettingLine]:
    """The settings of a file, in order.

    A value may continue: in INI files on lines that are indented more than its key, in `.properties` after a backslash.

    Args:
        path: tells the format.
        text: of the file.
    """
    properties = path.endswith(".properties")
    section: tuple[str, ...] = ()
    data = text.encode()
    lines, offsets = _lines(data)
    number = 0
    while number < len(lines):
        line = lines[number]
        at = number
        number += 1
        if not properties and (named := _SECTION.match(line)):
            section = (named[1].decode().strip(),)
            continue
        found = (_SPACED if properties else _SETTING).match(line)
        if found is None:
            continue
        last = line
        while number < len(lines) and _goes_on(last, lines[number], len(found[1]), properties):
            last = lines[number]
            number += 1
        start = offsets[at] + found.end()
        end = start + _size(line[found.end() :], properties)
        if last is not line:
            end = offsets[number - 1] + len(last)
            start += len(data[start:end]) - len(data[start:end].lstrip())
        yield SettingLine(section, found[2].decode(), start, end)


def _lines(data: bytes) -> tuple[list[bytes], list[int]]:
    """The lines without trailing white space, and the offset of each."""
    begin = 0
    offsets = []
    raw = data.split(b"\n")
    for line in raw:
        offsets.append(begin)
        begin += len(line) + 1
    mark = b"\xef\xbb\xbf"
    if raw[0].startswith(mark):
        raw[0] = raw[0][len(mark) :]
        offsets[0] += len(mark)
    return [line.rstrip() for line in raw], offsets


def _goes_on(line: bytes, following: bytes, indentation: int, properties: bool) -> bool:
    if properties:
        return (len(line) - len(line.rstrip(b"\\"))) % 2 == 1
    own = len(following) - len(following.lstrip())
    return own > indentation and not following.lstrip().startswith((b"#", b";", b"["))


def _size(value: bytes, properties: bool) -> int:
    """The length of a value without the comment after it."""
    if properties:
        return len(value)
    quoted = _QUOTED.match(value)
    behind = quoted.end() if quoted else 0
    return behind if behind and not _COMMENT.sub(b"", value[behind:]) else len(_COMMENT.sub(b"", value))
