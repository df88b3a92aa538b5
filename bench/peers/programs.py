"""The programs that are compared: each gives a function that searches a tree, and the seconds that indexing took."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.metrics import Place
from bench.peers.measures import Found
from repopilot.code.languages import grammar
from repopilot.index.build.job import IndexRequest, Milestone
from repopilot.index.embed import Embedder
from repopilot.index.history import commit_store
from repopilot.index.store import Index
from repopilot.index.tokens import words
from repopilot.repo.history import MOST_PATHS, Commit
from repopilot.repo.read import read
from repopilot.repo.walk import walk
from repopilot.retrieval.query.query_words import STOP_EN
from repopilot.retrieval.search import search
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Skip, Snapshot

MOST_COMMITS = 2000
NEIGHBOURHOOD = 40
"""Lines of the place in which ripgrep's matches of a file lie densest."""
LEAST_WORD = 3


class Tree(NamedTuple):
    """A tree of files to search, and the file of the commits before it."""

    name: str
    root: Path
    history: Path


class Tools(NamedTuple):
    """What programs share: MiniLM, None where its weights are missing, and a folder of their own."""

    embedder: Embedder | None
    scratch: Path

    @property
    def minilm(self) -> Embedder:
        """MiniLM. Raises ImportError where its weights are missing."""
        if self.embedder is None:
            raise ImportError("the weights of MiniLM are missing")
        return self.embedder


Search = Callable[[str, int], Found]
Program = Callable[[Tree, Tools], tuple[Search, float]]


def repopilot(tree: Tree, tools: Tools, *, history: bool = False, minilm: bool = False) -> tuple[Search, float]:
    """RepoPilot's instant index; if wanted with the past commits that a build adds behind, and the rerank by MiniLM."""
    embedder = tools.minilm if minilm else None
    runtime = _runtime(tools.scratch)
    settings = runtime.settings
    snapshot = Snapshot(key=f"{tree.name}-{tree.root.name}", name=tree.name, commit="unversioned", root=tree.root)
    began = time.perf_counter()
    # The job's own step writes the history of a tree without git: an empty one, which must not come after ours.
    milestone: Milestone = "history" if history else "instant"
    index = runtime.index_jobs.build(IndexRequest(snapshot, settings, full=True), until=milestone)
    if history:
        _store_history(index, tree.history)
    seconds = time.perf_counter() - began

    def run(query: str, k: int) -> Found:
        found = search(index, query, k, embedder=embedder)
        places = [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in found.hits]
        return Found(places, found.files)

    return run, seconds


@cache
def _runtime(home: Path) -> Runtime:
    """One for all trees: its worker processes start once, as in a session of the program."""
    return Runtime(Settings(_env_file=None, home=home))  # type: ignore[call-arg]


def _store_history(index: Index, file: Path) -> None:
    """Store the commits of a data set beside an index, as a build with history does."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()[:MOST_COMMITS]] if file.exists() else []
    commits = [_commit(row) for row in rows]
    state = commit_store.HistoryState(index.commit, MOST_COMMITS, complete=True)
    commit_store.write_commits(index.folder.parent, state, commits)


def _commit(row: Mapping) -> Commit:
    paths = tuple(row["paths"]) if len(row["paths"]) <= MOST_PATHS else ()
    return Commit(row["sha"], row["subject"], paths, row["at"], row.get("body", ""))


class _Piece(NamedTuple):
    """A chunk of LlamaIndex's CodeSplitter."""

    path: str
    start: int
    end: int
    text: str


def _pieces(tree: Tree) -> Iterator[_Piece]:
    """The files that RepoPilot reads in LlamaIndex's chunks: code by CodeSplitter, other texts by SentenceSplitter."""
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.schema import Document

    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    snapshot = Snapshot(key="pieces", name=tree.name, commit="unversioned", root=tree.root)
    splitters: dict[str, object] = {}
    plain = SentenceSplitter()
    for file, text in read(snapshot, walk(snapshot, settings)[0]):
        if isinstance(text, Skip):
            continue
        language = grammar(file.language)
        if language and language not in splitters:
            splitters[language] = _code_splitter(language)
        splitter = splitters[language] if language else plain
        try:
            nodes = splitter.get_nodes_from_documents([Document(text=text)])  # type: ignore[attr-defined]
        except ValueError:  # the syntax tree has errors
            nodes = plain.get_nodes_from_documents([Document(text=text)])
        for node in nodes:
            start = text.count("\n", 0, node.start_char_idx or 0) + 1
            yield _Piece(file.path, start, start + node.text.count("\n"), node.text)


def _code_splitter(language: str) -> object:
    from llama_index.core.node_parser import CodeSplitter
    from tree_sitter_language_pack import get_parser

    return CodeSplitter(language=language, parser=get_parser(language))  # type: ignore[arg-type]


def bm25s(tree: Tree, tools: Tools) -> tuple[Search, float]:
    """bm25s as its documentation shows it, over CodeSplitter's chunks with their path in front."""
    import bm25s as library

    began = time.perf_counter()
    pieces = list(_pieces(tree))
    index = library.BM25()
    index.index(
        library.tokenize([f"{piece.path}\n{piece.text}" for piece in pieces], show_progress=False), show_progress=False
    )
    seconds = time.perf_counter() - began

    def run(query: str, k: int) -> Found:
        tokens = library.tokenize([query], show_progress=False)
        rows, _ = index.retrieve(tokens, k=min(k, len(pieces)), show_progress=False)
        return Found([pieces[row][:3] for row in rows[0]])

    return run, seconds


