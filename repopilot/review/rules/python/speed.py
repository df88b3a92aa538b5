"""Needless work in Python that ruff has no rule for: repeated on every iteration of a loop, or growing out of hand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.loops import same_on_every_iteration, small
from repopilot.review.rules.python.tree import (
    LOOPS,
    PYTHON,
    Function,
    PythonTree,
    at,
    called,
    dotted,
    on_tree,
    own,
    parameters,
)
from repopilot.review.rules.rule import Match, Rule

_REDUCTIONS = frozenset({"max", "min", "sum", "sorted", "set", "list", "tuple", "frozenset"})
_MATCHES = re.compile(r"^re\.(compile|match|search|fullmatch|findall|sub|split|finditer)$")


_LOADED = frozenset({"readlines", "splitlines", "fetchall", "list", "sorted"})
_REMEMBERS = re.compile("memo|cache|seen|dp$|table")


def _repeated_work(tree: PythonTree) -> Iterator[Match]:
    """Patterns compiled, collections reduced or files opened again with the same values on every iteration."""
    for call in tree.of(ast.Call):
        loop = tree.loop(call)
        variant = _repeated(tree, call, loop) if loop is not None and not _is_raised(tree, call) else ""
        if variant:
            name = tree.called(call)
            yield at(call, variant, severity="medium" if variant != "pattern" else None, name=name)


def _is_raised(tree: PythonTree, call: ast.Call) -> bool:
    """Part of an error: the loop ends there."""
    return any(isinstance(above, ast.Raise) for above in tree.ancestors(call))


def _repeated(tree: PythonTree, call: ast.Call, loop: ast.AST) -> str:
    """Which kind of work is done again with the same values; '' for none."""
    if not call.args:
        return ""
    name = tree.called(call)
    if _compiles(tree, call, name):
        return "pattern"
    first = call.args[0]
    plain = isinstance(first, (ast.Name, ast.Constant)) and same_on_every_iteration(tree, _arguments(call), loop)
    if name == "open" and plain and not isinstance(loop, ast.While) and not _writes(call):
        return "file"
    return "reduction" if name in _REDUCTIONS and plain and _reduces(tree, call, loop) else ""


def _compiles(tree: PythonTree, call: ast.Call, name: str) -> bool:
    """A pattern that is compiled, or put together, from values that stay the same in one of the loops around."""
    first = call.args[0]
    if name == "re.compile":
        parts = _arguments(call)
    elif _MATCHES.match(name) and not isinstance(first, (ast.Constant, ast.Name, ast.Attribute)):
        parts = [first]
    else:
        return False
    loops = (loop for loop in tree.loops(call) if not (isinstance(loop, ast.For) and small(loop.iter)))
    return any(same_on_every_iteration(tree, parts, loop) for loop in loops)


def _writes(call: ast.Call) -> bool:
    modes = (a.value for a in _arguments(call)[1:] if isinstance(a, ast.Constant))
    return any(re.search("[awx+]", str(mode)) for mode in modes)


def _reduces(tree: PythonTree, call: ast.Call, loop: ast.AST) -> bool:
    """`max(xs)` on every iteration; not `for x in sorted(xs)`, which needs the result."""
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
        return False
    if not isinstance(loop, ast.For | ast.ListComp | ast.SetComp | ast.DictComp):
        return False
    above = tree.parents.get(call)
    iterated = isinstance(above, (*LOOPS, ast.comprehension)) and getattr(above, "iter", None) is call
    searched = called(call) not in ("list", "tuple") or isinstance(above, ast.Compare)
    return searched and not iterated


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords if not isinstance(k.value, ast.Lambda))]


def _slow_dataframes(tree: PythonTree) -> Iterator[Match]:
    """Rows of a data frame visited one by one, or frames concatenated in a loop."""
    for call in tree.of(ast.Call):
        if called(call).endswith(".iterrows"):
            yield at(call, "rows")
        elif tree.called(call) in ("pd.concat", "pandas.concat") and tree.loop(call) is not None:
            yield at(call, "concat")


def _repeated_sorts(tree: PythonTree) -> Iterator[Match]:
    """A list that grows in a loop and is sorted on every iteration."""
    for call in tree.of(ast.Call):
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "sort":
            continue
        loop = tree.loop(call)
        if loop is not None and _sorts_the_same(call.func, loop):
            yield at(call)


def _sorts_the_same(method: ast.Attribute, loop: ast.AST) -> bool:
    """Whether the list is older than the loop and grows in it."""
    owner = dotted(method.value)
    if not owner or (isinstance(loop, ast.For) and small(loop.iter)):
        return False
    stored = {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    growing = {f"{owner}.{name}" for name in ("append", "extend", "insert")}
    grows = any(isinstance(n, ast.Call) and called(n) in growing for n in ast.walk(loop))
    return grows and owner.partition(".")[0] not in stored


def _shifted_lists(tree: PythonTree) -> Iterator[Match]:
    """`xs.pop(0)` in a loop: every call moves all the other items."""
    for call in tree.of(ast.Call):
        owner, _, method = called(call).rpartition(".")
        zero = len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
        if method == "pop" and zero and tree.loop(call) is not None and _is_list(tree, call, owner):
            yield at(call, name=owner)


def _is_list(tree: PythonTree, node: ast.AST, name: str) -> bool:
    values = tree.assigned.get((tree.scope(node), name), [])
    return bool(values) and all(_makes_list(value) for value in values)


def _makes_list(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return called(value).rpartition(".")[2] in _LOADED
    return isinstance(value, (ast.List, ast.ListComp))


def _exponential_recursion(tree: PythonTree) -> Iterator[Match]:
    """Functions that call themselves twice on a little less of the same, without remembering results."""
    for function in tree.functions:
        if _remembers(function):
            continue
        names = [a.arg for a in parameters(function)]
        for statement in own(function):
            # a call whose result isn't used can't be cached, as in the towers of Hanoi
            if not isinstance(statement, (ast.Return, ast.Assign)):
                continue
            calls = [c for c in _own_calls(tree, function, statement) if any(_is_less(a, names) for a in c.args)]
            if len(calls) >= 2 and not _are_alternatives(tree, calls):
                yield at(calls[0], name=function.name)
                break


def _remembers(function: Function) -> bool:
    decorated = any("cache" in dotted(d) or "memo" in dotted(d) for d in function.decorator_list)
    return decorated or any(_REMEMBERS.search(n.id) for n in own(function) if isinstance(n, ast.Name))


def _own_calls(tree: PythonTree, function: Function, statement: ast.AST) -> list[ast.Call]:
    names = (function.name, f"self.{function.name}", f"cls.{function.name}")
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call) and called(n) in names]
    return [call for call in calls if not tree.loop(call)]


def _are_alternatives(tree: PythonTree, calls: list[ast.Call]) -> bool:
    """Whether the first two are the branches of one conditional expression, so that only one of them runs."""
    one, other = ([calls[n], *tree.ancestors(calls[n])] for n in (0, 1))
    return any(isinstance(c, ast.IfExp) and c.body in one and c.orelse in other for c in one)


def _is_less(node: ast.expr, names: list[str]) -> bool:
    """`n - 1`, `i + 1`, `xs[1:]`, for a parameter; not the halves of a division."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return isinstance(node.left, ast.Name) and node.left.id in names
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.value, ast.Name):
        bounds = [b for b in (node.slice.lower, node.slice.upper) if b is not None]
        fixed = bool(bounds) and all(isinstance(b, ast.Constant | ast.UnaryOp) for b in bounds)
        return node.value.id in names and fixed
    return False


