"""Shapes of code that are faults in most languages: swallowed errors, SQL from pieces, dead code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from repopilot.code.syntax import text_of
from repopilot.review.code import Code
from repopilot.types import Finding, Severity

_LOOPS = frozenset(
    "for_statement for_in_statement while_statement do_statement enhanced_for_statement foreach_statement "
    "for_expression while_expression loop_expression repeat_while_statement for while until do_while_statement "
    "for_each_statement for_range_loop".split()
)
_FUNCTIONS = frozenset(
    "function_declaration function_definition method_definition method_declaration function_item arrow_function "
    "function_expression generator_function_declaration func_literal lambda_expression lambda_literal "
    "anonymous_function constructor_declaration method singleton_method local_function_statement "
    "closure_expression block do_block".split()
)
_NAMED = frozenset(
    "function_declaration function_definition method_definition method_declaration function_item method "
    "constructor_declaration singleton_method generator_function_declaration".split()
)
_REPEATING = re.compile(
    r"\.(map|filter|every|reduce|forEach|flatMap|each|each_with_index|ForEach|Select|foreach|for_each|collect)$"
)
_BRANCHES = frozenset(
    "if_statement if_expression if elsif unless for_statement for_in_statement while_statement do_statement "
    "case_statement enhanced_for_statement foreach_statement for_expression while_expression switch_case "
    "case_clause expression_case switch_label match_arm when_entry catch_clause catch_block rescue "
    "conditional_expression ternary_expression communication_case type_case switch_section".split()
)
_CATCHES = frozenset("catch_clause catch_block rescue".split())
_BODIES = frozenset("statement_block block compound_statement statements then".split())
_BLOCKS = frozenset("statement_block block compound_statement statement_list body_statement".split())
_ENDS = frozenset("return_statement throw_statement break_statement continue_statement return break next".split())
_HOISTED = frozenset(
    "function_declaration comment line_comment block_comment labeled_statement class_declaration rescue ensure "
    "else local_function_statement case_statement".split()
)
_SQL = re.compile(
    r"^[\"'`@$frR#\s(]*(select\s[^;]{0,400}?\sfrom\s|insert\s+into\s|update\s+[\w.\"`]+\s+set\s|delete\s+from\s)",
    re.I | re.S,
)
_STRINGS = re.compile(r"string|encapsed")
_COMPLEX, _TANGLED, _LONG = 15, 25, 120
_GROWS = re.compile(r"^\s*(\w+)\s*(?:\+=|=\s*\1\s*\+)\s*.*")


def is_loop(node: Node, language: str, data: bytes) -> bool:
    return node.type in _LOOPS and not (language == "swift" and node.type == "do_statement")


def is_function(node: Node) -> bool:
    """A function of its own; blocks count only as Ruby's, which follow a call."""
    if node.type in ("block", "do_block"):
        return node.parent is not None and node.parent.type == "call"
    return node.type in _FUNCTIONS


def is_named(node: Node) -> bool:
    """A function with a name of its own, or the value of a constant."""
    parent = node.parent
    return node.type in _NAMED or (
        parent is not None
        and parent.type in ("variable_declarator", "pair", "assignment_expression", "public_field_definition")
    )


def name_of(node: Node, data: bytes) -> str:
    """The name of a function, also that of the constant it is the value of; '' without one."""
    name = node.child_by_field_name("name")
    if name is None and node.parent is not None and is_function(node):
        name = node.parent.child_by_field_name("name") or node.parent.child_by_field_name("key")
    return text_of(name, data) if name is not None else ""


def is_callback(node: Node, data: bytes) -> bool:
    """A function written as an argument of a call runs where the call stands."""
    parent = node.parent
    return parent is not None and parent.type in ("arguments", "argument_list", "argument", "value_argument", "call")


def is_repeating_call(node: Node, data: bytes) -> bool:
    """`xs.map(…)` and the like: what they are given runs once for each item."""
    if node.type not in ("call_expression", "method_invocation", "call", "invocation_expression"):
        return False
    head = data[node.start_byte : min(node.end_byte, node.start_byte + 200)].decode("utf-8", "replace")
    return bool(_REPEATING.search(re.split(r"[({]|\sdo\b", head, maxsplit=1)[0].rstrip()))


def check(node: Node, loops: int, code: Code, data: bytes) -> Iterator[Finding]:
    """Findings about one node itself."""
    kind = node.type
    if kind in _CATCHES and _is_empty(node):
        yield _found(code, node, "medium", "style", "empty-catch", "The error is swallowed here without a trace.")
    elif kind in _NAMED:
        yield from _function(node, code, data)
    elif _STRINGS.search(kind) or kind == "template_string":
        yield from _sql(node, code, data)
    if kind in _BLOCKS:
        yield from _unreachable(node, code)
    if loops:
        yield from _in_loop(node, code, data)


def _found(code: Code, node: Node, severity: Severity, domain: str, rule: str, message: str) -> Finding:
    return code.finding(node.start_point.row + 1, severity, domain, rule, message, "checks")


def _is_empty(catch: Node) -> bool:
    """No statement and no comment that would say why not."""
    if any("comment" in child.type for child in catch.named_children):
        return False
    body = catch.child_by_field_name("body") or next((c for c in catch.named_children if c.type in _BODIES), None)
    if body is None:
        return catch.type in ("rescue", "catch_block")
    return body.named_child_count == 0


