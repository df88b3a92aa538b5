"""Mutants of changed lines in JavaScript, TypeScript, Rust and Go: texts with one deliberate fault each. Pure.

They serve as a control of a test run: a fault in what was changed must turn a test red. So the faults are coarse, those
first that a test is most likely to notice, and places are left out where a fault is never seen: types, imports,
attributes, Rust's tests beside the code.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from tree_sitter import Node

from repopilot.code.languages import language_of
from repopilot.code.mutation.mutants import Mutant
from repopilot.code.mutation.operators import Site
from repopilot.code.syntax import parse, text_of

_TYPED = ("rust", "go", "java")
MUTATED = ("javascript", "typescript", "tsx", "jsx", *_TYPED)
_PARSE_S = 2.0
_MOST_SITES = 400
_OPPOSITE = {
    "<": ">=",
    ">": "<=",
    "<=": ">",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "&&": "||",
    "||": "&&",
    "??": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "+=": "-=",
    "-=": "+=",
}
_NOTHING = "undefined"
_RANK = ("return", "condition", "operator", "negation", "constant", "text", "statement")
_LEFT_OUT = frozenset(
    "import_statement import_declaration use_declaration attribute_item inner_attribute_item comment line_comment "
    "block_comment type_annotation type_arguments type_parameters interface_declaration type_alias_declaration "
    "type_declaration package_clause extern_crate_declaration macro_definition package_declaration annotation".split()
)
_TEXTS = {"string", "string_literal", "interpreted_string_literal", "template_string"}
_NUMBERS = {"number", "integer_literal", "int_literal", "decimal_integer_literal"}
_LOGS = ("console.", "println!", "eprintln!", "log.", "debug(", "log(", "fmt.Print", "System.out.", "logger.", "LOG.")


def changed_lines(before: str, after: str) -> frozenset[int]:
    """The 1-based lines of a text that differ from an older one; beside removed lines those around them."""
    old, new = before.splitlines(), after.splitlines()
    found: set[int] = set()
    for kind, _, _, first, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "delete":
            found |= {first, first + 1}
        elif kind != "equal":
            found |= set(range(first + 1, end + 1))
    return frozenset(line for line in found if 1 <= line <= len(new))


def syntax_mutants(source: str, path: str, lines: Collection[int], most: int) -> tuple[Mutant, ...]:
    """Make mutants of some lines.

    Args:
        source: the text of a file.
        path: its path, which tells the language.
        lines: 1-based, where faults may begin.
        most: how many at most.

    Returns:
        Those first that are most likely to be noticed, lines taken in turn. Each parses as well as the source. Empty
        for a language that isn't known here.
    """
    language = language_of(path) or ""
    data = source.encode()
    tree = parse(data, language, _PARSE_S) if language in MUTATED else None
    if tree is None:
        return ()
    wanted = frozenset(lines)
    sites = _sites(tree.root_node, data, wanted)
    found = islice((each for each in sites if language not in _TYPED or each.after != _NOTHING), _MOST_SITES)
    starts = [0, *(number + 1 for number, byte in enumerate(data) if byte == 10)]
    ordered = sorted(found, key=lambda site: (_RANK.index(site.operator), site.start))
    made: list[Mutant] = []
    for site in _in_turn(ordered, lambda site: bisect_right(starts, site.start)):
        text = data[: site.start] + site.after.encode() + data[site.end :]
        if len(made) < most and text != data and _parses_as_well(text, language, broken=tree.root_node.has_error):
            before = data[site.start : site.end].decode("utf-8", "replace")
            line = bisect_right(starts, site.start)
            made.append(Mutant(site.operator, line, before, site.after, text.decode("utf-8", "replace")))
    return tuple(made)


def _in_turn(sites: list[Site], line_of: Callable[[Site], int]) -> Iterator[Site]:
    """The sites, each line once before any is taken again."""
    taken: Counter[int] = Counter()
    rounds = []
    for site in sites:
        rounds.append((taken[line_of(site)], site))
        taken[line_of(site)] += 1
    yield from (site for _, site in sorted(rounds, key=lambda pair: pair[0]))


def _sites(root: Node, data: bytes, lines: frozenset[int]) -> Iterator[Site]:
    last = max(lines, default=0)
    open_nodes = [root]
    while open_nodes:
        node = open_nodes.pop()
        first, end = node.start_point[0] + 1, node.end_point[0] + 1
        if node.type in _LEFT_OUT or first > last or not any(first <= line <= end for line in lines):
            continue
        if node.type == "mod_item" and _is_test_module(node, data):
            continue
        if first in lines:
            yield from _sites_of(node, data)
        open_nodes += reversed(node.children)


def _is_test_module(node: Node, data: bytes) -> bool:
    before = node.prev_named_sibling
    return before is not None and before.type == "attribute_item" and "test" in text_of(before, data)


def _sites_of(node: Node, data: bytes) -> Iterator[Site]:
    for rule in (_returned, _condition, _operator, _negation, _literal, _statement):
        yield from rule(node, data)


def _returned(node: Node, data: bytes) -> Iterator[Site]:
    """What takes the place of a value, which would have to be of its type elsewhere than in JavaScript."""
    if node.type == "return_statement" and node.named_child_count and node.named_children[0].type != "expression_list":
        value = node.named_children[0]
        yield Site("return", value.start_byte, value.end_byte, _NOTHING)
    elif node.type == "arrow_function":
        body = node.child_by_field_name("body")
        if body is not None and body.type != "statement_block":
            yield Site("return", body.start_byte, body.end_byte, _NOTHING)


def _condition(node: Node, data: bytes) -> Iterator[Site]:
    condition = node.child_by_field_name("condition")
    if node.type not in ("if_statement", "if_expression", "ternary_expression") or condition is None:
        return
    if condition.type not in ("let_condition", "let_chain"):
        yield Site("condition", condition.start_byte, condition.end_byte, _negated(text_of(condition, data)))


def _negated(condition: str) -> str:
    return f"(!{condition})" if condition.startswith("(") else f"!({condition})"


def _operator(node: Node, data: bytes) -> Iterator[Site]:
    if node.type not in (
        "binary_expression",
        "assignment_expression",
        "augmented_assignment_expression",
        "compound_assignment_expr",
    ):
        return
    operator = node.child_by_field_name("operator")
    if operator is not None and (after := _OPPOSITE.get(operator.type)):
        yield Site("operator", operator.start_byte, operator.end_byte, after)


def _negation(node: Node, data: bytes) -> Iterator[Site]:
    if node.type == "unary_expression" and node.children and node.children[0].type == "!":
        yield Site("negation", node.children[0].start_byte, node.children[0].end_byte, "")


def _literal(node: Node, data: bytes) -> Iterator[Site]:
    text = text_of(node, data)
    if node.type in ("true", "false") or (node.type == "boolean_literal"):
        yield Site("constant", node.start_byte, node.end_byte, "false" if text == "true" else "true")
    elif node.type in _NUMBERS and text.isdigit():
        yield Site("constant", node.start_byte, node.end_byte, str(int(text[:30]) + 1))
    elif node.type in _TEXTS and len(text) >= 2 and node.parent is not None and not _is_required(node, data):
        yield Site("text", node.start_byte, node.end_byte, f"{text[0]}XX{text[1:]}")


def _is_required(node: Node, data: bytes) -> bool:
    """Whether a text is the name of a module, or a directive such as 'use strict'."""
    parent = node.parent
    if parent is None or parent.type in ("expression_statement", "export_statement"):
        return True
    call = parent.parent if parent.type == "arguments" else None
    return call is not None and text_of(call, data).startswith(("require(", "import("))


def _statement(node: Node, data: bytes) -> Iterator[Site]:
    if node.type != "expression_statement" or not node.named_children:
        return
    inner, text = node.named_children[0], text_of(node, data)
    removable = (
        "call_expression",
        "method_invocation",
        "assignment_expression",
        "augmented_assignment_expression",
        "await_expression",
    )
    if inner.type in removable and not text.startswith((*_LOGS, "super(")):
        yield Site("statement", node.start_byte, node.end_byte, ";" if text.endswith(";") else "")


def _parses_as_well(data: bytes, language: str, *, broken: bool) -> bool:
    tree = parse(data, language, _PARSE_S)
    return tree is not None and (broken or not tree.root_node.has_error)
