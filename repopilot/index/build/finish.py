"""The last step of building a whole generation, in a worker process: the arrays that searches read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from repopilot.index.storage import arrays, layout
from repopilot.index.storage.database import storage_errors


def finish(folders: Sequence[Path]) -> Iterator[Path]:
    """Write the arrays of the finished drafts in `folders`, yielding each when it is done. Raises StorageError."""
    for folder in folders:
        with storage_errors(), closing(sqlite3.connect(folder / layout.DATABASE)) as connection:
            arrays.build(connection).save(folder)
        yield folder
