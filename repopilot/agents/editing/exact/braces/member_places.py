"""Where a new member is put in languages with braces, and what surrounds it there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from tree_sitter import Node

from repopilot.agents.editing.exact.braces.containers import Container
from repopilot.agents.editing.exact.braces.go_columns import realigned
from repopilot.agents.editing.exact.braces.member_texts import member_name
from repopilot.agents.editing.exact.entries import added_entry, sorted_position
from repopilot.agents.editing.exact.sources import ByteEdit, SourceText, spliced
from repopilot.code.syntax import parse
from repopilot.tools.file_change import PARSE_S

_COMMENT = re.compile(rb"[ \t]*(?:#|//)[^\n]*")
_LINE_REST = re.compile(rb"[^\S\n]*(?:(?://|#)[^\n]*|/\*[^\n]*?\*/[^\S\n]*)?(?=\n|$)")
_FIELD_TYPES = frozenset(
    "public_field_definition field_definition field_declaration property_signature method_signature "
    "method_elem type_elem".split()
)
_FEWEST_FIELDS = 5
"""Fields in alphabetical order, if they are that many, are no accident."""


def placed(container: Container, text: str) -> ByteEdit | None:
    """The change that adds a member.

    Args:
        container: what it is added to.
        text: the member, without what separates it from others.

    Returns:
        The change; None where the result isn't clear, or wouldn't parse.
    """
    change: ByteEdit | None
    if container.shape == "union":
        change = _in_union(container, text)
    elif container.shape == "consts" or (container.shape == "fields" and container.source.language != "rust"):
        change = _on_a_line(container, text)
    else:
        change = _between_commas(container, text)
    return checked(container.source, change) if change is not None else None


def checked(source: SourceText, change: ByteEdit) -> ByteEdit | None:
    """A change of one place, with the columns of Go aligned; None where the result wouldn't parse.

    Args:
        source: the file.
        change: what is changed in it.
    """
    after = spliced(source.data, [change])
    if source.language == "go":
        after = realigned(source.data, after)
    tree = parse(after, source.language, PARSE_S)
    if tree is None or source.root is None or (tree.root_node.has_error and not source.root.has_error):
        return None
    return difference(source.data, after)


def difference(before: bytes, after: bytes) -> ByteEdit:
    """One replacement that makes a text of another."""
    most = min(len(before), len(after))
    start = next((n for n in range(most) if before[n] != after[n]), most)
    end = next((n for n in range(most - start) if before[-1 - n] != after[-1 - n]), most - start)
    while start and before[start - 1] >= 0x80:
        start -= 1
    while end and before[len(before) - end] >= 0x80:
        end -= 1
    return ByteEdit(start, len(before) - end, after[start : len(after) - end].decode("utf-8"))


def _position(container: Container, text: str) -> int:
    """Before which member a new one belongs; their number for the end."""
    entries = container.entries
    if container.shape in ("enum", "consts", "pairs"):
        return len(entries)
    if any(e.type in ("spread_element", "method_definition") for e in entries):
        return len(entries)
    names = [member_name(container.source, e, container.shape) for e in entries]
    key = re.split(r"\s*(?::(?!:)|=|\s)\s*", text.strip("([\"'`"), maxsplit=1)[0] if container.shape != "list" else text
    if container.shape == "fields":
        key = re.sub(r"^(?:pub\S*|readonly)\s+", "", text).split(":")[0]
    fewest = _FEWEST_FIELDS if container.shape == "fields" else 3
    return sorted_position(names, key.split(",")[0].strip("\"'`? "), fewest=fewest)


def _between_commas(container: Container, text: str) -> ByteEdit | None:
    source, entries = container.source, container.entries
    data, at = source.data, _position(container, text)
    if not entries and source.slice(container.holder)[1:-1].strip():
        return None
    if not entries:
        return ByteEdit(*_into_empty(source, container.holder, text))
    if at < len(entries):
        return _before(source, entries, at, text)
    last = entries[-1]
    start, end, new = added_entry(data, container.holder, entries, at, text)
    one_line = container.holder.start_point[0] == container.holder.end_point[0]
    closing = data[last.end_byte : container.holder.end_byte]
    if source.language == "go" and "\n" in new and not one_line and b"," not in closing:
        return None
    if "\n" not in new and not one_line and _is_too_long(source, container, end, new):
        indent = _indent(source, entries[-1])
        new = re.sub(r"^(,?) ", rf"\1\n{indent}", new)
    return ByteEdit(start, end, new)


def _into_empty(source: SourceText, holder: Node, text: str) -> tuple[int, int, str]:
    start, end = holder.start_byte + 1, holder.end_byte - 1
    inside = source.data[start:end]
    if b"\n" in inside:
        indent = inside.rpartition(b"\n")[2].decode("utf-8")
        return start, end, f"\n{indent}{_unit(source)}{text},\n{indent}"
    return start, end, f" {text} " if holder.type == "object" else text


def _unit(source: SourceText) -> str:
    """One step of indentation in a file."""
    found = re.search(rb"\n(\t|  +)\S", source.data)
    return found[1].decode("utf-8") if found else "    "


def _before(source: SourceText, entries: Sequence[Node], at: int, text: str) -> ByteEdit:
    """Before a member, above the comments on it."""
    data, node = source.data, entries[at]
    line = data.rfind(b"\n", 0, node.start_byte) + 1
    if data[line : node.start_byte].strip():
        return ByteEdit(node.start_byte, node.start_byte, f"{text}, ")
    first = node
    above = node.prev_named_sibling
    while above is not None and _stands_above(source, above, first):
        first, above = above, above.prev_named_sibling
    start = data.rfind(b"\n", 0, first.start_byte) + 1
    return ByteEdit(start, start, f"{_indent(source, node)}{text},\n")


def _stands_above(source: SourceText, above: Node, node: Node) -> bool:
    """Whether a comment or attribute belongs to what is on the next line."""
    if "comment" not in above.type and above.type != "attribute_item":
        return False
    start = source.data.rfind(b"\n", 0, above.start_byte) + 1
    between = source.data[above.end_byte : node.start_byte]
    return not source.data[start : above.start_byte].strip() and between.strip() == b"" and between.count(b"\n") <= 1


def _indent(source: SourceText, node: Node) -> str:
    line = source.line_text(node.start_point[0] + 1)
    return line[: len(line) - len(line.lstrip())]


def _is_too_long(source: SourceText, container: Container, offset: int, new: str) -> bool:
    """Whether a line would be longer than 80 and all others of its container."""
    first, last = container.holder.start_point[0] + 1, container.holder.end_point[0] + 1
    longest = max(len(source.line_text(n)) for n in range(first, last + 1))
    return len(source.line_text(source.line_of(offset))) + len(new) > max(longest, 80)


def _in_union(container: Container, text: str) -> ByteEdit:
    source, entries = container.source, container.entries
    at = _position(container, text)
    last = entries[-1]
    apart = len(entries) > 1 and all(a.start_point[0] < b.start_point[0] for a, b in pairwise(entries))
    leading = source.line_text(last.start_point[0] + 1).lstrip().startswith("|") and apart
    if at == 0:
        gap = f"\n{_indent(source, last)}| " if leading else " | "
        return ByteEdit(entries[0].start_byte, entries[0].start_byte, f"{text}{gap}")
    before = entries[at - 1]
    end = before.end_byte
    comment = _COMMENT.match(source.data, end) if leading else None
    end = comment.end() if comment and at < len(entries) else end
    return ByteEdit(end, end, f"\n{_indent(source, last)}| {text}" if leading else f" | {text}")


# One on each line


def _on_a_line(container: Container, text: str) -> ByteEdit | None:
    source, holder = container.source, container.holder
    fields = [e for e in container.entries if e.type in _FIELD_TYPES or container.shape == "consts"]
    if source.language in ("java", "javascript") or holder.type == "class_body":
        static = [e for e in fields if re.match(r"(?:\w+\s+)*?static\b", source.slice(e))]
        alike = static if re.match(r"(?:\w+\s+)*?static\b", text) else [e for e in fields if e not in static]
        fields = alike or fields
    if not fields:
        return _first_field(container, text)
    at = (
        _position(container, text) if fields == list(container.entries) and container.shape == "fields" else len(fields)
    )
    mark = _separator(source, fields, holder)
    if holder.start_point[0] == holder.end_point[0]:
        return _on_the_same_line(source, fields[-1], mark, text) if holder.type != "class_body" else None
    if at < len(fields):
        change = _before(source, fields, at, text)
        return change._replace(text=change.text.removesuffix(",\n") + f"{mark}\n")
    last = fields[-1]
    end, missing = last.end_byte, mark
    own = re.compile(rb"\s*[;,]").match(source.data, end)
    if own or source.slice(last).endswith((";", ",")):
        end, missing = own.end() if own else end, ""
    rest = _LINE_REST.match(source.data, end)
    if rest is None:
        return None
    blank = "\n" if _are_apart(source, fields) else ""
    start = end
    comment = rest[0].decode("utf-8")
    return ByteEdit(start, rest.end(), f"{missing}{comment}{blank}\n{_indent(source, last)}{text}{mark}")


def _are_apart(source: SourceText, fields: Sequence[Node]) -> bool:
    """Whether a blank line stands between the last fields."""
    if len(fields) < 2:
        return False
    between = source.data[fields[-2].end_byte : fields[-1].start_byte]
    return re.search(rb"\n[ \t]*\n", between) is not None


def _separator(source: SourceText, fields: Sequence[Node], holder: Node) -> str:
    """What ends a field."""
    if source.language == "go":
        return ""
    if source.language == "java":
        return ";"
    marks = [m[1] for f in fields if (m := re.compile(rb"\s*([;,])").match(source.data, f.end_byte))]
    if marks:
        return marks[0].decode("utf-8")
    return "; " if len(fields) == 1 and holder.start_point[0] == holder.end_point[0] else ""


def _on_the_same_line(source: SourceText, last: Node, mark: str, text: str) -> ByteEdit | None:
    if source.language == "go":
        return None
    mark = mark.strip() or ";"
    own = re.compile(rb"\s*[;,]").match(source.data, last.end_byte)
    end = own.end() if own else last.end_byte
    return ByteEdit(end, end, f" {text}{mark}" if own else f"{mark} {text}")


def _first_field(container: Container, text: str) -> ByteEdit | None:
    """The first field of a class that has methods."""
    source, first = container.source, next(iter(container.entries), None)
    holder = container.holder
    if first is None or holder.type != "class_body" or first.start_point[0] == holder.start_point[0]:
        return None
    after = source.data.find(b"\n", holder.start_byte)
    if source.data[holder.start_byte + 1 : after].strip():
        return None
    semicolon = (
        ";" if source.language != "javascript" or source.data.count(b";\n") * 20 > source.data.count(b"\n") else ""
    )
    return ByteEdit(after + 1, after + 1, f"{_indent(source, first)}{text}{semicolon}\n\n")