RULES = (
    Rule(
        "repeated-work",
        "performance",
        "low",
        PYTHON,
        on_tree(_repeated_work),
        bad="def f(xs):\n    return [x / max(xs) for x in xs]\n",
        good="def f(xs):\n    largest = max(xs)\n    return [x / largest for x in sorted(xs)]\n",
    ),
    Rule(
        "slow-dataframe",
        "performance",
        "medium",
        PYTHON,
        on_tree(_slow_dataframes),
        bad="def f(df):\n    for _, row in df.iterrows():\n        g(row)\n",
        good="import pandas as pd\ndef f(frames):\n    return pd.concat(frames)['a'] * 2\n",
    ),
    Rule(
        "repeated-sort",
        "performance",
        "medium",
        PYTHON,
        on_tree(_repeated_sorts),
        bad="def f(heap, n):\n    while n:\n        heap.append(n)\n        heap.sort()\n        n = heap.pop()\n",
        good="def f(groups):\n    for group in groups:\n        group.append(1)\n        group.sort()\n",
    ),
    Rule(
        "shifted-list",
        "performance",
        "medium",
        PYTHON,
        on_tree(_shifted_lists),
        bad="def f(start):\n    queue = [start]\n    while queue:\n        queue.extend(queue.pop(0).children)\n",
        good="def f(start):\n    queue = deque([start])\n    while queue:\n"
        "        queue.extend(queue.popleft().children)\n",
    ),
    Rule(
        "exponential-recursion",
        "performance",
        "medium",
        PYTHON,
        on_tree(_exponential_recursion),
        bad="def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
        good="def sort(xs):\n    mid = len(xs) // 2\n    return merge(sort(xs[:mid]), sort(xs[mid:]))\n",
    ),
)
