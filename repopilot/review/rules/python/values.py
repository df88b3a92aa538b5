"""Values in Python that are lost or change their kind: results thrown away, variables overwritten, returns of two
kinds, blocks that were copied."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from repopilot.review.rules.python.tree import (
    FUNCTIONS,
    LOOPS,
    Function,
    PythonTree,
    blocks,
    called,
    dotted,
    names_in,
    own,
    text_of,
)
from repopilot.types import Finding

_TEXT_METHODS = frozenset(
    "replace strip lstrip rstrip upper lower title capitalize casefold swapcase split rsplit removeprefix "
    "removesuffix zfill "
    "startswith endswith isdigit isalpha splitlines partition rpartition encode".split()
)
_NO_ARGUMENTS = frozenset("upper lower title capitalize casefold swapcase isdigit isalpha splitlines".split())
_SET_METHODS = frozenset("union intersection difference symmetric_difference issubset issuperset".split())
_FRAME_METHODS = frozenset(
    "dropna fillna drop rename sort_values reset_index set_index drop_duplicates astype sort_index".split()
)
_FUNCTIONS = frozenset(
    "sorted reversed len str set tuple round abs min max sum isinstance zip map filter enumerate".split()
)
_FILES = re.compile(r"path|file|folder|dir|(^|\.)os$|shutil|tmp|temp|target|dest|source|src", re.I)
_MANY_NODES, _BLOCK, _BODY_NODES = 30, 3, 14


def values(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_discarded, _overwritten, _shadowed_loops, _kinds, _copied_blocks, _copied_functions):
        yield from check(tree)


def _discarded(tree: PythonTree) -> Iterator[Finding]:
    """`text.strip()` as a statement: the result is all there is to it."""
    frames = any(n.name == "pandas" for node in tree.of(ast.Import) for n in node.names)
    for node in tree.of(ast.Expr):
        call = node.value
        if not isinstance(call, ast.Call) or any(isinstance(a, (ast.Try, ast.With)) for a in tree.ancestors(node)):
            continue
        if _pure_call(call, frames):
            yield tree.finding(node, "medium", "style", "discarded-result",
                               f"The result of `{called(call)}` is thrown away; nothing else happens.")  # fmt: skip


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
        fits = count == 2 if method == "replace" else count == 0 if method in _NO_ARGUMENTS else count <= 2
        return fits and not _FILES.search(owner) and not call.keywords
    if method in ("join", "format"):
        return text_of(call.func.value) is not None
    if method in _FRAME_METHODS:
        return frames and bool(re.search(r"(^|_)(df|frame|data|table)\w*$", owner))
    return method in _SET_METHODS and len(call.args) == 1 and not call.keywords


def _overwritten(tree: PythonTree) -> Iterator[Finding]:
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
                yield tree.finding(before, "low", "style", "overwritten-value",
                                   f"`{name}` is overwritten before anything reads it.")  # fmt: skip


def _reads_all(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) and called(n) in ("locals", "vars", "eval", "exec") for n in ast.walk(node))


def _shadowed_loops(tree: PythonTree) -> Iterator[Finding]:
    """An inner loop with the variable of the outer one."""
    for inner in tree.of(ast.For, ast.AsyncFor):
        outer = tree.loop(inner)
        if isinstance(outer, (ast.For, ast.AsyncFor)):
            both = (names_in(inner.target) & names_in(outer.target)) - {"_", "__"}
            if both:
                yield tree.finding(inner, "medium", "style", "shadowed-loop",
                                   f"`{min(both)}` is the variable of the outer loop as well.")  # fmt: skip


def _kinds(tree: PythonTree) -> Iterator[Finding]:
    """A function that returns a list here and False there."""
    for function in tree.functions:
        said = ast.unparse(function.returns) if function.returns else ""
        returns = [n for n in own(function) if isinstance(n, ast.Return)]
        if re.search(r"Union|\||Any|Optional|object|Literal", said) or len(returns) < 2:
            continue
        if any(isinstance(n, ast.Call) and called(n) == "isinstance" for n in own(function)):
            continue  # it gives back the kind it was given
        kinds = [_kind(r.value) for r in returns]
        known = [k for k in kinds if k not in ("", "None")]
        if len(set(known)) > 1 and not _related(set(known)):
            common = Counter(known).most_common(1)[0][0]
            odd = [r for r, k in zip(returns, kinds, strict=True) if k not in ("", "None", common)]
            yield tree.finding(
                odd[-1],
                "low",
                "style",
                "mixed-returns",
                f"{function.name} returns values of several kinds: {', '.join(sorted(set(known)))}.",
            )


def _kind(node: ast.expr | None) -> str:
    """The kind of value, where the text tells."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return "None"
    if isinstance(node, ast.Constant):
        return {"int": "number", "float": "number"}.get(type(node.value).__name__, type(node.value).__name__)
    if isinstance(node, ast.JoinedStr):
        return "str"
    if isinstance(node, (ast.List, ast.ListComp)):
        return "list"
    if isinstance(node, (ast.Dict, ast.DictComp)):
        return "dict"
    if isinstance(node, (ast.Compare, ast.UnaryOp)) and not (
        isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not)
    ):
        return "bool"
    return "set" if isinstance(node, (ast.Set, ast.SetComp)) else "tuple" if isinstance(node, ast.Tuple) else ""


