"""Python's own parser, safe to call from several threads."""

from __future__ import annotations

import ast
import threading
import warnings

_PARSING = threading.Lock()
_ATTEMPTS = 5


def parse_python(text: str) -> ast.Module:
    """Parse Python source, one thread at a time.

    CPython 3.11 counts the depth of all threads' trees in one counter and raises SystemError when they interfere. A
    library may be parsing in another thread, so parsing is retried.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_ATTEMPTS - 1):
            try:
                return ast.parse(text)
            except SystemError:
                continue
        return ast.parse(text)
