"""The value that an expression falls back to: `2` of `options.offset || 2`, `10` of `environ.get("SIZE", 10)`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import SourceText, word_pattern

_LITERALS = frozenset(
    "string integer float true false none number null undefined integer_literal float_literal string_literal "
    "boolean_literal template_string int_literal interpreted_string_literal raw_string_literal".split()
)
_SUPPLIED = frozenset(
    "identifier attribute member_expression subscript subscript_expression call call_expression".split()
)
"""What may be missing, so that something else stands in for it."""
_OR = frozenset(("||", "??", "or"))
_GETTERS = re.compile(
    r"(?:^|[.:])(?:get|getenv|pop|getattr|unwrap_or|getOrDefault|setdefault|set_default|SetDefault|setDefault)$"
)
_SETTINGS = re.compile(r"(?:^|[._])(?:env|config|setting|option)s?(?:[._](?!get)\w+)?$", re.I)
"""A function of the project that reads a setting by its key: `env("LEVEL", str, "DEBUG")`, `config("SIZE", default=3)`.
"""
_CONVERSIONS = frozenset(("int", "float", "str", "bool", "Number", "String", "parseInt", "parseFloat"))


def fallback_of(source: SourceText, node: Node) -> Node:
    """The literal that an expression has where nothing else gives the value; the node itself where it has none.

    Args:
        source: the file.
        node: an expression that is assigned.
    """
    found = _fallback(source, node)
    return found if found is not None and found.type in _LITERALS else node


def keyed_fallbacks(source: SourceText, key: str) -> Iterator[Node]:
    """The literals that calls give to a key that is missing: `config.setdefault("SIZE", 10)`.

    Args:
        source: the file.
        key: a text, which is the first argument.
    """
    if source.root is None:
        return
    for match in word_pattern(key).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span())
        while node is not None and not node.type.startswith("argument"):
            node = node.parent if node.end_byte - node.start_byte <= len(match[0]) + 2 else None
        first = node.named_child(0) if node is not None else None
        call = node.parent if node is not None else None
        if first is None or call is None or source.slice(first).strip("\"'`") != key or first.type == "identifier":
            continue
        value = fallback_of(source, call)
        if value.id != call.id:
            yield value


def _fallback(source: SourceText, node: Node) -> Node | None:
    if node.type in ("boolean_operator", "binary_expression"):
        return _of_alternatives(source, node)
    if node.type in ("conditional_expression", "ternary_expression"):
        return _of_condition(source, node)
    if node.type in ("call", "call_expression"):
        return _of_call(source, node)
    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return _fallback(source, node.named_children[0])
    return None


def _of_alternatives(source: SourceText, node: Node) -> Node | None:
    """The last of `a || b || 2`, where the others are looked up."""
    operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
    if operator is None or source.slice(operator) not in _OR:
        return None
    left = node.child_by_field_name("left")
    while left is not None and left.type in ("boolean_operator", "binary_expression"):
        inner, between = left.child_by_field_name("right"), left.child_by_field_name("operator")
        if inner is None or between is None or source.slice(between) not in _OR or inner.type not in _SUPPLIED:
            return None
        left = left.child_by_field_name("left")
    return right if left is not None and left.type in _SUPPLIED else None


def _of_condition(source: SourceText, node: Node) -> Node | None:
    """The literal of `x if x is not None else 2`, where the condition is about the other branch."""
    parts = node.named_children
    if len(parts) != 3:
        return None
    first, second, third = parts
    condition, branches = (
        (second, (first, third)) if node.type == "conditional_expression" else (first, (second, third))
    )
    literals = [b for b in branches if b.type in _LITERALS]
    others = [b for b in branches if b.type in _SUPPLIED]
    if len(literals) != 1 or len(others) != 1 or source.slice(others[0]) not in source.slice(condition):
        return None
    return literals[0]


def _of_call(source: SourceText, node: Node) -> Node | None:
    """The default of `environ.get("SIZE", 10)`, also where it is converted: `int(environ.get("SIZE", "10"))`."""
    function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    arguments = [a for a in listed.named_children if a.type != "comment"] if listed is not None else []
    if function is None or not arguments:
        return None
    name = source.slice(function)
    if name in _CONVERSIONS:
        return _fallback(source, arguments[0])
    if _SETTINGS.search(name) and arguments[0].type in ("string", "string_literal"):
        return _default_argument(source, arguments)
    least = 1 if name.endswith("unwrap_or") else 3 if name == "getattr" else 2
    return arguments[-1] if _GETTERS.search(name) and len(arguments) == least else None


def _default_argument(source: SourceText, arguments: Sequence[Node]) -> Node | None:
    """The default that a function for settings is given: by its name, else behind the key."""
    named = [a for a in arguments if a.type == "keyword_argument"]
    for argument in named:
        name = argument.child_by_field_name("name")
        if name is not None and source.slice(name) == "default":
            return argument.child_by_field_name("value")
    is_flag = re.match(r"\W?-", source.slice(arguments[0])) is not None  # `option("-t", "--timeout")`: two names
    return arguments[-1] if len(arguments) > 1 and not named and not is_flag else None
