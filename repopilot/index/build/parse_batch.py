"""What a worker process does with a batch of files: read, redact, split, find symbols, count terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.code.languages import reads_symbols
from repopilot.code.split import analyse
from repopilot.index.build_report import REMOVED
from repopilot.index.storage.codec import Row, encode
from repopilot.repo.read import read
from repopilot.types import Skip, Snapshot, SourceFile

"""The key of the skip reason for a file that was removed after the listing: the next build may find it again."""


def parse(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[Row | Skip]:
    """Read and analyse files of a snapshot.

    Args:
        snapshot: the repository at one commit.
        files: a batch of its files.

    Yields:
        One value per file, in order: its row, or why it has none.

    Raises:
        SourceError: the repository can't be read.
    """
    found = read(snapshot, files)
    for file in files:
        _, text = next(found, (file, Skip(file.path, i18n.message(REMOVED))))
        yield text if isinstance(text, Skip) else _row(file, text)


def _row(file: SourceFile, text: str) -> Row | Skip:
    if text.startswith("<?xml") and reads_symbols(file.language) and file.language != "php":
        file = replace(file, language="xml", kind="config")  # Qt names its translations `.ts`, like TypeScript
    try:
        return encode(file, text, analyse(file.path, text, file.language, file.kind))
    except (ValueError, RecursionError) as error:
        return Skip(file.path, i18n.message("index.not_split", error=f"{type(error).__name__}: {error}"))
