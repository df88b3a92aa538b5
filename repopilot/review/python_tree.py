"""A Python file as a tree that checks can walk: every node with its parent, names in dotted form. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from repopilot.code.python_ast import parse_python
from repopilot.review.code import Code

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
Scope = Function | ast.Module | ast.ClassDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class PythonTree:
    """`nodes` in the order of the text; `parents` by node."""

    code: Code
    nodes: tuple[ast.AST, ...]
    parents: dict[ast.AST, ast.AST]

    def of(self, *kinds: type[ast.AST]) -> Iterator:
        return (node for node in self.nodes if isinstance(node, kinds))

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def scope(self, node: ast.AST) -> ast.AST:
        """The function (or module) a node belongs to."""
        kinds = (*FUNCTIONS, ast.Module, ast.Lambda)
        return next(a for a in self.ancestors(node) if isinstance(a, kinds))

    def loop(self, node: ast.AST) -> ast.AST | None:
        """The innermost loop or comprehension that runs a node again and again, within the same function."""
        below = node
        for above in self.ancestors(node):
            if isinstance(above, (*FUNCTIONS, ast.Lambda)):
                return None
            if isinstance(above, LOOPS) and below is not getattr(above, "iter", None) and below not in above.orelse:
                return above
            if isinstance(above, COMPREHENSIONS) and not self._first_iter(above, below, node):
                return above
            below = above
        return None

    def _first_iter(self, comprehension: ast.AST, below: ast.AST, node: ast.AST) -> bool:
        """What the first `for` of a comprehension goes over is evaluated once."""
        first = comprehension.generators[0]  # type: ignore[attr-defined]
        return below is first and any(n is node for n in ast.walk(first.iter))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(self.of(*FUNCTIONS))

    @cached_property
    def assigned(self) -> dict[tuple[ast.AST, str], list[ast.expr]]:
        """(scope, name) → every value assigned to that name there by a plain assignment."""
        found: dict[tuple[ast.AST, str], list[ast.expr]] = {}
        for node in self.of(ast.Assign, ast.AnnAssign, ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and node.value is not None:
                    found.setdefault((self.scope(node), target.id), []).append(node.value)
        return found


def tree_of(code: Code) -> PythonTree | None:
    """The tree of a file, None when it doesn't parse (ruff says why)."""
    try:
        root = parse_python(code.safe)
        parents: dict[ast.AST, ast.AST] = {}
        nodes: list[ast.AST] = []
        pending: list[ast.AST] = [root]
        while pending:
            node = pending.pop()
            nodes.append(node)
            children = list(ast.iter_child_nodes(node))
            parents.update(dict.fromkeys(children, node))
            pending.extend(reversed(children))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return PythonTree(code, tuple(nodes), parents)


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of names; calls and subscripts in it are skipped; '' for anything else."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Name):
            parts.append(node.id)
            return ".".join(reversed(parts))
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return ".".join(reversed(parts))


def called(node: ast.Call) -> str:
    return dotted(node.func)


def keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in node.keywords if k.arg == name), None)


def is_constant(node: ast.AST | None, value: object) -> bool:
    """Whether a node is this very literal (True is not 1)."""
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
