"""What tests of a function should check, read from its syntax tree: the usual result, errors, branches. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot.code.mutation.mutants import functions_of
from repopilot.code.python_ast import Function, read_python

MOST_AIMS = 8
_LONGEST_CONDITION = 90
_COLLECTIONS = ("list", "tuple", "set", "dict", "str", "bytes", "Sequence", "Iterable", "Mapping", "Collection")


@dataclass(frozen=True, slots=True)
class Aim:
    """What one test checks. `slug` becomes a part of its name, `wording` of the prompt."""

    slug: str
    wording: str
    function: str = ""


def aims_of(text: str, symbol: str) -> tuple[Aim, ...]:
    """The aims for a function, a method or the methods of a class, the most telling first.

    Args:
        text: of the module.
        symbol: the qualified name.

    Returns:
        At most MOST_AIMS, each with a slug of its own; empty where the text doesn't define the symbol.
    """
    functions = list(functions_of(read_python(text), symbol))
    several = len({f.name for f in functions}) > 1
    public = [f for f in functions if not several or f.name == "__init__" or not f.name.startswith("_")]
    lists = [list(_aims(function, several)) for function in public]
    found: dict[str, Aim] = {}
    for rank in range(max(map(len, lists), default=0)):
        for aims in lists:
            if rank < len(aims):
                found.setdefault(aims[rank].slug, aims[rank])
    return tuple(found.values())[:MOST_AIMS]


def _aims(function: Function, several: bool) -> Iterator[Aim]:
    name = function.name.strip("_")
    prefix = f"{name}_" if several else ""
    what = f"`{function.name}`" if several else "it"
    yield Aim(
        name if several else "", f"the usual result of {'`' + function.name + '`' if several else 'a call'}", name
    )
    branches = list(_branches(function.body, ""))
    for condition, raised in branches:
        if raised:
            when = f" when `{condition}`" if condition else ""
            yield Aim(f"{prefix}raises_{_slug(raised)}", f"that {what} raises `{raised}`{when}", name)
    for condition, raised in branches:
        if not raised and condition:
            yield Aim(f"{prefix}{_slug(condition)}", f"the result where `{condition}` is true", name)
    if parameter := _collection(function):
        yield Aim(f"{prefix}empty", f"the result for an empty `{parameter}`", name)
    for argument in _optional(function):
        yield Aim(f"{prefix}with_{_slug(argument)}", f"what the argument `{argument}` changes", name)


def _branches(body: Sequence[ast.stmt], condition: str) -> Iterator[tuple[str, str]]:
    """(condition, exception raised directly under it or '') of each branch, in order."""
    for node in body:
        if isinstance(node, ast.Raise) and node.exc is not None:
            kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if ast.unparse(kind).rpartition(".")[2][:1].isupper():
                yield condition, ast.unparse(kind)
        elif isinstance(node, ast.If):
            test = ast.unparse(node.test)
            inner = test if len(test) <= _LONGEST_CONDITION else ""
            if not any(isinstance(n, ast.Raise) for n in node.body):
                yield inner, ""
            yield from _branches(node.body, inner)
            yield from _branches(node.orelse, f"not ({inner})" if inner else "")
        elif isinstance(node, (ast.For, ast.While, ast.With, ast.Try)):
            yield from _branches(node.body, condition)
            for handler in getattr(node, "handlers", ()):
                caught = ast.unparse(handler.type) if handler.type else "an exception"
                yield from _branches(handler.body, f"{caught} is raised inside")


def _collection(function: Function) -> str:
    """The first parameter that is a collection by its annotation, or that a loop runs over."""
    looped = {ast.unparse(n.iter) for n in ast.walk(function) if isinstance(n, (ast.For, ast.comprehension))}
    for argument in function.args.args:
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        if argument.arg in looped or annotation.partition("[")[0].rpartition(".")[2] in _COLLECTIONS:
            return argument.arg
    return ""


def _optional(function: Function) -> list[str]:
    with_default = function.args.args[len(function.args.args) - len(function.args.defaults) :]
    keyword = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [a.arg for a in (*with_default, *(a for a, default in keyword if default is not None))]


def _slug(text: str) -> str:
    """Words of an expression as a part of a name: at most four."""
    spaced = re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])",
        "_",
        text.replace("!=", " not ").replace("==", " is ").replace("<", " under ").replace(">", " over "),
    )
    words = re.findall(r"[a-z0-9]+", spaced.lower().replace("isinstance", "").replace("self.", ""))
    return "_".join(words[:4]) or "other"
