"""Mutants of a Python function: the module's text with one deliberate fault in the function. Pure."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from repopilot.code.mutation.operators import Site, mark_free_bounds, sites
from repopilot.code.python_ast import FUNCTIONS, Function, parses, read_python
from repopilot.code.source_positions import SourcePositions

MOST_MUTANTS = 12
LONGEST_SHOWN = 48
"""Characters of code shown on one line."""


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


def one_line(code: str) -> str:
    """Code on one line, its end left out where it is long."""
    line = " ".join(code.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}…"


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
    tree = read_python(source)
    mark_free_bounds(tree)
    position = SourcePositions(source)
    found = [site for function in functions_of(tree, symbol) for site in sites(function, source, position.span)]
    changed = ((s, source[: s.start] + s.after + source[s.end :]) for s in _varied(found, position, seed))
    usable = (pair for pair in changed if pair[1] != source and parses(pair[1]))
    chosen = list(islice(usable, most))
    chosen.sort(key=lambda pair: (pair[0].start, pair[0].after))
    return tuple(
        Mutant(site.operator, position.line(site.start), source[site.start : site.end], site.after, text)
        for site, text in chosen
    )


def faults_in_each_function(source: str, seed: int = 0, most: int = 1) -> str:
    """The text of a Python module with faults in each of its functions and methods that can have one.

    Args:
        source: the text; returned as it is where it doesn't parse.
        seed: decides which faults.
        most: faults of a function; a single one may happen to change nothing.
    """
    tree = read_python(source)
    mark_free_bounds(tree)
    position, rng = SourcePositions(source), random.Random(seed)
    functions = [node for _, node in _definitions(tree.body, "") if isinstance(node, FUNCTIONS)]
    text = source
    for function in sorted(functions, key=lambda node: node.lineno, reverse=True):  # the positions before it stay true
        found = sorted(sites(function, source, position.span))
        rng.shuffle(found)
        for site in _apart(found, most):
            changed = text[: site.start] + site.after + text[site.end :]
            text = changed if parses(changed) else text
    return text


def _apart(found: Sequence[Site], most: int) -> list[Site]:
    """The first sites that don't overlap, the last one in the source first."""
    chosen: list[Site] = []
    for site in found:
        if len(chosen) < most and all(site.end <= other.start or site.start >= other.end for other in chosen):
            chosen.append(site)
    return sorted(chosen, reverse=True, key=lambda site: site.start)


def functions_of(tree: ast.Module, symbol: str) -> Iterator[Function]:
    """The functions of a qualified name: its definitions (a property has several), of a class those of its body."""
    for name, node in _definitions(tree.body, ""):
        if isinstance(node, FUNCTIONS) and (name == symbol or name.rpartition(".")[0] == symbol):
            yield node


def _definitions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, FUNCTIONS):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _definitions([*node.body, *node.orelse], prefix)


def _varied(found: Sequence[Site], position: SourcePositions, seed: int) -> Iterator[Site]:
    """The sites in an order that takes each line and each operator once before it takes one again."""
    left = sorted(found)
    random.Random(seed).shuffle(left)
    taken: Counter[str | int] = Counter()
    while left:
        best = min(left, key=lambda site: (taken[position.line(site.start)], taken[site.operator]))
        left.remove(best)
        taken.update((position.line(best.start), best.operator))
        yield best
