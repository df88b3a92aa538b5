"""Vectors of chunk texts in Chroma, by the digest of the text. The only importer of `chromadb`.

Two processes on one Chroma folder would damage it, so one owns it: the first that takes its lock, until it ends. Others
embed what they need and keep it in memory. Everything in the folder can be computed again: a damaged collection, or a
damaged folder, is recreated, with a note.

A Chroma server can keep the vectors instead, for several machines: nothing is deleted there that another machine may
need. While the server can't be used, vectors are kept in memory as well.

The collection is called directly, which is two to three times as fast as through LlamaIndex's `ChromaVectorStore` and
spares the command line its import: docs/decisions/0008-vectors-in-chroma.md.
"""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from filelock import FileLock, Timeout

from repopilot import disk, i18n
from repopilot.code import version as splitting
from repopilot.errors import StorageError
from repopilot.index.chroma_server import ChromaServer
from repopilot.index.embed import Embedder
from repopilot.index.storage import layout
from repopilot.index.storage.database import storage_errors
from repopilot.index.store import Index

if TYPE_CHECKING:
    from chromadb.api import ServerAPI
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

FOLDER = "chroma"
_LOCK = "chroma.lock"
_CHECKSUMS = "chroma.json"
_TRIAL_S = 120.0
_BATCH = 1000  # below every `get_max_batch_size`
_IN_MEMORY = 4096
_ROUNDING = 1e-3
_NEAREST = -_ROUNDING
"""A smaller cosine distance means damaged vectors, as does a length other than 1."""
_FARTHEST = 2.0 + _ROUNDING
"""A larger cosine distance means damaged vectors, too."""
_DISK = re.compile(r"disk is full|disk I/O error|No space left|File too large|readonly|Permission denied", re.I)
_LEAST_FREE = 1 << 20
_NOT_SAVED = "retrieval.vectors.not_saved"
_SETTINGS: dict[str, Any] = {"anonymized_telemetry": False, "_env_file": None}
"""Chroma must not read the `.env` of the working directory, which may be a stranger's clone."""
T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Registry:
    """The Chroma folders this process owns, and the collections it has open.

    Chroma keeps one client per folder and process, so there is one registry; `Runtime.close` releases its folder.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    owned: dict[Path, tuple[Client, FileLock]] = field(default_factory=dict)
    open: dict[tuple[Path, str, ChromaServer | None], Vectors] = field(default_factory=dict)


_registry = _Registry()


def vectors_of(index: Index, embedder: Embedder) -> Vectors:
    """The vectors of a repository and an embedder. Cheap: Chroma is opened at first use.

    Args:
        index: any generation of the repository's index; all of them share their vectors.
        embedder: computes missing vectors; those of embedders with different names don't mix.
    """
    root = index.folder.parent.parent
    key = index.folder.parent.name
    with _registry.lock:
        at = root, _collection_name(key, embedder.name, splitting.version()), index.chroma
        found = _registry.open.setdefault(at, Vectors(root, key, at[1], embedder, index.chroma))
        found.embedder = embedder
        return found


def release(root: Path) -> None:
    """Close the Chroma folder in `root` (the folder of all indexes), so that another process can open it.

    Does nothing if this process has none open. `Vectors` that are still in use open the folder again.
    """
    with _registry.lock:
        _forget_collections(root)
        _registry.open = {at: vectors for at, vectors in _registry.open.items() if at[0] != root}
        owned = _registry.owned.pop(root, None)
        if owned is not None:
            _close(owned[0])
            _leave_checksums(root)
            owned[1].release()


def health(root: Path, server: ChromaServer | None = None) -> str:
    """One line on the state of the server, or of the Chroma folder in `root`, after opening it.

    Raises:
        StorageError: it can't be opened, or the server can't be used.
    """
    if server is not None:
        if trouble := trouble_of(server):
            raise StorageError(trouble, i18n.message("retrieval.vectors.server_hint"))
        return i18n.message("retrieval.vectors.server", url=server.shown_url)
    with storage_errors():
        root.mkdir(parents=True, exist_ok=True)
    with _storage_errors():
        client = _client(root)
        if client is None:
            return i18n.message("retrieval.vectors.owned")
        return i18n.message("retrieval.vectors.health", version=client.get_version(), count=client.count_collections())


def trouble_of(server: ChromaServer) -> str:
    """A message on why a server can't be used, '' while it can. Asks the server if there is no connection."""
    if server.api is None:
        _ask(server, lambda api: int(api.count_collections()), 0)
    return server.trouble


