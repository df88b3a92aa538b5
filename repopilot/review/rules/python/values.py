"""Values in Python that are lost, and functions that were copied: results discarded, variables overwritten."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from repopilot.review.rules.python.tree import (
    FUNCTIONS,
    PYTHON,
    Function,
    PythonTree,
    at,
    blocks,
    called,
    dotted,
    names_in,
    on_tree,
    text_of,
)
from repopilot.review.rules.rule import Match, Rule

# Not `split`, `encode` or `len`: other objects have methods of these names that act, and a call may check something.
_TEXT_METHODS = frozenset(
    "replace strip lstrip rstrip upper lower title capitalize casefold swapcase removeprefix removesuffix zfill "
    "startswith endswith isdigit isalpha splitlines partition rpartition".split()
)
_NO_ARGUMENTS = frozenset("upper lower title capitalize casefold swapcase isdigit isalpha splitlines".split())
_SET_METHODS = frozenset("union intersection difference symmetric_difference issubset issuperset".split())
_FRAME_METHODS = frozenset(
    "dropna fillna drop rename sort_values reset_index set_index drop_duplicates astype sort_index".split()
)
_FUNCTIONS = frozenset("sorted reversed set tuple round abs min max sum isinstance zip map filter enumerate".split())
_FILES = re.compile(r"path|file|folder|dir|(^|\.)os$|shutil|tmp|temp|target|dest|source|src", re.I)
_BODY_NODES = 14


def _discarded_results(tree: PythonTree) -> Iterator[Match]:
    """`text.strip()` as a statement, which has no other effect than its result."""
    frames = any(n.name == "pandas" for node in tree.of(ast.Import) for n in node.names)
    for node in tree.of(ast.Expr):
        call = node.value
        if not isinstance(call, ast.Call) or any(isinstance(a, (ast.Try, ast.With)) for a in tree.ancestors(node)):
            continue
        if _pure_call(call, frames):
            yield at(node, name=called(call))


def _pure_call(call: ast.Call, frames: bool) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in _FUNCTIONS and bool(call.args)
    if not isinstance(call.func, ast.Attribute):
        return False
    method, owner = call.func.attr, dotted(call.func.value)
    if any(k.arg in ("inplace", None) for k in call.keywords):
        return False
    if method in _TEXT_METHODS:
        count = len(call.args)
        texts = any(text_of(a) is not None for a in call.args)
        fits = count == 2 and texts if method == "replace" else count == 0 if method in _NO_ARGUMENTS else count <= 2
        return fits and not _FILES.search(owner) and not call.keywords
    if method in ("join", "format"):
        return text_of(call.func.value) is not None
    if method in _FRAME_METHODS:
        return frames and bool(re.search(r"(^|_)(df|frame|data|table)\w*$", owner))
    return method in _SET_METHODS and len(call.args) == 1 and not call.keywords


def _overwritten_values(tree: PythonTree) -> Iterator[Match]:
    """A variable set twice in a row, the first value never read."""
    for block in blocks(tree):
        for before, after in pairwise(block):
            if not (isinstance(before, ast.Assign) and isinstance(after, ast.Assign)):
                continue
            name = dotted(before.targets[0])
            same = [dotted(t) for t in before.targets] == [dotted(t) for t in after.targets]
            targets = [*before.targets, *after.targets]
            plain = len(targets) == 2 and all(isinstance(t, ast.Name) for t in targets) and name != "_"
            if same and plain and name not in names_in(after.value) and not _reads_all(after.value):
                yield at(before, name=name)


def _reads_all(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) and called(n) in ("locals", "vars", "eval", "exec") for n in ast.walk(node))


def _copied_functions(tree: PythonTree) -> Iterator[Match]:
    """Two functions of the same file that do exactly the same."""
    bodies: dict[str, Function] = {}
    for function in tree.functions:
        body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        size = sum(1 for s in body for n in ast.walk(s) if not isinstance(n, ast.expr_context))
        if size < _BODY_NODES or function.decorator_list or isinstance(tree.parents.get(function), FUNCTIONS):
            continue
        key = ast.dump(ast.Module(body, [])) + ast.dump(function.args)
        first = bodies.setdefault(key, function)
        sibling = tree.parents.get(first) is tree.parents.get(function)
        if first is not function and sibling and first.name != function.name:
            yield at(function, name=function.name, original=first.name)


RULES = (
    Rule(
        "discarded-result",
        "style",
        "medium",
        PYTHON,
        on_tree(_discarded_results),
        bad="def f(s):\n    s.strip()\n    return s\n",
        good="def f(thread, path, other):\n    thread.join()\n    path.replace(other)\n",
        cwe=252,
    ),
    Rule(
        "overwritten-value",
        "style",
        "low",
        PYTHON,
        on_tree(_overwritten_values),
        bad="def f(a):\n    total = sum(a)\n    total = len(a)\n    return total\n",
        good="def f(x):\n    x = x.strip()\n    x = x.lower()\n    return x\n",
        cwe=563,
    ),
    Rule(
        "copied-function",
        "style",
        "low",
        PYTHON,
        on_tree(_copied_functions),
        bad="def a(x):\n    y = x * 3 + 1\n    return [y, y * y, y - x, x]\ndef b(x):\n    y = x * 3 + 1\n"
        "    return [y, y * y, y - x, x]\n",
        good="def a(x):\n    y = x * 3 + 1\n    return [y, y * y, y - x, x]\ndef b(x):\n    return a(x)\n",
        cwe=1041,
    ),
)
