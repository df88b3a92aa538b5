"""Needless work in Python that ruff has no rule for: the same done again in every turn of a loop, every pair compared,
calls that multiply."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from repopilot.review.rules.python.loops import over, same_every_turn, small, targets
from repopilot.review.rules.python.tree import (
    LOOPS,
    Function,
    PythonTree,
    blocks,
    called,
    dotted,
    names_in,
    own,
    parameters,
)
from repopilot.types import Finding

_WHOLE = frozenset({"max", "min", "sum", "sorted", "set", "list", "tuple", "frozenset"})
_CONNECTS = re.compile(
    r"^(sqlite3\.connect|psycopg2?\.connect|pymysql\.connect|sqlalchemy\.create_engine|create_engine|redis\.(Redis|from_url)|"
    r"boto3\.(client|resource)|httpx\.Client|requests\.Session|smtplib\.SMTP(_SSL)?|pymongo\.MongoClient|MongoClient|"
    r"paramiko\.SSHClient)$"
)
_MATCHES = re.compile(r"^re\.(compile|match|search|fullmatch|findall|sub|split|finditer)$")


def speed(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_repeated, _nested_loops, _index_pairs, _partners, _recursion, _counted_lines, _filled_dicts):
        yield from check(tree)


def _repeated(tree: PythonTree) -> Iterator[Finding]:
    for call in tree.of(ast.Call):
        loop = tree.loop(call)
        if called(call).endswith(".iterrows"):
            yield tree.finding(call, "medium", "performance", "slow-dataframe", "iterrows; work on whole columns.")
        if loop is None:
            continue
        name, method = tree.called(call), called(call).rpartition(".")[2]
        if what := _again(tree, call, name, loop):
            severity = "medium" if name in _WHOLE or name == "open" else "low"
            yield tree.finding(call, severity, "performance", "repeated-work",
                               f"{what} in every turn of the loop; do it once before.")  # fmt: skip
        elif name in ("pd.concat", "pandas.concat"):
            yield tree.finding(call, "medium", "performance", "slow-dataframe",
                               f"`{name}` in a loop; work on whole columns.")  # fmt: skip
        elif _CONNECTS.match(name) and isinstance(loop, ast.For) and same_every_turn(tree, _arguments(call), loop):
            yield tree.finding(call, "medium", "performance", "connection-in-loop",
                               f"`{name}` connects anew in every turn of the loop; do it once before.")  # fmt: skip
        elif method == "sort" and _sorts_the_same(tree, call, loop):
            yield tree.finding(call, "medium", "performance", "repeated-sort",
                               "The list is sorted in every turn; a heap or bisect keeps the order.")  # fmt: skip


def _again(tree: PythonTree, call: ast.Call, name: str, loop: ast.AST) -> str:
    """What is done again with the same values, in words; '' if it isn't."""
    arguments = _arguments(call)
    first = call.args[0] if call.args else None
    if first is None:
        return ""
    if name == "re.compile" or (
        _MATCHES.match(name) and not isinstance(first, (ast.Constant, ast.Name, ast.Attribute))
    ):
        some = arguments if name == "re.compile" else [first]
        again = any(same_every_turn(tree, some, around) for around in _all_loops(tree, call))
        return "The same pattern is compiled" if again else ""
    plain = isinstance(first, (ast.Name, ast.Constant)) and same_every_turn(tree, arguments, loop)
    if name == "copy.deepcopy":
        return "The same value is copied" if plain else ""
    if name == "open":
        writes = any(isinstance(a, ast.Constant) and re.search("[awx+]", str(a.value)) for a in arguments[1:])
        return "The same file is opened" if plain and not writes and not isinstance(loop, ast.While) else ""
    if name in _WHOLE and len(call.args) == 1 and isinstance(loop, ast.For | ast.ListComp | ast.SetComp | ast.DictComp):
        taken = name not in ("list", "tuple") or isinstance(tree.parents.get(call), ast.Compare)
        if plain and isinstance(first, ast.Name) and taken and not _is_iterated(tree, call):
            return f"The same values go through `{name}`"
    return ""


def _all_loops(tree: PythonTree, call: ast.Call) -> list[ast.AST]:
    return [loop for loop in tree.loops(call) if not (isinstance(loop, ast.For) and small(loop.iter))]


