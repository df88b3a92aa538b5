"""Mutants of a Python function: the module's text with one deliberate fault in the function. Pure."""

from __future__ import annotations

import ast
import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from repopilot.code.mutation.operators import Site, mark_free_bounds, sites
from repopilot.code.python_ast import parse_python

MOST_MUTANTS = 12
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text that differs from another in one place.

    Attributes:
        operator: the kind of fault, for example `relational`.
        line: of the fault, 1-based.
        before, after: what stands there, and what stood there.
        text: all of the text with the fault.
    """

    operator: str
    line: int
    before: str
    after: str
    text: str


def mutants(source: str, symbol: str, most: int = MOST_MUTANTS, seed: int = 0) -> tuple[Mutant, ...]:
    """Make mutants of a function, a method or the methods of a class.

    Args:
        source: the text of a Python module.
        symbol: the qualified name of the definition.
        most: how many at most.
        seed: decides which, where there are more; the same seed gives the same mutants.

    Returns:
        In the order of their lines, different operators and lines first chosen. Every text parses. Empty where the
        source doesn't parse, defines no such function, or nothing in it can be changed.
    """
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    mark_free_bounds(tree)
    position = _Positions(source)
    found = [site for function in functions_of(tree, symbol) for site in sites(function, source, position.span)]
    changed = ((s, source[: s.start] + s.after + source[s.end :]) for s in _varied(found, position, seed))
    usable = (pair for pair in changed if pair[1] != source and _parses(pair[1]))
    chosen = list(islice(usable, most))
    chosen.sort(key=lambda pair: (pair[0].start, pair[0].after))
    return tuple(
        Mutant(site.operator, position.line(site.start), source[site.start : site.end], site.after, text)
        for site, text in chosen
    )


def functions_of(tree: ast.Module, symbol: str) -> Iterator[_Function]:
    """The functions of a qualified name: its definitions (a property has several), of a class those of its body."""
    for name, node in _definitions(tree.body, ""):
        if isinstance(node, _FUNCTIONS) and (name == symbol or name.rpartition(".")[0] == symbol):
            yield node


def _definitions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, _FUNCTIONS):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _definitions([*node.body, *node.orelse], prefix)


def _varied(found: Sequence[Site], position: _Positions, seed: int) -> Iterator[Site]:
    """The sites in an order that takes each line and each operator once before it takes one again."""
    left = sorted(found)
    random.Random(seed).shuffle(left)
    taken: Counter[str | int] = Counter()
    while left:
        best = min(left, key=lambda site: (taken[position.line(site.start)], taken[site.operator]))
        left.remove(best)
        taken.update((position.line(best.start), best.operator))
        yield best


def _parses(text: str) -> bool:
    try:
        parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class _Positions:
    """Positions of syntax nodes in characters; Python's parser counts lines and UTF-8 bytes."""

    def __init__(self, source: str) -> None:
        self._starts = [0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", source))]
        ends = [*self._starts[1:], len(source)]
        self._lines = [source[a:b] for a, b in zip(self._starts, ends, strict=True)]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends."""
        place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return self._offset(*place[:2]), self._offset(*place[2:])

    def line(self, offset: int) -> int:
        """The line of a character, 1-based."""
        return bisect_right(self._starts, offset)

    def _offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        return self._starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))
