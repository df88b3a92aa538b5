"""Python's own parser, safe to call from several threads."""

from __future__ import annotations

import ast
import io
import threading
import warnings
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_PARSING = threading.Lock()
_ATTEMPTS = 5


def parse_python(text: str) -> ast.Module:
    """Parse Python source, with or without a byte order mark, one thread at a time.

    Raises:
        SyntaxError: the text is no Python, or Python's parser can't read it: it is nested too deeply, or holds NUL
            characters or lone surrogates.
    """
    return _parsed(text.removeprefix("\ufeff"), "exec")


def read_python(text: str) -> ast.Module:
    """The tree of Python source, an empty one where it can't be parsed."""
    try:
        return parse_python(text)
    except SyntaxError:
        return ast.Module([], [])


def parses(text: str) -> bool:
    """Whether a text parses as Python."""
    try:
        parse_python(text)
    except SyntaxError:
        return False
    return True


def python_lines(text: str) -> list[str]:
    """The lines of a text, each with its end, as Python's parser counts them: unlike `str.splitlines`, form feeds and
    other separators end none."""
    return list(io.StringIO(text, newline=""))


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a plain value, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a plain value."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def first_line(node: ast.AST) -> int:
    """The line on which a statement begins, with its decorators."""
    return min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))


def root_name(node: ast.AST) -> str:
    """The name that a chain of attributes, calls and subscripts begins with; '' for none."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def parse_expression(text: str) -> ast.Expression:
    """Parse one Python expression, as `parse_python` does. Raises SyntaxError."""
    return _parsed(text, "eval")


def _parsed(text: str, mode: str) -> Any:
    # CPython 3.11 counts the depth of all threads' trees in one counter and raises SystemError when they interfere. A
    # library may be parsing in another thread, so parsing is retried.
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attempt in range(_ATTEMPTS):
            try:
                return ast.parse(text, mode=mode)
            except SystemError:
                if attempt == _ATTEMPTS - 1:
                    raise
            except (ValueError, RecursionError, MemoryError) as error:
                raise SyntaxError(str(error) or type(error).__name__) from error
