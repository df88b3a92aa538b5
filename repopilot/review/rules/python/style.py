"""What makes Python hard to read or wrong by habit, beyond ruff's rules: only what is certain from the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from repopilot.code.languages import is_test_path
from repopilot.review.rules.python.tree import FUNCTIONS, Function, PythonTree, blocks, called, dotted, parameters
from repopilot.types import Finding, Severity

_LONG = 100
_MANY_PARAMETERS, _MANY_REQUIRED = 14, 7
_DEEP = 5
_WIDE = 160
_BUILTINS = frozenset(
    "list dict str int set tuple sum max min len open print range sorted map filter zip any all bool float bytes "
    "object abs iter next".split()
)
# Files that talk to somebody at a terminal.
_PRINTS = re.compile(
    r"cli|command|script|example|setup|manage|(^|/)bin/|tool|demo|bench|docs?/|__main__|main\.py|console|game|report"
)
_CAMEL = re.compile(r"^[a-z]+[a-z0-9]*[A-Z]\w*$")


def style(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_functions, _unreachable, _builtins, _handlers, _names, _prints, _lines, _indexing):
        yield from check(tree)


def _found(tree: PythonTree, node: ast.AST | int, severity: Severity, rule: str, message: str) -> Finding:
    line = node if isinstance(node, int) else node.lineno  # type: ignore[attr-defined]
    return tree.code.finding(line, severity, "style", rule, message, "checks")


def _functions(tree: PythonTree) -> Iterator[Finding]:
    for function in tree.functions:
        length = (function.end_lineno or function.lineno) - function.body[0].lineno + 1
        if length > _LONG:
            yield _found(tree, function, "low", "long-function", f"{function.name} has {length} lines.")
        given = len(parameters(function))
        optional = len(function.args.defaults) + sum(d is not None for d in function.args.kw_defaults)
        if (given > _MANY_PARAMETERS or given - optional > _MANY_REQUIRED) and not _command(function):
            yield _found(tree, function, "low", "many-parameters", f"{function.name} takes {given} parameters.")
        if _depth(function.body) > _DEEP:
            yield _found(tree, function, "low", "deep-nesting", f"{function.name} nests more than {_DEEP} levels deep.")


def _command(function: Function) -> bool:
    """A command of a command line has as many parameters as options."""
    return any(re.search(r"(option|argument|command)$", dotted(d)) for d in function.decorator_list)


def _depth(body: list[ast.stmt], depth: int = 0) -> int:
    """Levels of nested blocks; an `elif` is no level of its own."""
    deepest = depth
    for statement in body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, [])
            chained = name == "orelse" and len(inner) == 1 and isinstance(inner[0], ast.If)
            if inner:
                deepest = max(deepest, _depth(inner, depth if chained else depth + 1))
        for handler in getattr(statement, "handlers", []):
            deepest = max(deepest, _depth(handler.body, depth + 1))
    return deepest


def _unreachable(tree: PythonTree) -> Iterator[Finding]:
    for block in blocks(tree):
        for before, after in pairwise(block):
            if isinstance(before, (ast.Return, ast.Raise, ast.Continue, ast.Break)) and not _marks_generator(after):
                yield _found(tree, after, "medium", "unreachable", "This line can never be reached.")
                break


def _marks_generator(node: ast.stmt) -> bool:
    """A `yield` after a return makes the function a generator on purpose."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node))


def _builtins(tree: PythonTree) -> Iterator[Finding]:
    for node in tree.of(ast.Name):
        inside_class = isinstance(tree.parents.get(tree.parents.get(node, node)), ast.ClassDef)
        if isinstance(node.ctx, ast.Store) and node.id in _BUILTINS and not inside_class:
            yield _found(tree, node, "low", "shadowed-builtin", f"`{node.id}` hides the builtin of that name.")


