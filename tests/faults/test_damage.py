"""Damage on the disk: whatever byte of the data directory changes, answers stay what they were or are refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_server import commit
from support.index_case import FILES, WordEmbedder, jobs_for, many, settings, snapshot, write

from repopilot.index.build.job import IndexRequest
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.storage import layout
from repopilot.index.store import Index, IndexStore
from repopilot.index.vectors import release
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.retrieval.search import search
from repopilot.settings import Settings
from repopilot.types import Snapshot

QUERIES = ("how is the total of a cart computed?", "discount", "Cart.add", "who changed the prices?")


def answers(index: Index) -> list[object]:
    """Everything an index answers."""
    graph = graph_of(index)
    found: list[object] = [index.commit, index.report.files, index.report.skipped, index.dense]
    for query in QUERIES:
        result = search(index, query)
        found.append([(hit.chunk, round(hit.score, 9), hit.why) for hit in result.hits])
    found += [list(index.chunks), index.digests.tolist(), index.symbols("Cart"), index.references("price")]
    found += [{path: index.text(path) for path in index.files}, {path: index.outline(path) for path in index.files}]
    found += [list(graph.nodes), graph.targets.tolist(), graph.sources.tolist(), graph.confidence.tolist()]
    return [*found, index.commits]


@pytest.fixture
def case(tmp_path: Path) -> tuple[Snapshot, Settings]:
    """A repository with two commits, changed once after it was indexed."""
    commit(tmp_path / "shop", FILES)
    commit(tmp_path / "shop", {"src/shop/prices.py": FILES["src/shop/prices.py"] + "\n\nVAT = 0.2\n"}, "Add the VAT")
    conf = Settings(_env_file=None, home=tmp_path / "home", workers=2)  # type: ignore[call-arg]
    jobs_for(conf).build(IndexRequest(opened(tmp_path / "shop", conf), conf))
    write(tmp_path / "shop", {"README.md": "# Shop\n\nA larger shop.\n"})
    jobs_for(conf).build(IndexRequest(opened(tmp_path / "shop", conf), conf))
    return opened(tmp_path / "shop", conf), conf


def opened(root: Path, conf: Settings) -> Snapshot:
    return open_source(parse_source(str(root)), conf)


def damages(sound: bytes) -> Iterator[bytes]:
    """Variants of a file: a byte changed, cut off, longer."""
    place = len(sound) // 3
    yield sound[:place] + bytes([sound[place] ^ 0x21]) + sound[place + 1 :]
    yield sound[: len(sound) // 2]
    yield sound + b"\0"


@pytest.mark.slow
def test_no_damaged_byte_of_an_index_gives_another_answer(case):
    shop, conf = case
    folder = conf.indexes / shop.key
    index = IndexStore(conf.indexes).open(shop)
    assert index is not None and len(index.commits) == 2
    expected = answers(index)
    names = [
        path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock"
    ]
    assert {"index.db", "checksums.json", "report.json", "graph.bin", "history.bin", "stamps.json"} <= {
        n.name for n in names
    }
    refused = 0
    sound = folder.with_name("sound")
    shutil.copytree(folder, sound)
    for name in names:
        for damaged in damages((sound / name).read_bytes()):
            shutil.rmtree(folder)
            shutil.copytree(sound, folder)
            (folder / name).write_bytes(damaged)
            found = IndexStore(conf.indexes).open(shop)
            if found is None:
                refused += 1
            elif name.name not in (layout.HISTORY, layout.GRAPH):
                assert answers(found) == expected, name
            else:  # without the history, as before it is read; the graph is linked anew
                assert answers(found)[-1] in ((), expected[-1]) and graph_same(found, expected), name
            if found is None and damaged[:-1] != (sound / name).read_bytes():
                continue  # mended like the others
            again = jobs_for(conf).build(IndexRequest(shop, conf))
            assert answers(again) == expected, name
    assert refused > 20


def graph_same(index: Index, expected: list[object]) -> bool:
    graph = graph_of(index)
    return [list(graph.nodes), graph.targets.tolist()] == expected[-5:-3]


VECTORS = f"""
import shutil, sys
sys.path[:] = {sys.path}
from pathlib import Path
import numpy as np
from support.index_case import WordEmbedder, snapshot
from repopilot.index.store import IndexStore
from repopilot.index.vectors import release, vectors_of

home, root = Path(sys.argv[1]), Path(sys.argv[2])
expected, numbers = None, None
for indexes in [home / "index", *sorted(home.glob("damaged-*"))]:
    index = IndexStore(indexes).open(snapshot(root))
    numbers = list(range(len(index.chunks)))
    embedder = WordEmbedder()
    stored = vectors_of(index, embedder)
    found = stored.in_time(index, numbers, 1e9)[1]
    near = stored.nearest(index, found[0], 5)
    if expected is None:
        expected = found
    # A changed low bit of a number changes no order; anything else is noticed.
    assert np.allclose(found, expected, atol=0.05), indexes
    assert near and all(-1.01 <= score <= 1.01 for _, score in near), indexes
    print(indexes.name, embedder.texts, *stored.notes, flush=True)
    release(indexes)
"""


@pytest.mark.slow
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
@pytest.mark.sampled(1)
def test_damaged_vectors_are_computed_again(tmp_path, closed):
    root = write(tmp_path / "shop", many(450))
    conf = settings(tmp_path / "home")
    jobs = jobs_for(conf)
    jobs.build(IndexRequest(snapshot(root), conf, WordEmbedder()))
    release(conf.indexes)
    chroma = conf.indexes / "chroma"
    assert len(list(chroma.glob("*/*.bin"))) > 3, "too few vectors: nothing is in files yet"
    if not closed:
        (conf.indexes / "chroma.json").unlink()
    number = 0
    for path in sorted(file for file in chroma.rglob("*") if file.is_file()):
        sound = path.read_bytes()
        # A closed folder has checksums, which any change makes wrong; the trial after a kill reads the vectors.
        for damaged in [spread(sound), sound[: len(sound) // 2]] if closed else [spread(sound)]:
            number += 1
            copy = conf.home / f"damaged-{number:03d}"
            shutil.copytree(conf.indexes, copy)
            (copy / path.relative_to(conf.indexes)).write_bytes(damaged)
    child = subprocess.run([sys.executable, "-c", VECTORS, conf.home, root], capture_output=True, text=True)
    assert child.returncode == 0, child.stdout[-2000:] + child.stderr[-4000:]
    assert len(child.stdout.splitlines()) == number + 1
    assert "damaged" in child.stdout


def spread(sound: bytes) -> bytes:
    """One with a byte changed in every 4 KB."""
    changed = bytearray(sound)
    for place in range(2000, len(sound), 4096):
        changed[place] ^= 0x55
    return bytes(changed)
