"""Adds members to things in languages with braces, and removes them."""

from __future__ import annotations

import re

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.containers import Container, container_of
from repopilot.agents.editing.exact.braces.member_places import checked, placed
from repopilot.agents.editing.exact.braces.member_texts import member_name, member_text
from repopilot.agents.editing.exact.braces.member_uses import leave_listings_open, leave_uses_open
from repopilot.agents.editing.exact.entries import removed_spans
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.sources import ByteEdit, Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.literals import is_string
from repopilot.errors import GenerationFailed
from repopilot.types import Edit


def add_braced_member(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a member to something in a language with braces.

    Args:
        task: the text of the member in `new`, what it is added to in `name`.
        sources: the files.

    Returns:
        The change, and the code that may have to name the member, too; None where the text isn't certainly one of a
        member of that thing.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: the member is there already.
    """
    container = container_of(task, sources)
    text = member_text(task, container, sources) if container is not None else None
    change = placed(container, text) if container is not None and text is not None else None
    if container is None or text is None or change is None:
        return None
    length = _array_length(container, 1)
    if length is None:
        return None
    patch = Patch()
    for start, end, new in (*length, change):
        patch.replace(container.source.path, start, end, new)
    patch.edits.append(Edit("add_member", container.source.path, container.name, text))
    name = re.split(r"[^\w$]", text, maxsplit=1)[0]
    leave_listings_open(container, name, sources, patch)
    return patch


def _array_length(container: Container, change: int) -> list[ByteEdit] | None:
    """The change of the length that the type of a Rust array has; None where it can't be changed."""
    kind = container.declaration.child_by_field_name("type")
    if container.source.language != "rust" or container.shape not in ("list", "tuples") or kind is None:
        return []
    while kind is not None and kind.type == "reference_type":
        kind = kind.child_by_field_name("type")
    length = kind.child_by_field_name("length") if kind is not None and kind.type == "array_type" else None
    if length is None:
        return []
    written = container.source.slice(length)
    if written != str(len(container.entries)):
        return None
    return [ByteEdit(length.start_byte, length.end_byte, str(len(container.entries) + change))]


def remove_braced_member(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove a member from something in a language with braces.

    Args:
        task: the member in `new`, what it is removed from in `name`.
        sources: the files.

    Returns:
        The change, and what still names the member; None where that is no such thing.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: there is no such member.
    """
    container = container_of(task, sources)
    if container is None or container.shape == "pairs":
        return None
    wanted = task.new.strip().strip("\"'`")
    names = [member_name(container.source, e, container.shape) for e in container.entries]
    found = [n for n, name in enumerate(names) if name == wanted]
    if not found and (is_string(task.new) or container.shape in ("enum", "consts", "fields")):
        raise GenerationFailed(i18n.message("exact.no_such_name_in", name=wanted, place=container.name))
    if len(found) != 1 or _would_shift(container, found[0]):
        return None
    length = _array_length(container, -1)
    change = checked(container.source, _removal(container, found[0]))
    if length is None or change is None:
        return None
    patch = Patch()
    for start, end, new in (*length, change):
        patch.replace(container.source.path, start, end, new)
    patch.edits.append(Edit("remove_member", container.source.path, container.name))
    leave_uses_open(container, container.entries[found[0]], sources, patch)
    return patch


def _would_shift(container: Container, at: int) -> bool:
    """Whether the values of constants behind a removed one depend on how many stand before them."""
    if container.shape == "fields":
        names = container.entries[at].children_by_field_name("name")
        return len(names) > 1 or container.entries[at].type not in _FIELDS
    last = at == len(container.entries) - 1
    if container.shape == "consts":
        text = container.source.slice(container.declaration)
        return len(container.entries) < 2 or ("iota" in text and not last) or "iota" in _text(container, at)
    numbered = container.source.language in ("typescript", "tsx")
    return container.shape == "enum" and numbered and not last and not _has_value(container.entries[at + 1])


_FIELDS = frozenset(
    "public_field_definition field_definition field_declaration property_signature method_signature method_elem".split()
)


def _text(container: Container, at: int) -> str:
    return container.source.slice(container.entries[at])


def _has_value(entry: Node) -> bool:
    return entry.child_by_field_name("value") is not None


def _removal(container: Container, at: int) -> ByteEdit:
    source, entries = container.source, container.entries
    if container.shape == "union":
        return _from_union(source, entries, at)
    if container.shape == "consts" or (container.shape == "fields" and source.language != "rust"):
        return _whole_lines(source, entries[at])
    start, end = removed_spans(source.data, entries, {at})[0]
    return ByteEdit(_with_comments(source, entries[at], start), end, "")


def _from_union(source: SourceText, entries: tuple[Node, ...], at: int) -> ByteEdit:
    if at:
        return ByteEdit(entries[at - 1].end_byte, entries[at].end_byte, "")
    return ByteEdit(entries[0].start_byte, entries[1].start_byte if len(entries) > 1 else entries[0].end_byte, "")


def _whole_lines(source: SourceText, entry: Node) -> ByteEdit:
    """A field with what ends it: its lines where nothing else is on them."""
    data = source.data
    own = re.compile(rb"\s*[;,]").match(data, entry.end_byte)
    end = own.end() if own else entry.end_byte
    start = data.rfind(b"\n", 0, entry.start_byte) + 1
    rest = re.compile(rb"[^\S\n]*(?://[^\n]*)?(?:\n|$)").match(data, end)
    if data[start : entry.start_byte].strip() or rest is None:
        space = re.compile(rb"[^\S\n]*").match(data, end)
        return ByteEdit(entry.start_byte, space.end() if space else end, "")
    start = _with_comments(source, entry, start)
    blank = re.compile(rb"(?:[ \t]*\n)+").match(data, rest.end())
    above = data[:start].endswith(b"\n\n")
    return ByteEdit(start, blank.end() if blank and (above or data[:start].rstrip()[-1:] in b"{(") else rest.end(), "")


def _with_comments(source: SourceText, entry: Node, start: int) -> int:
    """Where the comments and attributes directly above a member begin, if it begins a line."""
    if start > entry.start_byte or source.data[start : entry.start_byte].strip():
        return start
    below, above = entry, entry.prev_named_sibling
    while above is not None and ("comment" in above.type or above.type == "attribute_item"):
        first = source.data.rfind(b"\n", 0, above.start_byte) + 1
        between = source.data[above.end_byte : below.start_byte]
        if source.data[first : above.start_byte].strip() or between.strip() or between.count(b"\n") > 1:
            break
        start, below, above = first, above, above.prev_named_sibling
    return start
