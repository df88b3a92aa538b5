"""The published index, read. Nothing is held in memory that isn't asked for: rows are decoded when they are needed."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload
from weakref import WeakValueDictionary

import numpy as np

from repopilot.errors import IndexFailed
from repopilot.index import codec, database, layout
from repopilot.index.build.finish import LEXICAL
from repopilot.index.build_report import BuildReport, read_report
from repopilot.index.codec import FileInfo
from repopilot.index.layout import version
from repopilot.index.lexical import LexicalIndex
from repopilot.settings import Settings
from repopilot.types import Chunk, Reference, Skip, Snapshot, Symbol

if TYPE_CHECKING:
    from repopilot.code.import_statements import Import
    from repopilot.code.split import FileAnalysis
    from repopilot.repo.history import Commit

BROKEN = "broken"
BROKEN_NOTE = "The index was broken and is rebuilt."
_ARRAYS = ("files", "starts", "digests", "defined", "used")
_KEPT_FILES = 256
_opened: WeakValueDictionary[tuple, Index] = WeakValueDictionary()
_opening = threading.Lock()


def open_index(snapshot: Snapshot, settings: Settings) -> Index | None:
    """The published index of a repository, whatever its commit; None when there is none that can be used.

    Stays readable after a newer one has replaced it. Whoever asks in this process gets the same object.
    """
    folder = settings.indexes / snapshot.key
    # Between looking and opening, a build in another process may publish the next generation and delete this one.
    tried: Path | None = None
    while (newest := next(iter(layout.generations(folder)), None)) != tried:
        tried = newest
        if newest is None or usable(newest):
            continue
        try:
            return _shared(newest)
        except (OSError, ValueError, KeyError, TypeError, IndexFailed, sqlite3.Error):
            continue
    return None


def _shared(generation: Path) -> Index:
    # The number alone is not enough: a deleted index begins to count anew.
    state = (generation / layout.DATABASE).stat()
    key = (generation, state.st_ino, state.st_mtime_ns)
    with _opening:
        found = _opened.get(key)
        if found is None:
            found = _opened[key] = Index(generation)
        return found


def usable(generation: Path) -> str:
    """Why a generation can't be used, in words; '' when it can."""
    found = database.read_meta(generation)
    if found is None or (generation / BROKEN).exists():
        return BROKEN_NOTE
    if found.get("version") != version():
        return "The index was written by another version and is rebuilt."
    return ""


