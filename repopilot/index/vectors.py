"""Vectors of chunk texts in Chroma, by the digest of the text. The only importer of `chromadb`.

Two processes on one Chroma folder would break it, so one owns it: the first that takes its lock, for as long as it
lives. Others embed what they need and keep it in memory. Everything in the folder can be computed again: a broken
collection, or a broken folder, is dropped and said.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from filelock import FileLock, Timeout

from repopilot.errors import StorageError
from repopilot.index.database import storage_errors
from repopilot.index.embed import Embedder
from repopilot.index.layout import splitter
from repopilot.index.store import Index

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

FOLDER = "chroma"
_LOCK = "chroma.lock"
_BATCH = 1000  # below every `get_max_batch_size`
_IN_MEMORY = 4096
_DISK = re.compile(r"disk is full|disk I/O error|No space left|File too large|readonly|Permission denied", re.I)
_NOT_KEPT = "Another RepoPilot process holds the vectors: here they are computed on demand and not kept."
T = TypeVar("T")


@dataclass(slots=True)
class _Registry:
    """What this process holds: the Chroma folders it owns, and the open collections."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    owned: dict[Path, tuple[ClientAPI, FileLock]] = field(default_factory=dict)
    open: dict[tuple[Path, str], Vectors] = field(default_factory=dict)


_registry = _Registry()


def vectors_of(index: Index, embedder: Embedder) -> Vectors:
    """The vectors of a repository made by an embedder. Cheap; touches Chroma only when it is used."""
    root, key = index.folder.parent.parent, index.folder.parent.name
    with _registry.lock:
        name = _collection_name(key, embedder.name)
        if (root, name) not in _registry.open:
            _registry.open[root, name] = Vectors(root, key, name, embedder)
        _registry.open[root, name].embedder = embedder
        return _registry.open[root, name]


def release(root: Path) -> None:
    """Give up the ownership of the Chroma folder in `root` (the folder of the indexes)."""
    with _registry.lock:
        _registry.open = {at: vectors for at, vectors in _registry.open.items() if at[0] != root}
        owned = _registry.owned.pop(root, None)
        if owned is not None:
            _forget(owned[0])
            owned[1].release()


def health(root: Path) -> str:
    """One line on the Chroma folder in `root`, after opening it. Raises StorageError."""
    with storage_errors():
        root.mkdir(parents=True, exist_ok=True)
    with _storage_errors():
        client = _client(root)
        if client is None:
            return "owned by a running RepoPilot; commands embed what they need themselves"
        return f"version {client.get_version()}, {client.count_collections()} collections"


