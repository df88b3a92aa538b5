"""A Python test module as code reads it: its tests, fixtures and imports; and changes of it. Pure."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repopilot.code.python_ast import FUNCTIONS, Function, parse_python

_LONGEST_IMPORT = 88


@dataclass(frozen=True, slots=True)
class SuiteTest:
    """One test function.

    Attributes:
        name: of the function.
        owner: its class, '' at the top level.
        first, last: its lines with decorators, 1-based and inclusive.
        parameters: without `self`.
        names: every name and attribute it uses.
        shape: its statements without its name, to recognise a copy.
    """

    name: str
    owner: str
    first: int
    last: int
    parameters: tuple[str, ...]
    names: frozenset[str]
    shape: str


@dataclass(frozen=True, slots=True)
class Suite:
    """A test module.

    Attributes:
        text: with LF line ends.
        tests: in the order of their lines.
        fixtures: names of the fixtures it defines.
        classes: the last line of each top-level class, and whether it is a `unittest.TestCase`.
        bound: what is bound at the top level: name → (module, name in it), '' for the module itself or what the file
            defines.
        attributes: dotted uses at any place, such as `click.echo`.
    """

    text: str
    tests: tuple[SuiteTest, ...] = ()
    fixtures: frozenset[str] = frozenset()
    classes: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    bound: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    attributes: frozenset[str] = frozenset()


def read_suite(text: str) -> Suite | None:
    """Read a test module; None when it doesn't parse."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    scopes: list[tuple[str, Sequence[ast.stmt]]] = [("", tree.body), *((c.name, c.body) for c in classes)]
    functions = [(owner, node) for owner, body in scopes for node in body if isinstance(node, FUNCTIONS)]
    tests = [_test(owner, node) for owner, node in functions if node.name.startswith("test") and not _fixture(node)]
    return Suite(
        text,
        tuple(sorted(tests, key=lambda test: test.first)),
        frozenset(fixture for _, node in functions if (fixture := _fixture(node))),
        {c.name: (c.end_lineno or c.lineno, _is_unittest(c)) for c in classes},
        dict(_bindings(tree.body)),
        frozenset(ast.unparse(node) for node in ast.walk(tree) if _is_dotted(node)),
    )


def with_test(suite: Suite, source: str, owner: str = "", after: SuiteTest | None = None) -> str:
    """The module's text with one more test.

    Args:
        suite: the module.
        source: the test without indentation, a method with `self`.
        owner: the class to put it into, '' for the top level.
        after: the test behind which it goes; None for the end of the class or module.
    """
    lines = suite.text.rstrip("\n").split("\n") if suite.text.strip() else []
    body = source.rstrip("\n").split("\n")
    if owner:
        body = [f"{_indent_in(suite, owner)}{line}" if line.strip() else "" for line in body]
    at = after.last if after else suite.classes[owner][0] if owner else _end_of_tests(lines)
    gap = [""] if owner else ["", ""]
    while not after and not owner and at and not lines[at - 1].strip():
        at -= 1
    new = [*lines[:at], *(gap if at else []), *body, *lines[at:]]
    if lines[at:] and lines[at].strip():
        new[len(new) - len(lines[at:]) : len(new) - len(lines[at:])] = gap
    return "\n".join(new) + "\n"


def with_import_line(text: str, line: str) -> str:
    """The text with one more import at the top level, where its neighbours are, or below the module's docstring.

    A name joins the names of an import of the same module where the file imports several names by one statement.
    """
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    lines = text.split("\n")
    if line in lines:
        return text
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if joined := _joined(imports, line, lines):
        return "\n".join(joined)
    if imports:
        at, gap = _place_of_import(imports, line)
        return "\n".join([*lines[:at], line, *([""] if gap else []), *lines[at:]])
    first = tree.body[0] if tree.body else None
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    at = (first.end_lineno or 0) if first is not None and documented else 0
    return "\n".join([*lines[:at], *([""] if at else []), line, *([] if at else ["", ""]), *lines[at:]])


def only_tests(text: str, kept: Collection[tuple[str, str]]) -> str:
    """The module without its tests, but for some (class or '', name): imports, fixtures and helpers stay.

    The others become `pass`, so that a class is never left without a body.
    """
    suite = read_suite(text)
    if suite is None:
        return text
    lines = text.split("\n")
    for test in suite.tests:
        if (test.owner, test.name) not in kept:
            line = lines[test.first - 1]
            indent = line[: len(line) - len(line.lstrip())]
            lines[test.first - 1 : test.last] = [f"{indent}pass"] + [""] * (test.last - test.first)
    return "\n".join(lines)


