"""Imports of Python modules, read and edited where they stand. Pure: texts with plain line ends."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import PurePosixPath

from repopilot.code.python_ast import parse_python
from repopilot.code.source_positions import Replacement, SourcePositions
from repopilot.tools.refactoring.signature import added_items, removed_items

_FROM = re.compile(r"from\s*([.\w\s]*?)\s*\bimport\b")
Import = ast.Import | ast.ImportFrom
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def stem(path: str) -> str:
    """The path of a module without its suffix; that of its folder for a package."""
    return re.sub(r"(/__init__|^__init__)$", "", re.sub(r"\.pyi?$", "", path))


def plain(text: str | None) -> str:
    """A text with plain line ends and without a byte order mark."""
    return (text or "").removeprefix("\ufeff").replace("\r\n", "\n")


def is_package(path: str) -> bool:
    """Whether a file is the `__init__` of a package."""
    return PurePosixPath(path).stem == "__init__"


def root_of(dotted: str, path: str) -> str | None:
    """The folder from which a dotted name leads to a file, '' for the repository's root, None where it can't mean that
    file."""
    folder = stem(path)
    name = dotted.replace(".", "/")
    if folder == name:
        return ""
    return folder[: -len(name) - 1] if dotted and folder.endswith(f"/{name}") else None


def dotted_below(root: str | None, path: str) -> str:
    """The dotted name of a module from a folder, as `root_of` gives it; '' for a module that isn't below it."""
    if root is None or (root and not path.startswith(f"{root}/")):
        return ""
    return stem(path)[len(root) + 1 if root else 0 :].replace("/", ".")


def split_module(module: str) -> tuple[str, str]:
    """The package and the last part of a module's name: `..` and `a` of `..a`, `a.b` and `c` of `a.b.c`."""
    last = module.rpartition(".")[2]
    package = module[: len(module) - len(last)]
    return package.removesuffix(".") if package.strip(".") else package, last


@dataclass(frozen=True)
class Bound:
    """A name that an import binds.

    Attributes:
        name: the name; all of a dotted one that is imported as it is.
        module: the imported module, or the one that the name is taken from, as in `module_of`.
        node: the import.
        alias: the name's part of the import.
        body: the statements that the import is one of.
        scope: the function that it is in, None for the module: then it runs at once.
        typing: whether only type checkers see it.
    """

    name: str
    module: str
    node: Import
    alias: ast.alias
    body: Sequence[ast.stmt]
    scope: ast.AST | None
    typing: bool

    @property
    def lazy(self) -> bool:
        """Whether it runs only when a function is called."""
        return self.scope is not None

    @property
    def whole(self) -> str:
        """The full name of what it binds, if that is a module."""
        if isinstance(self.node, ast.Import):
            return self.alias.name
        glue = "/" if self.module.startswith("/") else "."
        return f"{self.module.rstrip('/')}{glue}{self.alias.name}"


