"""Compares LlamaIndex's `ChromaVectorStore` with direct calls of Chroma's collection, on one machine in one run.

    python -m bench.vector_store [--count N] [--dimension N] [--rounds N] [--server]

Random unit vectors stand for embeddings. Every operation is timed alternately through both, on collections with
the same vectors; medians are printed with their ratios. Nodes are stored once bare, as `repopilot.index.vectors` needs
them, and once with text and metadata, as a LlamaIndex application does.

With `--server` RepoPilot's own store is compared instead: the folder, and a Chroma server that is started on loopback.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters, VectorStoreQuery
from llama_index.vector_stores.chroma import ChromaVectorStore

from repopilot.index import vectors as stored
from repopilot.index.chroma_server import ChromaServer

BATCH, FETCHED, NEAREST = 64, 20, 30
TEXT = "def total(self):\n    return sum(price(item) for item in self.items)\n" * 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--server", action="store_true")
    arguments = parser.parse_args()
    vectors = np.random.default_rng(7).normal(size=(arguments.count, arguments.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"{number:016x}" for number in range(len(vectors))]
    if arguments.server:
        with tempfile.TemporaryDirectory() as folder:
            return folder_and_server(Path(folder), vectors, arguments.rounds)
    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False, is_persistent=True))
        direct, bare, full = (collection(client, name) for name in ("direct", "bare", "full"))
        stores = {"bare nodes": ChromaVectorStore(bare), "nodes with text and metadata": ChromaVectorStore(full)}
        insert(direct, stores, ids, vectors)
        query(direct, stores, vectors[: arguments.rounds])
        fetch(direct, stores, ids, arguments.rounds)
        delete(direct, stores, ids, arguments.rounds)


def folder_and_server(root: Path, vectors: np.ndarray, rounds: int) -> None:
    """`get` of up to 1,000 digests and `nearest`, alternately from the folder and from a server on loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', 'run', *sys.argv[1:]])"
    where = ["--path", str(root / "server"), "--host", "127.0.0.1", "--port", str(port)]
    with (
        subprocess.Popen([sys.executable, "-c", code, *where], stdout=subprocess.DEVNULL) as running,
        ExitStack() as at_end,
    ):
        at_end.callback(running.kill)
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.05)
        embedder: Any = SimpleNamespace(name="bench", dimension=vectors.shape[1])
        index: Any = SimpleNamespace(numbers_of=lambda digests: [[int(digest)] for digest in digests])
        places = {"folder": None, "server": ChromaServer(f"http://127.0.0.1:{port}")}
        stores = {name: stored.Vectors(root, "bench", "bench", embedder, at) for name, at in places.items()}
        numbers = list(range(len(vectors)))
        for store in stores.values():
            for start in range(0, len(numbers), BATCH):
                store.put(numbers[start : start + BATCH], vectors[start : start + BATCH])
        for count in (FETCHED, 1000):
            times: dict[str, list[float]] = {name: [] for name in stores}
            for _ in range(rounds):
                for name, store in stores.items():
                    times[name].append(timed(lambda store=store, count=count: store.get(numbers[:count])))
            report(f"get {min(count, len(numbers))} by digest", times)
        times = {name: [] for name in stores}
        for vector in vectors[:rounds]:
            for name, store in stores.items():
                times[name].append(timed(lambda store=store, v=vector: store.nearest(index, v, NEAREST)))
        report(f"the {NEAREST} nearest", times)
        assert all(store.persistent for store in stores.values()), [store.notes for store in stores.values()]
        stored.release(root)


def collection(client: Any, name: str) -> Any:
    return client.create_collection(
        f"bench-{name}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )


def node(id_: str, vector: np.ndarray, full: bool) -> TextNode:
    """A node with its vector: bare, or with the text and metadata of a chunk."""
    if not full:
        return TextNode(id_=id_, text="", embedding=vector.tolist())
    metadata = {"path": f"pkg/m{id_}.py", "start_line": 10, "end_line": 26, "symbol": "Cart.total"}
    metadata |= {"kind": "function", "language": "python"}
    return TextNode(id_=id_, text=TEXT, metadata=metadata, embedding=vector.tolist())


def insert(direct: Any, stores: dict[str, ChromaVectorStore], ids: list[str], vectors: np.ndarray) -> None:
    """Batch by batch in turn, so that all of them see the same load of the machine."""
    times: dict[str, list[float]] = {name: [] for name in ("direct", *stores)}
    for start in range(0, len(ids), BATCH):
        part, found = ids[start : start + BATCH], vectors[start : start + BATCH]
        times["direct"].append(timed(lambda part=part, found=found: direct.add(ids=part, embeddings=found)))
        for name, store in stores.items():
            full = name != "bare nodes"
            times[name].append(
                timed(
                    lambda part=part, found=found, store=store, full=full: store.add(
                        [node(i, v, full) for i, v in zip(part, found, strict=True)]
                    )
                )
            )
    report(f"insert {BATCH} vectors", times)


def query(direct: Any, stores: dict[str, ChromaVectorStore], vectors: Sequence[np.ndarray]) -> None:
    times: dict[str, list[float]] = {name: [] for name in ("direct", *stores, "filtered by kind")}
    only = MetadataFilters(filters=[MetadataFilter(key="kind", value="function")])
    full = stores["nodes with text and metadata"]
    for vector in vectors:
        times["direct"].append(
            timed(lambda v=vector: direct.query(query_embeddings=[v], n_results=NEAREST, include=["distances"]))
        )
        asked = VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=NEAREST)
        for name, store in stores.items():
            times[name].append(timed(lambda store=store, asked=asked: store.query(asked)))
        filtered = VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=NEAREST, filters=only)
        times["filtered by kind"].append(timed(lambda asked=filtered: full.query(asked)))
    report(f"query the {NEAREST} nearest", times)


def fetch(direct: Any, stores: dict[str, ChromaVectorStore], ids: list[str], rounds: int) -> None:
    """Vectors by id; `get_nodes` gives nodes without their vectors, so this is less than what is needed."""
    times: dict[str, list[float]] = {name: [] for name in ("direct", *stores)}
    for number in range(rounds):
        part = ids[number * FETCHED : (number + 1) * FETCHED]
        times["direct"].append(timed(lambda part=part: direct.get(ids=part, include=["embeddings"])))
        for name, store in stores.items():
            times[name].append(timed(lambda part=part, store=store: store.get_nodes(part)))
    report(f"fetch {FETCHED} by id", times)


def delete(direct: Any, stores: dict[str, ChromaVectorStore], ids: list[str], rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in ("direct", *stores)}
    for number in range(rounds):
        part = ids[number * FETCHED : (number + 1) * FETCHED]
        times["direct"].append(timed(lambda part=part: direct.delete(ids=part)))
        for name, store in stores.items():
            times[name].append(timed(lambda part=part, store=store: store.delete_nodes(part)))
    report(f"delete {FETCHED}", times)


def timed(use: Callable[[], Any]) -> float:
    """Seconds."""
    began = time.perf_counter()
    use()
    return time.perf_counter() - began


def report(title: str, times: dict[str, list[float]]) -> None:
    base = statistics.median(next(iter(times.values())))
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{title:26s} {name:30s} {1000 * median:8.2f} ms   × {median / base:.2f}", flush=True)


if __name__ == "__main__":
    main()