def _related(kinds: set[str]) -> bool:
    """Kinds that stand for each other: a view's body with and without its status, an exit code for a bool."""
    return "tuple" in kinds or kinds in (
        {"bool", "number"},
        {"str", "bytes"},
        {"list", "set"},
        {"dict", "str"},
        {"Ellipsis"},
    )


def _copied_blocks(tree: PythonTree) -> Iterator[Finding]:
    """Statements repeated further down in the same function with one or two names changed."""
    for function in tree.functions:
        for block in _blocks_of(function):
            found = _repeat(block)
            if found is not None:
                yield tree.finding(
                    found,
                    "low",
                    "style",
                    "copied-block",
                    "These statements repeat those above with other names; make them a function.",
                )
                break


def _blocks_of(function: Function) -> Iterator[list[ast.stmt]]:
    yield function.body
    for node in own(function):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and isinstance(node, (ast.If, *LOOPS, ast.With)):
                yield block


def _repeat(block: list[ast.stmt]) -> ast.stmt | None:
    """The first statement of the second of two like runs of statements."""
    shapes = [_shape(s) for s in block]
    for length in range(len(block) // 2, _BLOCK - 1, -1):
        for start in range(len(block) - 2 * length + 1):
            for again in range(start + length, len(block) - length + 1):
                one, other = shapes[start : start + length], shapes[again : again + length]
                if [k for s in one for k in s[0]] != [k for s in other for k in s[0]]:
                    continue
                if sum(len(s[0]) for s in one) >= _MANY_NODES and _few_changes(
                    [w for s in one for w in s[1]], [w for s in other for w in s[1]]
                ):
                    return block[again]
    return None


def _shape(statement: ast.stmt) -> tuple[list[str], list[str]]:
    """The kinds of its nodes, and the words in it in their order."""
    kinds, words = [], []
    for node in ast.walk(statement):
        if isinstance(node, ast.expr_context):
            continue
        kinds.append(type(node).__name__)
        for name in ("id", "attr", "arg", "value", "name"):
            value = getattr(node, name, None)
            if isinstance(value, str | int | float):
                words.append(str(value))
    return kinds, words


def _few_changes(one: list[str], other: list[str]) -> bool:
    """Each word of the one stands for the same of the other throughout, and only a few differ."""
    pairs = set(zip(one, other, strict=False))
    changed = {a for a, b in pairs if a != b}
    return len(one) == len(other) and len({a for a, _ in pairs}) == len(pairs) and 0 <= len(changed) <= 3


def _copied_functions(tree: PythonTree) -> Iterator[Finding]:
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
            yield tree.finding(function, "low", "style", "copied-function",
                               f"{function.name} does exactly what {first.name} does.")  # fmt: skip
