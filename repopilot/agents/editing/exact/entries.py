"""Entries that commas separate: which bytes to remove for some of them, and how to add one. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from tree_sitter import Node

_ALONE = re.compile(rb"[ \t]*,?[ \t]*(?:(?:#|//)[^\n]*)?(?:\n|$)")
_COMMA = re.compile(rb"\s*,[ \t]*")


def removed_spans(data: bytes, entries: Sequence[Node], removed: Collection[int]) -> list[tuple[int, int]]:
    """The bytes to remove for some of several entries, with their commas, and their lines where they stand alone.

    Args:
        data: the text.
        entries: all entries, in order.
        removed: the numbers of those to remove.
    """
    spans = []
    for first, last in _runs(sorted(removed)):
        if all(_is_alone(data, entries[n]) for n in range(first, last + 1)):
            start = data.rfind(b"\n", 0, entries[first].start_byte) + 1
            match = _ALONE.match(data, entries[last].end_byte)
            spans.append((start, match.end() if match else entries[last].end_byte))
        elif last + 1 < len(entries):
            spans.append((entries[first].start_byte, entries[last + 1].start_byte))
        elif first:
            spans.append((entries[first - 1].end_byte, entries[last].end_byte))
        else:
            comma = _COMMA.match(data, entries[last].end_byte)
            spans.append((entries[first].start_byte, comma.end() if comma else entries[last].end_byte))
    return spans


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = previous = None
    for number in numbers:
        if start is None or previous is None:
            start = number
        elif number != previous + 1:
            yield start, previous
            start = number
        previous = number
    if start is not None and previous is not None:
        yield start, previous


def _is_alone(data: bytes, node: Node) -> bool:
    line_start = data.rfind(b"\n", 0, node.start_byte) + 1
    return not data[line_start : node.start_byte].strip() and _ALONE.match(data, node.end_byte) is not None


def added_entry(data: bytes, container: Node, entries: Sequence[Node], at: int, text: str) -> tuple[int, int, str]:
    """Where and how an entry is added.

    Args:
        data: the text.
        container: what holds the entries, with a bracket at both ends.
        entries: its entries.
        at: before which of them; their number for the end.
        text: the new entry.

    Returns:
        The bytes to replace, and what replaces them.
    """
    if not entries:
        return _into_empty(data, container, text)
    if at < len(entries):
        node = entries[at]
        gap = _gap_before(data, node)
        return node.start_byte, node.start_byte, f"{text},{gap or ' '}"
    last = entries[-1]
    comma = re.compile(rb"\s*,").match(data, last.end_byte)
    gap = _gap_before(data, last)
    if gap:
        if comma:
            end = comma.end()
            line_end = re.compile(rb"[ \t]*(?:#|//)[^\n]*").match(data, end)
            end = line_end.end() if line_end else end
            return end, end, f"{gap}{text},"
        own = re.compile(rb"[ \t]*(?:#|//)[^\n]*").match(data, last.end_byte)
        if own:
            return last.end_byte, own.end(), f",{own[0].decode('utf-8')}{gap}{text}"
        return last.end_byte, last.end_byte, f",{gap}{text}"
    if comma:  # a tuple of one, or a magic comma on one line
        single = len(entries) == 1 and container.type in ("tuple", "tuple_pattern")
        return comma.end(), comma.end(), f" {text}" if single else f" {text},"
    return last.end_byte, last.end_byte, f", {text}"


def _gap_before(data: bytes, node: Node) -> str:
    """The line end and indentation before an entry that begins its line; '' where it doesn't."""
    line_start = data.rfind(b"\n", 0, node.start_byte) + 1
    before = data[line_start : node.start_byte]
    return "" if before.strip() or line_start == 0 else f"\n{before.decode('utf-8')}"


def _into_empty(data: bytes, container: Node, text: str) -> tuple[int, int, str]:
    start, end = container.start_byte + 1, container.end_byte - 1
    single = container.type == "tuple"
    inside = data[start:end]
    if b"\n" in inside:
        indent = inside.rpartition(b"\n")[2].decode("utf-8")
        return start, end, f"\n{indent}    {text},\n{indent}"
    return start, end, f"{text}," if single else text


def sorted_position(texts: Sequence[str], new: str, fewest: int = 3) -> int:
    """Where a text belongs among sorted ones; at the end of unsorted ones, or of too few.

    Args:
        texts: the texts that are there.
        new: the new one.
        fewest: how many there must be for their order to mean something.
    """
    if len(texts) < fewest:
        return len(texts)
    keys: tuple[Callable[[str], tuple[int, str]], ...] = (lambda t: (0, t), lambda t: (0, t.lower()), constants_first)
    for key in keys:
        if sorted(texts, key=key) == list(texts):
            return next((n for n, text in enumerate(texts) if key(text) > key(new)), len(texts))
    return len(texts)


def shared_object(entries: Sequence[Node]) -> str:
    """The object of which all entries are attributes: `hashlib` of `[hashlib.md5, hashlib.sha1]`; '' where it differs.

    Args:
        entries: of a Python list.
    """
    owners = {
        owner.text or b"" if entry.type == "attribute" and (owner := entry.child_by_field_name("object")) else b""
        for entry in entries
    }
    return owners.pop().decode("utf-8") if len(owners) == 1 else ""


def constants_first(text: str) -> tuple[int, str]:
    """Sorts constants before classes, and those before the rest, as isort and ruff do."""
    rank = 0 if text.isupper() and len(text) > 1 else 1 if text[:1].isupper() else 2
    return rank, text.lower()


def with_blank_lines(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Whole lines that are removed, with the blank lines after them, or at the end of a block those before them.

    Args:
        data: the text.
        start: the first byte of the lines.
        end: behind their last line end.
    """
    before = re.compile(rb"(?:(?<=\n)[ \t]*\n)*\Z").search(data[:start])
    after = re.compile(rb"(?:[ \t]*\n)*").match(data, end)
    blank_before = len(before[0]) if before else 0
    end_of_gap = after.end() if after else end
    if not data[end_of_gap:].strip():
        return start - blank_before, len(data)
    lines = before[0].count(b"\n") if before else 0
    if lines and (data[end:end_of_gap].count(b"\n") >= lines or data[end_of_gap:].lstrip(b" \t")[:1] in b"})]"):
        return start - blank_before, end
    return start, end_of_gap