class Vectors:
    """The collection of one repository and embedder. Thread-safe. `notes` are degradations in words."""

    def __init__(self, root: Path, key: str, name: str, embedder: Embedder) -> None:
        self.embedder = embedder
        self.notes: list[str] = []
        self._root, self._key, self._name = root, key, name
        self._collection: Collection | None = None
        self._memory: dict[int, np.ndarray] = {}
        self._lock = threading.RLock()

    @property
    def kept(self) -> bool:
        """Whether vectors are kept on disk: False while another process owns the folder."""
        return self._open() is not None

    def of_chunks(self, index: Index, numbers: Sequence[int]) -> np.ndarray:
        """float32 (n, dimension): the vectors of chunks by number. What is missing is embedded, and kept. Raises
        ModelError, StorageError."""
        digests = index.digests[np.asarray(numbers, np.int64)].tolist()
        found = self.get(digests)
        missing = {digest: number for digest, number in zip(digests, numbers, strict=True) if digest not in found}
        if missing:
            vectors = self.embedder.embed([index.chunks[int(number)].text for number in missing.values()])
            self.put(list(missing), vectors)
            found.update(zip(missing, vectors, strict=True))
        return np.array([found[digest] for digest in digests], np.float32).reshape(-1, self.embedder.dimension)

    def nearest(self, index: Index, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
        """(chunk number, cosine) of the `k` chunks nearest to a normalised vector, best first, among those that have
        vectors already. [] while another process owns the folder."""

        def query(collection: Collection) -> list[tuple[int, float]]:
            wanted = min(collection.count(), k + k // 4 + 5)
            if not wanted:
                return []
            answer = collection.query(query_embeddings=[vector], n_results=wanted, include=["distances"])
            return [(int(i, 16), 1.0 - d) for i, d in zip(answer["ids"][0], answer["distances"][0], strict=True)]

        found = self._guarded(query, [])
        digests = np.array([digest for digest, _ in found], np.uint64)
        places = index.numbers_of(digests)
        return [(int(n), score) for (_, score), ns in zip(found, places, strict=True) for n in ns][:k]

    def get(self, digests: Sequence[int]) -> dict[int, np.ndarray]:
        """The vectors that are there, by digest."""

        def read(collection: Collection) -> dict[int, np.ndarray]:
            found: dict[int, np.ndarray] = {}
            for part in _parts(list(dict.fromkeys(digests))):
                answer = collection.get(ids=_ids(part), include=["embeddings"])
                found.update((int(i, 16), v) for i, v in zip(answer["ids"], answer["embeddings"], strict=True))
            return found

        found = self._guarded(read, None)
        if found is not None:
            return found
        with self._lock:
            return {digest: self._memory[digest] for digest in digests if digest in self._memory}

    def put(self, digests: Sequence[int], vectors: np.ndarray) -> None:
        """Keep vectors. A digest that is there already keeps its vector, which is the same."""

        def write(collection: Collection) -> bool:
            for start in range(0, len(digests), _BATCH):
                part = slice(start, start + _BATCH)
                collection.add(ids=_ids(digests[part]), embeddings=vectors[part])
            return True

        if not self._guarded(write, False):
            with self._lock:
                self._memory.update(zip(digests, vectors, strict=True))
                for digest in list(self._memory)[: max(0, len(self._memory) - _IN_MEMORY)]:
                    del self._memory[digest]

    def known(self) -> set[int]:
        """The digests that have a vector on disk."""
        return self._guarded(lambda collection: {int(i, 16) for i in collection.get(include=[])["ids"]}, set())

    def remove(self, digests: Sequence[int]) -> None:
        """Delete vectors that no chunk needs any more."""

        def delete(collection: Collection) -> None:
            for part in _parts(digests):
                collection.delete(ids=_ids(part))

        self._guarded(delete, None)

    def _guarded(self, use: Callable[[Collection], T], without: T) -> T:
        """`use` of the collection, or `without` while it belongs to another process. When Chroma says it is broken, it
        is dropped and `use` gets an empty one. Raises StorageError."""
        collection = self._open()
        if collection is None:
            return without
        try:
            with _chroma_errors():
                return use(collection)
        except _BrokenError as error:
            fresh = self._mend(error)
        with _storage_errors():
            return without if fresh is None else use(fresh)

    def _open(self) -> Collection | None:
        with self._lock:
            if self._collection is None:
                self._collection = self._connect()
            return self._collection

    def _connect(self) -> Collection | None:
        try:
            with _registry.lock:
                client = _client(self._root)
                collection = None if client is None else self._create(client)
        except _BrokenError as error:
            return self._mend(error)
        self.notes = [note for note in self.notes if note != _NOT_KEPT] + [_NOT_KEPT] * (collection is None)
        return collection

    def _create(self, client: ClientAPI) -> Collection:
        with _chroma_errors():
            for other in client.list_collections():
                found = other.metadata or {}
                if found.get("key") == self._key and found.get("splitter") != splitter():
                    client.delete_collection(other.name)
            return client.get_or_create_collection(
                self._name,
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
                metadata={"key": self._key, "embedder": self.embedder.name, "splitter": splitter()},
            )

    def _mend(self, error: _BrokenError) -> Collection | None:
        """A new collection in the place of a broken one; a new folder when that fails as well. Raises StorageError."""
        self.notes.append(f"The vectors were broken ({error}) and are computed again.")
        with self._lock, _registry.lock:
            try:
                client = _client(self._root)
                if client is None:
                    return None
                with _chroma_errors():
                    client.delete_collection(self._name)
                self._collection = self._create(client)
            except _BrokenError:
                with _storage_errors():
                    fresh = _client(self._root, fresh=True)
                    self._collection = None if fresh is None else self._create(fresh)
            return self._collection


def _client(root: Path, *, fresh: bool = False) -> ClientAPI | None:
    """The client of the Chroma folder in `root`, emptied before if `fresh`; None while another process owns it.

    Raises StorageError, _BrokenError when the folder is damaged.
    """
    with _registry.lock:
        if root in _registry.owned and not fresh:
            return _registry.owned[root][0]
        lock = _lock(root)
        if lock is None:
            return None
        try:
            if fresh:
                _empty(root)
            client = _connect(root)
        except BaseException:
            lock.release()
            raise
        _registry.owned[root] = (client, lock)
        return client


def _lock(root: Path) -> FileLock | None:
    """The lock of the Chroma folder, held; None while another process holds it."""
    if root in _registry.owned:
        return _registry.owned[root][1]
    lock = FileLock(root / _LOCK, thread_local=False)
    with storage_errors():
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return None
    return lock


def _connect(root: Path) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, is_persistent=True, persist_directory=str(root / FOLDER))
    try:
        return chromadb.PersistentClient(str(root / FOLDER), settings=settings)
    except Exception as error:  # whatever its native part makes of damaged files
        _clear_cache()
        raise _BrokenError("the folder can't be opened") from error


def _empty(root: Path) -> None:
    """Delete the whole folder; the collections that were open in it are opened anew when they are used."""
    owned = _registry.owned.pop(root, None)
    if owned is not None:
        _forget(owned[0])
    shutil.rmtree(root / FOLDER, ignore_errors=True)
    for (at, _), vectors in _registry.open.items():
        if at == root:
            vectors._collection = None


def _forget(client: ClientAPI) -> None:
    client.close()
    _clear_cache()


def _clear_cache() -> None:
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient.clear_system_cache()


class _BrokenError(Exception):
    """Chroma says, in one way or another, that what it has on disk makes no sense."""


@contextmanager
def _chroma_errors() -> Iterator[None]:
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, ValueError, KeyError, RuntimeError) as error:
        if _DISK.search(str(error)):  # nothing is broken: what is there stays
            raise StorageError(f"The vectors can't be written: {error}.", "Is the disk full?") from error
        raise _BrokenError(type(error).__name__) from error


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        with _chroma_errors():
            yield
    except (_BrokenError, OSError) as error:
        hint = "Delete the folder index/chroma in the data directory."
        raise StorageError(f"The vectors can't be kept: {error.__cause__ or error}.", hint) from error


def _collection_name(key: str, embedder: str) -> str:
    recipe = blake2b(f"{key} {embedder} {splitter()}".encode(), digest_size=6).hexdigest()
    return f"r{re.sub(r'[^a-zA-Z0-9._-]', '-', key)[:200]}-{recipe}"


def _ids(digests: Sequence[int]) -> list[str]:
    return [f"{digest:016x}" for digest in digests]


def _parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))
