"""Aligns fields, constants and entries of Go as gofmt does. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from repopilot.code.syntax import parse
from repopilot.tools.file_change import PARSE_S

_ROWS = ("field_declaration", "const_spec", "var_spec", "keyed_element")
_LONGEST_KEY = 40
"""Longer keys may end a column, by a rule of proportions."""


def realigned(before: bytes, after: bytes) -> bytes:
    """A Go file after a change, with the columns around the change aligned where they were aligned before.

    Args:
        before: the file as it was.
        after: the file with whole lines added, changed or removed at one place.
    """
    old, new = before.split(b"\n"), after.split(b"\n")
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    if first is None:
        return after
    was, now = _section(before, first), _section(after, first)
    if not now:
        return after
    if was and [old[n] for n in was] != _formatted(old, was):
        return after
    for number, line in zip(now, _formatted(new, now), strict=True):
        new[number] = line
    return b"\n".join(new)


def _section(data: bytes, line: int) -> dict[int, list[bytes]]:
    """The cells of the lines of one table around a line, by line."""
    tree = parse(data, "go", PARSE_S)
    if tree is None:
        return {}
    found = ((node.start_point[0], _cells(data, node)) for node in _rows(tree.root_node))
    rows = {number: cells for number, cells in found if cells is not None}
    start = line if line in rows else line - 1
    if start not in rows:
        return {}
    first = last = start
    while first - 1 in rows:
        first -= 1
    while last + 1 in rows:
        last += 1
    return {n: rows[n] for n in range(first, last + 1)}


def _rows(root: Node) -> list[Node]:
    """The fields, constants and entries that have lines of their own."""
    found: dict[int, list[Node]] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in _ROWS and node.start_point[0] == node.end_point[0]:
            found.setdefault(node.start_point[0], []).append(node)
        else:
            pending.extend(node.named_children)
    return [nodes[0] for nodes in found.values() if len(nodes) == 1]


def _cells(data: bytes, node: Node) -> list[bytes] | None:
    """The cells of a row; None where other code is on its line."""
    start = data.rfind(b"\n", 0, node.start_byte) + 1
    end = data.find(b"\n", node.end_byte)
    rest = data[node.end_byte : end if end >= 0 else len(data)].strip()
    if data[start : node.start_byte].strip() or rest.strip(b",")[:2] not in (b"", b"//"):
        comma, _, comment = rest.partition(b"//")
        if data[start : node.start_byte].strip() or comma.strip() not in (b"", b","):
            return None
    comma = b"," if rest.startswith(b",") else b""
    comment = rest.removeprefix(b",").strip()
    cells = _parts(data, node)
    cells[-1] += comma
    if comment:
        width = 3 if node.type != "keyed_element" else 2
        if node.type == "field_declaration" and len(cells) < 3:
            width = 2
        cells += [b""] * (width - len(cells)) + [comment]
    return cells


def _parts(data: bytes, node: Node) -> list[bytes]:
    def text(first: Node, last: Node) -> bytes:
        return data[first.start_byte : last.end_byte]

    if node.type == "keyed_element":
        key, value = node.named_children[0], node.named_children[-1]
        return [text(key, key) + b":", text(value, value)]
    names = node.children_by_field_name("name")
    kind, value_ = node.child_by_field_name("type"), node.child_by_field_name("value")
    tag = node.child_by_field_name("tag")
    if node.type == "field_declaration":
        plain = [text(names[0], names[-1])] if names else []
        star = node.children[0] if not names else kind
        cells = [*plain, text(star or node, kind or node)]
        if tag is not None:
            cells += [b""] * (2 - len(cells)) + [text(tag, tag)]
        return cells
    cells = [text(names[0], names[-1]), text(kind, kind) if kind is not None else b""]
    if value_ is not None:
        cells.append(b"= " + text(value_, value_))
    return cells if value_ is not None or kind is not None else cells[:1]


def _formatted(lines: Sequence[bytes], section: dict[int, list[bytes]]) -> list[bytes]:
    rows = list(section.values())
    if any(len(cells[0].decode("utf-8")) > _LONGEST_KEY for cells in rows):
        return [lines[n] for n in section]
    widths = [[0] * len(cells) for cells in rows]
    for column in range(max(map(len, rows)) - 1):
        run: list[int] = []
        for number in range(len(rows) + 1):
            if number < len(rows) and len(rows[number]) - 1 > column:
                run.append(number)
                continue
            widest = max((len(rows[n][column].decode("utf-8")) for n in run), default=0)
            for n in run:
                widths[n][column] = widest + 1 if widest else 0
            run = []
    result = []
    for line, cells, wide in zip((lines[n] for n in section), rows, widths, strict=True):
        indent = line[: len(line) - len(line.lstrip())]
        padded = [c + b" " * (w - len(c.decode("utf-8"))) for c, w in zip(cells, wide, strict=True)]
        result.append(indent + b"".join(padded).rstrip())
    return result
