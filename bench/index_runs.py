"""The measurements of bench/index.py, each in a process of its own: functions (tree, runtime) → JSON-able figures."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

from repopilot.index.build.job import IndexRequest
from repopilot.index.store import Index
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Snapshot

QUESTION = "where is the configuration file parsed"
_TICK_S = 0.005


def instant(tree: Path, runtime: Runtime) -> dict:
    """The instant index from nothing, with worker processes as cold as after a start, and the first answer."""
    began = time.monotonic()
    index = _build(tree, runtime, full=True)
    built = time.monotonic() - began
    answered = _answer(index)
    report = index.report
    return {
        "index_s": round(built, 2),
        "lines_per_s": round(report.lines / built),
        "first_answer_s": round(built + answered, 2),
        "answer_s": round(answered, 3),
        "lines": report.lines,
        "files": report.files,
        "chunks": report.chunks,
        "skipped": len(report.skipped),
        "phases_s": dict(report.seconds),
        "disk_mb": round(sum(path.stat().st_size for path in index.folder.rglob("*") if path.is_file()) / 1e6, 1),
    }


def warm(tree: Path, runtime: Runtime) -> dict:
    """The same with the worker processes started beforehand, as during a clone; with the lag of an
    event loop that runs beside it."""
    runtime.index_jobs.prewarm(runtime.settings)
    time.sleep(8)
    began = time.monotonic()
    lags = asyncio.run(_lags_during(lambda: _build(tree, runtime, full=True)))
    built = time.monotonic() - began
    index = runtime.indexes.open(snapshot_of(tree))
    assert index is not None
    lags.sort()
    return {
        "index_s": round(built, 2),
        "lines_per_s": round(index.report.lines / built),
        "lag_p99_ms": round(1000 * lags[int(0.99 * len(lags))], 1),
        "lag_max_ms": round(1000 * lags[-1], 1),
    }


def one_file(tree: Path, runtime: Runtime) -> dict:
    """Re-indexing after one file has changed, in a running server (warm) and from the command line (cold)."""
    cold = _change_and_index(tree, runtime)
    return {"cold_s": cold, "warm_s": min(_change_and_index(tree, runtime) for _ in range(3))}


def reopened(tree: Path, runtime: Runtime) -> dict:
    """Opening the published index and asking: the memory and time of a command whose index is up to date."""
    began = time.monotonic()
    index = runtime.indexes.open(snapshot_of(tree))
    assert index is not None
    opened = time.monotonic() - began
    times = sorted(_answer(index) for _ in range(20))
    return {"open_s": round(opened, 3), "answer_p50_ms": round(1000 * times[10], 1)}


def dense(tree: Path, runtime: Runtime) -> dict:
    """Vectors for thirty seconds: the rate, and the lag of the event loop meanwhile. Needs the model (--model-home)."""
    embedder = runtime.embedders.choose(runtime.settings)
    if embedder is None:
        return {"skipped": "no embedding model"}
    rates: list[float] = []
    request = IndexRequest(snapshot_of(tree), runtime.settings, embedder)
    job = runtime.index_jobs.start(request, lambda p: rates.append(p.rate))
    threading.Timer(30, job.cancel).start()
    lags = sorted(asyncio.run(_lags_during(job.done.wait)))
    return {"chunks_per_s": round(rates[-1], 1), "lag_p99_ms": round(1000 * lags[int(0.99 * len(lags))], 1)}


def plain(tree: Path, runtime: Runtime) -> dict:
    """Plain LlamaIndex: read the folder, split, embed (the same MiniLM), store in Chroma; then the first answer."""
    embedder = runtime.embedders.choose(runtime.settings)
    if embedder is None:
        return {"skipped": "no embedding model"}
    import chromadb
    from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.vector_stores.chroma import ChromaVectorStore

    class Ours(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return embedder.embed([text])[0].tolist()

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    began = time.monotonic()
    documents = SimpleDirectoryReader(str(tree), recursive=True).load_data()
    client = chromadb.PersistentClient(str(runtime.settings.home / "plain"))
    store = ChromaVectorStore(chroma_collection=client.get_or_create_collection("plain"))
    index = VectorStoreIndex.from_documents(
        documents,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=Ours(),
        transformations=[SentenceSplitter()],
    )
    built = time.monotonic() - began
    index.as_retriever(similarity_top_k=10).retrieve(QUESTION)
    lines = sum(document.text.count("\n") for document in documents)
    answered = time.monotonic() - began
    return {"index_s": round(built, 2), "lines_per_s": round(lines / built), "first_answer_s": round(answered, 2)}


RUNS = {run.__name__: run for run in (instant, warm, one_file, reopened, dense, plain)}


def runtime_in(home: Path) -> Runtime:
    """A runtime on a data directory, with no model server and without history."""
    return Runtime(Settings(_env_file=None, home=home, history_commits=0, ollama_url=""))  # type: ignore[call-arg]


def snapshot_of(tree: Path) -> Snapshot:
    """A folder as it is on disk."""
    return Snapshot(key=f"bench-{tree.name}", name=tree.name, commit="unversioned", root=tree)


def _build(tree: Path, runtime: Runtime, full: bool = False) -> Index:
    return runtime.index_jobs.build(IndexRequest(snapshot_of(tree), runtime.settings, full=full))


def _answer(index: Index) -> float:
    from repopilot.retrieval.search import search

    began = time.monotonic()
    assert search(index, QUESTION, 10).hits
    return time.monotonic() - began


def _change_and_index(tree: Path, runtime: Runtime) -> float:
    before = runtime.indexes.open(snapshot_of(tree))
    assert before is not None
    path = tree / next(path for path in before.files if path.endswith(".py"))
    path.write_text(path.read_text() + f"\n\ndef changed_{time.monotonic_ns()}():\n    return 1\n")
    began = time.monotonic()
    index = _build(tree, runtime)
    assert index.report.files - index.report.reused == 1
    return round(time.monotonic() - began, 3)


async def _lags_during(work) -> list[float]:
    """How late an event loop wakes up while `work` runs in a thread, in seconds, every five milliseconds."""
    running, lags = asyncio.create_task(asyncio.to_thread(work)), []
    while not running.done():
        began = time.monotonic()
        await asyncio.sleep(_TICK_S)
        lags.append(time.monotonic() - began - _TICK_S)
    await running
    return lags
