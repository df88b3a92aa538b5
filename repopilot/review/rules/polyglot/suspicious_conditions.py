"""Conditions and branches of languages other than Python that can't mean what they say, found by comparing parts of a
chain with each other, which ast-grep's rules can't."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

from tree_sitter import Node

from repopilot.review.code import Code
from repopilot.review.rules.polyglot.parsed_source import ParsedSource, parse_source
from repopilot.review.rules.rule import Match, Rule

_AND = ("&&", "and")
_LOGICAL = (*_AND, "||", "or")
_IF = ("if_statement", "if_expression")
_BOUND = re.compile(r"^\(*\s*([\w.$\[\]()]*?[\w.$\])])\s*(>=|<=|>|<|===?)\s*(-?\d[\d_.]*)[lLfFdD]?\s*\)*$")
_EQUALITY = re.compile(r"^([\w.$]+)\s*(===?|!==?)\s*(['\"][^'\"]*['\"]|-?\d+|[A-Z]\w*\.[A-Z_]+)$")
_ATTRIBUTES = re.compile(r"^(\w+)\.(\w+)\s*(<=?|>=?)\s*(\w+)\.(\w+)$")
_GETTERS = re.compile(r"\b(get|is|has)\w*\(\)|\b(size|length|isEmpty|len)\(\w*\)")
_LOOPS = ("for_statement", "enhanced_for_statement", "for_in_statement", "for_each_statement")
_LOOP_HEAD = re.compile(r"(\w+)\s*(?:of|:=\s*range|:)\s+(?:range\s+)?([\w.]+(?:\(\))?)\s*\)?\s*$")


def repeated_operands(code: Code) -> Iterator[Match]:
    """A condition that asks the same twice, or compares a value with itself unlike its neighbour."""
    for source, node in _chains(code):
        parts, texts = _operands_of(node, source)
        twice = next((n for n, t in enumerate(texts) if t in texts[:n] and _is_repeatable(t) and len(t) > 1), None)
        if twice is not None:
            yield Match(parts[twice].start_point.row + 1, variant="twice")
        for (before, after), place in zip(pairwise(texts), parts[1:], strict=True):
            if _compares_with_itself(before, after):
                yield Match(place.start_point.row + 1, variant="itself")


def constant_conditions(code: Code) -> Iterator[Match]:
    """Conditions that are always or never true: `x != 1 || x != 2`, `x > 5 && x < 3`."""
    for source, node in _chains(code):
        both = _operator(node, source) in _AND
        if any(_contradict(one, other, both) for one, other in combinations(_operands_of(node, source)[1], 2)):
            yield Match(node.start_point.row + 1, variant="never" if both else "always")


def repeated_conditions(code: Code) -> Iterator[Match]:
    """An `else if` whose condition is that of an earlier branch, or is covered by it."""
    source = parse_source(code)
    if source is None:
        return
    for node in source.of(*_IF):
        if node.parent is not None and node.parent.type in ("else_clause", "if_statement"):
            continue
        seen: list[str] = []
        branch: Node | None = node
        while branch is not None:
            text = " ".join(source.text(branch.child_by_field_name("condition")).split())
            if branch.child_by_field_name("initializer") is None and _was_tested(text, seen):
                yield Match(branch.start_point.row + 1)
            seen.append(text)
            branch = _else_if(branch)


def same_branches(code: Code) -> Iterator[Match]:
    """An `if` that does the same as its `else`."""
    source = parse_source(code)
    if source is None:
        return
    for node in source.of(*_IF):
        then, other = node.child_by_field_name("consequence"), _alternative(node)
        if then is not None and other is not None and other.type == then.type:
            texts = [" ".join(source.text(branch).split()) for branch in (then, other)]
            if texts[0] == texts[1] and len(texts[0]) > 4:
                yield Match(node.start_point.row + 1)


def pairwise_loops(code: Code) -> Iterator[Match]:
    """Two collections joined by comparing every pair: a loop in a loop that only asks `if a.x == b.y`."""
    source = parse_source(code)
    if source is None:
        return
    for inner in source.of(*_LOOPS):
        if (outer := _outer_loop(inner)) is not None and _only_compares(outer, inner, source):
            yield Match(inner.start_point.row + 1)


def _chains(code: Code) -> Iterator[tuple[ParsedSource, Node]]:
    """The outermost node of every chain of one logical operator."""
    source = parse_source(code)
    if source is None:
        return
    for node in source.of("binary_expression"):
        operator = _operator(node, source)
        if operator in _LOGICAL and (node.parent is None or _operator(node.parent, source) != operator):
            yield source, node


def _operator(node: Node, source: ParsedSource) -> str:
    return source.text(node.child_by_field_name("operator")) if node.type == "binary_expression" else ""


def _operands_of(node: Node, source: ParsedSource) -> tuple[list[Node], list[str]]:
    parts = list(_operands(node, _operator(node, source), source))
    return parts, [" ".join(source.text(part).split()) for part in parts]


def _operands(node: Node, operator: str, source: ParsedSource) -> Iterator[Node]:
    """a, b and c of `a && (b && c)`."""
    if _operator(node, source) == operator:
        for side in ("left", "right"):
            if (child := node.child_by_field_name(side)) is not None:
                yield from _operands(child, operator, source)
    elif node.type == "parenthesized_expression" and node.named_child_count == 1:
        yield from _operands(node.named_children[0], operator, source)
    else:
        yield node


def _is_repeatable(text: str) -> bool:
    """Asking it twice gives the same: it calls nothing but getters without arguments."""
    return "(" not in _GETTERS.sub("", text)


def _compares_with_itself(before: str, after: str) -> bool:
    """`a.low <= b.high && b.low <= b.high`."""
    one, other = _ATTRIBUTES.match(before), _ATTRIBUTES.match(after)
    return bool(
        one
        and other
        and other[1] == other[4]
        and one[1] != one[4]
        and {one[2], one[5]} == {other[2], other[5]} != {one[2]}
    )


def _contradict(one: str, other: str, both: bool) -> bool:
    first, second = _EQUALITY.match(one), _EQUALITY.match(other)
    if first and second and first[1] == second[1] and first[3] != second[3]:
        return all(m[2].startswith("==" if both else "!") for m in (first, second))
    low, high = _BOUND.match(one), _BOUND.match(other)
    if not (low and high and low[1] == high[1] and {low[2][0], high[2][0]} == {"<", ">"}):
        return False
    if low[2][0] == "<":
        low, high = high, low
    return _number(low) > _number(high) if both else _number(low) < _number(high)


def _number(match: re.Match[str]) -> float:
    return float(match[3].replace("_", "").rstrip("."))


def _was_tested(text: str, seen: list[str]) -> bool:
    return (text in seen and "(" not in text.strip("()")) or any(_covers(before, text) for before in seen)


def _covers(before: str, after: str) -> bool:
    """Every value that passes `after` has passed `before`: `x > 10`, then `x > 20 && y`."""
    if "&&" in before or "||" in after or ";" in before + after:
        return False
    conjuncts = [part.strip("() ") for part in after.split("&&")]
    if len(conjuncts) > 1 and before.strip("() ") in conjuncts and _is_repeatable(before.strip("() ")):
        return True
    wide = _BOUND.match(before)
    return wide is not None and any(
        _is_narrower(wide, strict, len(conjuncts) > 1) for strict in map(_BOUND.match, conjuncts) if strict
    )


def _is_narrower(wide: re.Match[str], strict: re.Match[str], more_conditions: bool) -> bool:
    """Whether one bound leaves nothing for another of the same value and direction."""
    if wide[1] != strict[1] or wide[2] == strict[2] + "=" or not wide[2][0] == strict[2][0] != "=":
        return False
    if _number(strict) == _number(wide):
        return len(wide[2]) >= len(strict[2]) and more_conditions
    return (_number(strict) > _number(wide)) == (wide[2][0] == ">")


def _alternative(node: Node) -> Node | None:
    """What an `if` does otherwise, without the `else` around it."""
    other = node.child_by_field_name("alternative")
    if other is not None and other.type == "else_clause":
        return other.named_children[0] if other.named_child_count == 1 else None
    return other


def _else_if(node: Node) -> Node | None:
    after = _alternative(node)
    return after if after is not None and after.type == node.type else None


def _outer_loop(inner: Node) -> Node | None:
    """The loop around another, with at most its block and its statement between."""
    outer = inner.parent
    for _ in range(3):
        if outer is None or outer.type in (inner.type, "for_in_statement", "enhanced_for_statement"):
            return outer
        outer = outer.parent
    return outer if outer is not None and outer.type in (inner.type, *_LOOPS[1:3]) else None


def _only_compares(outer: Node, inner: Node, source: ParsedSource) -> bool:
    heads = [_LOOP_HEAD.search(source.text(loop).partition("{")[0].strip()) for loop in (outer, inner)]
    body = inner.child_by_field_name("body")
    if body is None or heads[0] is None or heads[1] is None or heads[0][1] in heads[1][2].split("."):
        return False
    statements = [c for c in body.named_children if "comment" not in c.type]
    if len(statements) == 1 and statements[0].type == "statement_list":
        statements = statements[0].named_children
    if len(statements) != 1 or statements[0].type != "if_statement":
        return False
    test = source.text(statements[0].child_by_field_name("condition"))
    a, b = re.escape(heads[0][1]), re.escape(heads[1][1])
    sides = rf"{a}\.[\w.()]+\s*===?\s*{b}\.|{b}\.[\w.()]+\s*===?\s*{a}\."
    return bool(re.search(rf"\b({sides}|{a}\.[\w.()]+\.equals\(\s*{b}\.|{b}\.[\w.()]+\.equals\(\s*{a}\.)", test))


_BRACES = ("javascript", "typescript", "tsx", "java", "go", "c", "cpp", "csharp", "rust", "kotlin", "scala", "php")

RULES = (
    Rule(
        id="same-operands",
        key="rules.polyglot.repeated-operands",
        domain="style",
        severity="medium",
        languages=_BRACES,
        find=repeated_operands,
        bad="function f(a) {\n  return a.ok && a.ok;\n}\n",
        good="function f(done) {\n  done && done();\n}\n",
        cwe=1025,
    ),
    Rule(
        id="constant-condition",
        key="rules.polyglot.constant-condition",
        domain="style",
        severity="medium",
        languages=_BRACES,
        find=constant_conditions,
        bad="function f(s) {\n  return s !== 'a' || s !== 'b';\n}\n",
        good="function f(s) {\n  return s !== 'a' && s !== 'b';\n}\n",
        cwe=571,
    ),
    Rule(
        id="repeated-condition",
        key="rules.polyglot.repeated-condition",
        domain="style",
        severity="medium",
        languages=_BRACES,
        find=repeated_conditions,
        bad="function f(n) {\n  if (n > 10) {\n    g();\n  } else if (n > 100) {\n    h();\n  }\n}\n",
        good="function f(n) {\n  if (n > 100) {\n    g();\n  } else if (n > 10) {\n    h();\n  }\n}\n",
    ),
    Rule(
        id="same-branches",
        key="rules.polyglot.same-branches",
        domain="style",
        severity="medium",
        languages=_BRACES,
        find=same_branches,
        bad="function f(a) {\n  if (a) {\n    g(a);\n  } else {\n    g(a);\n  }\n}\n",
        good="function f(a) {\n  if (a) {\n    g('-');\n  } else {\n    g('- ');\n  }\n}\n",
    ),
    Rule(
        id="quadratic-join",
        key="rules.polyglot.pairwise-loops",
        domain="performance",
        severity="medium",
        languages=("javascript", "typescript", "tsx", "go", "java"),
        find=pairwise_loops,
        bad="for (const o of os) {\n  for (const u of us) {\n    if (u.id === o.userId) {\n      g(u);\n    }\n"
        "  }\n}\n",
        good="for (const o of os) {\n  g(byId.get(o.userId));\n}\n",
    ),
)
