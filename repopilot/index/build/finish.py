"""The last step of a build, in a worker process: from the rows of a draft to the arrays that searches read.

lexical/            the lexical index, see lexical.py
files.npy           int64: database ids in the order of the index
starts.npy          int64: chunk number of the first chunk of each file, and the total
digests.npy         uint64: the text digest of every chunk
defined.npy used.npy   structured (name: uint32, file: int32), sorted by name: which files may define or use a name
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from repopilot.index import layout
from repopilot.index.codec import terms_from
from repopilot.index.database import storage_errors
from repopilot.index.lexical import ChunkTerms, LexicalIndex

NAME = np.dtype([("name", np.uint32), ("file", np.int32)])
_ORDERED = "FROM files INDEXED BY places CROSS JOIN terms USING(id) ORDER BY position"


def finish(folders: Sequence[Path]) -> Iterator[Path]:
    """Write the arrays of the finished drafts in `folders`, yielding each when it is done. Raises StorageError."""
    for folder in folders:
        with storage_errors():
            connection = sqlite3.connect(folder / layout.DATABASE)
            try:
                _write_arrays(folder, connection)
            finally:
                connection.close()
        yield folder


def _write_arrays(folder: Path, connection: sqlite3.Connection) -> None:
    LexicalIndex.build(_terms(connection)).save(folder / layout.LEXICAL)
    rows = connection.execute(f"SELECT id, chunk_count, digests, defined, used {_ORDERED}").fetchall()
    counts = np.array([row[1] for row in rows], np.int64)
    arrays = {
        "files": np.array([row[0] for row in rows], np.int64),
        "starts": np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        "digests": np.frombuffer(b"".join(row[2] for row in rows), np.uint64),
        "defined": _names(row[3] for row in rows),
        "used": _names(row[4] for row in rows),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def _terms(connection: sqlite3.Connection) -> Iterator[ChunkTerms]:
    for path, language, data in connection.execute(f"SELECT path, language, terms {_ORDERED}"):
        yield from terms_from(path, language, data)


def _names(blobs: Iterable[bytes]) -> np.ndarray:
    parts = [np.frombuffer(blob, np.uint32) for blob in blobs]
    table = np.empty(sum(map(len, parts)), NAME)
    table["name"] = np.concatenate([np.empty(0, np.uint32), *parts])
    table["file"] = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    return table[np.argsort(table["name"], kind="stable")]
