"""Small folders to index, and parse functions that misbehave, run in the real worker processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from repopilot.errors import SourceError
from repopilot.index.build.parse_batch import parse
from repopilot.settings import Settings
from repopilot.types import Snapshot, SourceFile

MODULE = "support.index_case"

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


class WordEmbedder:
    """Vectors by hashing words: texts with common words are near. Fast, deterministic, without a model."""

    name = "words"
    dimension = 64

    def __init__(self, delay_s: float = 0.0) -> None:
        self.texts = 0
        self._delay_s = delay_s

    def embed(self, texts: Sequence[str], *, background: bool = False) -> np.ndarray:
        self.texts += len(texts)
        time.sleep(self._delay_s * len(texts))
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[0] = 0.01
            for word in text.split():
                row[blake2b(word.encode(), digest_size=2).digest()[0] % self.dimension] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def misbehaving(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[object]:
    """The real parser, except on files whose name asks for something else."""
    for file in files:
        if "hang" in file.path:
            time.sleep(600)
        if "crash" in file.path:
            os._exit(11)
        yield from parse(snapshot, [file])


def slow(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[object]:
    """The real parser, ten minutes a file after the first three of each batch."""
    for number, file in enumerate(files):
        time.sleep(0.2 if number < 3 else 600)
        yield from parse(snapshot, [file])


def unsteady(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[object]:
    """The real parser, but files disappear or turn binary between being listed and being read."""
    assert snapshot.root is not None
    for file in files:
        if "gone" in file.path:
            (snapshot.root / file.path).unlink()
        if "binary" in file.path:
            (snapshot.root / file.path).write_bytes(b"\0\1\2" * 100)
        yield from parse(snapshot, [file])


def count_up(limit: int, numbers: Sequence[int]) -> Iterator[int]:
    """Squares; a number of 1000 more than `limit` never ends, one of 2000 more ends the process."""
    for number in numbers:
        if number == limit + 1000:
            time.sleep(600)
        if number == limit + 2000:
            os._exit(3)
        yield number * number


def process_ids(items: Sequence[object]) -> Iterator[int]:
    """The process that works, once per item."""
    for _ in items:
        yield os.getpid()


def refused(items: Sequence[object]) -> Iterator[object]:
    """Fails in our own way at once."""
    raise SourceError("The repository is gone.", "Open it again.")
    yield


def sleeping(items: Sequence[object]) -> Iterator[object]:
    """Never ends."""
    time.sleep(600)
    yield from items


def crashing(items: Sequence[object]) -> Iterator[object]:
    """Ends the process."""
    os._exit(11)
    yield from items
