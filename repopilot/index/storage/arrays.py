"""The arrays of a generation: what searches read, in the order of the index.

lexical/               the lexical index, see lexical.py
files.npy              int64: database ids
starts.npy             int64: chunk number of the first chunk of each file, and the total
digests.npy            uint64: the text digest of every chunk
defined.npy used.npy   structured (name: uint32, file: int32), sorted by name, then file: which files may define or use
                       a name
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from repopilot.index.lexical import LexicalIndex
from repopilot.index.ragged import starts_of
from repopilot.index.storage import layout
from repopilot.index.storage.codec import terms_from

NAME = np.dtype([("name", np.uint32), ("file", np.int32)])
_PLAIN = ("files", "starts", "digests", "defined", "used")


@dataclass(frozen=True)
class Arrays:
    """The arrays of one generation; the fields are described above."""

    files: np.ndarray
    starts: np.ndarray
    digests: np.ndarray
    defined: np.ndarray
    used: np.ndarray
    lexical: LexicalIndex

    def save(self, folder: Path) -> None:
        """Write them into a folder. Raises OSError."""
        self.lexical.save(folder / layout.LEXICAL)
        for name in _PLAIN:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)


def load(folder: Path) -> Arrays:
    """The arrays in a folder, memory-mapped. Raises OSError, ValueError, IndexFailed."""
    plain = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _PLAIN}
    return Arrays(**plain, lexical=LexicalIndex.load(folder / layout.LEXICAL))


def build(connection: sqlite3.Connection) -> Arrays:
    """The arrays of a generation, from all rows of its database. Raises sqlite3.Error."""
    ordered = "FROM files INDEXED BY places CROSS JOIN terms USING(id) ORDER BY position"
    files = connection.execute(f"SELECT path, language, terms {ordered}")
    lexical = LexicalIndex.build(chain.from_iterable(terms_from(*file) for file in files))
    rows = connection.execute(f"SELECT id, chunk_count, digests, defined, used {ordered}").fetchall()
    numbers = np.arange(len(rows))
    return Arrays(
        files=np.array([row[0] for row in rows], np.int64),
        starts=starts_of(np.array([row[1] for row in rows], np.int64)),
        digests=np.frombuffer(b"".join(row[2] for row in rows), np.uint64),
        defined=_names([row[3] for row in rows], numbers),
        used=_names([row[4] for row in rows], numbers),
        lexical=lexical,
    )


def _names(blobs: Sequence[bytes], files: np.ndarray) -> np.ndarray:
    """The sorted table of the names (checksums) in the blobs; `files` has the file number of each blob."""
    parts = [np.frombuffer(blob, np.uint32) for blob in blobs]
    table = np.empty(sum(map(len, parts)), NAME)
    table["name"] = np.concatenate([np.empty(0, np.uint32), *parts])
    table["file"] = np.repeat(files, [len(part) for part in parts])
    both = table["name"].astype(np.uint64) << np.uint64(32) | table["file"].astype(np.uint64)
    return table[np.argsort(both, kind="stable")]