def _is_iterated(tree: PythonTree, call: ast.Call) -> bool:
    """`for y in sorted(xs)` inside a loop goes over it anyway."""
    above = tree.parents.get(call)
    return isinstance(above, (*LOOPS, ast.comprehension)) and getattr(above, "iter", None) is call


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords if not isinstance(k.value, ast.Lambda))]


def _sorts_the_same(tree: PythonTree, call: ast.Call, loop: ast.AST) -> bool:
    """A list that is older than the loop and grows in it."""
    owner = dotted(call.func).rpartition(".")[0]
    head = owner.partition(".")[0]
    if isinstance(loop, ast.For) and small(loop.iter):
        return False
    stored = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    grows = any(isinstance(n, ast.Call) and called(n) in (f"{owner}.append", f"{owner}.extend", f"{owner}.insert")
                for n in ast.walk(loop))  # fmt: skip
    return bool(owner) and head not in stored and grows


def _nested_loops(tree: PythonTree) -> Iterator[Finding]:
    """Two collections joined by comparing every pair, in loops or in a comprehension."""
    message = "Every pair is compared; index one side by its key in a dict first."
    for inner in tree.of(ast.For):
        outer = tree.loop(inner)
        tests = [s.test for s in inner.body if isinstance(s, ast.If)]
        plain = all(isinstance(s, (ast.If, ast.Expr, ast.Assign)) for s in inner.body) and len(inner.body) <= 2
        if isinstance(outer, ast.For) and len(tests) == 1 and plain and _joins(inner, inner.target, outer, tests):
            yield tree.finding(inner, "medium", "performance", "quadratic-join", message)
    for node in tree.of(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp):
        for before, after in zip(node.generators, node.generators[1:], strict=False):
            if _joins(after, after.target, before, after.ifs):
                yield tree.finding(node, "medium", "performance", "quadratic-join", message)


def _joins(inner: ast.For | ast.comprehension, target: ast.expr, outer: ast.AST, tests: list[ast.expr]) -> bool:
    """A field of the one compared with a field of the other, over collections that don't depend on each other."""
    sources = [inner.iter, outer.iter]  # type: ignore[attr-defined]
    if any(small(i) or not isinstance(i, (ast.Name, ast.Attribute)) for i in sources):
        return False
    outer_names, inner_names = targets(outer) or names_in(outer.target), names_in(target)  # type: ignore[attr-defined]
    if names_in(inner.iter) & outer_names:
        return False
    for test in (n for t in tests for n in ast.walk(t)):
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            left, right = names_in(test.left), names_in(test.comparators[0])
            if (left & inner_names and right & outer_names) or (left & outer_names and right & inner_names):
                return True
    return False


def _index_pairs(tree: PythonTree) -> Iterator[Finding]:
    """`xs[i] == xs[j]` for all i and j."""
    for inner in tree.of(ast.For):
        outer = tree.loop(inner)
        if not isinstance(outer, ast.For) or not all(ast.unparse(f.iter).startswith("range(") for f in (inner, outer)):
            continue
        for test in (
            n for s in inner.body if isinstance(s, ast.If) for n in ast.walk(s.test) if isinstance(n, ast.Compare)
        ):
            sides = [test.left, test.comparators[0]]
            alike = all(isinstance(s, ast.Subscript) for s in sides) and dotted(sides[0]) == dotted(sides[1]) != ""
            if alike and isinstance(test.ops[0], ast.Eq) and f"len({dotted(sides[0])})" in ast.unparse(inner.iter):
                yield tree.finding(
                    inner,
                    "medium",
                    "performance",
                    "quadratic-join",
                    "Every pair is compared; a set or a dict of what was seen finds equals at once.",
                )
                break


def _partners(tree: PythonTree) -> Iterator[Finding]:
    """`next(b for b in others if b.id == a.id)` and the like, for every `a` of a loop."""
    for node in tree.of(ast.GeneratorExp, ast.ListComp):
        loop = tree.loop(node)
        if not isinstance(loop, ast.For | ast.ListComp | ast.DictComp) or len(node.generators) != 1:
            continue
        only = node.generators[0]
        made = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        single = isinstance(node, ast.ListComp) or (
            isinstance(above := tree.parents.get(node), ast.Call)
            and called(above) in ("next", "list", "sum", "len", "any")
        )
        if (
            single
            and over(loop)
            and not small(over(loop)[0])
            and isinstance(only.iter, ast.Name)
            and _joins_with(node, loop)
            and only.iter.id not in made
        ):
            yield tree.finding(node, "medium", "performance", "quadratic-join",
                               "All of it is searched in every turn; index it by its key in a dict first.")  # fmt: skip


