"""Small folders to index, and the means to index them."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import numpy as np
from support.waiting import PATIENCE_S

from repopilot.index.build.embedding_pause import EmbeddingPause
from repopilot.index.build.fill_vectors import fill_vectors
from repopilot.index.build.instant import BuildRun, build_instant
from repopilot.index.build.job import IndexJobs, IndexRequest
from repopilot.index.embed import Embedder
from repopilot.index.store import Index, IndexStore
from repopilot.index.workers.pool import WorkerPool
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import OnProgress, Snapshot

FILES = {
    "src/shop/cart.py": 'import json\n\n\nclass Cart:\n    """A basket."""\n\n    def add(self, item):\n'
    "        self.items.append(item)\n\n    def total(self):\n        return sum(price(item) for item in self.items)\n",
    "src/shop/prices.py": "from .cart import Cart\n\n\ndef price(item):\n    return item.amount * 2\n\n\n"
    "def discount(cart: Cart):\n    return cart.total() * 0.9\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 0\n",
    "README.md": "# Shop\n\nA shop.\n\n## Use\n\nPut things into the cart.\n",
    "pyproject.toml": '[project]\nname = "shop"\n',
}


def write(root: Path, files: Mapping[str, str | bytes | None]) -> Path:
    """Write files, or with None delete them."""
    for path, content in files.items():
        target = root / path
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def many(count: int) -> dict[str, str]:
    """`count` Python files, each with its own class and function."""
    body = '\n\nclass Thing{n}:\n    """Number {n}."""\n\n    def run(self, value):\n        return helper_{n}(value)\n'
    return {f"pkg/m{n:04d}.py": f"def helper_{n}(x):\n    return x + {n}\n{body.format(n=n)}" for n in range(count)}


def snapshot(root: Path, commit: str = "unversioned") -> Snapshot:
    return Snapshot(key=f"folder-{root.name}", name=root.name, commit=commit, root=root)


def settings(home: Path, **more: object) -> Settings:
    return Settings(_env_file=None, home=home, workers=2, history_commits=0, **more)  # type: ignore[arg-type]


WORKERS = WorkerPool()
"""Shared by all tests of a process: starting the worker processes takes a second."""


def runtime_for(settings: Settings) -> Runtime:
    """A runtime of the test's own, except for the worker processes."""
    return Runtime(settings, workers=WORKERS)


def jobs_for(settings: Settings) -> IndexJobs:
    """The indexing jobs of a runtime of the test's own."""
    return runtime_for(settings).index_jobs


def build_index(snapshot: Snapshot, settings: Settings, embedder: Embedder | None = None, **more: bool) -> Index:
    """The complete index of a snapshot."""
    return jobs_for(settings).build(IndexRequest(snapshot, settings, embedder, **more))


def instant_index(snapshot: Snapshot, settings: Settings, **more: object) -> Index:
    """The instant index of a snapshot, in a store of its own unless told otherwise; `more` as in `BuildRun`."""
    default = {
        "indexes": IndexStore(settings.indexes),
        "workers": WORKERS,
        "progress": lambda progress: None,
        "cancel": threading.Event(),
    }
    return build_instant(BuildRun(snapshot, settings, **{**default, **more}))  # type: ignore[arg-type]


def fill(
    index: Index, embedder: Embedder, progress: OnProgress = lambda _: None, cancel: threading.Event | None = None
) -> list[str]:
    """`fill_vectors` in a thread of its own, as it lowers its thread's priority for good, and with it that of what the
    thread starts."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(
            fill_vectors, index, embedder, progress, cancel or threading.Event(), EmbeddingPause()
        ).result()


class WordEmbedder:
    """Vectors by hashing words: texts with common words are near. Fast, deterministic, without a model. With a `gate`
    texts of the code wait until it is open."""

    name = "words"
    dimension = 64
    at_once = 4

    def __init__(self, delay_s: float = 0.0, gate: threading.Event | None = None) -> None:
        self.texts = 0
        self._delay_s = delay_s
        self._gate = gate

    def embed(self, texts: Sequence[str], *, query: bool = False, background: bool = False) -> np.ndarray:
        self.texts += len(texts)
        assert query or self._gate is None or self._gate.wait(PATIENCE_S)
        time.sleep(self._delay_s * len(texts))
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[0] = 0.01
            for word in text.split():
                row[blake2b(word.encode(), digest_size=2).digest()[0] % self.dimension] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