def _handlers(tree: PythonTree) -> Iterator[Finding]:
    """Every error caught, and nothing done about it."""
    for node in tree.of(ast.ExceptHandler):
        broad = node.type is None or dotted(node.type) in ("Exception", "BaseException")
        if broad and all(isinstance(s, (ast.Pass, ast.Continue)) for s in node.body):
            yield _found(tree, node, "medium", "empty-catch", "Every error is swallowed here without a trace.")


def _names(tree: PythonTree) -> Iterator[Finding]:
    """camelCase where nearly everything else in the file is snake_case."""
    functions = [f for f in tree.functions if not f.name.startswith("__")]
    snake = [f for f in functions if not _CAMEL.match(f.name)]
    camel = [f for f in functions if _CAMEL.match(f.name) and not _inherits(tree, f)]
    if camel and len(snake) >= 4 * len(camel):
        for function in camel:
            yield _found(tree, function, "low", "naming", f"`{function.name}` is named unlike the rest of the file.")
    stored = {n.id: n for n in reversed([n for n in tree.of(ast.Name) if isinstance(n.ctx, ast.Store)])}
    odd = [name for name in stored if _CAMEL.match(name)]
    if odd and len(stored) >= 8 * len(odd):
        for name in odd:
            yield _found(tree, stored[name], "low", "naming", f"`{name}` is named unlike the rest of the file.")


def _inherits(tree: PythonTree, function: Function) -> bool:
    """A method whose name a base class may dictate."""
    owner = tree.parents.get(function)
    return isinstance(owner, ast.ClassDef) and bool(owner.bases)


def _prints(tree: PythonTree) -> Iterator[Finding]:
    """`print` where the file has a logger of its own."""
    calls = [c for c in tree.of(ast.Call) if called(c) == "print" and not c.keywords]
    logged = any(
        re.search(r"(^|\.)(log|logger|logging)\.(debug|info|warning|error|exception)$", called(c))
        for c in tree.of(ast.Call)
    )
    if _PRINTS.search(tree.code.path) or is_test_path(tree.code.path) or len(calls) > 2:
        return
    for call in calls:
        names = " ".join(a.name for a in tree.ancestors(call) if isinstance(a, FUNCTIONS))
        speaks = re.search(
            r"main|print|show|display|dump|report|cli|usage|help|run|debug|command|demo|repr|log", names, re.I
        )
        if (
            names
            and (logged or not speaks)
            and not any(called(c).startswith(("click.", "argparse.")) for c in tree.of(ast.Call))
        ):
            yield _found(tree, call, "low", "print-left", "A print is left; a library logs or returns.")


def _lines(tree: PythonTree) -> Iterator[Finding]:
    lines = tree.code.safe.split("\n")
    wide = [n for n, line in enumerate(lines, 1) if len(line) > _WIDE and "://" not in line]
    if len(wide) * 200 <= max(len(lines), 200):
        for number in wide:
            yield _found(tree, number, "low", "long-line", f"This line has {len(lines[number - 1])} characters.")


def _indexing(tree: PythonTree) -> Iterator[Finding]:
    """`for i in range(len(xs))` where `i` serves only to read `xs[i]`."""
    for loop in tree.of(ast.For):
        call = loop.iter
        if not (
            isinstance(call, ast.Call)
            and called(call) == "range"
            and len(call.args) == 1
            and isinstance(loop.target, ast.Name)
        ):
            continue
        length = call.args[0]
        if not (isinstance(length, ast.Call) and called(length) == "len" and length.args):
            continue
        over, name = ast.dump(length.args[0]), loop.target.id
        uses = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
        if uses and all(_reads(tree, use, over) for use in uses):
            yield _found(tree, loop, "low", "range-len", "The index serves only to read the items; loop over them.")


def _reads(tree: PythonTree, use: ast.Name, over: str) -> bool:
    parent = tree.parents.get(use)
    return (
        isinstance(parent, ast.Subscript)
        and parent.slice is use
        and isinstance(parent.ctx, ast.Load)
        and ast.dump(parent.value) == over
    )
