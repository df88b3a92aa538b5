"""The side effects of importing a Python module, beyond binding its own names. Pure."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator

from repopilot.code.python_ast import root_name


def has_effects(tree: ast.Module) -> bool:
    """Whether importing a module may have side effects: it calls something for its effect, changes an object that isn't
    its own, or registers a definition by a decorator or a base class."""
    return any(_does_something(node, _harmless(tree)) for node in _statements(tree.body))


def run_at_import(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when a module is imported."""
    yield from (node for node in _statements(tree.body) if isinstance(node, ast.Import | ast.ImportFrom))


def is_standard(module: str) -> bool:
    """Whether a module is of Python's standard library."""
    return module.partition(".")[0] in sys.stdlib_module_names


def defines_fixture(tree: ast.Module, name: str) -> bool:
    """Whether a module defines a pytest fixture with this name; parameters with its name use it."""
    functions = (n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == name)
    return any("fixture" in ast.unparse(decorator) for each in functions for decorator in each.decorator_list)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run, including nested ones, without those in functions and classes."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            inner = [*node.body, *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())]
            inner += [stmt for handler in getattr(node, "handlers", ()) for stmt in handler.body]
            yield from _statements(inner)


def _harmless(tree: ast.Module) -> set[str]:
    """Names that may decorate a definition, or be its base, without side effects: builtins, imports from the standard
    library, and the module's own classes."""
    names = set(dir(builtins))
    for node in _statements(tree.body):
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import):
            names |= {(a.asname or a.name).partition(".")[0] for a in node.names if is_standard(a.name)}
        elif isinstance(node, ast.ImportFrom) and not node.level and is_standard(node.module or ""):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _does_something(node: ast.stmt, harmless: set[str]) -> bool:
    match node:
        case ast.Expr():
            return not isinstance(node.value, ast.Constant)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return any(root_name(each) not in harmless for each in node.decorator_list)
        case ast.ClassDef():
            used = [*node.decorator_list, *node.bases, *(each.value for each in node.keywords)]
            return any(root_name(each) not in harmless for each in used)
        case ast.Assign():
            return not all(_is_own(target) for target in node.targets)
        case ast.AnnAssign() | ast.AugAssign():
            return not _is_own(node.target)
        case ast.Delete() | ast.Raise():
            return True
    return False


def _is_own(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_is_own(each) for each in target.elts)
    return isinstance(target, ast.Name | ast.Starred)
