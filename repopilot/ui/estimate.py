"""What indexing a repository will take, told before it begins. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.types import Skip, SourceFile

BYTES_PER_LINE = 34
"""27–37 in flask, click, express, gin and llm. Reading a big repository to count exactly would take as long
as half of its lexical index."""
LEXICAL_LINES_PER_S = 8_000
DENSE_LINES_PER_S = 350
"""Two contended cores; a machine of one's own is faster."""
FOLDERS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Folder:
    """A top-level folder ('' for the root's own files), in the order of indexing."""

    name: str
    files: int
    lines: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """`lines` is estimated from bytes. Seconds until the first question, and until vectors are complete."""

    files: int
    lines: int
    skipped: int
    lexical_s: float
    dense_s: float
    folders: tuple[Folder, ...]


def estimate(files: Sequence[SourceFile], skipped: Sequence[Skip]) -> Estimate:
    """From the walk's own order, so that the folders come as they will be indexed."""
    sizes: dict[str, tuple[int, int]] = {}
    for file in files:
        top = file.path.split("/", 1)[0] if "/" in file.path else ""
        count, size = sizes.get(top, (0, 0))
        sizes[top] = count + 1, size + file.size
    folders = tuple(Folder(name, count, size // BYTES_PER_LINE) for name, (count, size) in sizes.items())
    lines = sum(file.size for file in files) // BYTES_PER_LINE
    return Estimate(
        files=len(files),
        lines=lines,
        skipped=len(skipped),
        lexical_s=lines / LEXICAL_LINES_PER_S,
        dense_s=lines / DENSE_LINES_PER_S,
        folders=folders,
    )