class Vectors:
    """The vectors of one repository and embedder. Thread-safe. `notes` say what is degraded."""

    def __init__(self, root: Path, key: str, name: str, embedder: Embedder, server: ChromaServer | None) -> None:
        self.embedder = embedder
        self.notes: list[str] = []
        self._root = root
        self._key = key
        self._name = name
        self._server = server
        self._api = cast("ServerAPI | None", None)
        self._collection: Collection | None = None
        self._memory: dict[int, np.ndarray] = {}
        self._lock = threading.RLock()

    @property
    def persistent(self) -> bool:
        """Whether vectors are saved: False while another process owns the folder, or the server can't be used."""
        return self._with_collection(lambda collection: True, False)

    def in_time(self, index: Index, numbers: Sequence[int], seconds: float) -> tuple[list[int], np.ndarray]:
        """The vectors of chunks, as far as there is time to compute those that are missing.

        The first few are computed in any case and timed; then as many of the others as fit in the remaining time.

        Args:
            index: the index the chunks belong to.
            numbers: the numbers of the chunks, the most important first.
            seconds: how long missing vectors may be computed.

        Returns:
            The places in `numbers` that have a vector, n of them, and float32 (n, dimension), L2-normalised.

        Raises:
            ModelError: the embedder failed.
            StorageError: the Chroma folder can't be read or written.
        """
        digests = index.digests[np.asarray(numbers, np.int64)].tolist()
        found = self.get(digests)
        missing = {digest: number for digest, number in zip(digests, numbers, strict=True) if digest not in found}
        wanted = list(missing.values())
        timed = self.embedder.at_once
        began = time.perf_counter()
        computed = [self._embedded(index, wanted[:timed])] if wanted else []
        took = time.perf_counter() - began
        fitting = wanted[timed:][: max(0, int((seconds - took) / max(took, 1e-6) * timed))]
        if fitting:
            computed.append(self._embedded(index, fitting))
        if computed:
            vectors = np.concatenate(computed)
            new = list(missing)[: len(vectors)]
            self.put(new, vectors)
            found.update(zip(new, vectors, strict=True))
        places = [place for place, digest in enumerate(digests) if digest in found]
        rows = np.array([found[digests[place]] for place in places], np.float32)
        return places, rows.reshape(-1, self.embedder.dimension)

    def _embedded(self, index: Index, numbers: Sequence[int]) -> np.ndarray:
        return self.embedder.embed([index.chunks[int(number)].text for number in numbers])

    def nearest(
        self, index: Index, vector: np.ndarray, k: int, among: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """The chunks nearest to a vector among those that have vectors already.

        Args:
            index: the index to look the chunks up in; vectors of texts it doesn't have are passed over.
            vector: float32 (dimension,), L2-normalised.
            k: how many chunks at most.
            among: the numbers of the chunks to choose from, None for all.

        Returns:
            Chunk numbers with their cosine similarities (−1 to 1), best first; [] while vectors aren't saved.

        Raises:
            StorageError: the Chroma folder can't be read.
        """
        if among is not None and not among:
            return []
        chosen = range(len(index.chunks)) if among is None else set(among)
        ids = None if among is None else _ids(list({int(index.digests[number]) for number in among}))

        def query(collection: Collection) -> list[tuple[int, float]]:
            wanted = (k + k // 4 + 5) * (4 if self._server else 1)  # a server's results include other machines' texts
            answer = collection.query(query_embeddings=[vector], ids=ids, n_results=wanted, include=["distances"])
            distances = answer["distances"] or [[]]
            near = zip(answer["ids"][0], distances[0], strict=True)
            return [(int(i, 16), 1.0 - d) for i, d in near if _NEAREST <= d <= _FARTHEST]

        found: list[tuple[int, float]] = self._with_collection(query, [])
        digests = np.array([digest for digest, _ in found], np.uint64)
        places = index.numbers_of(digests)
        rows = ((int(n), score) for (_, score), ns in zip(found, places, strict=True) for n in ns)
        return [(row, score) for row, score in rows if row in chosen][:k]

    def get(self, digests: Sequence[int]) -> dict[int, np.ndarray]:
        """The stored vectors by digest, for those of `digests` that have one."""

        def read(collection: Collection) -> dict[int, np.ndarray]:
            found: dict[int, np.ndarray] = {}
            for part in _parts(list(dict.fromkeys(digests))):
                answer = collection.get(ids=_ids(part), include=["embeddings"])
                vectors = np.asarray(answer["embeddings"], np.float32)
                sound = _are_sound(vectors, self.embedder.dimension)
                found.update((int(i, 16), v) for i, v, ok in zip(answer["ids"], vectors, sound, strict=True) if ok)
                if self._server is None and not sound.all():  # deleted, since `add` keeps what is stored
                    collection.delete(ids=[i for i, ok in zip(answer["ids"], sound, strict=True) if not ok])
            return found

        found = self._with_collection(read, None)
        if found is not None:
            return found
        with self._lock:
            return {digest: self._memory[digest] for digest in digests if digest in self._memory}

    def put(self, digests: Sequence[int], vectors: np.ndarray) -> None:
        """Store vectors, float32 (n, dimension), one for each digest. In a folder, a vector that is stored already
        stays as it is."""

        def write(collection: Collection) -> bool:
            store = collection.upsert if self._server else collection.add  # `get` leaves damaged ones on a server
            for start in range(0, len(digests), _BATCH):
                part = slice(start, start + _BATCH)
                store(ids=_ids(digests[part]), embeddings=vectors[part])
            return True

        if not self._with_collection(write, False):
            with self._lock:
                self._memory.update(zip(digests, vectors, strict=True))
                for digest in list(self._memory)[: max(0, len(self._memory) - _IN_MEMORY)]:
                    del self._memory[digest]

    def known(self) -> set[int]:
        """The digests whose vectors are saved."""
        return self._with_collection(lambda collection: {int(i, 16) for i in collection.get(include=[])["ids"]}, set())

    def remove(self, digests: Sequence[int]) -> None:
        """Delete the vectors of these digests from disk. Those on a server stay: other machines may have the texts."""

        def delete(collection: Collection) -> None:
            for part in _parts(digests):
                collection.delete(ids=_ids(part))

        if self._server is None:
            self._with_collection(delete, None)

    def _with_collection(self, use: Callable[[Collection], T], otherwise: T) -> T:
        """The result of `use` on the collection; `otherwise` while another process owns it, or the server fails.

        A damaged collection is replaced by an empty one, and `use` called again. Raises StorageError.
        """
        if self._server is not None:
            found = _ask(self._server, lambda api: self._on_server(api, use), otherwise)
            self.notes = [self._server.trouble] if self._server.trouble else []
            return found
        collection = self._open()
        if collection is None:
            return otherwise
        try:
            with _chroma_errors():
                return use(collection)
        except _DamagedError as error:
            # A collection that was closed or replaced meanwhile fails as a damaged one does.
            fresh = self._recreate(error) if self._collection is collection else self._open()
        with _storage_errors():
            return otherwise if fresh is None else use(fresh)

    def _on_server(self, api: ServerAPI, use: Callable[[Collection], T]) -> T:
        from chromadb.errors import NotFoundError

        with suppress(NotFoundError):  # another version of RepoPilot deleted it, or the server's data are new
            if self._collection is not None and self._api is api:
                return use(self._collection)
        self._collection = self._current(api)
        self._api = api
        return use(self._collection)

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
        except _DamagedError as error:
            return self._recreate(error)
        not_saved = i18n.message(_NOT_SAVED)
        self.notes = [note for note in self.notes if note != not_saved] + [not_saved] * (collection is None)
        return collection

    def _create(self, client: Client) -> Collection:
        with _chroma_errors():
            return self._current(client._server)

    def _current(self, api: ServerAPI) -> Collection:
        """The collection, after deleting the repository's collections that were made with another splitter."""
        from chromadb.api.models.Collection import Collection

        # Only once per server: two versions of RepoPilot would otherwise keep deleting each other's collections.
        for other in () if self._api else api.list_collections():
            found = other.metadata or {}
            made = _collection_name(self._key, str(found.get("embedder")), str(found.get("splitter")))
            if other.name == made and found.get("splitter") != splitting.version():
                api.delete_collection(other.name)
        model = api.get_or_create_collection(
            self._name,
            configuration={"hnsw": {"space": "cosine"}},
            metadata={"key": self._key, "embedder": self.embedder.name, "splitter": splitting.version()},
        )
        return Collection(api, model, embedding_function=None)

    def _recreate(self, error: _DamagedError) -> Collection | None:
        """Replace a damaged collection, or the folder if that fails, with an empty one. Raises StorageError."""
        _check_space(self._root)
        self.notes.append(i18n.message("retrieval.vectors.recreated", error=error.args[0]))
        with self._lock, _registry.lock:
            try:
                client = _client(self._root)
                if client is None:
                    return None
                with _chroma_errors():
                    client.delete_collection(self._name)
                self._collection = self._create(client)
            except _DamagedError:
                with _storage_errors():
                    fresh = _client(self._root, fresh=True)
                    self._collection = None if fresh is None else self._create(fresh)
            return self._collection


def _client(root: Path, *, fresh: bool = False) -> Client | None:
    """The client of the Chroma folder in `root`, emptied first if `fresh`; None while another process owns it.

    Raises StorageError, _DamagedError.
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


@storage_errors()
def _lock(root: Path) -> FileLock | None:
    """The acquired lock of the Chroma folder; None while another process has it."""
    if root in _registry.owned:
        return _registry.owned[root][1]
    lock = FileLock(root / _LOCK, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return None
    return lock


def _connect(root: Path) -> Client:
    """Open the folder, which then has no checksums until it is closed. Raises StorageError, _DamagedError."""
    with storage_errors():
        if not _is_whole(root):
            _check_space(root)
            _empty(root)
            raise _DamagedError(i18n.message("retrieval.vectors.folder_unreadable"))
        (root / _CHECKSUMS).unlink(missing_ok=True)
    try:
        return _open_folder(root / FOLDER)
    except Exception as error:  # Chroma's native part raises all kinds of them on damaged files
        _clear_cache()
        raise _DamagedError(i18n.message("retrieval.vectors.folder_unreadable")) from error


def _open_folder(folder: Path) -> Client:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(is_persistent=True, persist_directory=str(folder), **_SETTINGS)
    return cast("Client", chromadb.PersistentClient(str(folder), settings=settings))


def _ask(server: ChromaServer, use: Callable[[ServerAPI], T], otherwise: T) -> T:
    """The result of `use` on the server. Avoids `chromadb.HttpClient`, which has no time limits."""
    from chromadb.api.fastapi import FastAPI  # takes seconds, which must not count as the server's time
    from chromadb.config import Settings, System

    def ask() -> T:
        api = server.api
        if api is None:
            kind = f"{FastAPI.__module__}.FastAPI"
            host = server.url
            where = Settings(chroma_api_impl=kind, chroma_server_host=host, chroma_server_http_port=0, **_SETTINGS)
            server.api = api = System(where).instance(FastAPI)
            api._session = server.session()
        return use(api)

    return server.ask(ask, otherwise)


def _is_whole(root: Path) -> bool:
    """Whether Chroma can use its folder: on damaged files it may end the process with a segmentation fault.

    A process that closes the folder leaves checksums. Without them, after a kill, a child process tries the folder
    first. Raises OSError.
    """
    if not (root / FOLDER).exists():
        return True
    known = layout.read_json(root / _CHECKSUMS)
    if known is not None:
        return known == layout.checksums(root / FOLDER)
    load = f"import sys; sys.path[:] = {sys.path}"
    code = f"{load}; from repopilot.index import vectors; vectors.read_everything(sys.argv[1])"
    command = [sys.executable, "-c", code, str(root / FOLDER)]
    try:
        trial = subprocess.run(command, capture_output=True, timeout=_TRIAL_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    return trial.returncode == 0


def read_everything(folder: str) -> None:
    """Read all vectors below a Chroma folder, and search for some of them. Raises, or crashes, where it is damaged."""
    client = _open_folder(Path(folder))
    for collection in client.list_collections():
        count = collection.count()
        for start in range(0, count, _BATCH):
            found = np.asarray(collection.get(limit=_BATCH, offset=start, include=["embeddings"])["embeddings"])
            collection.query(query_embeddings=found[:1], n_results=min(count, 30), include=["distances"])


def _leave_checksums(root: Path) -> None:
    try:
        layout.write_json(root / _CHECKSUMS, layout.checksums(root / FOLDER))
    except OSError as error:
        _log.warning("the checksums of the vector store can't be written: %s", error)


def _check_space(root: Path) -> None:
    """Tell a full disk from damage: without free space, Chroma fails with various errors although nothing is damaged.

    Raises StorageError.
    """
    with storage_errors():
        full = shutil.disk_usage(root).free < _LEAST_FREE
    if full:
        message = i18n.message("retrieval.vectors.not_written", error=i18n.message("errors.disk_is_full"))
        raise StorageError(message, i18n.message("index.disk_full_hint"))


def _empty(root: Path) -> None:
    """Delete the Chroma folder; collections that were open in it are opened again at their next use."""
    owned = _registry.owned.pop(root, None)
    if owned is not None:
        _close(owned[0])
    disk.remove_tree(root / FOLDER)
    _forget_collections(root)


def _forget_collections(root: Path) -> None:
    for (at, *_), vectors in _registry.open.items():
        if at == root:
            vectors._collection = None


def _close(client: Client) -> None:
    client.close()
    _clear_cache()


def _clear_cache() -> None:
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient.clear_system_cache()


class _DamagedError(Exception):
    """What Chroma has on disk is damaged."""


@contextmanager
def _chroma_errors() -> Iterator[None]:
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, ValueError, KeyError, RuntimeError) as error:
        if _DISK.search(str(error)):  # nothing is damaged: stored vectors stay
            message = i18n.message("retrieval.vectors.not_written", error=str(error))
            raise StorageError(message, i18n.message("retrieval.vectors.not_written_hint")) from error
        raise _DamagedError(type(error).__name__) from error


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        with _chroma_errors():
            yield
    except (_DamagedError, OSError) as error:
        message = i18n.message("retrieval.vectors.not_usable", error=str(error.__cause__ or error))
        raise StorageError(message, i18n.message("retrieval.vectors.not_usable_hint")) from error


def _are_sound(vectors: np.ndarray, dimension: int) -> np.ndarray:
    """bool (n,): which vectors are normalised and have the right size. Chroma has no checksums."""
    if vectors.shape != (len(vectors), dimension):
        return np.zeros(len(vectors), bool)
    with np.errstate(all="ignore"):
        return np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < _ROUNDING


def _collection_name(key: str, embedder: str, version: str) -> str:
    recipe = blake2b(f"{key} {embedder} {version}".encode(), digest_size=6).hexdigest()
    return f"r{re.sub(r'[^a-zA-Z0-9._-]', '-', key)[:200]}-{recipe}"


def _ids(digests: Sequence[int]) -> list[str]:
    return [f"{digest:016x}" for digest in digests]


def _parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))