@dataclass
class ModuleText:
    """A module: its path, its text, and which folders of the repository are packages."""

    path: str
    text: str
    packages: Collection[str] = ()
    tree: ast.Module = field(init=False)
    positions: SourcePositions = field(init=False)

    def __post_init__(self) -> None:
        self.tree = parse_python(self.text)
        self.positions = SourcePositions(self.text)

    @cached_property
    def imports(self) -> list[Bound]:
        """All names that its imports bind, in order."""
        return list(self._imports(self.tree, self.tree.body, None, False))

    def _imports(self, node: ast.AST, body: Sequence[ast.stmt], scope: ast.AST | None, typing: bool) -> Iterator[Bound]:
        if isinstance(node, Import):
            for alias in node.names:
                module = self.module_of(node) if isinstance(node, ast.ImportFrom) else alias.name
                yield Bound(alias.asname or alias.name, module, node, alias, body, scope, typing)
            return
        scope = node if isinstance(node, _FUNCTIONS) else scope
        for name, value in ast.iter_fields(node):
            inner = typing or (name == "body" and isinstance(node, ast.If) and is_typing(node.test))
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    within = value if isinstance(value, list) and isinstance(child, ast.stmt) else body
                    yield from self._imports(child, within, scope, inner)

    def module_of(self, node: ast.ImportFrom) -> str:
        """The module that an import takes names from: a dotted name, or for a relative import `/` and the module's
        path."""
        if not node.level:
            return node.module or ""
        folder = PurePosixPath(self.path).parent
        for _ in range(node.level - 1):
            folder = folder.parent
        inner = (node.module or "").replace(".", "/")
        return f"/{folder / inner}".replace("/./", "/")

    def means(self, module: str, path: str) -> bool:
        """Whether a module's name in an import may mean a file."""
        if module.startswith("/"):
            return module[1:] in (stem(path), stem(path) or ".")
        return root_of(module, path) is not None

    def reference(self, module: str, old: str, new: str, fallback: str) -> str:
        """The name of another module in the style of an import: relative, or from the same root.

        Args:
            module: the import's name of the old module.
            old, new: the paths of both.
            fallback: the dotted name of the new one, for where the style can't be kept.
        """
        if module.startswith("/"):
            return self.relative(module[1:], new) or fallback
        return dotted_below(root_of(module, old), new) or fallback

    def relative(self, reached: str, new: str) -> str:
        """The name of a module in a relative import here; '' where that would leave the package. Packages are folders
        with an `__init__`, and those that an existing relative import of `reached` crosses."""
        own = PurePosixPath(self.path).parent.parts
        there = PurePosixPath(stem(new)).parts
        same = len(_common(own, there if is_package(new) else there[:-1]))
        inside = "/".join(own[:same]) in self.packages or same >= len(_common(own, PurePosixPath(reached).parts))
        return "." * (len(own) - same + 1) + ".".join(there[same:]) if inside else ""

    def line_span(self, node: ast.AST) -> tuple[int, int]:
        """The span of all lines that a statement stands in."""
        start = self.positions.offset(node.lineno, 0)  # type: ignore[attr-defined]
        end = self.text.find("\n", self.positions.span(node)[1])
        return start, end + 1 if end >= 0 else len(self.text)

    def without(self, node: Import, gone: Sequence[ast.alias], body: Sequence[ast.stmt]) -> list[Replacement]:
        """Remove names from an import, or the whole import where none is left."""
        if len(gone) < len(node.names):
            spans = [self.positions.span(alias) for alias in node.names]
            return removed_items(spans, [node.names.index(alias) for alias in gone])
        start, end = self.line_span(node)
        alone = self.text[start:end].strip() == self.text[slice(*self.positions.span(node))]
        if len(body) > 1 and alone:
            return [Replacement(start, end, "")]
        return [Replacement(*self.positions.span(node), "pass")]

    def other_module(self, node: ast.ImportFrom, module: str) -> Replacement:
        """Replace the module that an import takes its names from."""
        start, _ = self.positions.span(node)
        found = _FROM.match(self.text, start)
        assert found is not None
        before = " " if self.text[found.start(1) - 1].isalpha() else ""
        return Replacement(*found.span(1), before + module)

    def behind(self, node: ast.stmt, line: str) -> Replacement:
        """Insert a statement after another one, at its level."""
        start, end = self.positions.span(node)
        begin, following = self.line_span(node)
        rest = self.text[end:following]
        if self.text[begin:start].strip() or rest.strip().startswith(";"):
            return Replacement(end, end, f"; {line}")
        indent = self.text[begin:start]
        if not rest.endswith("\n"):
            return Replacement(following, following, f"\n{indent}{line}")
        return Replacement(following, following, f"{indent}{line}\n")

    def with_alias(self, body: Sequence[ast.stmt], module: str, what: str) -> Replacement | None:
        """Add a name to an import of the same module among some statements; None without such an import."""
        for node in body:
            same = isinstance(node, ast.ImportFrom) and node.names[0].name != "*" and module_as_written(node) == module
            if same and isinstance(node, ast.ImportFrom):
                if what in [ast.unparse(alias) for alias in node.names]:
                    return Replacement(0, 0, "")
                (made,) = added_items(self.text, [self.positions.span(alias) for alias in node.names], [what])
                return made
        return None

    @cached_property
    def header(self) -> ast.stmt | None:
        """The last statement of the module's head, its docstring and first imports; None without a head."""
        last = None
        for n, node in enumerate(self.tree.body):
            text = n == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not (text or isinstance(node, Import) or is_guarded_import(node)):
                break
            last = node
        return last

    def with_statement(self, code: str) -> Replacement:
        """Insert a statement after the module's head."""
        node = self.header
        if node is None:
            first = next((m.start() for m in re.finditer(r"^(?!#)", self.text, re.M)), 0)
            return Replacement(first, first, f"{code}\n" + ("\n\n" if self.text[first:].strip() else ""))
        _, end = self.line_span(node)
        gap = "" if isinstance(node, Import | ast.If | ast.Try) and not code.startswith("\n") else "\n"
        code = code.lstrip("\n")
        before = "" if self.text[:end].endswith("\n") else "\n"
        return Replacement(end, end, f"{before}{gap}{code}\n")

    def binds(self, name: str) -> list[ast.stmt]:
        """The top-level statements that bind a name, also within conditions and `try`."""
        return [node for node in self.tree.body if name in bound_names(node)]

    def identifiers(self) -> set[str]:
        """Every name that it reads or binds anywhere."""
        found = {name for node in ast.walk(self.tree) for name in _own_names(node)}
        return found | {bound.name.partition(".")[0] for bound in self.imports}


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    return [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]


def module_as_written(node: ast.ImportFrom) -> str:
    """The module as an import names it, with the dots of a relative one."""
    return "." * node.level + (node.module or "")


def _own_names(node: ast.AST) -> Iterator[str]:
    for attribute in ("id", "arg", "name"):
        value = getattr(node, attribute, None)
        if isinstance(value, str) and not isinstance(node, ast.alias | ast.keyword):
            yield value
    yield from getattr(node, "names", ()) if isinstance(node, ast.Global | ast.Nonlocal) else ()


def is_typing(test: ast.expr) -> bool:
    """Whether a condition is true for type checkers only."""
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING")


def is_guarded_import(node: ast.stmt) -> bool:
    """Whether a condition or `try` holds nothing but imports and simple substitutes for them."""
    if not isinstance(node, ast.If | ast.Try):
        return False
    inner = [each for part in ("body", "orelse", "finalbody") for each in getattr(node, part, ())]
    inner += [each for handler in getattr(node, "handlers", ()) for each in handler.body]
    plain = [each for each in inner if not isinstance(each, Import)]
    return len(plain) < len(inner) and all(_is_plain(each) for each in plain)


def _is_plain(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is None or isinstance(node.value, ast.Constant | ast.Name | ast.Attribute)
    return isinstance(node, ast.Pass) or is_guarded_import(node)


def bound_names(node: ast.AST) -> set[str]:
    """The names that a statement binds in its scope, also under conditions."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, Import):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store | ast.Del) else set()
    if isinstance(node, ast.ExceptHandler) and node.name:
        return {node.name} | {name for child in node.body for name in bound_names(child)}
    if isinstance(node, _FUNCTIONS):
        return set()
    return {name for child in ast.iter_child_nodes(node) for name in bound_names(child)}