def shape_of(source: str) -> str:
    """What two tests have in common that only differ in their names, comments and layout; '' of bad syntax."""
    try:
        function = parse_python(source).body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return ""
    return _shape(function) if isinstance(function, FUNCTIONS) else ""


def names_in(node: ast.AST) -> frozenset[str]:
    """Names and attributes that a tree uses."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return frozenset(found | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)})


def _test(owner: str, node: Function) -> SuiteTest:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    parameters = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    own = tuple(parameters[1:] if owner and parameters[:1] == ["self"] else parameters)
    return SuiteTest(node.name, owner, first, node.end_lineno or first, own, names_in(node), _shape(node))


def _shape(node: Function) -> str:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return "\n".join(ast.unparse(statement) for statement in body)


def _fixture(node: Function) -> str:
    """The name of the fixture that a function defines, '' for none."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(called).rpartition(".")[2] == "fixture":
            named = [k.value for k in getattr(decorator, "keywords", []) if k.arg == "name"]
            return str(ast.literal_eval(named[0])) if named and isinstance(named[0], ast.Constant) else node.name
    return ""


def _is_unittest(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("TestCase") for base in node.bases)


def _is_dotted(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
        if isinstance(node, ast.Name):
            return True
    return False


def _bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in body:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((alias.asname or alias.name, (module, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield name, (alias.name if alias.asname else name, "")
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name, ("", node.name)
        elif isinstance(node, ast.Assign):
            yield from ((target.id, ("", target.id)) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _bindings([*node.body, *node.orelse])


def _end_of_tests(lines: Sequence[str]) -> int:
    """The number of lines before a trailing `if __name__ == …`, else of all."""
    main = [number for number, line in enumerate(lines) if re.match(r"if __name__\s*==", line)]
    return main[-1] if main else len(lines)


def _indent_in(suite: Suite, owner: str) -> str:
    for test in suite.tests:
        if test.owner == owner:
            line = suite.text.split("\n")[test.first - 1]
            return line[: len(line) - len(line.lstrip())]
    return "    "


def _joined(imports: Sequence[ast.Import | ast.ImportFrom], line: str, lines: list[str]) -> list[str]:
    """The lines where an import of the same module, on one line, takes the name; [] where none can."""
    module, _, name = line.removeprefix("from ").partition(" import ")
    several = any(isinstance(node, ast.ImportFrom) and len(node.names) > 1 for node in imports)
    for node in imports:
        same = isinstance(node, ast.ImportFrom) and not node.level and node.module == module
        if not (several and same and name) or node.lineno != node.end_lineno:
            continue
        names = [alias.name for alias in node.names]
        ordered = names == sorted(names, key=str.lower)
        names = sorted([*names, name], key=str.lower) if ordered else [*names, name]
        new = f"from {module} import {', '.join(names)}"
        if not any(alias.asname for alias in node.names) and len(new) <= _LONGEST_IMPORT:
            return [*lines[: node.lineno - 1], new, *lines[node.lineno :]]
    return []


def _place_of_import(imports: Sequence[ast.Import | ast.ImportFrom], line: str) -> tuple[int, bool]:
    """The number of lines before a new import, and whether a blank line goes behind it.

    In the order of the alphabet among those of the same package; else behind the last one that is not relative, but a
    package comes before what is imported from the repository by `from`.
    """
    package = re.split(r"[\s.]+", line)[1]
    same = [node for node in imports if package in _packages(node)]
    for node in same:
        if ast.unparse(node).lower() > line.lower() and isinstance(node, ast.ImportFrom) == line.startswith("from"):
            return node.lineno - 1, False
    absolute = [node for node in imports if not (isinstance(node, ast.ImportFrom) and node.level)]
    known = [node for node in absolute if _packages(node) & (sys.stdlib_module_names | {"pytest"})]
    if not same and package in (*sys.stdlib_module_names, "pytest"):
        if not known:
            return imports[0].lineno - 1, True
        return known[-1].end_lineno or known[-1].lineno, False
    last = (same or absolute or list(imports))[-1]
    return last.end_lineno or last.lineno, False


def _packages(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]} if not node.level else set()
    return {alias.name.partition(".")[0] for alias in node.names}
