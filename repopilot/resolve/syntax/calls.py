"""The parameters of functions and arguments of calls by their syntax, for where no type checker compares them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from repopilot.code.brackets import split_outside
from repopilot.resolve.syntax.syntax_source import SyntaxSource

_OPTIONAL = ("optional_parameter", "optional_parameter_declaration", "assignment_pattern", "self_parameter")
"""Parameters that a call may leave out; `self` of Rust is given where a method is called by its path."""
_MANY = re.compile(r"rest|variadic|spread|\.\.\.|^params$")
_EVERYTHING = ("any", "unknown")
"""Types that take every value, in the languages that have them."""


class Parameters(NamedTuple):
    """The types of a function's parameters, '' where none is written, and how many arguments it takes."""

    types: tuple[str, ...]
    least: int
    most: float

    def accepts(self, other: Parameters) -> bool:
        """Whether each call of a function with other parameters fits these."""
        taken = zip(self.types, other.types, strict=False)
        fit = len(self.types) >= len(other.types) and all(_takes(own, old) for own, old in taken)
        return fit and self.least <= other.least and self.most >= other.most


def _takes(own: str, other: str) -> bool:
    """Whether a type accepts all values of another, by their texts: it is equal, accepts everything, or is a union with
    all of the other's members."""
    members = set(_members(own))
    return own == other or not members.isdisjoint(_EVERYTHING) or set(_members(other)) <= members


def _members(kind: str) -> Iterator[str]:
    """The members of a union type, which are separated by bars outside of brackets."""
    return split_outside(kind.removeprefix(":").replace("=>", "\0"), "|", "([{<", ")]}>")


def parameters_of(source: SyntaxSource, holder: Node) -> Parameters | None:
    """The parameters of a function; None where it isn't a function, or doesn't show them.

    Args:
        source: its file.
        holder: its declaration, or its type.
    """
    node: Node | None = holder
    while node is not None and (given := node.child_by_field_name("parameters")) is None:
        node = node.child_by_field_name("value") or node.child_by_field_name("declarator")
    if node is None or given is None:
        return None
    types = []
    least = 0
    most = 0.0
    for each in items_of(given):
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
    child = node
    parent = node.parent
    while parent is not None and (given := parent.child_by_field_name("arguments")) is None:
        if child != parent.named_children[-1]:
            return False, None
        child = parent
        parent = parent.parent
    if parent is None or given is None or child.end_byte > given.start_byte:
        return False, None
    between = [each for each in parent.named_children if child.end_byte <= each.start_byte < given.start_byte]
    if any("type" not in each.type for each in between):
        return False, None
    items = items_of(given)
    spread = any(_MANY.search(part.type) for part in (*given.children, *items))
    several = len(items) == 1 and "call" in items[0].type  # in Go, one call may supply all arguments
    return True, None if spread or several else len(items)


def items_of(node: Node) -> list[Node]:
    """What a list of parameters, arguments or types holds, without its comments."""
    return [each for each in node.named_children if "comment" not in each.type]


def _type_in(source: SyntaxSource, parameter: Node) -> str:
    """The type of a parameter, with what the declarator of C adds to it."""
    parts = [parameter.child_by_field_name(field) for field in ("type", "declarator", "pattern")]
    kind, declarator, pattern = map(source.text_of, parts)
    return "this" if pattern == "this" else kind + re.sub(r"\w+", "", declarator)
