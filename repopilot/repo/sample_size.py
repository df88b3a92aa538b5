"""Estimates the size of an index build, before it starts, from a sample of the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.repo.read import read
from repopilot.types import Snapshot, SourceFile

_SAMPLE = 200
_LINES_PER_SECOND = 25_000  # of the instant index, on two modest cores
_BYTES_PER_LINE = 34  # where no file could be sampled


@dataclass(frozen=True, slots=True)
class SizeEstimate:
    """`lines` and `seconds` are rounded; `folders` are the top-level ones in the order they will be read."""

    lines: int
    seconds: float
    folders: tuple[str, ...]


def sample_size(snapshot: Snapshot, files: Sequence[SourceFile]) -> SizeEstimate:
    """Estimate the lines of `files` and the time to index them, by reading an even sample and scaling by bytes.

    Args:
        snapshot: the repository.
        files: the files to index, as `walk` orders them.

    Returns:
        The rounded estimate.

    Raises:
        SourceError: the repository can't be read.
    """
    by_size = sorted(files, key=lambda f: f.size)
    step = max(len(by_size) // _SAMPLE, 1)
    sample = by_size[step // 2 :: step]
    texts = ((file, text) for file, text in read(snapshot, sample))
    lines = sampled = 0
    for file, text in texts:
        sampled += file.size
        lines += text.count("\n") + 1 if isinstance(text, str) else 0
    total = sum(file.size for file in files)
    estimated = round(total * lines / sampled if sampled else total / _BYTES_PER_LINE)
    folders = dict.fromkeys(file.path.partition("/")[0] for file in files if "/" in file.path)
    return SizeEstimate(_rounded(estimated), round(estimated / _LINES_PER_SECOND, 1), tuple(folders))


def _rounded(lines: int) -> int:
    """The number to two significant digits, so that it looks like the estimate it is."""
    scale = 10 ** max(len(str(lines)) - 2, 0)
    return round(lines / scale) * scale
