"""Vectors in a real Chroma: computed once, found again, recreated when broken, never shared by two processes."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from support.index_case import FILES, WordEmbedder, fill, many, settings, snapshot, write

from repopilot.errors import Cancelled
from repopilot.index import vectors
from repopilot.index.build.job import IndexRequest
from repopilot.index.vectors import vectors_of
from repopilot.retrieval.search import search


@pytest.fixture
def conf(tmp_path):
    found = settings(tmp_path / "home")
    yield found
    vectors.release(found.indexes)


@pytest.fixture
def index(tmp_path, conf, jobs):
    return jobs.build(IndexRequest(snapshot(write(tmp_path / "shop", FILES)), conf))


def all_numbers(index):
    return list(range(len(index.chunks)))


@pytest.mark.slow
def test_vectors_are_computed_once_and_saved_across_restarts(index, conf):
    first = WordEmbedder()
    found = vectors_of(index, first).in_time(index, all_numbers(index), 1e9)[1]
    assert found.dtype == np.float32
    assert np.allclose(found, WordEmbedder().embed([chunk.text for chunk in index.chunks]), atol=1e-6)
    vectors.release(conf.indexes)
    second = WordEmbedder()
    again = vectors_of(index, second).in_time(index, all_numbers(index)[::-1], 1e9)[1]
    assert np.allclose(again[::-1], found, atol=1e-6)
    assert second.texts == 0


@pytest.mark.slow
def test_only_as_many_vectors_are_computed_as_there_is_time_for(index):
    embedder = WordEmbedder()
    embedder.at_once = 2
    found, numbers = vectors_of(index, embedder), all_numbers(index)
    assert len(numbers) > 2 * embedder.at_once
    places, first = found.in_time(index, numbers, 0.0)
    assert places == numbers[: embedder.at_once], "the most important ones, in any case"
    places, _ = found.in_time(index, numbers[::-1], 0.0)
    assert places == [*range(embedder.at_once), *numbers[-embedder.at_once :]], "and those that are stored"
    places, everything = found.in_time(index, numbers, 600.0)
    assert places == numbers and embedder.texts == len(numbers)
    assert np.allclose(everything[: embedder.at_once], first)
    assert found.in_time(index, [], 1.0)[1].shape == (0, embedder.dimension)


def test_no_chunks_have_no_vectors(index):
    assert vectors_of(index, WordEmbedder()).in_time(index, [], 1e9)[1].shape == (0, 64)


@pytest.mark.slow
def test_the_nearest_chunk_is_the_text_itself(index, conf):
    embedder = WordEmbedder()
    assert vectors_of(index, embedder).nearest(index, embedder.embed(["cart"])[0], 3) == []
    fill(index, embedder)
    for number, chunk in enumerate(index.chunks):
        found = vectors_of(index, embedder).nearest(index, embedder.embed([chunk.text])[0], 3)
        assert found[0][0] == number
        assert found[0][1] == pytest.approx(1.0, abs=1e-4)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


@pytest.mark.slow
def test_texts_that_occur_twice_are_embedded_once_and_found_twice(tmp_path, conf, jobs):
    text = "def same():\n    return 'the same text twice'\n"
    index = jobs.build(IndexRequest(snapshot(write(tmp_path / "twice", {"a.py": text, "b/a.py": text})), conf))
    embedder = WordEmbedder()
    fill(index, embedder)
    assert embedder.texts == 1
    assert [n for n, _ in vectors_of(index, embedder).nearest(index, embedder.embed([text])[0], 5)] == [0, 1]


@pytest.mark.slow
def test_embedders_do_not_mix(index):
    other = WordEmbedder()
    other.name = "other"
    vectors_of(index, WordEmbedder()).in_time(index, [0], 1e9)[1]
    assert vectors_of(index, other).known() == set()


@pytest.mark.slow
def test_vectors_of_removed_texts_are_deleted(tmp_path, conf, jobs):
    root = write(tmp_path / "shop", many(30))
    embedder = WordEmbedder()
    jobs.build(IndexRequest(snapshot(root), conf, embedder))
    write(root, dict.fromkeys(list(many(30))[:15]))
    index = jobs.build(IndexRequest(snapshot(root), conf, embedder))
    assert vectors_of(index, embedder).known() == set(index.digests.tolist())


@pytest.mark.slow
def test_stopping_keeps_what_is_computed(tmp_path, conf, jobs):
    index = jobs.build(IndexRequest(snapshot(write(tmp_path / "many", many(30))), conf))
    embedder, cancel = WordEmbedder(), threading.Event()

    def stop(progress):
        if progress.done >= 4:
            cancel.set()

    embedder = WordEmbedder(delay_s=0.05)
    with pytest.raises(Cancelled):
        fill(index, embedder, stop, cancel)
    assert 4 <= len(vectors_of(index, embedder).known()) == embedder.texts < 30


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["all of it", "half of it"])
def test_a_damaged_chroma_is_recreated_with_a_note(index, conf, victim):
    embedder = WordEmbedder()
    before = vectors_of(index, embedder).in_time(index, all_numbers(index), 1e9)[1]
    vectors.release(conf.indexes)
    database = conf.indexes / vectors.FOLDER / "chroma.sqlite3"
    data = database.read_bytes()
    database.write_bytes(data[: len(data) // 2] if victim == "half of it" else b"this is no database" * 1000)
    recreated = vectors_of(index, embedder)
    assert np.allclose(recreated.in_time(index, all_numbers(index), 1e9)[1], before, atol=1e-6)
    assert any("computed again" in note for note in recreated.notes)
    assert recreated.known() == set(index.digests.tolist())


@pytest.mark.slow
def test_a_collection_deleted_meanwhile_is_recreated(index, conf):
    store = vectors_of(index, WordEmbedder())
    store.in_time(index, [0], 1e9)[1]
    client = vectors._client(conf.indexes)
    client.delete_collection(client.list_collections()[0].name)
    assert store.in_time(index, [0], 1e9)[1].shape == (1, 64)
    assert store.known() == {int(index.digests[0])}


@pytest.mark.slow
def test_a_second_process_works_without_saving(tmp_path, index, conf):
    code = f"""