def _joins_with(node: ast.GeneratorExp | ast.ListComp, loop: ast.AST) -> bool:
    """A field of the one compared with a field of the other, as the condition or as what any() is asked."""
    inner = node.generators[0]
    outer_names, inner_names = targets(loop), names_in(inner.target)
    for test in (*inner.ifs, node.elt):
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            sides = [names_in(test.left), names_in(test.comparators[0])]
            if any(a & inner_names and b & outer_names for a, b in (sides, sides[::-1])):
                return True
    return False


def _recursion(tree: PythonTree) -> Iterator[Finding]:
    """Functions that call themselves twice on a little less of the same, without remembering."""
    for function in tree.functions:
        remembers = any("cache" in dotted(d) or "memo" in dotted(d) for d in function.decorator_list) or any(
            re.search("memo|cache|seen|dp$|table", n.id) for n in own(function) if isinstance(n, ast.Name))  # fmt: skip
        if remembers:
            continue
        names = [a.arg for a in parameters(function)]
        for statement in _statements(function):
            calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)
                     and called(n) in (function.name, f"self.{function.name}", f"cls.{function.name}")
                     and not tree.loop(n) and any(_less(a, names) for a in n.args)]  # fmt: skip
            if len(calls) >= 2 and not _either(tree, calls):
                yield tree.finding(
                    calls[0],
                    "medium",
                    "performance",
                    "exponential-recursion",
                    f"{function.name} calls itself twice and remembers nothing: exponential.",
                )
                break


def _statements(function: Function) -> Iterator[ast.stmt]:
    """Statements whose value is used: what is only done twice, as in the towers of Hanoi, has to be done."""
    return (n for n in own(function) if isinstance(n, (ast.Return, ast.Assign)))


def _either(tree: PythonTree, calls: list[ast.Call]) -> bool:
    """Only one of them happens: they are the two sides of a choice."""
    one, other = ([calls[n], *tree.ancestors(calls[n])] for n in (0, 1))
    return any(isinstance(c, ast.IfExp) and c.body in one and c.orelse in other for c in one)


def _less(node: ast.expr, names: list[str]) -> bool:
    """`n - 1`, `i + 1`, `xs[1:]`, for a parameter; not the halves of a division."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return isinstance(node.left, ast.Name) and node.left.id in names
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.value, ast.Name):
        bounds = [b for b in (node.slice.lower, node.slice.upper) if b is not None]
        return node.value.id in names and bool(bounds) and all(
            isinstance(b, ast.Constant | ast.UnaryOp) for b in bounds)  # fmt: skip
    return False


def _counted_lines(tree: PythonTree) -> Iterator[Finding]:
    """A whole file read to count its lines."""
    for call in tree.of(ast.Call):
        if (
            called(call) == "len"
            and call.args
            and re.search(
                r"\.readlines\(\)$|\.read\(\)\.(split|splitlines)\([^)]*\)$|\.read_text\([^)]*\)\.(split|splitlines)\([^)]*\)$",
                ast.unparse(call.args[0]),
            )
        ):
            yield tree.finding(call, "low", "performance", "count-by-loading",
                               "The whole file is read only to be counted; count line by line.")  # fmt: skip


def _filled_dicts(tree: PythonTree) -> Iterator[Finding]:
    """`d = {}`, and right after it a loop that only sets `d[key] = value`."""
    for block in blocks(tree):
        for before, loop in pairwise(block):
            if not (isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(before.value, ast.Dict)):
                continue
            target = before.targets[0] if isinstance(before, ast.Assign) else before.target
            only = loop.body[0] if isinstance(loop, ast.For) and len(loop.body) == 1 and not loop.orelse else None
            name = target.id if isinstance(target, ast.Name) and not before.value.keys else ""
            if name and isinstance(only, ast.Assign) and isinstance(only.targets[0], ast.Subscript):
                plain = dotted(only.targets[0].value) == name and name not in names_in(only.value) | names_in(
                    only.targets[0].slice
                )
                if (
                    plain
                    and isinstance(only.targets[0].value, ast.Name)
                    and not any(isinstance(n, ast.Await | ast.Yield) for n in ast.walk(only))
                ):
                    yield tree.finding(only, "low", "performance", "dict-filled",
                                       "A dict comprehension does this in one step, and faster.")  # fmt: skip
