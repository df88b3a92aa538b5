"""Puts entries into another order, each where another stood, so that what is between them stays as it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

from repopilot.agents.editing.exact.sources import ByteEdit, Patch, SourceText, spliced

T = TypeVar("T")


class HasSpan(Protocol):
    """What has a first byte and one after the last: a node of a syntax tree, or a `TextSpan`."""

    @property
    def start_byte(self) -> int:
        """The first byte."""

    @property
    def end_byte(self) -> int:
        """The byte after it."""


class TextSpan(NamedTuple):
    """A part of a file that is no node."""

    start_byte: int
    end_byte: int


def edited_text(source: SourceText, span: HasSpan, patch: Patch) -> str:
    """The text of a part of a file with what a patch has changed inside it."""
    inside = [e for e in patch.replacements.get(source.path, ()) if _is_inside(e, span)]
    moved = [ByteEdit(e.start - span.start_byte, e.end - span.start_byte, e.text) for e in inside]
    return spliced(source.data[span.start_byte : span.end_byte], moved).decode("utf-8")


def _is_inside(edit: ByteEdit, span: HasSpan) -> bool:
    """Whether a change is one of a part's text; what is inserted before or behind it isn't."""
    if edit.start == edit.end:
        return span.start_byte < edit.start < span.end_byte
    return span.start_byte <= edit.start and edit.end <= span.end_byte


def put_in_order(source: SourceText, slots: Sequence[HasSpan], texts: Sequence[str], patch: Patch) -> bool:
    """Give entries other texts, each where one stood.

    Args:
        source: the file.
        slots: the entries, in their order.
        texts: as many, or more: the last then follow the last entry.
        patch: receives the change.

    Returns:
        Whether anything changes.
    """
    last = len(slots) - 1
    changed = False
    for number, (span, text) in enumerate(zip(slots, texts, strict=False)):
        new = ", ".join(texts[last:]) if number == last else text
        if new == edited_text(source, span, patch):
            continue
        kept = patch.replacements.get(source.path, [])
        kept[:] = [e for e in kept if not _is_inside(e, span)]
        patch.replace(source.path, span.start_byte, span.end_byte, new)
        changed = True
    return changed


def reordered(names: Sequence[str], entries: Sequence[T], moved: Sequence[str], position: str) -> list[T] | None:
    """Entries in another order.

    Args:
        names: of the entries.
        entries: the entries.
        moved: the names of those that change their place.
        position: `first`, `last`, `before:NAME`, `after:NAME`, or `listed`: those of `moved` in the order given there.

    Returns:
        The new order; None where there is no such neighbour.
    """
    if position == "listed":
        return in_listed_order(names, entries, moved)
    moving = [e for n, e in zip(names, entries, strict=True) if n in moved]
    rest = [(n, e) for n, e in zip(names, entries, strict=True) if n not in moved]
    where, _, neighbour = position.partition(":")
    at = 0 if where == "first" else len(rest)
    if where in ("before", "after"):
        found = next((n for n, (name, _) in enumerate(rest) if name == neighbour), None)
        if found is None:
            return None
        at = found + (where == "after")
    others = [e for _, e in rest]
    return [*others[:at], *moving, *others[at:]]


def in_listed_order(names: Sequence[str], entries: Sequence[T], listed: Sequence[str]) -> list[T]:
    """Entries of which some stand in the order of a list, in the places that they had together.

    Args:
        names: of the entries.
        entries: the entries.
        listed: names of some of them.
    """
    by_name = dict(zip(names, entries, strict=True))
    following = iter([by_name[name] for name in listed if name in by_name])
    return [next(following) if name in listed else entry for name, entry in zip(names, entries, strict=True)]
