"""The places in a syntax tree where one small change makes a fault, in the languages whose tests run here. Pure.

Places where a test would hardly notice a fault are left out: types, imports, attributes, docstrings, formatted strings,
messages of exceptions and logs, Rust's tests beside the code.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from tree_sitter import Node

from repopilot.code.languages import SCRIPTS
from repopilot.code.syntax import text_of

TYPED = ("rust", "go", "java")
MUTATED = ("python", *SCRIPTS, *TYPED)
RANK = ("return", "condition", "operator", "negation", "constant", "text", "statement", "loop")
"""Kinds of faults, those first that a test most likely notices."""
_OPPOSITE = {
    "<": ">=",
    ">": "<=",
    "<=": ">",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
    "&&": "||",
    "||": "&&",
    "and": "or",
    "or": "and",
    "??": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "//": "*",
    "%": "*",
    "**": "*",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "^": "&",
    "+=": "-=",
    "-=": "+=",
    "*=": "+=",
    "/=": "*=",
    "//=": "*=",
}
BOUNDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
"""For Python only, whose faults also judge tests: a test should check the bound."""
_OPERATIONS = frozenset(
    "binary_expression assignment_expression augmented_assignment_expression compound_assignment_expr binary_operator "
    "boolean_operator comparison_operator augmented_assignment".split()
)
_LEFT_OUT = frozenset(
    "import_statement import_declaration use_declaration attribute_item inner_attribute_item comment line_comment "
    "block_comment type_annotation type_arguments type_parameters interface_declaration type_alias_declaration "
    "type_declaration package_clause extern_crate_declaration macro_definition package_declaration annotation "
    "import_from_statement future_import_statement decorator type assert_statement parameters".split()
)
_CONDITIONAL = ("if_statement", "elif_clause", "if_expression", "ternary_expression", "conditional_expression")
_WHILE = frozenset(("while_statement", "while_expression", "loop_expression", "do_statement"))
_SAFE_IN_WHILE = frozenset(("return", "condition", "negation", "text"))
"""Kinds of faults used in a `while` loop, besides replaced relations; others may keep the loop from ending."""
_RELATIONS = frozenset(("<", "<=", ">", ">=", "==", "!=", "===", "!==", "is", "is not", "in", "not in"))
_TEXTS = frozenset(("string", "string_literal", "interpreted_string_literal", "template_string"))
_NUMBERS = frozenset(("number", "integer", "integer_literal", "int_literal", "decimal_integer_literal"))
_REMOVABLE = frozenset(
    "call call_expression method_invocation assignment_expression augmented_assignment_expression await_expression "
    "augmented_assignment await".split()
)
_LOGS = (
    *("console.", "println!", "eprintln!", "log.", "debug(", "log(", "fmt.Print", "System.out.", "logger.", "LOG."),
    *("logging.", "_log.", "_logger.", "LOGGER.", "warnings.", "print(", "warn("),
)
_UNSEEN_ARGUMENTS = ("stacklevel=", "timeout=", "encoding=", "errors=", "maxsize=")


class Site(NamedTuple):
    """One possible change: the bytes [start, end) of the source become `after`."""

    operator: str
    start: int
    end: int
    after: str


def sites(root: Node, data: bytes, language: str, lines: Collection[int] = ()) -> Iterator[Site]:
    """Every possible change at and below a node, grouped by node.

    Args:
        root: of a syntax tree of `data`.
        data: the text as UTF-8.
        language: one of `MUTATED`.
        lines: the 1-based lines on which a change may begin; empty for all.
    """
    ordered = sorted(lines)
    open_nodes = [(root, False)]
    while open_nodes:
        node, in_while = open_nodes.pop()
        first = node.start_point[0] + 1
        end = node.end_point[0] + 1
        at = bisect_left(ordered, first)
        if lines and (at == len(ordered) or ordered[at] > end):
            continue
        if _is_silent(node, data):
            continue
        if not lines or first in lines:
            found = (site for rule in _RULES for site in rule(node, data, language))
            yield from (
                site for site in found if not in_while or site.operator in _SAFE_IN_WHILE or site.after in _RELATIONS
            )
        if node.type != "raise_statement":
            inside = in_while or node.type in _WHILE
            open_nodes += [(child, inside) for child in reversed(node.children)]


def _is_silent(node: Node, data: bytes) -> bool:
    """Whether a test would not notice a fault in a node."""
    if node.type in _LEFT_OUT:
        return True
    if node.type == "mod_item":
        before = node.prev_named_sibling
        return before is not None and before.type == "attribute_item" and "test" in text_of(before, data)
    if node.type == "string":
        return _is_statement(node) or text_of(node, data)[:2].lower().startswith(("f", "rf"))
    if node.type == "if_statement":
        return "TYPE_CHECKING" in text_of(node.named_children[0], data)
    if node.type == "keyword_argument":
        return text_of(node, data).startswith(_UNSEEN_ARGUMENTS)
    if _is_statement(node):
        return text_of(node, data).startswith(_LOGS)
    return False


def _is_statement(node: Node) -> bool:
    """Whether an expression is a statement; Python's grammar puts no statement node around it."""
    return node.type == "expression_statement" or (node.parent is not None and node.parent.type in ("block", "module"))


