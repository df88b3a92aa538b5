"""Finds the functions of stack frames in an index, whose files may have moved and whose lines may have changed since.

A frame's file is the file of the same name that defines the frame's function and shares most of the path. In the file,
the name of the function decides, or the line if the frame names no function. Pure over arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from repopilot.index.lexical import LexicalIndex
from repopilot.retrieval.query.stack_frames import Frame
from repopilot.types import Chunk

MOST_CANDIDATES = 200
"""Files of the same name that are compared."""
SLACK = 3
"""Lines beside a definition that count as inside it."""
_INSTALLED = re.compile(
    r".*?(?:/(?:site|dist)-packages/|/node_modules/|/gems/(?=[^/]+-\d)|/\.cargo/(?:registry/src|git/checkouts)/[^/]+/"
    r"|/pkg/mod/|/vendor/|/rustc/[^/]+/|/usr/(?:local/)?go/src/|/usr/(?:local/)?lib(?:32|64)?/(?:(?:python|ruby)[\d./]*/)?"
    r"|/(?:python|ruby)\d[\d.]*/|/\.rustup/toolchains/)"
)
"""The folder of installed packages in a path, with forward slashes; the last one is the one that counts."""


def rows_of(frames: Iterable[Frame], lexical: LexicalIndex, chunks: Sequence[Chunk]) -> list[int]:
    """The rows of the functions of frames.

    Args:
        frames: the frames of a stack trace.
        lexical: the lexical index.
        chunks: the chunks of its rows; chunk n is row n.

    Returns:
        Rows in the order of the frames, those of frames in installed packages last: they are the repository's own only
        where it was installed itself, or keeps copies of others.
    """
    files = _Files(lexical)
    own: list[int] = []
    installed: list[int] = []
    for frame in frames:
        inside = _in_package(frame)
        path = files.of_installed(frame, inside) if inside else files.of(frame)
        row = _row(frame, path, lexical, chunks) if path else None
        if row is not None:
            (installed if inside else own).append(row)
    return list(dict.fromkeys([*own, *installed]))


def _in_package(frame: Frame) -> str:
    """The part of an installed file's path below the folder of all packages; '' for other files."""
    path = frame.path.replace("\\", "/")
    end = 0
    while match := _INSTALLED.match(path, end):
        # The slash that ends one folder begins the next.
        end = match.end() - 1
    return path[end + 1 :] if end else ""


class _Files:
    """The files of an index by their names without folders."""

    def __init__(self, lexical: LexicalIndex) -> None:
        self._lexical = lexical
        self._paths: dict[str, list[str]] = {}
        for path in lexical.files:
            self._paths.setdefault(path.rpartition("/")[2], []).append(path)

    def of(self, frame: Frame) -> str:
        """The likeliest file of a frame; '' if no file of that name shares enough of the path."""
        wanted = next(iter(frame.suffixes), "").split("/")
        best = ""
        best_score = (False, False, -1)
        for path in self._paths.get(wanted[-1], ())[:MOST_CANDIDATES]:
            common = _common(path.split("/"), wanted)
            whole = common > 1 and common == path.count("/") + 1
            score = (whole, self._defines(path, frame), common)
            if score > best_score:
                best = path
                best_score = score
        return best if self._is_like(frame, wanted, best_score) else ""

    def _is_like(self, frame: Frame, wanted: Sequence[str], score: tuple[bool, bool, int]) -> bool:
        _, defines, common = score
        # An absolute path must share more than a common name such as __init__.py.
        return common > 1 or (common == 1 and (defines or len(wanted) == 1 or len(self._paths[wanted[-1]]) == 1))

    def of_installed(self, frame: Frame, inside: str) -> str:
        """The repository's file that was installed as `inside`; '' if it is another package's.

        Packages are installed with or without their own folder and its parents. The file must define the function.
        """
        wanted = inside.split("/")
        for path in self._paths.get(wanted[-1], ())[:MOST_CANDIDATES]:
            parts = path.split("/")
            common = _common(parts, wanted)
            whole = common == len(wanted) or (common == len(parts) and len(wanted) > 1)
            if whole and (self._defines(path, frame) or (common > 1 and not frame.names)):
                return path
        return ""

    def _defines(self, path: str, frame: Frame) -> bool:
        name = frame.names[-1] if frame.names else ""
        return bool(name) and bool(_defining(name, path, self._lexical).size)


def _common(parts: Sequence[str], wanted: Sequence[str]) -> int:
    """How many parts two paths share at their ends."""
    pairs = zip(reversed(parts), reversed(wanted), strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(parts), len(wanted)))


def _defining(name: str, path: str, lexical: LexicalIndex) -> np.ndarray:
    rows = lexical.rows_defining(name)
    return rows[lexical.file_of[rows] == lexical.file_numbers[path]]


def _row(frame: Frame, path: str, lexical: LexicalIndex, chunks: Sequence[Chunk]) -> int | None:
    """The row of a frame in its file: that at its line if the named function is there, else the function's nearest."""
    at_line = [row for row in lexical.rows_of_file(path).tolist() if _distance(chunks[row], frame.line) == 0]
    names = frame.names
    if not names or any(_is_of(chunks[row], names[-1]) for row in at_line):
        return at_line[0] if at_line else None
    named = _defining(names[-1], path, lexical).tolist()
    if not named:
        return at_line[0] if at_line else None
    scope = names[-2].lower() if len(names) > 1 else ""
    return min(named, key=lambda row: (*_unlike(chunks[row], frame.line, scope), row))


def _is_of(chunk: Chunk, name: str) -> bool:
    """Whether a passage is the named function or a part of it, or has its definition in the text but not as symbol."""
    if chunk.symbol.replace("::", ".").rpartition(".")[2].lower() == name.lower():
        return True
    return bool(re.search(rf"\b(?:def|function|fn|func|fun)\s+{re.escape(name)}\b", chunk.text))


def _unlike(chunk: Chunk, line: int, scope: str) -> tuple[bool, bool, int]:
    inside = not scope or scope in chunk.symbol.replace("::", ".").lower().split(".")
    distance = _distance(chunk, line)
    return distance > SLACK, not inside, distance


def _distance(chunk: Chunk, line: int) -> int:
    return max(chunk.start_line - line, line - chunk.end_line, 0)
