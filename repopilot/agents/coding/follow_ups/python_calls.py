"""Calls of a Python function whose parameters change: which argument means what, before and after. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from repopilot.agents.coding.follow_ups.needed_edit import Replacement

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter; `default` is its source, '' for a required one."""

    name: str
    kind: Literal["positional", "any", "keyword", "*", "**"]
    default: str = ""

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.kind in ("positional", "any", "keyword") and not self.default


@dataclass(frozen=True, slots=True)
class ChangedParameters:
    """The parameters a caller sees, before and after; `renamed` maps old names to new ones."""

    old: tuple[Parameter, ...]
    new: tuple[Parameter, ...]
    renamed: Mapping[str, str]


class Adapted(NamedTuple):
    """How a call fits the new parameters: `missing` are required ones it doesn't give, `unknown` those it gives that
    are gone; `replacements` make it right, None where code can't tell how."""

    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    replacements: tuple[Replacement, ...] | None


def changed_parameters(old: Sequence[Parameter], new: Sequence[Parameter]) -> ChangedParameters | None:
    """Compare two parameter lists; None where a caller sees no difference."""
    if tuple(p for p in old) == tuple(p for p in new):
        return None
    old_names, new_names = {p.name for p in old}, {p.name for p in new}
    gone, come = [p for p in old if p.name not in new_names], [p for p in new if p.name not in old_names]
    same_place = [(a, b) for a, b in zip(old, new, strict=False) if a in gone and b in come and a.kind == b.kind]
    pairs = same_place or ([(gone[0], come[0])] if len(gone) == len(come) == 1 and gone[0].kind == come[0].kind else [])
    return ChangedParameters(tuple(old), tuple(new), {a.name: b.name for a, b in pairs} if len(old) == len(new) else {})


def parameters(function: _Function, bound: bool) -> tuple[Parameter, ...]:
    """The parameters of a definition as a caller sees them; `bound`: without the first, which is the object."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [""] * (len(positional) - len(given.defaults)) + [ast.unparse(d) for d in given.defaults]
    found = [
        Parameter(a.arg, "positional" if n < len(given.posonlyargs) else "any", default)
        for n, (a, default) in enumerate(zip(positional, defaults, strict=True))
    ]
    found = found[1:] if bound else found
    found += [Parameter(given.vararg.arg, "*")] if given.vararg else []
    found += [
        Parameter(a.arg, "keyword", ast.unparse(d) if d else "")
        for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return tuple(found + ([Parameter(given.kwarg.arg, "**")] if given.kwarg else []))


def adapted(call: ast.Call, change: ChangedParameters, text: str) -> Adapted | None:
    """Adapt a call to changed parameters.

    Args:
        call: the call, which has to fit the old parameters.
        change: the parameters.
        text: the source the call was parsed from.

    Returns:
        None where the call means the same as before, or can't be told.
    """
    bound = _bound(call, change.old)
    if bound is None:
        return None
    by_name = {p.name: p for p in change.new}
    given = [(change.renamed.get(name, name), node, keyword) for name, node, keyword in bound]
    open_end = any(p.kind == "**" for p in change.new)
    unknown = tuple(n for n, _, keyword in given if n not in by_name and not (keyword and open_end))
    names = {n for n, _, _ in given}
    missing = tuple(p.name for p in change.new if p.required and p.name not in names)
    wanted = _arguments([g for g in given if g[0] not in unknown], change.new)
    same = wanted == [(None if keyword is None else keyword.arg, node) for _, node, keyword in bound]
    if not missing and not unknown and same:
        return None
    rewritten = None if missing or wanted is None else _rewritten(call, bound, wanted, text)
    return Adapted(missing, unknown, rewritten)


_Given = tuple[str, ast.expr, ast.keyword | None]


def _bound(call: ast.Call, known: Sequence[Parameter]) -> list[_Given] | None:
    """Which parameter each argument is for, in the order of the call; None where it doesn't fit or can't be told."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    places = [p for p in known if p.kind in ("positional", "any")]
    names = {p.name for p in known if p.kind in ("any", "keyword")}
    if len(call.args) > len(places) or any(k.arg not in names for k in call.keywords):
        return None
    found: list[_Given] = [(p.name, node, None) for p, node in zip(places, call.args, strict=False)]
    found += [(str(k.arg), k.value, k) for k in call.keywords]
    given = [name for name, _, _ in found]
    if len(set(given)) < len(given) or any(p.required and p.name not in given for p in known):
        return None
    return found


def _arguments(given: Sequence[_Given], new: Sequence[Parameter]) -> list[tuple[str | None, ast.expr]] | None:
    """(keyword or None, value) in the order to write them; None where a positional one has no place."""
    positional = {name: node for name, node, keyword in given if keyword is None}
    found: list[tuple[str | None, ast.expr]] = []
    gap = False
    for parameter in new:
        node = positional.get(parameter.name)
        if node is None:
            gap = gap or parameter.kind in ("positional", "any")
        elif parameter.kind == "positional" and gap:
            return None
        else:
            found.append((parameter.name if gap or parameter.kind == "keyword" else None, node))
    found += [(name, node) for name, node, keyword in given if keyword is not None]
    return [f for f in found if f[0] is None] + [f for f in found if f[0] is not None]


def _rewritten(
    call: ast.Call, bound: Sequence[_Given], wanted: Sequence[tuple[str | None, ast.expr]], text: str
) -> tuple[Replacement, ...] | None:
    offsets = Offsets(text)
    if [node for _, node in wanted] == [node for _, node, _ in bound]:
        pairs = zip(wanted, bound, strict=True)
        if all((name is None) == (keyword is None) for (name, _), (_, _, keyword) in pairs):
            return tuple(
                Replacement(offsets.start(keyword), offsets.start(keyword) + len(keyword.arg or ""), name)
                for (name, _), (_, _, keyword) in zip(wanted, bound, strict=True)
                if name is not None and keyword is not None and keyword.arg != name
            )
    written = [keyword or node for _, node, keyword in bound]
    start, end = offsets.start(written[0]), offsets.end(written[-1])
    gaps = [text[offsets.end(a) : offsets.start(b)] for a, b in pairwise(written)]
    after = re.match(r"\s*,?\s*\)", text[end:])
    if after is None or not all(re.fullmatch(r"\s*,\s*", gap) for gap in gaps):
        return None
    separator = gaps[0] if gaps else ", "
    pieces = [(f"{name}=" if name else "") + text[offsets.start(node) : offsets.end(node)] for name, node in wanted]
    if not pieces:
        end += after.end() - 1
    return (Replacement(start, end, separator.join(pieces)),)


class Offsets:
    """Character offsets of nodes in a source."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def start(self, node: ast.expr | ast.keyword) -> int:
        """Where a node begins."""
        return self.at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.keyword) -> int:
        """Where a node ends."""
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def at(self, line: int, column: int) -> int:
        """The offset of a line and a column as `ast` counts them: in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode("utf-8", "ignore"))


def scoped_nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every node with the qualified name of the definition around it, '' at the top."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        scope, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            yield scope, child
            inner = scope
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{scope}.{child.name}".lstrip(".")
            waiting.append((inner, child))