def embedding_model(embedder: Embedder) -> Any:
    """An embedder of ours as LlamaIndex takes one."""
    from llama_index.core.embeddings import BaseEmbedding

    class Ours(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return embedder.embed([text])[0].tolist()

        def _get_query_embedding(self, query: str) -> list[float]:
            return embedder.embed([query], query=True)[0].tolist()

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    return Ours()


def llama_index(tree: Tree, tools: Tools) -> tuple[Search, float]:
    """LlamaIndex with Chroma as their tutorial has it: CodeSplitter, an embedding (MiniLM), VectorStoreIndex, its
    retriever."""
    import chromadb
    from llama_index.core import StorageContext, VectorStoreIndex
    from llama_index.core.schema import TextNode
    from llama_index.vector_stores.chroma import ChromaVectorStore

    model = embedding_model(tools.minilm)
    began = time.perf_counter()
    client = chromadb.PersistentClient(str(tools.scratch), chromadb.Settings(anonymized_telemetry=False))
    store = ChromaVectorStore(chroma_collection=client.create_collection(f"{tree.name}-{tree.root.name}"))
    nodes = [TextNode(text=p.text, metadata={"place": json.dumps(p[:3])}) for p in _pieces(tree)]
    for node in nodes:
        node.excluded_embed_metadata_keys = ["place"]
    context = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex(nodes, storage_context=context, embed_model=model)
    seconds = time.perf_counter() - began

    def run(query: str, k: int) -> Found:
        found = index.as_retriever(similarity_top_k=k).retrieve(query)
        return Found([tuple(json.loads(hit.node.metadata["place"])) for hit in found])

    return run, seconds


def ripgrep(tree: Tree, tools: Tools) -> tuple[Search, float]:
    """ripgrep for any word of the query; files by their matching lines, in each the place where these lie densest."""
    program = rg_program()
    if program is None:
        raise ImportError("there is no program rg")

    def run(query: str, k: int) -> Found:
        wanted = [
            word for word in dict.fromkeys(words(query)) if len(word) >= LEAST_WORD and word.lower() not in STOP_EN
        ]
        if not wanted:
            return Found([])
        patterns = [part for word in wanted[:200] for part in ("-e", word)]
        command = [program, "-i", "-n", "-F", "--no-heading", "--null", "--max-columns=1", *patterns, "."]
        done = subprocess.run(command, cwd=tree.root, capture_output=True, check=False)
        return Found([_densest(path, lines) for path, lines in _by_matches(done.stdout)[:k]])

    return run, 0.0


def rg_program() -> str | None:
    """The path of rg, which a package may have put beside the interpreter; None where there is none."""
    return shutil.which("rg", path=str(Path(sys.executable).parent)) or shutil.which("rg")


def _by_matches(output: bytes) -> list[tuple[str, list[int]]]:
    """The numbers of the matching lines by file, the file with most first."""
    found: dict[str, list[int]] = {}
    for row in output.decode("utf-8", "replace").split("\n"):
        path, _, rest = row.partition("\0")
        number = rest.partition(":")[0]
        if number.isdigit():
            found.setdefault(path.removeprefix("./"), []).append(int(number))
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def _densest(path: str, lines: Sequence[int]) -> Place:
    ordered = np.array(lines)
    counts = np.searchsorted(ordered, ordered + NEIGHBOURHOOD) - np.arange(len(ordered))
    start = int(ordered[int(counts.argmax())])
    return path, start, start + NEIGHBOURHOOD - 1


@dataclass
class _Model:
    """MiniLM behind the interface of semble's embedding model; without it every text has the same vector."""

    embedder: Embedder | None
    dim: int = 8

    def __post_init__(self) -> None:
        self.dim = self.embedder.dimension if self.embedder else self.dim

    def encode(self, texts: Sequence[str], **options: object) -> np.ndarray:
        """float32 (n, dim): the vectors of texts. The options of semble's own model are left aside."""
        if self.embedder is None:
            return np.ones((len(texts), self.dim), np.float32)
        return self.embedder.embed(list(texts))


def semble(tree: Tree, tools: Tools, *, minilm: bool = False) -> tuple[Search, float]:
    """semble with its BM25 and heuristics, and MiniLM if wanted: its own static model comes from a hub."""
    from semble import ContentType, SembleIndex
    from semble.index.create import create_index_from_path

    model = _Model(tools.minilm if minilm else None)
    content = (ContentType.CODE, ContentType.DOCS, ContentType.CONFIG)
    began = time.perf_counter()
    sparse, dense, chunks, _ = create_index_from_path(tree.root, model=model, content=content, display_root=tree.root)
    index = SembleIndex(model, sparse, dense, chunks, "minilm", content=content)
    seconds = time.perf_counter() - began

    def run(query: str, k: int) -> Found:
        found = index.search(query, k, alpha=None if minilm else 0.0)
        return Found([(hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line) for hit in found])

    return run, seconds


PROGRAMS: Mapping[str, Program] = {
    "RepoPilot": repopilot,
    "RepoPilot+history": lambda tree, tools: repopilot(tree, tools, history=True),
    "RepoPilot+MiniLM": lambda tree, tools: repopilot(tree, tools, minilm=True),
    "RepoPilot+history+MiniLM": lambda tree, tools: repopilot(tree, tools, history=True, minilm=True),
    "bm25s": bm25s,
    "ripgrep": ripgrep,
    "semble-BM25": semble,
    "semble+MiniLM": lambda tree, tools: semble(tree, tools, minilm=True),
    "LlamaIndex+Chroma": llama_index,
}
