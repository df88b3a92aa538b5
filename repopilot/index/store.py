"""Reads a published index. Rows are decoded when they are needed; nothing else is kept in memory."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from weakref import WeakValueDictionary

import numpy as np

from repopilot import i18n
from repopilot.code.languages import is_product_path
from repopilot.errors import IndexFailed
from repopilot.index.build_report import BuildReport, read_report
from repopilot.index.file_roles import FOREIGN, roles_with
from repopilot.index.lexical import LexicalIndex
from repopilot.index.storage import arrays, codec, database, layout
from repopilot.index.storage.codec import FileInfo
from repopilot.index.storage.layout import version
from repopilot.repo.paths.attributes import FILE, LinguistAttributes
from repopilot.types import Chunk, Origin, Reference, Skip, Snapshot, Symbol

if TYPE_CHECKING:
    from repopilot.code.file_analysis import FileAnalysis, Import
    from repopilot.index.chroma_server import ChromaServer
    from repopilot.index.workers.pool import WorkerPool
    from repopilot.repo.history import Commit

BROKEN_NOTE = "index.broken"
"""The key of the note on an index that could not be read."""
_CACHED_FILES = 256
_CACHED_TEXTS = 64
T = TypeVar("T")
_log = logging.getLogger(__name__)


class IndexStore:
    """The indexes below a folder, one folder each. A generation that is already open is shared. Thread-safe.

    Args:
        folder: the folder of all indexes (`Settings.indexes`).
        chroma: the server that keeps their vectors, None for a folder beside them.
        workers: the processes that link their code graphs, None for none.
    """

    def __init__(self, folder: Path, chroma: ChromaServer | None = None, workers: WorkerPool | None = None) -> None:
        self.folder = folder
        self.chroma = chroma
        self.workers = workers
        self._opened: WeakValueDictionary[tuple, Index] = WeakValueDictionary()
        self._whole: set[tuple[int, ...]] = set()
        self._lock = threading.Lock()
        self._only: frozenset[str] | None = None

    def only(self, keys: frozenset[str]) -> IndexStore:
        """A store over the same folder that lists, and opens by key, only the indexes with these keys."""
        part = copy(self)
        part._only = keys
        return part

    def folder_of(self, snapshot: Snapshot) -> Path:
        """The folder of the generations of a repository."""
        return self.folder / snapshot.key

    def open(self, snapshot: Snapshot) -> Index | None:
        """The published index of a repository, whatever its commit; None when there is none that can be used.

        It stays readable after a newer one has replaced it.
        """
        return self.open_key(snapshot.key)

    def stored_keys(self) -> list[str]:
        """The keys of every repository with a published index."""
        try:
            names = sorted(path.name for path in self.folder.iterdir() if path.is_dir())
        except FileNotFoundError:
            return []
        listed = (name for name in names if self._only is None or name in self._only)
        return [name for name in listed if layout.generations(self.folder / name)]

    def open_key(self, key: str) -> Index | None:
        """As `open`, for the key of a repository."""
        if self._only is not None and key not in self._only:
            return None
        folder = self.folder / key
        # Between looking and opening, a build in another process may publish the next generation and delete this one.
        tried: Path | None = None
        while (newest := next(iter(layout.generations(folder)), None)) != tried:
            tried = newest
            if newest is None or self.unusable(newest):
                continue
            try:
                return self._open_generation(newest)
            except (OSError, ValueError, KeyError, TypeError, IndexFailed, sqlite3.Error):
                continue
        return None

    def name_of(self, key: str) -> str:
        """The name of the repository with a key; the key itself where its index can't be read."""
        newest = next(iter(layout.generations(self.folder / key)), None)
        return ((newest and database.read_meta(newest)) or {}).get("name", key)

    def unusable(self, generation: Path) -> str:
        """A message on why a generation can't be used; '' when it can. The first check reads all of its files."""
        found = database.read_meta(generation)
        if found is None or (generation / layout.BROKEN).exists():
            return i18n.message(BROKEN_NOTE)
        if found.get("version") != version():
            return i18n.message("index.other_version")
        return i18n.message(BROKEN_NOTE) if self._is_damaged(generation) else ""

    def _is_damaged(self, generation: Path) -> bool:
        try:
            found = self._damaged_in(generation)
        except OSError as error:
            found = [str(error)]
        if found and generation.exists():  # a build in another process may have deleted it meanwhile
            _log.warning("the index in %s is damaged: %s", generation, ", ".join(found))
            _mark_broken(generation)
        return bool(found)

    def _damaged_in(self, folder: Path) -> list[str]:
        """The damaged files of a generation; a sound one isn't read again. Raises OSError."""
        identity = _identity(folder)
        found = [] if identity in self._whole else layout.damaged(folder)
        if not found:
            self._whole.add(identity)
        return found

    def _open_generation(self, generation: Path) -> Index:
        # The number alone is not enough: a deleted index starts again at 1.
        key = (generation, *_identity(generation))
        with self._lock:
            found = self._opened.get(key)
            if found is None:
                found = self._opened[key] = Index(generation)
                found.chroma = self.chroma
                found.workers = self.workers
            return found