def recorded(generation: Path) -> tuple[dict[str, str], list[Skip]]:
    """The content hash of every file a generation was made from, by path, and those of them that were skipped for what
    is in them. Nothing when it is broken."""
    try:
        connection = database.connect(generation)
        try:
            return database.hashes(connection), database.skipped(connection)
        finally:
            connection.close()
    except sqlite3.Error:
        return {}, []


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the index: its number in the database and the numbers of its chunks."""

    id: int
    chunks: range
    info: FileInfo


class Index:
    """One generation. Safe to use from several threads. Methods raise IndexFailed when the file turns out broken.

    `commit` and `name` are those of the snapshot it was made from; `generation` grows with every publication.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generation = int(folder.name[1:])
        self._connection = database.connect(folder)
        self._lock = threading.Lock()
        meta = database.meta(self._connection)
        self.commit, self.name = meta["commit"], meta["name"]
        self._arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
        self.lexical = LexicalIndex.load(folder / LEXICAL)
        self.report: BuildReport = read_report(folder)
        self.chunks: Sequence[Chunk] = Chunks(self, len(self._arrays["digests"]))
        if not len(self.lexical) == len(self.chunks) == self._arrays["starts"][-1]:
            raise IndexFailed("The index contradicts itself.", "It is rebuilt at the next indexing.")

    @property
    def notes(self) -> tuple[str, ...]:
        """Degradations in words."""
        return self.report.notes

    @property
    def digests(self) -> np.ndarray:
        """uint64 (n,): the digest of every chunk's text, the key of its vector."""
        return self._arrays["digests"]

    @cached_property
    def files(self) -> Mapping[str, FileInfo]:
        """Every file by its path, most useful folders first."""
        return {path: file.info for path, file in self._by_path.items()}

    @property
    def dense(self) -> float:
        """How much of the repository has vectors, 0–1."""
        state = layout.read_json(self.folder.parent / layout.DENSE)
        return state["done"] / max(1, state["total"]) if isinstance(state, dict) else 0.0

    @property
    def commits(self) -> tuple[Commit, ...]:
        """Past commits, newest first; () while there are none (yet)."""
        from repopilot.index.commit_store import read_commits

        return read_commits(self.folder.parent)

    def text(self, path: str) -> str | None:
        """The file as indexed (LF, secrets redacted); None when it isn't in the index."""
        blob = self._content(path, "text")
        return None if blob is None else codec.text_of(blob)  # type: ignore[arg-type]

    def lines(self, path: str, start: int, end: int) -> str | None:
        """Lines `start` to `end` (1-based, inclusive, clipped to the file); None when the file isn't in the index."""
        text = self.text(path)
        return None if text is None else "\n".join(text.split("\n")[max(0, start - 1) : max(0, end)])

    def outline(self, path: str) -> list[Symbol]:
        """The symbols defined in a file, as they stand in it; [] for an unknown file."""
        data = self._content(path, "symbols")
        return [] if data is None else codec.symbols_of(path, data)  # type: ignore[arg-type]

    def imports(self, path: str) -> list[Import]:
        """What a file imports; [] for an unknown file."""
        data = self._content(path, "uses")
        return [] if data is None else list(codec.uses_of(self.files[path], (), data).imports)  # type: ignore[arg-type]

    def symbols(self, name: str) -> list[Symbol]:
        """Every definition of a name: plain, or qualified to any depth (`method`, `Class.method`)."""
        files = self._files_naming("defined", name.rpartition(".")[2])
        found = (symbol for path in files for symbol in self.outline(path))
        return [s for s in found if s.name == name or f".{s.qualified}".endswith(f".{name}")]

    def references(self, name: str) -> list[Reference]:
        """Every use of a plain name (the last part of a qualified one)."""
        last = name.rpartition(".")[2]
        data = ((self.files[path], self._content(path, "uses")) for path in self._files_naming("used", last))
        return [r for info, uses in data for r in codec.uses_of(info, (), uses).references if r.name == last]

    def analyses(self) -> Iterator[FileAnalysis]:
        """Every file in order, with its symbols, uses and imports; `chunks` is empty to keep it cheap."""
        select = (
            "SELECT path, symbols, uses FROM files INDEXED BY places CROSS JOIN contents USING(id)"
            " WHERE position >= ? ORDER BY position LIMIT 500"
        )
        for start in range(0, len(self.files), 500):
            for path, symbols, uses in self._query(select, (start,)):
                yield codec.uses_of(self.files[path], codec.symbols_of(path, symbols), uses)

    def numbers_of(self, digests: np.ndarray) -> list[np.ndarray]:
        """For each digest the numbers of the chunks with that text."""
        order, ordered = self._by_digest
        left, right = np.searchsorted(ordered, digests, "left"), np.searchsorted(ordered, digests, "right")
        return [order[a:b] for a, b in zip(left, right, strict=True)]

    def chunks_of(self, path: str) -> list[Chunk]:
        """The chunks of a file, in order; [] for an unknown file."""
        file = self._by_path.get(path)
        return [] if file is None else self._decode(file)

    def file_of(self, number: int) -> tuple[str, int]:
        """Path of the file of a chunk, and the place of the chunk in it."""
        starts = self._arrays["starts"]
        file = int(np.searchsorted(starts, number, "right")) - 1
        return self._paths[file], number - int(starts[file])

    @cached_property
    def _by_digest(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.digests, kind="stable")
        return order, self.digests[order]

    @cached_property
    def _paths(self) -> list[str]:
        return list(self._by_path)

    @cached_property
    def _by_path(self) -> dict[str, _File]:
        starts = self._arrays["starts"].tolist()
        select = "SELECT id, path, hash, language, kind, size, lines, parsed, chunk_count FROM files ORDER BY position"
        return {
            path: _File(id, range(starts[n], starts[n + 1]), FileInfo(path, *rest, bool(parsed), chunks))
            for n, (id, path, *rest, parsed, chunks) in enumerate(self._query(select))
        }

    def _decode(self, file: _File) -> list[Chunk]:
        ((data, blob),) = self._query("SELECT chunks, text FROM contents WHERE id = ?", (file.id,))
        return codec.chunks_of(file.info.path, file.info.language, data, codec.text_of(blob))

    def _content(self, path: str, column: str) -> object | None:
        file = self._by_path.get(path)
        if file is None:
            return None
        ((value,),) = self._query(f"SELECT {column} FROM contents WHERE id = ?", (file.id,))
        return value

    def _files_naming(self, table: str, name: str) -> list[str]:
        """The files that may define or use a name: all that do, and rarely one that doesn't."""
        array, key = self._arrays[table], np.uint32(codec.checksum(name))
        first, last = (int(np.searchsorted(array["name"], key, side)) for side in ("left", "right"))
        return [self._paths[number] for number in array["file"][first:last].tolist()]

    def _query(self, statement: str, values: tuple = ()) -> list[tuple]:
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            (self.folder / BROKEN).touch()
            raise IndexFailed(f"The index is broken: {error}.", "Index again: it will be rebuilt.") from error


class Chunks(Sequence[Chunk]):
    """All chunks, decoded file by file; the files used last are kept."""

    def __init__(self, index: Index, size: int) -> None:
        self._index, self._size = index, size
        self._kept: OrderedDict[str, list[Chunk]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, number: int) -> Chunk: ...
    @overload
    def __getitem__(self, number: slice) -> list[Chunk]: ...
    def __getitem__(self, number: int | slice) -> Chunk | list[Chunk]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(self._size))]
        if number < 0:
            number += self._size
        if not 0 <= number < self._size:
            raise IndexError(number)
        path, place = self._index.file_of(number)
        return self._file(path)[place]

    def _file(self, path: str) -> list[Chunk]:
        with self._lock:
            if path in self._kept:
                self._kept.move_to_end(path)
                return self._kept[path]
        found = self._index.chunks_of(path)
        with self._lock:
            self._kept[path] = found
            while len(self._kept) > _KEPT_FILES:
                self._kept.popitem(last=False)
        return found
