"""Python's `__all__`: reading it, adding names and removing them."""

from __future__ import annotations

from tree_sitter import Node

from repopilot.agents.editing.exact.entries import added_entry, removed_spans, sorted_position
from repopilot.agents.editing.exact.members import in_quotes_of, unwrapped
from repopilot.agents.editing.exact.python.string_values import string_content
from repopilot.agents.editing.exact.sources import Patch, SourceText

_LISTS = ("list", "tuple")


def export_list(source: SourceText) -> Node | None:
    """The list or tuple of `__all__` that names can be added to; of several that are put together the last."""
    found = None
    for statement in source.root.named_children if source.root is not None else ():
        inner = unwrapped(statement)
        if inner.type not in ("assignment", "augmented_assignment"):
            continue
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        if left is not None and right is not None and source.slice(left) == "__all__":
            found = _literal(right) or found
    return found


def _literal(value: Node) -> Node | None:
    """The last list of an expression that adds lists up."""
    if value.type in _LISTS:
        return value
    if value.type == "parenthesized_expression":
        inner = value.named_child(0)
        return _literal(inner) if inner is not None else None
    if value.type == "binary_operator":
        sides = (value.child_by_field_name("right"), value.child_by_field_name("left"))
        return next((found for side in sides if side is not None and (found := _literal(side)) is not None), None)
    return None


def exported_names(source: SourceText, listed: Node) -> list[str]:
    """The names in a list of exports."""
    return [string_content(source, entry) for entry in listed.named_children if entry.type == "string"]


def add_export(source: SourceText, name: str, patch: Patch) -> bool:
    """Add a name to `__all__`, in its order where it has one.

    Args:
        source: the file.
        name: the name.
        patch: receives the change.

    Returns:
        Whether it had to be added; False where the file has no such list, or the list has the name.
    """
    listed = export_list(source)
    if listed is None or name in exported_names(source, listed):
        return False
    entries = [c for c in listed.named_children if c.type != "comment"]
    at = sorted_position([source.slice(e).strip("\"'") for e in entries], name, fewest=2)
    text = in_quotes_of(f'"{name}"', [source.slice(e) for e in entries])
    start, end, new = added_entry(source.data, listed, entries, at, text)
    patch.replace(source.path, start, end, new)
    return True


def remove_export(source: SourceText, name: str, patch: Patch) -> bool:
    """Remove a name from `__all__`; whether it was there."""
    listed = export_list(source)
    entries = [c for c in listed.named_children if c.type != "comment"] if listed is not None else []
    gone = {n for n, e in enumerate(entries) if e.type == "string" and string_content(source, e) == name}
    if listed is None or not gone:
        return False
    lone = listed.type == "tuple" and len(entries) - len(gone) == 1
    for start, end in removed_spans(source.data, entries, gone):
        keeps_comma = lone and len(entries) - 1 in gone and source.data[start:end].lstrip().startswith(b",")
        patch.replace(source.path, start, end, "," if keeps_comma else "")
    return True