@lru_cache(maxsize=64)
def _rows(text: str) -> list[str]:
    """The lines of a text; kept, since the definitions of a file are read one by one."""
    return text.split("\n")


def _identity(generation: Path) -> tuple[int, ...]:
    """Identifies the database file of a generation, whatever its path."""
    state = (generation / layout.DATABASE).stat()
    return state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size


def _mark_broken(generation: Path) -> None:
    with suppress(OSError):  # in a read-only folder the next check finds the damage again
        (generation / layout.BROKEN).touch()


def recorded(generation: Path) -> tuple[dict[str, str], list[Skip]]:
    """What a generation was built from. Nothing when it is broken.

    Returns:
        The content hash of every file by its path, and the files that were skipped for their content.
    """
    try:
        with closing(database.connect(generation)) as connection:
            return database.hashes(connection), database.skipped(connection)
    except sqlite3.Error:
        return {}, []


class Index:
    """One generation. Safe to use from several threads. Methods raise IndexFailed when the file turns out broken.

    `commit` and `name` are those of the snapshot it was built from; `generation` grows with every publication.
    `chroma` is the server of its vectors, `workers` are the processes that link its code graph, if any.

    Args:
        folder: the folder of the generation.
        searchable: False leaves the arrays and the report on disk, for callers that only read files: then the index has
            no chunks and no `lexical`, and names aren't found. That is how a draft without them is read.
    """

    lexical: LexicalIndex
    report: BuildReport
    chroma: ChromaServer | None = None
    workers: WorkerPool | None = None

    def __init__(self, folder: Path, *, searchable: bool = True) -> None:
        self.folder = folder
        self.generation = 0 if folder.name == layout.BUILDING else int(folder.name[1:])
        self._connection = database.connect(folder)
        self._lock = threading.Lock()
        meta = database.meta(self._connection)
        self.commit = meta["commit"]
        self.name = meta["name"]
        self._decoded: OrderedDict[str, list[Chunk]] = OrderedDict()
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._decoding = threading.Lock()
        self._derived: dict[Callable[[Index], object], object] = {}
        self._deriving = threading.RLock()
        if searchable:
            self._load_arrays()

    def _load_arrays(self) -> None:
        self.report = read_report(self.folder)
        self._arrays = arrays.load(self.folder)
        self.lexical = self._with_attributes(self._arrays.lexical)
        if not len(self.lexical) == len(self.chunks) == self._arrays.starts[-1]:
            raise IndexFailed(i18n.message("index.inconsistent"), i18n.message("index.rebuilt_next_time"))

    def _with_attributes(self, lexical: LexicalIndex) -> LexicalIndex:
        """The index with its roles, taken from file names and texts, corrected by the repository's .gitattributes."""
        if all(path.rpartition("/")[2] != FILE for path in lexical.files):
            return lexical
        roles = roles_with(lexical.roles, lexical.files, LinguistAttributes(self.text))
        return replace(lexical, roles=roles)

    def is_foreign(self, path: str) -> bool:
        """Whether a file is generated or vendored, by its name and text or by the repository's attributes."""
        number = self.lexical.file_numbers.get(path)
        return number is not None and bool(self.lexical.roles[number] & FOREIGN)

    def is_own(self, path: str) -> bool:
        """Whether a file is the project's own product: no test, example or documentation, not generated or vendored."""
        return is_product_path(path) and not self.is_foreign(path)

    def derived(self, compute: Callable[[Index], T]) -> T:
        """The result of a function of this index, computed once and kept as long as the index."""
        with self._deriving:
            if compute not in self._derived:
                self._derived[compute] = compute(self)
            return cast(T, self._derived[compute])

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All chunks, decoded file by file; those of the files used last are cached."""
        # Not cached: a reference cycle would keep a replaced index alive until the next full garbage collection.
        return Chunks(self, len(self._arrays.digests))

    @property
    def origin(self) -> Origin:
        """Distinguishes places in this repository from those in others."""
        return Origin(self.name, self.commit, self.folder.parent.name)

    @property
    def notes(self) -> tuple[str, ...]:
        """Messages on what is degraded."""
        return self.report.notes

    @property
    def digests(self) -> np.ndarray:
        """uint64 (n,): the digest of every chunk's text, the key of its vector."""
        return self._arrays.digests

    @cached_property
    def files(self) -> Mapping[str, FileInfo]:
        """Every file by its path, most useful folders first."""
        select = "SELECT id, path, hash, language, kind, size, lines, parsed, chunk_count FROM files ORDER BY position"
        return {
            path: FileInfo(path, hash, language, kind, size, lines, bool(parsed), chunks, row)
            for row, path, hash, language, kind, size, lines, parsed, chunks in self._query(select)
        }

    @property
    def hashes(self) -> dict[str, str]:
        """The git blob id of every file by its path."""
        return {path: file.hash for path, file in self.files.items()}

    @property
    def dense(self) -> float:
        """How much of the repository has vectors, 0–1."""
        state = layout.read_json(self.folder.parent / layout.DENSE)
        return state["done"] / max(1, state["total"]) if isinstance(state, dict) else 0.0

    @property
    def commits(self) -> tuple[Commit, ...]:
        """Past commits, newest first, with the paths they had then; () while there are none (yet)."""
        from repopilot.index.history.commit_store import read_commits

        return read_commits(self.folder.parent)

    def text(self, path: str) -> str | None:
        """The text of a file as indexed (LF, secrets redacted); None when it isn't in the index."""
        with self._decoding:
            found = self._texts.get(path)
        if found is None:
            blob = self._content(path, "text")
            found = None if blob is None else self._kept(path, codec.text_of(blob))
        return found

    def lines(self, path: str, start: int, end: int) -> str | None:
        """A range of lines as indexed.

        Args:
            path: the file.
            start: the first line, 1-based.
            end: the last line, inclusive. Both are clipped to the file.

        Returns:
            The lines joined by LF; None when the file isn't in the index.
        """
        return "\n".join(self.rows(path)[max(0, start - 1) : max(0, end)]) if path in self.files else None

    def rows(self, path: str) -> list[str]:
        """The lines of a file as indexed, not to be changed; a blank one for an unknown file."""
        return _rows(self.text(path) or "")

    def files_named(self, written: str) -> list[str]:
        """The files that a path may mean: the one at exactly this path, else all whose path ends in it."""
        return [written] if written in self.files else [path for path in self.files if path.endswith(f"/{written}")]

    def file_named(self, written: str) -> str:
        """The only file that a path may mean; '' for none or several."""
        found = self.files_named(written)
        return found[0] if len(found) == 1 else ""

    def outline(self, path: str) -> list[Symbol]:
        """The symbols defined in a file, in the order of its lines; [] for an unknown file."""
        data = self._content(path, "symbols")
        return [] if data is None else list(codec.symbols_of(path, data))

    def imports(self, path: str) -> list[Import]:
        """What a file imports; [] for an unknown file."""
        used = self.uses_in(path)
        return [] if used is None else list(used.imports)

    def symbols(self, name: str) -> list[Symbol]:
        """Every definition of a name: plain, or qualified to any depth (`method`, `Class.method`)."""
        files = self._files_with_name("defined", name.rpartition(".")[2])
        found = (symbol for path in files for symbol in self.outline(path))
        return [s for s in found if s.name == name or f".{s.qualified}".endswith(f".{name}")]

    def symbols_in(self, name: str) -> list[Symbol]:
        """Every definition of a name, which may begin with its folder or module (`package.module.Class`)."""
        found = self.symbols(name)
        parts = name.split(".")
        for count in range(1, len(parts)):
            rest = ".".join(parts[count:])
            module = f"/{parts[count - 1]}/"
            known = [] if found else self.symbols(rest)
            found = found or [s for s in known if s.qualified == rest and module in f"/{s.path.rpartition('.')[0]}/"]
        return found

    def references(self, name: str) -> list[Reference]:
        """Every use of a plain name (the last part of a qualified one)."""
        last = name.rpartition(".")[2]
        data = ((self.files[path], self._content(path, "uses")) for path in self._files_with_name("used", last))
        return [r for info, uses in data for r in codec.uses_of(info, (), uses).references if r.name == last]

    def may_use(self, name: str) -> list[str]:
        """The files that may use a plain name: all that do, and rarely one that doesn't."""
        return self._files_with_name("used", name)

    def uses_in(self, path: str) -> FileAnalysis | None:
        """What a file uses and imports, without its symbols and chunks; None for an unknown file."""
        data = self._content(path, "uses")
        return None if data is None else codec.uses_of(self.files[path], (), data)

    def analyses(self) -> Iterator[FileAnalysis]:
        """Every file in order, with its symbols, uses and imports; `chunks` is empty to keep it cheap."""
        for path, file in self.files.items():
            ((symbols, uses),) = self._query("SELECT symbols, uses FROM contents WHERE id = ?", (file.row,))
            yield codec.uses_of(file, codec.symbols_of(path, symbols), uses)

    def numbers_of(self, digests: np.ndarray) -> list[np.ndarray]:
        """For each digest the numbers of the chunks with that text."""
        order, ordered = self._by_digest
        left = np.searchsorted(ordered, digests, "left")
        right = np.searchsorted(ordered, digests, "right")
        return [order[a:b] for a, b in zip(left, right, strict=True)]

    def chunks_of(self, path: str) -> list[Chunk]:
        """The chunks of a file, in order; [] for an unknown file."""
        with self._decoding:
            if path in self._decoded:
                self._decoded.move_to_end(path)
                return list(self._decoded[path])
        file = self.files.get(path)
        if file is None:
            return []
        found = self._decode(file)
        with self._decoding:
            self._decoded[path] = found
            while len(self._decoded) > _CACHED_FILES:
                self._decoded.popitem(last=False)
        return list(found)

    def file_of(self, number: int) -> tuple[str, int]:
        """The path of the file of a chunk, and the position of the chunk among those of the file."""
        starts = self._arrays.starts
        file = int(np.searchsorted(starts, number, "right")) - 1
        return self._paths[file], number - int(starts[file])

    @cached_property
    def _by_digest(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.digests, kind="stable")
        return order, self.digests[order]

    @cached_property
    def _paths(self) -> list[str]:
        return list(self.files)

    def _decode(self, file: FileInfo) -> list[Chunk]:
        ((data, blob),) = self._query("SELECT chunks, text FROM contents WHERE id = ?", (file.row,))
        text = self._kept(file.path, codec.text_of(blob))
        return codec.chunks_of(file.path, file.language, data, text)

    def _kept(self, path: str, text: str) -> str:
        """Cache the text of a file and return it; callers that read its chunks often want the text, too."""
        with self._decoding:
            self._texts[path] = text
            self._texts.move_to_end(path)
            while len(self._texts) > _CACHED_TEXTS:
                self._texts.popitem(last=False)
        return text

    def _content(self, path: str, column: str) -> Any:
        """A column of a file's contents; None when the file isn't in the index."""
        file = self.files.get(path)
        if file is None:
            return None
        ((value,),) = self._query(f"SELECT {column} FROM contents WHERE id = ?", (file.row,))
        return value

    def _files_with_name(self, table: str, name: str) -> list[str]:
        """The files that may define or use a name: all that do, and rarely one that doesn't (names are checksums)."""
        array = getattr(self._arrays, table)
        key = np.uint32(codec.checksum(name))
        first, last = (int(np.searchsorted(array["name"], key, side)) for side in ("left", "right"))
        return [self._paths[number] for number in array["file"][first:last].tolist()]

    def _query(self, statement: str, values: tuple = ()) -> list[tuple]:
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            _mark_broken(self.folder)
            raise IndexFailed(
                i18n.message("index.damaged", error=str(error)), i18n.message("index.index_again")
            ) from error


class Chunks(Sequence[Chunk]):
    """All chunks of an index, decoded when they are needed."""

    def __init__(self, index: Index, size: int) -> None:
        self._index = index
        self._size = size

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
        path, position = self._index.file_of(number)
        return self._index.chunks_of(path)[position]
