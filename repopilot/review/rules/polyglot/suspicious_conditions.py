"""Conditions and branches of languages other than Python that can't mean what they say, and loops that compare every
pair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

from tree_sitter import Node

from repopilot.code.syntax import text_of
from repopilot.review.code import Code
from repopilot.types import Finding, Severity

_LOGICAL = ("&&", "||", "and", "or")
_BOUND = re.compile(r"^\(*\s*([\w.$\[\]()]*?[\w.$\])])\s*(>=|<=|>|<|===?)\s*(-?\d[\d_.]*)[lLfFdD]?\s*\)*$")
_ATTRIBUTES = re.compile(r"^(\w+)\.(\w+)\s*(<=?|>=?)\s*(\w+)\.(\w+)$")
_CHOICES = frozenset({"ternary_expression", "conditional_expression"})


def check(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """Findings about one node itself."""
    if node.type == "binary_expression" and _operator(node, data) in _LOGICAL:
        if node.parent is None or _operator(node.parent, data) != _operator(node, data):
            yield from _chain(node, code, data)
    elif node.type in ("binary_expression", "infix_expression"):
        yield from _same_operands(node, code, data)
        yield from _comparison(node, code, data)
    elif node.type in ("if_statement", "if_expression"):
        yield from _conditions(node, code, data)
        yield from _branches(node, code, data)
    elif node.type in ("switch_case", "switch_block_statement_group"):
        yield from _falls(node, code, data)
    elif node.type in _CHOICES:
        yield from _choices(node, code)
    elif node.type in ("for_statement", "enhanced_for_statement", "for_in_statement", "for_each_statement"):
        yield from _pairs(node, code, data)


def _found(code: Code, node: Node, severity: Severity, rule: str, message: str, domain: str = "style") -> Finding:
    return code.finding(node.start_point.row + 1, severity, domain, rule, message, "checks")


def _operator(node: Node, data: bytes) -> str:
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return text_of(operator, data) if operator is not None else ""


def _operands(node: Node, operator: str, data: bytes) -> Iterator[Node]:
    """a, b and c of `a && (b && c)`."""
    if _operator(node, data) == operator:
        for side in ("left", "right"):
            if (child := node.child_by_field_name(side)) is not None:
                yield from _operands(child, operator, data)
    elif node.type == "parenthesized_expression" and node.named_child_count == 1:
        yield from _operands(node.named_children[0], operator, data)
    else:
        yield node


def _plain(node: Node, data: bytes) -> str:
    return " ".join(text_of(node, data).split()).strip("() ") if node.named_child_count else text_of(node, data)


def _repeatable(text: str) -> bool:
    """Asking it twice gives the same: no calls but of getters without arguments."""
    return not re.sub(r"\b(get|is|has)\w*\(\)|\b(size|length|isEmpty|len)\(\w*\)", "", text).count("(")


def _chain(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """The same asked twice, what is always or never true, and a thing held against itself."""
    operator = _operator(node, data)
    parts = list(_operands(node, operator, data))
    texts = [_plain(p, data) for p in parts]
    twice = next((n for n, t in enumerate(texts) if t in texts[:n] and _repeatable(t) and len(t) > 1), None)
    if twice is not None:
        yield _found(code, parts[twice], "medium", "same-operands", "This is asked twice in one condition.")
    for one, other in combinations(texts, 2):
        if _clash(one, other, operator in ("&&", "and")):
            what = "can never be true" if operator in ("&&", "and") else "is always true"
            yield _found(code, node, "medium", "constant-condition", f"This {what}, whatever the value is.")
            return
    for (before, after), place in zip(pairwise(texts), parts[1:], strict=True):
        one, other = _ATTRIBUTES.match(before), _ATTRIBUTES.match(after)
        if (
            one
            and other
            and other[1] == other[4]
            and one[1] != one[4]
            and {one[2], one[5]} == {other[2], other[5]} != {one[2]}
        ):
            yield _found(
                code, place, "medium", "same-operands", "This compares a thing with itself, unlike the one before."
            )


def _clash(one: str, other: str, both: bool) -> bool:
    """`x != 1 || x != 2`, `x == 1 && x == 2`, `x > 5 && x < 3`."""
    equal = re.compile(r"^([\w.$]+)\s*(===?|!==?)\s*(['\"][^'\"]*['\"]|-?\d+|[A-Z]\w*\.[A-Z_]+)$")
    first, second = equal.match(one), equal.match(other)
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


def _same_operands(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or _operator(node, data) not in ("-", "/", "%", "<", ">", "<=", ">=", "^"):
        return
    text = text_of(left, data)
    if (
        text == text_of(right, data)
        and "(" not in text
        and not re.fullmatch(r"[\d.]+\w?", text)
        and "literal" not in left.type
    ):
        yield _found(code, node, "medium", "same-operands", "Both sides are the same.")


def _branches(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """An `else if` that an earlier bound leaves nothing for, and two branches that do the same."""
    then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
    if other is not None and other.type == "else_clause" and other.named_child_count == 1:
        other = other.named_children[0]
    if then is not None and other is not None and other.type == then.type:
        texts = ["".join(text_of(n, data).split()) for n in (then, other)]
        if texts[0] == texts[1] and len(texts[0]) > 4:
            yield _found(code, node, "medium", "same-branches", "Both branches do the same.")
    if node.parent is not None and node.parent.type in ("else_clause", "if_statement"):
        return
    seen: list[str] = []
    branch: Node | None = node
    while branch is not None:
        test = branch.child_by_field_name("condition")
        text = " ".join(text_of(test, data).split()) if test is not None else ""
        stated = branch.child_by_field_name("initializer") is None
        if stated and any(_covers(before, text) for before in seen):
            yield _found(code, branch, "medium", "repeated-condition", "An earlier condition covers this one already.")
        seen.append(text)
        after = branch.child_by_field_name("alternative")
        if after is not None and after.type == "else_clause":
            after = after.named_children[0] if after.named_child_count == 1 else None
        branch = after if after is not None and after.type == branch.type else None


def _covers(before: str, after: str) -> bool:
    """Every value that passes `after` has passed `before`: `x > 10`, then `x > 20 && y`. What is repeated word for word
    is found elsewhere."""
    if "&&" in before or "||" in after or ";" in before + after:
        return False
    conjuncts = [p.strip("() ") for p in after.split("&&")]
    if len(conjuncts) > 1 and before.strip("() ") in conjuncts and _repeatable(before):
        return True
    wide = _BOUND.match(before)
    for strict in filter(None, map(_BOUND.match, conjuncts)):
        if wide and wide[1] == strict[1] and wide[2] != strict[2] + "=" and wide[2][0] == strict[2][0] != "=":
            more = _number(strict) > _number(wide) if wide[2][0] == ">" else _number(strict) < _number(wide)
            if more or (_number(strict) == _number(wide) and len(wide[2]) >= len(strict[2]) and len(conjuncts) > 1):
                return True
    return False


def _falls(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """A case that does something and runs on into the next, with no word that it is meant."""
    after = node.next_named_sibling
    fields = [
        c for c in node.named_children if c.type not in ("switch_label", "comment", "line_comment", "block_comment")
    ]
    body = fields[1:] if node.type == "switch_case" else fields
    if after is None or not body or "fall" in (text_of(node, data) + text_of(after, data)[:80]).lower():
        return
    last = text_of(body[-1], data)
    if not re.search(r"\b(break|return|throw|continue|yield|exit)\b", last) and "comment" not in after.type:
        yield _found(
            code, after, "medium", "fall-through", "The case before runs on into this one; a break is missing."
        )


def _choices(node: Node, code: Code) -> Iterator[Finding]:
    """A choice within a choice on the same line; chains written one below the other can be read."""
    inner = [c for c in node.named_children if c.type in _CHOICES]
    outer = node.parent is not None and node.parent.type in _CHOICES
    if not outer and any(c.start_point.row == node.start_point.row for c in inner):
        yield _found(code, node, "low", "nested-ternary", "A choice within a choice; use if and else.")


def _pairs(inner: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """Two collections joined by comparing every pair: a loop in a loop whose only business is `if a.x == b.y`."""
    outer, body = inner.parent, inner.child_by_field_name("body")
    for _ in range(3):
        if outer is None or outer.type == inner.type or outer.type in ("for_in_statement", "enhanced_for_statement"):
            break
        outer = outer.parent
    if outer is None or outer.type not in (inner.type, "for_in_statement", "enhanced_for_statement") or body is None:
        return
    heads = [text_of(n, data).partition("{")[0] for n in (outer, inner)]
    over = [
        re.search(r"(\w+)\s*(?:of|:=\s*range|:)\s+(?:range\s+)?([\w.]+(?:\(\))?)\s*\)?\s*$", h.strip()) for h in heads
    ]
    if not all(over) or over[0][1] in over[1][2].split("."):  # type: ignore[index]
        return
    statements = [c for c in body.named_children if "comment" not in c.type]
    statements = (
        statements[0].named_children if len(statements) == 1 and statements[0].type == "statement_list" else statements
    )
    if len(statements) != 1 or statements[0].type != "if_statement":
        return
    test = statements[0].child_by_field_name("condition")
    a, b = re.escape(over[0][1]), re.escape(over[1][1])  # type: ignore[index]
    text = text_of(test, data) if test is not None else ""
    if re.search(
        rf"\b({a}\.[\w.()]+\s*===?\s*{b}\.|{b}\.[\w.()]+\s*===?\s*{a}\.|{a}\.[\w.()]+\.equals\(\s*{b}\.|{b}\.[\w.()]+\.equals\(\s*{a}\.)",
        text,
    ):
        yield _found(
            code,
            inner,
            "medium",
            "quadratic-join",
            "Every pair is compared; make a map of one side first.",
            "performance",
        )


def _conditions(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    """An assignment where a comparison is meant, and an `else if` that repeats a condition."""
    condition = node.child_by_field_name("condition")
    if condition is None:
        return
    inner = condition.named_children
    if condition.type == "parenthesized_expression" and len(inner) == 1 and _assigns_plainly(inner[0]):
        yield _found(code, node, "medium", "assignment-as-condition", "This assigns; a comparison was probably meant.")
    if node.parent is not None and node.parent.type in ("else_clause", "if_statement"):
        return
    seen: set[str] = set()
    branch: Node | None = node
    while branch is not None:
        test = branch.child_by_field_name("condition")
        text = " ".join(text_of(test, data).split()) if test is not None else ""
        stated = branch.child_by_field_name("initializer") is None  # Go: `else if err = f(); err != nil`
        if stated and text in seen and "(" not in text.strip("()"):
            yield _found(code, branch, "medium", "repeated-condition", "This condition was tested above already.")
        seen.add(text)
        branch = _else_if(branch)


def _assigns_plainly(node: Node) -> bool:
    """An assignment of something that isn't computed on the spot: `if (x = next())` is meant."""
    value = node.child_by_field_name("right") if node.type == "assignment_expression" else None
    return value is not None and "call" not in value.type and "invocation" not in value.type


def _else_if(node: Node) -> Node | None:
    after = node.child_by_field_name("alternative")
    if after is not None and after.type == "else_clause":
        after = after.named_children[0] if after.named_child_count == 1 else None
    return after if after is not None and after.type == node.type else None


def _comparison(node: Node, code: Code, data: bytes) -> Iterator[Finding]:
    operator = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if operator is None or left is None or right is None or text_of(operator, data) not in ("==", "!=", "===", "!=="):
        return
    if code.language == "java" and "string_literal" in (left.type, right.type):
        yield _found(code, node, "medium", "string-identity", "== compares identity; use equals.")
    same = text_of(left, data) == text_of(right, data)
    if (
        same
        and left.type in ("identifier", "member_expression", "field_access", "selector_expression")
        and code.language != "rust"
    ):
        yield _found(code, node, "medium", "self-comparison", "Both sides are the same.")
