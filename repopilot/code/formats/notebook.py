"""The cells of a Jupyter notebook as one Python text, outputs and embedded pictures left out. Pure.

    # %% [markdown] cell 1
    # Prices

    # %% cell 2
    total = 3

Symbols, chunks and citations use the line numbers of this form, in which a line above each cell names it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

SUFFIX = ".ipynb"
ROOM = 16
"""How many times larger than another file a notebook may be: most of it is outputs, which are not read."""

_PYTHON = frozenset(("", "python", "ipython", "python2", "python3"))
_PYTHON_CELLS = frozenset(("time", "timeit", "capture", "prun"))  # `%%time`: the rest of the cell is Python
_MAGIC = re.compile(r"([ \t]*)(%{1,2}[A-Za-z]\w*.*|!.*|\?{1,2}[\w.*]+[ \t]*|[\w.*]+\?{1,2}[ \t]*)")
_HEAD = re.compile(r"# %% (?:\[[^\]]*\] )?cell (\d+)")
_PICTURE = re.compile(r"(data:[\w/.+-]{1,60};base64,)[A-Za-z0-9+/=]{64,}")


def is_notebook(path: str) -> bool:
    """Whether a path is that of a notebook."""
    return path.lower().endswith(SUFFIX)


def notebook_text(text: str) -> str | None:
    """A notebook as Python.

    Args:
        text: the notebook as stored, JSON.

    Returns:
        The text, '' where no cell has any; None for a damaged notebook.
    """
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return None
    cells = _cells(notebook)
    if cells is None or not all(isinstance(cell, dict) and _source(cell) is not None for cell in cells):
        return None
    if not any((_source(cell) or "").strip() for cell in cells):
        return ""
    language = _language(notebook)
    lines = [line for number, cell in enumerate(cells, 1) for line in _lines(number, cell, language)]
    # A lone half of a surrogate pair, which JSON can hold, can't be stored.
    return "\n".join(lines).encode("utf-8", "replace").decode()


def place_in_cells(text: str, line: int) -> tuple[int, int]:
    """The cell that holds a line of a notebook's text, and the line's number in it, both from 1; 0 for the line that
    names it."""
    above = text.split("\n")[:line]
    heads = [(number, head[1]) for number, row in enumerate(above, 1) if (head := _HEAD.fullmatch(row))]
    number, cell = heads[-1] if heads else (0, "1")
    return int(cell), line - number


def _cells(notebook: Any) -> list[Any] | None:
    """The cells of a notebook of format 4, or of format 3, which has worksheets; None if they can't be found."""
    if not isinstance(notebook, dict):
        return None
    sheets = notebook.get("worksheets")
    if isinstance(sheets, list) and "cells" not in notebook:
        found: list[list[Any] | None] = [
            _cells({"cells": s.get("cells")}) if isinstance(s, dict) else None for s in sheets
        ]
        whole = [cells for cells in found if cells is not None]
        return [cell for cells in whole for cell in cells] if len(whole) == len(sheets) else None
    cells = notebook.get("cells")
    return cells if isinstance(cells, list) else None


def _source(cell: dict[str, Any]) -> str | None:
    """The text of a cell, which is stored whole or as lines; None for neither."""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return source if isinstance(source, str) else None


def _language(notebook: dict[str, Any]) -> str:
    """The language of the code cells, '' where the notebook doesn't tell."""
    metadata = notebook.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        found = about.get(part)
        if isinstance(found, dict) and isinstance(found.get(key), str):
            return str(found[key]).strip().lower()
    return ""


def _lines(number: int, cell: dict[str, Any], language: str) -> Iterator[str]:
    """The lines of one cell, below a line that names it, and a blank line."""
    kind = cell.get("cell_type", "code")
    source = (_source(cell) or "").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    rows = _PICTURE.sub(r"\1…", source).split("\n") if source else []
    if kind == "code" and language in _PYTHON:
        yield f"# %% cell {number}"
        yield from as_python(rows)
    else:
        # Keep only the characters of a name: a line break in it would start a line of Python.
        name = re.sub(r"[^\w+#.-]", "", str(language if kind == "code" else kind))[:30]
        yield f"# %% [{name}] cell {number}"
        yield from _commented(rows)
    yield ""


def as_python(rows: list[str]) -> Iterator[str]:
    """The lines of a cell as Python, one for each: lines that only IPython understands become comments."""
    first = next((row for row in rows if row.strip()), "")
    if first.startswith("%%") and re.split(r"\W", first[2:], maxsplit=1)[0] not in _PYTHON_CELLS:
        return _commented(rows)
    return (_plain(row) for row in rows)


def _plain(row: str) -> str:
    magic = _MAGIC.fullmatch(row)
    if magic is None:
        return row
    # An indented magic may be the only statement of its block.
    return f"{magic[1]}pass  # {magic[2]}" if magic[1] else f"# {magic[2]}"


def _commented(rows: Iterable[str]) -> Iterator[str]:
    return (f"# {row}".rstrip() for row in rows)
