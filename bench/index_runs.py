"""The measurements of bench/index.py, each in a process of its own: functions (tree, runtime) → JSON-able figures."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from pathlib import Path

import numpy as np

from repopilot.index.build.job import IndexRequest, Milestone
from repopilot.index.store import Index
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Snapshot

QUESTION = "where is the configuration file parsed"
CHANGES = 7
QUESTIONS = 60
_WORD = re.compile(r"[^\W\d]{3,}")
_TICK_S = 0.005


def instant(tree: Path, runtime: Runtime) -> dict:
    """The instant index from nothing, with worker processes as cold as after a start, and the first answer."""
    began = time.monotonic()
    index = _build(tree, runtime, full=True, until="instant")
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
    lags = asyncio.run(_lags_during(lambda: _build(tree, runtime, full=True, until="instant")))
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
    """From a change of one file to the first answer that knows of it, in a running server: a reader has the index open,
    the worker processes are warm. Beside it a full rebuild with the same processes, and a change with cold ones."""
    runtime.index_jobs.prewarm(runtime.settings)
    time.sleep(8)
    began = time.monotonic()
    reader = _build(tree, runtime, full=True, until="instant")
    full = time.monotonic() - began
    _wait(tree, runtime)
    walls, cpus = [], []
    for number in range(CHANGES):
        wall, cpu = _change_and_ask(tree, runtime, number)
        walls.append(wall)
        cpus.append(cpu)
        reader = runtime.indexes.open(snapshot_of(tree)) or reader
    runtime.workers.close()
    cold, _ = _change_and_ask(tree, runtime, CHANGES)
    p50 = float(np.median(walls))
    return {
        "p50_s": round(p50, 3),
        "max_s": round(max(walls), 3),
        "cpu_p50_s": round(float(np.median(cpus)), 3),
        "cold_s": round(cold, 3),
        "full_s": round(full, 2),
        "full_over_one": round(full / p50),
        "phases_s": dict(reader.report.seconds),
    }


def reopened(tree: Path, runtime: Runtime) -> dict:
    """Opening the published index and asking: the memory and time of a command whose index is up to date."""
    began = time.monotonic()
    index = runtime.indexes.open(snapshot_of(tree))
    assert index is not None
    opened = time.monotonic() - began
    _answer(index)
    times = [1000 * _answer(index, question) for question in _questions(index)]
    p50, p95 = np.percentile(times, (50, 95)).tolist()
    return {"open_s": round(opened, 3), "answer_p50_ms": round(p50, 1), "answer_p95_ms": round(p95, 1)}


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
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.vector_stores.chroma import ChromaVectorStore

    from bench.peers.programs import embedding_model

    began = time.monotonic()
    documents = SimpleDirectoryReader(str(tree), recursive=True).load_data()
    client = chromadb.PersistentClient(str(runtime.settings.home / "plain"))
    store = ChromaVectorStore(chroma_collection=client.get_or_create_collection("plain"))
    index = VectorStoreIndex.from_documents(
        documents,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=embedding_model(embedder),
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


def _build(tree: Path, runtime: Runtime, full: bool = False, until: Milestone = "complete") -> Index:
    return runtime.index_jobs.build(IndexRequest(snapshot_of(tree), runtime.settings, full=full), until=until)


def _answer(index: Index, question: str = QUESTION) -> float:
    from repopilot.retrieval.search import search

    began = time.monotonic()
    assert search(index, question, 10).hits
    return time.monotonic() - began


def _questions(index: Index) -> list[str]:
    """Questions in the words of functions spread over the index."""
    step = max(1, len(index.chunks) // QUESTIONS)
    chunks = [index.chunks[number] for number in range(0, len(index.chunks), step)]
    return [f"where is {' '.join(_WORD.findall(chunk.text)[:12])} handled" for chunk in chunks]


def _change_and_ask(tree: Path, runtime: Runtime, number: int) -> tuple[float, float]:
    """Change a file, index, and ask for what is new in it. Wall and CPU time of this process in seconds."""
    from repopilot.retrieval.search import search

    before = runtime.indexes.open(snapshot_of(tree))
    assert before is not None
    paths = [path for path in before.files if path.endswith(".py")]
    name, path = f"changed_{time.monotonic_ns()}", paths[number * 997 % len(paths)]
    (tree / path).write_text((tree / path).read_text(encoding="utf-8") + f"\n\ndef {name}():\n    return 1\n")
    began, cpu = time.monotonic(), time.process_time()
    index = _build(tree, runtime, until="instant")
    found = search(index, f"where is {name} defined", 1).hits
    wall, cpu = time.monotonic() - began, time.process_time() - cpu
    assert index.report.files - index.report.reused == 1
    assert found[0].chunk.path == path
    _wait(tree, runtime)
    return wall, cpu


def _wait(tree: Path, runtime: Runtime) -> None:
    """Wait for the code graph and for the new worker process that follows it: the next measurement is of itself."""
    job = runtime.index_jobs.running(snapshot_of(tree))
    if job is not None:
        job.done.wait()
    time.sleep(2)


async def _lags_during(work) -> list[float]:
    """How late an event loop wakes up while `work` runs in a thread, in seconds, every five milliseconds."""
    running, lags = asyncio.create_task(asyncio.to_thread(work)), []
    while not running.done():
        began = time.monotonic()
        await asyncio.sleep(_TICK_S)
        lags.append(time.monotonic() - began - _TICK_S)
    await running
    return lags
