"""Python's own parser, safe to call from several threads."""

from __future__ import annotations

import ast
import threading
import warnings

_PARSING = threading.Lock()
_ATTEMPTS = 5


def parse_python(text: str) -> ast.Module:
    """`ast.parse`, one thread at a time: CPython 3.11 counts the depth of all threads' trees in one counter, and
    raises SystemError when they mix. A library may still be parsing elsewhere, so it is tried again.

    Raises what ast.parse raises: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_ATTEMPTS - 1):
            try:
                return ast.parse(text)
            except SystemError:
                continue
        return ast.parse(text)
