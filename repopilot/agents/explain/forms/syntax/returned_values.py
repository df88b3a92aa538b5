"""What a function returns: its declared type and its return statements, in the syntax of several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.agents.explain.forms.syntax.syntax_nodes import ParsedFile, parents, walk

INNER = frozenset(
    "function_definition function_declaration arrow_function function_expression generator_function lambda "
    "lambda_expression function_item closure_expression func_literal method_definition method_declaration "
    "class_definition class_declaration decorated_definition block_lambda do_block method singleton_method".split()
)
"""Functions and classes: what is returned inside an inner one, the outer one doesn't return."""
_TYPE_FIELDS = ("return_type", "result", "type")
_NO_RESULTS = frozenset(("if", "unless", "while", "for", "case", "begin", "comment", "assignment"))


def returned(file: ParsedFile, function: Node) -> tuple[str, list[Node]]:
    """Read what a function returns.

    Args:
        file: its file.
        function: the node with its parameters.

    Returns:
        The declared type, '' without one; its return statements (or `yield`s) with a value, in order, and the last
        expression in the languages whose functions return it.
    """
    text = _declared(file, function)
    if function.type == "function_declarator":
        function = next((parent for parent, _ in parents(function) if parent.type == "function_definition"), function)
    body = function.child_by_field_name("body")
    return text, [] if body is None else list(_results(file, body))


def _declared(file: ParsedFile, function: Node) -> str:
    if function.type == "function_declarator":
        outer = next((parent for parent, _ in parents(function) if parent.type == "function_definition"), None)
        before = file.data[outer.start_byte : function.start_byte].decode("utf-8", "replace") if outer else ""
        return " ".join(re.sub(r"\b(?:static|inline|extern)\b", "", before).split())
    declared = next((n for f in _TYPE_FIELDS if (n := function.child_by_field_name(f)) is not None), None)
    return file.text(declared).lstrip(":-> ").strip() if declared is not None else ""


def _results(file: ParsedFile, body: Node) -> Iterator[Node]:
    kinds = ("return_statement", "return", "return_expression", "yield")
    found = [n for n in walk(body, INNER) if n.type in kinds and n.named_children]
    yield from found
    last = _tail(file, body)
    if last is not None and last.id not in {n.id for n in found}:
        yield last


def _tail(file: ParsedFile, body: Node) -> Node | None:
    """The last expression of a body, where it is the result and simple enough to be quoted."""
    if body.type not in ("block", "body_statement") and file.language in ("javascript", "typescript", "tsx"):
        return None if body.type == "statement_block" else body
    if file.language not in ("rust", "ruby") or not body.named_children:
        return None
    last = body.named_children[-1]
    ends = last.type.endswith(("_statement", "_declaration", "_item")) or last.type in _NO_RESULTS
    return None if ends else last