def _returned(node: Node, data: bytes, language: str) -> Iterator[Site]:
    """The replacement of a returned value; none in typed languages, where it would need the value's type."""
    nothing = "None" if language == "python" else "undefined"
    value = None
    if node.type == "return_statement" and node.named_child_count:
        value = node.named_children[0]
    elif node.type == "arrow_function":
        value = node.child_by_field_name("body")
    if language not in TYPED and value is not None and value.type not in ("statement_block", "none"):
        yield Site("return", value.start_byte, value.end_byte, nothing)


def _condition(node: Node, data: bytes, language: str) -> Iterator[Site]:
    condition = node.child_by_field_name("condition")
    if node.type == "conditional_expression" and language == "python":  # the grammar gives its parts no field names
        condition = node.named_children[1]
    if node.type not in _CONDITIONAL or condition is None or condition.type in ("let_condition", "let_chain"):
        return
    written = text_of(condition, data)
    if language == "python":
        finer = condition.type == "comparison_operator" and condition.children[1].type in BOUNDS
        if finer or condition.type not in ("not_operator", "comparison_operator"):
            yield Site("condition", condition.start_byte, condition.end_byte, f"not ({written})")
    else:
        negated = f"(!{written})" if written.startswith("(") else f"!({written})"
        yield Site("condition", condition.start_byte, condition.end_byte, negated)


def _operator(node: Node, data: bytes, language: str) -> Iterator[Site]:
    for operator in node.children if node.type in _OPERATIONS else ():
        after = _OPPOSITE.get(operator.type, "")
        if after and node.children[0].type not in _TEXTS | {"concatenated_string"}:
            finer = BOUNDS.get(operator.type, after) if language == "python" else after
            yield Site("operator", operator.start_byte, operator.end_byte, finer)


def _negation(node: Node, data: bytes, language: str) -> Iterator[Site]:
    if node.type == "unary_expression" and node.children and node.children[0].type == "!":
        yield Site("negation", node.children[0].start_byte, node.children[0].end_byte, "")
    elif node.type == "not_operator":
        yield Site("negation", node.start_byte, node.end_byte, f"({text_of(node.named_children[-1], data)})")


def _literal(node: Node, data: bytes, language: str) -> Iterator[Site]:
    place = (node.start_byte, node.end_byte)
    if node.type in ("true", "false", "boolean_literal"):
        written = text_of(node, data)
        opposite = "false" if written.lower() == "true" else "true"
        yield Site("constant", *place, opposite.capitalize() if language == "python" else opposite)
    elif node.type in _NUMBERS and (written := text_of(node, data)).isdigit():
        yield Site("constant", *place, str(int(written[:30]) + 1))
        if language == "python":
            yield Site("constant", *place, str(int(written[:30]) - 1))
    elif node.type in _TEXTS and node.end_byte - node.start_byte >= 2 and not _is_required(node, data):
        begin = node.children[0].end_byte if node.type == "string" and node.children else node.start_byte + 1
        yield Site("text", begin, begin, "XX")


def _is_required(node: Node, data: bytes) -> bool:
    """Whether a text is the name of a module, or a directive such as 'use strict'."""
    parent = node.parent
    if parent is None or parent.type in ("expression_statement", "export_statement"):
        return True
    call = parent.parent if parent.type == "arguments" else None
    return call is not None and text_of(call, data).startswith(("require(", "import("))


def _statement(node: Node, data: bytes, language: str) -> Iterator[Site]:
    """The removal of a statement that defines no name."""
    inner = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
    alone = inner is not node or (language == "python" and _is_statement(node))
    target = inner.child_by_field_name("left") if inner.type == "assignment" else None
    stored = target is not None and target.type in ("attribute", "subscript")
    plain = node.type in ("raise_statement", "delete_statement")
    if not plain and not (alone and (stored or inner.type in _REMOVABLE)):
        return
    text = text_of(node, data)
    if plain or not text.startswith("super("):
        nothing = "pass" if language == "python" else ";" if text.endswith(";") else ""
        yield Site("statement", node.start_byte, node.end_byte, nothing)


def _loop(node: Node, data: bytes, language: str) -> Iterator[Site]:
    over = node.child_by_field_name("right") if node.type == "for_statement" and language == "python" else None
    if over is not None:
        yield Site("loop", over.start_byte, over.end_byte, "()")


_RULES: tuple[Callable[[Node, bytes, str], Iterator[Site]], ...] = (
    _returned,
    _condition,
    _operator,
    _negation,
    _literal,
    _statement,
    _loop,
)
