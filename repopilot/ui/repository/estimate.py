"""How long indexing a repository will take, estimated before it begins. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.types import Skip, SourceFile

"""On two cores that have other work as well: 25 chunks of about 20 lines a second."""
FOLDERS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Folder:
    """A top-level folder ('' for the root's own files), in the order of indexing."""

    name: str
    files: int
    lines: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much there is to index, and how long it takes.

    Attributes:
        files: files to read.
        lines: their lines, estimated from their bytes.
        skipped: files that are not read.
        lexical_s: seconds until questions can be answered.
        folders: the top-level folders in the order of indexing.
    """

    files: int
    lines: int
    skipped: int
    lexical_s: float
    folders: tuple[Folder, ...]


def estimate(files: Sequence[SourceFile], skipped: Sequence[Skip], lines: int, seconds: float) -> Estimate:
    """Estimate from a sample of the files (see `repo/sample_size.py`).

    Args:
        files: all files to read, in the order of indexing.
        skipped: those not read.
        lines: of all files, extrapolated from the sample.
        seconds: of the lexical index, extrapolated from the sample.

    Returns:
        The estimate; folders get their share of the `lines` by their bytes.
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
        folders=folders,
    )
