"""A Python file as a tree that checks can walk: every node with its parent, names in dotted form. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from repopilot.code.python_ast import FUNCTIONS, Function, parse_python
from repopilot.review.code import Code
from repopilot.review.rules.rule import Match
from repopilot.types import Severity

PYTHON = ("python",)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class PythonTree:
    """`nodes` in the order of the text; `parents` by node."""

    code: Code
    nodes: tuple[ast.AST, ...]
    parents: dict[ast.AST, ast.AST]

    def of(self, *kinds: type[ast.AST]) -> Iterator:
        """Every node of exactly these kinds, kind by kind."""
        return chain.from_iterable(self._by_kind.get(kind, ()) for kind in kinds)

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.nodes:
            found.setdefault(type(node), []).append(node)
        return found

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def scope(self, node: ast.AST) -> ast.AST:
        """The function (or module) a node belongs to."""
        kinds = (*FUNCTIONS, ast.Module, ast.Lambda)
        return next(a for a in self.ancestors(node) if isinstance(a, kinds))

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        return next((a for a in self.ancestors(node) if isinstance(a, FUNCTIONS)), None)

    def loops(self, node: ast.AST) -> Iterator[ast.AST]:
        """All loops around a node within its function, the innermost first."""
        while (loop := self.loop(node)) is not None:
            yield loop
            node = loop

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
        """Whether a node is in the first iterable of a comprehension, which is evaluated once."""
        # One of COMPREHENSIONS, which share no type in typeshed.
        first: ast.comprehension = comprehension.generators[0]  # type: ignore[attr-defined]
        return below is first and any(n is node for n in ast.walk(first.iter))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All functions of the file, in the order of the text."""
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

    @cached_property
    def imported(self) -> dict[str, str]:
        """Local name → what it was imported as: {"rnd": "random", "choice": "random.choice"}."""
        found: dict[str, str] = {}
        for node in self.of(ast.Import, ast.ImportFrom):
            for name in node.names:
                if isinstance(node, ast.ImportFrom):
                    found[name.asname or name.name] = f"{node.module or ''}.{name.name}".lstrip(".")
                elif name.asname:
                    found[name.asname] = name.name
        return found

    def called(self, call: ast.Call) -> str:
        """What is called, in dotted form, with imported names spelled out."""
        name = called(call)
        head, dot, rest = name.partition(".")
        return f"{self.imported.get(head, head)}{dot}{rest}"

    def values(self, node: ast.AST, name: str) -> list[ast.expr]:
        """What a name is assigned where a node stands, in its function or else in the module."""
        return self.assigned.get((self.scope(node), name)) or self.assigned.get((self.nodes[0], name), [])


@lru_cache(maxsize=32)
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


def on_tree(check: Callable[[PythonTree], Iterable[Match]]) -> Callable[[Code], Iterable[Match]]:
    """Make a check of syntax trees one of files, for `Rule.find`; a file that doesn't parse has no matches, nor has one
    that is nested more deeply than the check can go."""

    def find(code: Code) -> Iterable[Match]:
        tree = tree_of(code)
        try:
            return () if tree is None else list(check(tree))
        except RecursionError:
            return ()

    return find


def at(node: ast.AST, variant: str = "", severity: Severity | None = None, **values: object) -> Match:
    """A match at a node.

    Args:
        node: where the fault is.
        variant: which of the rule's messages applies, '' where it has one.
        severity: where it differs from the rule's own.
        values: one for each placeholder of the message.

    Returns:
        The match, at the first line of the node.
    """
    # Statements and expressions have a line; their common base has none in typeshed.
    return Match(node.lineno, values, variant, severity)  # type: ignore[attr-defined]


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
    """The dotted name of what is called, as it is written."""
    return dotted(node.func)


def keyword(node: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument, None where the call doesn't have it."""
    return next((k.value for k in node.keywords if k.arg == name), None)


def names_in(node: ast.AST) -> set[str]:
    """The names that occur in a node."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes inside it, in the order of the text."""
    pending = list(reversed(list(ast.iter_child_nodes(function))))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def parameters(function: Function) -> list[ast.arg]:
    """All parameters but the first of a method."""
    some = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return some[1:] if some and some[0].arg in ("self", "cls") else some


def words_of(name: str) -> list[str]:
    """`newApiKey`, `NEW_API_KEY` and `new.api_key` → new, api, key."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def text_of(node: ast.AST | None) -> str | None:
    """The value of a string literal."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
