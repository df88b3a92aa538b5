"""Assertion inversion: copies of a test file with some wrong expectations, where an honest run must fail.

Pure: source text in, source text out. A copy differs from the original in a few characters of some tests and in nothing
else, so that a program under test can't tell a wrong expectation from a true one unless it knows what is right. Which
ones are wrong is drawn anew for each copy. The technique is mutation testing (DeMillo, Lipton, Sayward 1978) applied to
the tests.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from repopilot.code.python_ast import parse_python
from repopilot.code.source_positions import Replacement, SourcePositions, replaced
from repopilot.sandbox.controls.expectations import (
    FUNCTIONS,
    Function,
    Splice,
    certain_statements,
    last_name,
    named_values,
    splices,
)

MOST_WRONG = 24
"""Most wrong units of a run, since pytest is slow to describe failures."""
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
_BEFORE_EACH = {"setUp", "setUpClass", "asyncSetUp", "setup_method", "setup_class"}
"""Methods that run before the tests of their class."""
_Scope = tuple[ast.ClassDef, ...]


@dataclass(frozen=True, slots=True)
class ExpectedTest:
    """A test that a file defines: its id without the file (`test_a`, `TestB::test_c`), its line, and whether the file
    itself says that it may be skipped or is expected to fail."""

    id: str
    line: int
    may_skip: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """A function of a test file whose expectation can be made wrong.

    Attributes:
        name: the id of a test, or the name of a function that tests call.
        fail: ids of the tests that must fail if it is wrong.
        may_fail: ids of the tests that may fail if it is wrong.
    """

    name: str
    fail: frozenset[str]
    may_fail: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TestFile:
    """A parsed test file, and its units by name.

    Attributes:
        source: its text.
        units: the functions whose expectations can be made wrong.
        weak: no function has an expectation. Each test fails at its end instead, which code can tell from the original.
    """

    __test__ = False

    source: str
    units: Mapping[str, Unit] = field(default_factory=dict)
    weak: bool = False


def expected_tests(source: str) -> tuple[ExpectedTest, ...]:
    """The tests that pytest collects from a file, by its default naming rules. Raises SyntaxError."""
    module = parse_python(source)
    top = [node for node in module.body if not isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    skipping = _what_skips(module)
    module_skips = any(_mentions(node, skipping) for node in top)
    found: dict[str, ExpectedTest] = {}
    for scope, function in _tests(module):
        decorators = [decorator for class_ in scope for decorator in class_.decorator_list]
        before = {node.name for class_ in scope for node in class_.body if isinstance(node, FUNCTIONS)} & _BEFORE_EACH
        mentions = any(_mentions(node, skipping) for node in (function, *decorators))
        skips = module_skips or mentions or bool(before & skipping)
        identity = _identity(scope, function)
        found[identity] = ExpectedTest(identity, function.lineno, skips)
    return tuple(found.values())


def parse_tests(source: str) -> TestFile:
    """Find what can be made wrong in a test file. Raises SyntaxError."""
    module = parse_python(source)
    tests = {_identity(scope, function): function for scope, function in _tests(module)}
    positions = SourcePositions(source)
    rng = random.Random(0)
    units = {name: Unit(name, frozenset([name])) for name, function in tests.items() if _ways(function, positions, rng)}
    bare = {name: function for name, function in tests.items() if name not in units}
    for helper in _helpers(module):
        users = [name for name, function in bare.items() if _surely_calls(function, helper.name)]
        if users and _ways(helper, positions, rng):
            others = _mentioning(module, tests, helper.name) - set(users)
            units[helper.name] = Unit(helper.name, frozenset(users), frozenset(others))
    if units:
        return TestFile(source, units)
    ends = {name: Unit(name, frozenset([name])) for name, function in tests.items() if not _returns(function)}
    return TestFile(source, ends, weak=True)


def imported_names(source: str) -> frozenset[str]:
    """The names that a file imports, without their packages; for `import *`, the module's name."""
    nodes = [node for node in ast.walk(parse_python(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = (
        (getattr(node, "module", None) or "") if alias.name == "*" else alias.name
        for node in nodes
        for alias in node.names
    )
    return frozenset(name.rpartition(".")[2] for name in names)


def invert(file: TestFile, names: Collection[str], rng: random.Random) -> str:
    """The text of a test file with a wrong expectation in each of some units.

    Args:
        file: the parsed file.
        names: names of the units.
        rng: random numbers for the draw.

    Returns:
        The text, which parses.
    """
    module = parse_python(file.source)
    positions = SourcePositions(file.source)
    functions: dict[str, Function] = {helper.name: helper for helper in _helpers(module)}
    functions |= {_identity(scope, function): function for scope, function in _tests(module)}
    chosen = []
    for name in sorted(names):
        function = functions[name]
        if file.weak:
            chosen.append(_failing_end(function, positions))
            continue
        ways = _ways(function, positions, rng)
        best = min(way.quality for way in ways)
        chosen.append(rng.choice([way for way in ways if way.quality == best]))
    text = replaced(file.source, (Replacement(each.start, each.end, each.text) for each in chosen))
    parse_python(text)
    return text


def draw_units(names: Sequence[tuple[str, str]], rng: random.Random) -> frozenset[tuple[str, str]]:
    """Draw the wrong units of a run: about half where there are few, at least one of several, so that no run shows only
    right expectations. A single unit may stay right."""
    share = min(0.5, MOST_WRONG / max(1, len(names)))
    drawn = frozenset(name for name in names if rng.random() < share)
    return drawn if drawn or len(names) < 2 else frozenset([rng.choice(list(names))])


def _ways(function: Function, positions: SourcePositions, rng: random.Random) -> list[Splice]:
    """Each way to make an expectation of a function wrong, with drawn values."""
    found = list(named_values(function, positions, rng))
    for statement in certain_statements(function.body):
        found += splices(statement, positions, rng)
    return found


def _failing_end(function: Function, positions: SourcePositions) -> Splice:
    """A failing statement after the last one."""
    _, end = positions.span(function.body[-1])
    same_line = function.body[0].lineno == function.lineno
    indent = "; " if same_line else "\n" + " " * function.body[0].col_offset
    return Splice(end, end, f"{indent}assert False")


def _returns(function: Function) -> bool:
    return any(isinstance(node, (ast.Return, ast.Raise)) for node in ast.walk(function))


def _surely_calls(function: Function, name: str) -> bool:
    simple = (s for s in certain_statements(function.body) if isinstance(s, (ast.Expr, ast.Assign, ast.AnnAssign)))
    values = (each.value.value if isinstance(each.value, ast.Await) else each.value for each in simple)
    return any(
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == name for value in values
    )


def _mentioning(module: ast.Module, tests: Mapping[str, Function], name: str) -> set[str]:
    """The tests that mention a function, directly or through other helpers."""
    names = {name}
    while True:
        more = {helper.name for helper in _helpers(module) if _names(helper) & names} - names
        if not more:
            break
        names |= more
    return {identity for identity, function in tests.items() if _names(function) & names}


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} | (
        {argument.arg for argument in node.args.args} if isinstance(node, FUNCTIONS) else set()
    )


def _tests(module: ast.Module) -> Iterator[tuple[_Scope, Function]]:
    def visit(body: list[ast.stmt], scope: _Scope) -> Iterator[tuple[_Scope, Function]]:
        for node in body:
            if _is_test(node):
                yield scope, node
            elif isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or _is_unittest(node)):
                yield from visit(node.body, (*scope, node))

    return visit(module.body, ())


def _is_test(node: ast.stmt) -> TypeGuard[Function]:
    return (
        isinstance(node, FUNCTIONS)
        and node.name.startswith("test")
        and not any(last_name(decorator) == "fixture" for decorator in node.decorator_list)
    )


def _is_unittest(node: ast.ClassDef) -> bool:
    return any(last_name(base).endswith("TestCase") for base in node.bases)


def _identity(scope: _Scope, function: Function) -> str:
    return "::".join([*(class_.name for class_ in scope), function.name])


def _what_skips(module: ast.Module) -> set[str]:
    """Names that may skip a test that mentions them: pytest's and unittest's, and the file's own functions and fixtures
    that mention one."""
    own = [node for node in ast.walk(module) if isinstance(node, FUNCTIONS) and not _is_test(node)]
    known = set(_SKIPPING)
    while more := {node.name for node in own if node.name not in known and _mentions(node, known)}:
        known |= more
    return known


def _mentions(node: ast.AST, names: set[str]) -> bool:
    said = (inner for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute)))
    return bool(_names(node) & names) or any(last_name(name) in names for name in said)


def _helpers(module: ast.Module) -> list[Function]:
    return [node for node in module.body if isinstance(node, FUNCTIONS) and not _is_test(node)]
