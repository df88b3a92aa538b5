"""How long indexing a repository will take, estimated before it begins. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.types import SourceFile

FOLDERS_SHOWN = 12
BYTES_PER_LINE = 34
"""Average of code and documents."""
LINES_PER_SECOND = 25_000
"""Speed of building the lexical index, on two modest cores."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A top-level folder ('' for the root's own files), in the order of indexing."""

    name: str
    lines: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much there is to index, and how long it takes.

    Attributes:
        files: files to read.
        lines: their lines, estimated from their bytes.
        lexical_s: seconds until questions can be answered.
        folders: the top-level folders in the order of indexing.
    """

    files: int
    lines: int
    lexical_s: float
    folders: tuple[Folder, ...]


def estimate(files: Sequence[SourceFile]) -> Estimate:
    """Estimate by the sizes of the files; numbers have two significant digits, so that they look like estimates.

    Args:
        files: all files to read, in the order of indexing.
    """
    sizes: Counter[str] = Counter()
    for file in files:
        top = file.path.split("/", 1)[0] if "/" in file.path else ""
        sizes[top] += file.size
    folders = tuple(Folder(name, _lines(size)) for name, size in sizes.items())
    lines = _lines(sum(file.size for file in files))
    return Estimate(len(files), lines, round(lines / LINES_PER_SECOND, 1), folders)


def _lines(size: int) -> int:
    return int(float(f"{size / BYTES_PER_LINE:.1e}"))
