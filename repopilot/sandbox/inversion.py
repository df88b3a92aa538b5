"""Assertion inversion: copies of a test file in which one expectation is wrong, so that an honest run must fail.

Pure: source text in, source text out. Each copy keeps one test under its own name, so that a program under test can't
tell it from the original by that. An expectation that still passes after the mutation raises at once, with the token in
its message. The technique is mutation testing (DeMillo, Lipton, Sayward 1978) applied to the tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from repopilot.code.python_ast import parse_python
from repopilot.sandbox.assertions import Function, last_name, mutated, sites, wrong_helper

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SKIPPING = {
    "skip",
    "skipif",
    "skipIf",
    "skipUnless",
    "skipTest",
    "importorskip",
    "xfail",
    "expectedFailure",
    "SkipTest",
}


@dataclass(frozen=True, slots=True)
class ExpectedTest:
    """A test that a file defines: its id without the file (`test_a`, `TestB::test_c`), its line, and whether the file
    itself says that it may be skipped or is expected to fail."""

    id: str
    line: int
    may_skip: bool


@dataclass(frozen=True, slots=True)
class Mutation:
    """One expectation to invert.

    Attributes:
        test: the id of its test.
        line: of the expectation in the file.
        position: its number in the test, from 0; None: the test as it is, but failing where it would have passed.
        variant: which of the possible mutations of this expectation.
    """

    test: str
    line: int
    position: int | None = None
    variant: int = 0


def wrong_pass(token: str) -> str:
    """The message that a mutant raises when its wrong expectation passes."""
    return f"wrong expectation passed {token}"


def expected_tests(source: str) -> tuple[ExpectedTest, ...]:
    """The tests that pytest collects from a file, by its default naming rules. Raises SyntaxError."""
    module = parse_python(source)
    top = [node for node in module.body if not isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
    module_skips = any(_mentions_skipping(node) for node in top)
    found: dict[str, ExpectedTest] = {}
    for scope, function in _tests(module):
        decorators = [decorator for class_ in scope for decorator in class_.decorator_list]
        skips = module_skips or any(_mentions_skipping(node) for node in (function, *decorators))
        identity = _identity(scope, function)
        found[identity] = ExpectedTest(identity, function.lineno, skips)
    return tuple(found.values())


def mutations(source: str) -> tuple[Mutation, ...]:
    """Every way to make a test file fail: each test at its end, and each assertion by itself. Raises SyntaxError."""
    module = parse_python(source)
    found: list[Mutation] = []
    for scope, function in _tests(module):
        identity = _identity(scope, function)
        found.append(Mutation(identity, function.lineno))
        stated = list(sites(function))
        for position, (statement, variants) in enumerate(stated):
            found += [Mutation(identity, statement.lineno, position, variant) for variant in range(variants)]
        if not stated and any(list(sites(helper)) for helper in _helpers(module)):
            found.append(Mutation(identity, function.lineno, 0))
    return tuple(found)


def mutate(source: str, mutation: Mutation, token: str) -> str:
    """Apply one mutation to a test file and remove the other tests of the same class or module.

    Args:
        source: the test file.
        mutation: one of its `mutations`.
        token: put into the messages that the mutant raises.

    Returns:
        The mutant's source.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    module = parse_python(source)
    scope, function = next(pair for pair in reversed(list(_tests(module))) if _identity(*pair) == mutation.test)
    _remove_other_tests(module, scope, function)
    stated = list(sites(function))
    if mutation.position is None:
        _fail_at_end(function, token)
    elif stated:
        _invert(function, stated[mutation.position][0], mutation.variant, token)
    else:  # its assertions are all in other functions of the file
        for helper in _helpers(module):
            for statement, _ in list(sites(helper)):
                _invert(helper, statement, 0, token)
    first = next((i for i, node in enumerate(module.body) if not _must_be_first(node)), len(module.body))
    module.body[first:first] = wrong_helper(token)
    return ast.unparse(ast.fix_missing_locations(module))


def _tests(module: ast.Module) -> Iterator[tuple[tuple[ast.ClassDef, ...], Function]]:
    def visit(
        body: list[ast.stmt], scope: tuple[ast.ClassDef, ...]
    ) -> Iterator[tuple[tuple[ast.ClassDef, ...], Function]]:
        for node in body:
            if _is_test(node):
                yield scope, node
            elif isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or _is_unittest(node)):
                yield from visit(node.body, (*scope, node))

    return visit(module.body, ())


def _is_test(node: ast.stmt) -> TypeGuard[Function]:
    return (
        isinstance(node, _FUNCTIONS)
        and node.name.startswith("test")
        and not any(last_name(decorator) == "fixture" for decorator in node.decorator_list)
    )


def _is_unittest(node: ast.ClassDef) -> bool:
    return any(last_name(base).endswith("TestCase") for base in node.bases)


def _identity(scope: tuple[ast.ClassDef, ...], function: Function) -> str:
    return "::".join([*(class_.name for class_ in scope), function.name])


def _mentions_skipping(node: ast.AST) -> bool:
    names = (inner for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute)))
    return any(last_name(name) in _SKIPPING for name in names)


def _helpers(module: ast.Module) -> list[Function]:
    return [node for node in module.body if isinstance(node, _FUNCTIONS) and not _is_test(node)]


def _remove_other_tests(module: ast.Module, scope: tuple[ast.ClassDef, ...], function: Function) -> None:
    parents: list[ast.Module | ast.ClassDef] = [module, *scope]
    for parent in parents:
        parent.body[:] = [node for node in parent.body if node is function or not _is_test(node)]


def _must_be_first(node: ast.stmt) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


class _FailingReturns(ast.NodeTransformer):
    def __init__(self, token: str) -> None:
        self._token = token

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return _raise(self._token)

    def visit_FunctionDef(self, node: ast.AST) -> ast.AST:
        return node  # the returns of inner functions are not the test's own

    visit_AsyncFunctionDef = visit_FunctionDef


def _fail_at_end(function: Function, token: str) -> None:
    function.body = [_FailingReturns(token).visit(statement) for statement in function.body] + [_raise(token)]


def _invert(function: Function, statement: ast.stmt, variant: int, token: str) -> None:
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and statement in body:
                place = body.index(statement)
                body[place : place + 1] = [mutated(statement, variant, token), _raise(wrong_pass(token))]
                return


def _raise(message: str) -> ast.stmt:
    return ast.parse(f"raise AssertionError({message!r})").body[0]
