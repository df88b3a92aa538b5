"""The arrays of a generation: what searches read, in the order of the index.

lexical/               the lexical index, see lexical.py
files.npy              int64: database ids
starts.npy             int64: chunk number of the first chunk of each file, and the total
digests.npy            uint64: the text digest of every chunk
defined.npy used.npy   structured (name: uint32, file: int32), sorted by name, then file: which files may define or use
                       a name

A whole generation has them on disk. Those of an overlay (see layout.py) are made from its base's when it is opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repopilot.index.lexical import ChunkTerms, LexicalIndex
from repopilot.index.lexical_update import updated
from repopilot.index.storage import layout
from repopilot.index.storage.codec import terms_from

NAME = np.dtype([("name", np.uint32), ("file", np.int32)])
_PLAIN = ("files", "starts", "digests", "defined", "used")
_ROWS = "SELECT id, path, language, chunk_count, terms, digests, defined, used"
_Row = tuple[int, str, str, int, str, bytes, bytes, bytes]


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
    """The arrays of a whole generation, from all rows of its database. Raises sqlite3.Error."""
    ordered = "FROM files INDEXED BY places CROSS JOIN terms USING(id) ORDER BY position"
    lexical = LexicalIndex.build(_terms(connection.execute(f"{_ROWS} {ordered}")))
    rows = connection.execute(f"SELECT id, chunk_count, digests, defined, used {ordered}").fetchall()
    numbers = np.arange(len(rows))
    return Arrays(
        files=np.array([row[0] for row in rows], np.int64),
        starts=_starts(np.array([row[1] for row in rows], np.int64)),
        digests=np.frombuffer(b"".join(row[2] for row in rows), np.uint64),
        defined=_names([row[3] for row in rows], numbers),
        used=_names([row[4] for row in rows], numbers),
        lexical=lexical,
    )


def overlaid(base: Arrays, connection: sqlite3.Connection) -> Arrays:
    """The arrays of an overlay.

    Args:
        base: those of its base.
        connection: to its database, whose `files` are all files and whose `terms` are of those not in the base.

    Returns:
        The arrays, in memory.

    Raises:
        sqlite3.Error: the database is broken.
        ValueError: it doesn't fit the base.
    """
    listed = connection.execute("SELECT id, chunk_count FROM main.files ORDER BY position").fetchall()
    ids, counts = (np.array(column, np.int64) for column in zip(*listed, strict=True))
    own = connection.execute(f"{_ROWS} FROM main.terms CROSS JOIN main.files USING(id) ORDER BY position").fetchall()
    ours = np.isin(ids, np.array([row[0] for row in own], np.int64))
    places = _places(base.files, ids[~ours])
    starts = _starts(counts)
    shift = np.zeros(len(ids), np.int64)
    shift[~ours] = base.starts[places] - starts[:-1][~ours]
    origin = np.where(np.repeat(ours, counts), -1, np.arange(starts[-1]) + np.repeat(shift, counts))
    digests = base.digests[origin]
    digests[origin < 0] = np.frombuffer(b"".join(row[5] for row in own), np.uint64)
    moved = np.full(len(base.files), -1, np.int64)
    moved[places], numbers = np.nonzero(~ours)[0], np.nonzero(ours)[0]
    return Arrays(
        files=ids,
        starts=starts,
        digests=digests,
        defined=_with_names(base.defined, moved, _names([row[6] for row in own], numbers)),
        used=_with_names(base.used, moved, _names([row[7] for row in own], numbers)),
        lexical=updated(base.lexical, origin, _terms(iter(own))),
    )


def _places(files: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Where the ids are among the files of the base. Raises ValueError when one isn't there."""
    order = np.argsort(files, kind="stable")
    found = order[np.minimum(np.searchsorted(files, ids, sorter=order), len(order) - 1)]
    if not np.array_equal(files[found], ids):
        raise ValueError("the overlay does not fit its base")
    return found


def _terms(rows: Iterator[_Row]) -> Iterator[ChunkTerms]:
    for _, path, language, _, terms, *_ in rows:
        yield from terms_from(path, language, terms)


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _names(blobs: Sequence[bytes], files: np.ndarray) -> np.ndarray:
    """The table of the names (checksums) in each blob, which is of the file with that number."""
    parts = [np.frombuffer(blob, np.uint32) for blob in blobs]
    table = np.empty(sum(map(len, parts)), NAME)
    table["name"] = np.concatenate([np.empty(0, np.uint32), *parts])
    table["file"] = np.repeat(files, [len(part) for part in parts])
    return _ordered(table)


def _with_names(table: np.ndarray, moved: np.ndarray, more: np.ndarray) -> np.ndarray:
    """A table with its files renumbered, those that are gone left out, and more entries."""
    files = moved[table["file"]]
    kept = np.empty(int(np.count_nonzero(files >= 0)), NAME)
    kept["name"], kept["file"] = table["name"][files >= 0], files[files >= 0]
    return _ordered(np.concatenate((kept, more)))


def _ordered(table: np.ndarray) -> np.ndarray:
    return table[
        np.argsort(table["name"].astype(np.uint64) << np.uint64(32) | table["file"].astype(np.uint64), kind="stable")
    ]