def _function(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    name_node = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    name = text_of(name_node, data).partition("(")[0] if name_node else "this function"
    branches = 1 + _branches(node, data)
    if branches > _COMPLEX:
        severity: Severity = "high" if branches > _TANGLED else "medium"
        yield _found(
            code, node, severity, "performance", "complexity", f"{name} has a cyclomatic complexity of {branches}."
        )
    length = node.end_point.row - node.start_point.row + 1
    if length > _LONG:
        yield _found(code, node, "low", "style", "long-function", f"{name} has {length} lines.")


def _branches(function: Node, data: bytes) -> int:
    count, pending = 0, list(function.named_children)
    while pending:
        node = pending.pop()
        if node.type in _NAMED:
            continue
        count += node.type in _BRANCHES
        if node.type == "binary_expression":
            operator = node.child_by_field_name("operator")
            count += operator is not None and text_of(operator, data) in ("&&", "||", "and", "or")
        pending += node.named_children
    return count


def _sql(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """A statement in a string that other values are put into."""
    text = data[node.start_byte : min(node.end_byte, node.start_byte + 2000)].decode("utf-8", "replace")
    if not _SQL.match(text):
        return
    inside = [c for c in node.named_children if "interpol" in c.type or "substitution" in c.type or c.type in (
        "variable_name", "subscript_expression", "member_access_expression")]  # fmt: skip
    joined = _joined(node, data)
    formatted = re.search(r"%[svdq]|\{\d*\}", text) and _is_formatted(node, data)
    if any(not _constant(text_of(c, data)) for c in inside) or joined or formatted:
        yield _found(code, node, "high", "security", "sql-concatenation",
                     "An SQL statement is put together from pieces; pass the values as parameters.")  # fmt: skip


def _joined(node: Node, data: bytes) -> bool:
    """The string is joined to something that is not constant."""
    top = node
    while top.parent is not None and top.parent.type in (
        "binary_expression",
        "infix_expression",
        "binary",
        "additive_expression",
    ):
        top = top.parent
    if top is node:
        return False
    pending, names = list(top.named_children), []
    while pending:
        part = pending.pop()
        if _STRINGS.search(part.type):
            continue
        if not part.named_children:
            names.append(text_of(part, data))
        pending += part.named_children
    operator = text_of(top, data)
    return ("+" in operator or " . " in operator or '".' in operator) and any(not _constant(n) for n in names)


def _constant(text: str) -> bool:
    return bool(re.fullmatch(r"[${#}\s]*[A-Z][A-Z0-9_.]*[}\s]*|[\d\s+.*-]+|", text)) or text == "+"


def _is_formatted(node: Node, data: bytes) -> bool:
    """An argument of a formatting function."""
    above = node.parent
    for _ in range(3):
        if above is None:
            return False
        head = data[above.start_byte : above.start_byte + 40].decode("utf-8", "replace")
        if re.match(r"(fmt\.Sprintf|fmt\.Fprintf|String\.format|string\.Format|format!|sprintf|util\.format)\b", head):
            return True
        above = above.parent
    return False


def _unreachable(block: Node, code: Code) -> Iterator[Finding]:
    children = block.named_children
    for before, after in pairwise(children):
        if before.type not in _ENDS or after.type in _HOISTED or "comment" in after.type or before.has_error:
            continue
        if (
            after.type in ("lexical_declaration", "variable_declaration")
            or before.start_point.row == after.start_point.row
        ):
            continue
        yield _found(code, after, "medium", "style", "unreachable", "This line can never be reached.")
        return


def _in_loop(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    if node.type == "defer_statement":
        yield _found(
            code, node, "medium", "performance", "defer-in-loop", "Deferred calls pile up until the function ends."
        )
    elif node.type == "await_expression" and code.language in ("javascript", "typescript", "tsx"):
        if _needs_no_turn(node, data):
            yield _found(code, node, "low", "performance", "await-in-loop",
                         "One after the other; Promise.all waits for all at once.")  # fmt: skip
    elif node.type in ("assignment_expression", "assignment_statement") and code.language in ("java", "csharp", "go"):
        grown = _GROWS.match(text_of(node, data)[:200])
        if grown and re.search(rf'(String|string|var)\s+{grown[1]}\s*=\s*"|{grown[1]}\s*:=\s*"', _before(node, data)):
            yield _found(code, node, "medium", "performance", "growing-string",
                         f"`{grown[1]}` is copied in every turn of the loop; use a builder.")  # fmt: skip


def _needs_no_turn(node: Node, data: bytes) -> bool:
    """An await of a loop over things, about the thing of this turn, where no turn ends the loop or tries again."""
    loop = node.parent
    while loop is not None and loop.type not in _LOOPS:
        if loop.type in ("arrow_function", "function_expression"):
            return False  # given to a call, which may run them all at once
        loop = loop.parent
    if loop is None or loop.type not in ("for_in_statement", "for_statement"):
        return False
    head, _, body = text_of(loop, data).partition("{")
    names = re.findall(r"(?:const|let|var)\s+[\[{]?([\w\s,:]+?)[\]}]?\s*(?:=|of|in)\b|(?:const|let|var)\s+(\w+)", head)
    own = {n for pair in names for part in pair for n in re.findall(r"\w+", part)}
    used = set(re.findall(r"\w+", text_of(node, data)))
    fixed = re.search(
        r"\b(break|return|sleep|delay|setTimeout|retry|attempt\w*|transaction|lock|cursor|page|throttle)\b", body
    )
    kept = re.search(r"(?<![.\w])(\w+)\s*=\s*await\b", re.sub(r"\b(const|let|var)\s+[^=]*=\s*await", "", body))
    derived = used & own or any(re.search(rf"\b{re.escape(n)}\b", text_of(node, data)) for n in own)
    return bool(derived) and not fixed and not kept and "for await" not in head


def _before(node: Node, data: bytes) -> str:
    """The text of the function up to a node."""
    above = node.parent
    while above is not None and above.type not in _NAMED:
        above = above.parent
    return data[above.start_byte if above else 0 : node.start_byte].decode("utf-8", "replace")
