"""Size and complexity of functions in languages other than Python."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from repopilot.review.code import Code
from repopilot.review.rules.polyglot.parsed_source import LANGUAGES, ParsedSource, parse_source
from repopilot.review.rules.rule import Match, Rule

_MAX_COMPLEXITY, _HIGH_COMPLEXITY, _MAX_LINES = 15, 25, 120
_FUNCTIONS = frozenset(
    "function_declaration function_definition method_definition method_declaration function_item method "
    "constructor_declaration singleton_method generator_function_declaration".split()
)
_BRANCHES = frozenset(
    "if_statement if_expression if elsif unless for_statement for_in_statement while_statement do_statement "
    "case_statement enhanced_for_statement foreach_statement for_expression while_expression switch_case "
    "case_clause expression_case switch_label match_arm when_entry catch_clause catch_block rescue "
    "conditional_expression ternary_expression communication_case type_case switch_section".split()
)
_LOGICAL_OPERATORS = ("&&", "||", "and", "or")


def complexity(code: Code) -> Iterator[Match]:
    """Functions with a cyclomatic complexity above 15 (McCabe, "A Complexity Measure", 1976)."""
    source = parse_source(code)
    if source is None:
        return
    for function in source.of(*_FUNCTIONS):
        branches = 1 + _count_branches(function, source)
        if branches > _MAX_COMPLEXITY:
            yield Match(
                function.start_point.row + 1,
                {"name": _name(function, source), "count": branches},
                severity="high" if branches > _HIGH_COMPLEXITY else "medium",
            )


def long_functions(code: Code) -> Iterator[Match]:
    """Functions of more than 120 lines."""
    source = parse_source(code)
    if source is None:
        return
    for function in source.of(*_FUNCTIONS):
        lines = function.end_point.row - function.start_point.row + 1
        if lines > _MAX_LINES:
            yield Match(function.start_point.row + 1, {"name": _name(function, source), "count": lines})


def _name(function: Node, source: ParsedSource) -> str:
    name = function.child_by_field_name("name") or function.child_by_field_name("declarator")
    return source.text(name).partition("(")[0] or "this function"


def _count_branches(function: Node, source: ParsedSource) -> int:
    """Branches and logical operators of a function, without those of functions declared in it."""
    count, pending = 0, list(function.named_children)
    while pending:
        node = pending.pop()
        if node.type in _FUNCTIONS:
            continue
        count += node.type in _BRANCHES
        if node.type == "binary_expression":
            count += source.text(node.child_by_field_name("operator")) in _LOGICAL_OPERATORS
        pending += node.named_children
    return count


_CHOICES = "function f(x) {\n" + "  if (x > 1) { g(); }\n" * 17 + "}\n"

RULES = (
    Rule(
        id="complexity",
        key="rules.polyglot.complexity",
        domain="performance",
        severity="medium",
        languages=("javascript", *(name for name in LANGUAGES if name != "javascript")),
        find=complexity,
        bad=_CHOICES,
        good="function f(x) {\n  if (x > 1) { g(); }\n}\n",
        cwe=1121,
    ),
    Rule(
        id="long-function",
        key="rules.polyglot.long-function",
        domain="style",
        severity="low",
        languages=("javascript", *(name for name in LANGUAGES if name != "javascript")),
        find=long_functions,
        bad="function f(x) {\n" + "  g();\n" * 121 + "}\n",
        good="function f(x) {\n" + "  g();\n" * 12 + "}\n",
        cwe=1080,
    ),
)
