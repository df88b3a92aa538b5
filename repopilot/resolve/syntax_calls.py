"""What functions take and calls give, as their syntax shows it: where no type checker compares them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from repopilot.resolve.syntax_source import Declaration, SyntaxSource

_OPTIONAL = ("optional_parameter", "optional_parameter_declaration", "assignment_pattern", "self_parameter")
"""Parameters that a call may leave out; `self` of Rust is given where a method is called by its path."""
_MANY = re.compile(r"rest|variadic|spread|\.\.\.|^params$")


class Parameters(NamedTuple):
    """The types of a function's parameters, '' where none is written, and how many arguments it takes."""

    types: tuple[str, ...]
    least: int
    most: float

    def accepts(self, other: Parameters) -> bool:
        """Whether each call of a function with other parameters fits these."""
        same = self.types[: len(other.types)] == other.types
        return same and self.least <= other.least and self.most >= other.most


def parameters_of(source: SyntaxSource, declaration: Declaration) -> Parameters | None:
    """What a function takes; None for what is none, or doesn't show it.

    Args:
        source: its file.
        declaration: of its name.
    """
    node: Node | None = declaration.holder
    while node is not None and (given := node.child_by_field_name("parameters")) is None:
        node = node.child_by_field_name("value") or node.child_by_field_name("declarator")
    if node is None or given is None:
        return None
    types, least, most = [], 0, 0.0
    for each in _items(given):
        kind = re.sub(r"\s+", "", _type_in(source, each))
        if kind in ("void", "this"):
            continue
        count = max(1, len(each.children_by_field_name("name")))
        many = any(_MANY.search(part.type) for part in (each, *each.children))
        optional = many or each.type in _OPTIONAL or any(part.type in ("=", "?") for part in each.children)
        types += [kind] * count
        least += 0 if optional else count
        most = math.inf if many else most + count
    return Parameters(tuple(types), least, most)


def arguments_at(node: Node) -> tuple[bool, int | None]:
    """Whether a name is called where it stands, and with how many arguments; None where that can't be told.

    Args:
        node: the name.
    """
    child, parent = node, node.parent
    while parent is not None and (given := parent.child_by_field_name("arguments")) is None:
        if child != parent.named_children[-1]:
            return False, None
        child, parent = parent, parent.parent
    if parent is None or given is None or child.end_byte > given.start_byte:
        return False, None
    between = [each for each in parent.named_children if child.end_byte <= each.start_byte < given.start_byte]
    if any("type" not in each.type for each in between):
        return False, None
    items = list(_items(given))
    spread = any(_MANY.search(part.type) for part in (*given.children, *items))
    several = len(items) == 1 and "call" in items[0].type  # in Go it may give all arguments
    return True, None if spread or several else len(items)


def _items(node: Node) -> Iterator[Node]:
    return (each for each in node.named_children if "comment" not in each.type)


def _type_in(source: SyntaxSource, parameter: Node) -> str:
    """The type of a parameter, with what the declarator of C adds to it."""
    parts = [parameter.child_by_field_name(field) for field in ("type", "declarator", "pattern")]
    kind, declarator, pattern = (source.text_of(part) if part is not None else "" for part in parts)
    return "this" if pattern == "this" else kind + re.sub(r"\w+", "", declarator)
