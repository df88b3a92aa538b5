"""What indexing a repository will take, told before it begins. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.types import Skip, SourceFile

DENSE_LINES_PER_S = 500
"""Of two cores that have something else to do as well; chunks of about 20 lines, 25 a second."""
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


def estimate(files: Sequence[SourceFile], skipped: Sequence[Skip], lines: int, seconds: float) -> Estimate:
    """Folders in the walk's own order, as they will be indexed, sharing the `lines` by their bytes.

    `lines` and `seconds` of the lexical index are those of a sample of the files (repo/estimate.py).
    """
    sizes: dict[str, tuple[int, int]] = {}
    for file in files:
        top = file.path.split("/", 1)[0] if "/" in file.path else ""
        count, size = sizes.get(top, (0, 0))
        sizes[top] = count + 1, size + file.size
    per_byte = lines / max(1, sum(file.size for file in files))
    folders = tuple(Folder(name, count, round(size * per_byte)) for name, (count, size) in sizes.items())
    return Estimate(
        files=len(files),
        lines=lines,
        skipped=len(skipped),
        lexical_s=seconds,
        dense_s=lines / DENSE_LINES_PER_S,
        folders=folders,
    )