import sys
sys.path[:] = {sys.path}
from pathlib import Path
from support.index_case import WordEmbedder, build_index, settings, snapshot
from repopilot.index.vectors import vectors_of
conf = settings(Path(sys.argv[1]))
index = build_index(snapshot(Path(sys.argv[2])), conf, WordEmbedder())
embedder = WordEmbedder()
store = vectors_of(index, embedder)
shapes = [store.in_time(index, numbers, 1e9)[1].shape for numbers in ([0, 1], [1])]
print(store.persistent, *shapes, embedder.texts)
print(store.nearest(index, embedder.embed(["x"])[0], 2), store.notes)
"""
    command = [sys.executable, "-c", code, str(conf.home), str(tmp_path / "shop")]
    vectors_of(index, WordEmbedder()).in_time(index, [0], 1e9)[1]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    note = "Another RepoPilot process uses the vector store: vectors are computed on demand here and not saved."
    assert other == f"False (2, 64) (1, 64) 2\n[] {[note]}\n"
    assert vectors_of(index, WordEmbedder()).known() == {int(index.digests[0])}
    vectors_of(index, WordEmbedder()).in_time(index, all_numbers(index), 1e9)[1]
    vectors.release(conf.indexes)
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert alone.startswith("True (2, 64) (1, 64) 0\n")


@pytest.mark.slow
def test_several_threads_may_ask_at_once(index):
    embedder = WordEmbedder(delay_s=0.01)
    store, found = vectors_of(index, embedder), []
    threads = [
        threading.Thread(target=lambda: found.append(store.in_time(index, all_numbers(index), 1e9)[1]))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(np.allclose(one, found[0], atol=1e-6) for one in found)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_full_disk_is_an_error_and_loses_no_vector(tmp_path, conf, jobs):
    root = write(tmp_path / "shop", many(200))
    index = jobs.build(IndexRequest(snapshot(root), conf))
    vectors_of(index, WordEmbedder()).in_time(index, range(20), 1e9)[1]
    before = vectors_of(index, WordEmbedder()).known()
    vectors.release(conf.indexes)
    code = f"""
import resource, sys
sys.path[:] = {sys.path}
from pathlib import Path
from support.index_case import WordEmbedder, settings, snapshot
from repopilot.errors import StorageError
from repopilot.index.store import IndexStore
from repopilot.index.vectors import vectors_of
conf = settings(Path({str(conf.home)!r}))
index = IndexStore(conf.indexes).open(snapshot(Path({str(root)!r})))
size = (conf.indexes / "chroma" / "chroma.sqlite3").stat().st_size
store = vectors_of(index, WordEmbedder())
store.known()
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    store.in_time(index, range(len(index.chunks)), 1e9)[1]
except StorageError as error:
    print("said:", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("said: The vectors can't be written")
    assert before <= vectors_of(index, WordEmbedder()).known()


@pytest.mark.slow
def test_a_search_says_that_another_process_owns_the_folder(index, conf):
    code = f"""
import sys, time
sys.path[:] = {sys.path}
from pathlib import Path
from repopilot.index.vectors import health
print(health(Path({str(conf.indexes)!r})), flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline().startswith("version ")
        for _ in range(2):
            found = search(index, "how is the total computed?", embedder=WordEmbedder())
            assert found.hits and [note for note in found.notes if "Another RepoPilot process" in note]
        other.kill()
    vectors.release(conf.indexes)
    assert not [note for note in search(index, "total", embedder=WordEmbedder()).notes if "Another" in note]
