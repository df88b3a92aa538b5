"""The instant index: what it holds, what a change costs, and that nothing hostile or broken ends it."""

import gc
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import weakref

import pytest
from support.index_case import FILES, instant_index, many, settings, snapshot, write
from support.lexical_content import lexical_content
from support.worker_calls import MODULE

from repopilot import i18n
from repopilot.errors import Cancelled, IndexFailed
from repopilot.index.storage import layout
from repopilot.index.store import IndexStore


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "shop", FILES)


def build(root, conf, commit="unversioned", **more):
    return instant_index(snapshot(root, commit), conf, **more)


def opened(root, conf):
    return IndexStore(conf.indexes).open(snapshot(root))


def contents(index):
    """Everything a search can see of an index."""
    analyses = [(a.path, a.symbols, a.references, a.imports, a.parsed, a.lines) for a in index.analyses()]
    return list(index.files.items()), list(index.chunks), analyses, lexical_content(index.lexical)


@pytest.mark.slow
def test_an_index_tells_what_is_in_the_folder(root, conf):
    index = build(root, conf, commit="abc")
    assert (index.commit, index.name) == ("abc", "shop")
    assert set(index.files) == set(FILES)
    assert next(iter(index.files)).startswith("src/")
    assert index.text("README.md") == FILES["README.md"]
    assert index.text("nothing.py") is None
    assert index.lines("src/shop/prices.py", 4, 5) == "def price(item):\n    return item.amount * 2"
    assert [s.qualified for s in index.outline("src/shop/cart.py")] == ["Cart", "Cart.add", "Cart.total"]
    assert {r.path for r in index.references("total")} == {"src/shop/prices.py", "tests/test_cart.py"}
    assert [i.module for i in index.imports("src/shop/prices.py")] == [".cart"]
    assert index.report.files == len(FILES)
    assert index.report.lines == sum(text.count("\n") for text in FILES.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "found"),
    [("Cart", ["Cart"]), ("Cart.total", ["Cart.total"]), ("total", ["Cart.total"]), ("art.total", []), ("none", [])],
)
def test_symbols_are_found_by_plain_and_qualified_name(root, conf, name, found):
    assert [s.qualified for s in build(root, conf).symbols(name)] == found


@pytest.mark.slow
def test_chunks_are_exact_lines_and_rows_of_the_lexical_index(root, conf):
    index = build(root, conf)
    assert len(index.chunks) == len(index.lexical) == index.report.chunks
    for number, chunk in enumerate(index.chunks):
        assert chunk.text == index.lines(chunk.path, chunk.start_line, chunk.end_line)
        assert index.lexical.files[index.lexical.file_of[number]] == chunk.path
        assert number in index.numbers_of(index.digests[number : number + 1])[0]
    assert index.chunks[-1] == index.chunks[len(index.chunks) - 1]
    with pytest.raises(IndexError):
        index.chunks[len(index.chunks)]


@pytest.mark.slow
def test_nothing_is_done_when_nothing_changed(root, conf):
    first = build(root, conf)
    again = build(root, conf)
    assert (again.generation, again.report.reused) == (first.generation, len(FILES))
    assert build(root, conf, commit="another").generation == first.generation + 1
    assert build(root, conf, commit="another", full=True).report.reused == 0


@pytest.mark.slow
def test_an_open_index_is_shared_until_it_is_another(root, conf):
    indexes = IndexStore(conf.indexes)
    first = build(root, conf, indexes=indexes)
    assert indexes.open(snapshot(root)) is first is build(root, conf, indexes=indexes)
    shutil.rmtree(conf.indexes)
    write(root, {"src/new.py": "X = 1\n"})
    again = build(root, conf)
    assert again is not first
    assert again.generation == first.generation
    assert "src/new.py" in opened(root, conf).files


@pytest.mark.slow
def test_only_changed_files_are_read_again(root, conf):
    build(root, conf)
    write(root, {"src/shop/prices.py": "def cost(item):\n    return 1\n", "README.md": None, "src/new.py": "X = 1\n"})
    index = build(root, conf)
    assert index.report.reused == 3
    assert index.symbols("price") == []
    assert [s.path for s in index.symbols("cost")] == ["src/shop/prices.py"]
    assert "README.md" not in index.files
    assert "src/new.py" in index.files


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_any_series_of_edits_gives_the_index_of_a_fresh_build(tmp_path, conf, seed):
    chance = random.Random(seed)
    root, pool = tmp_path / "edited", many(12)
    write(root, dict(list(pool.items())[:6]))
    for _ in range(3):
        build(root, conf)
        for path in chance.sample(sorted(pool), 4):
            there = (root / path).exists()
            text = f"def changed_{chance.randrange(99)}():\n    return {path!r}\n"
            write(root, {path: None if there and chance.random() < 0.4 else chance.choice([pool[path], text])})
        write(root, {"kept.py": "KEPT = True\n"})
    edited = build(root, conf)
    assert contents(edited) == contents(build(root, settings(tmp_path / "other")))


@pytest.mark.slow
def test_an_index_that_was_replaced_is_freed_at_once(root, conf):
    index = build(root, conf)
    assert index.chunks[0].text
    freed = weakref.ref(index)
    gc.disable()  # its arrays don't wait for a full garbage collection
    try:
        del index
        assert freed() is None
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["index.db", "digests.npy", "lexical/texts.json"])
def test_a_broken_update_is_rebuilt(tmp_path, conf, damage):
    root = write(tmp_path / "shop", many(40))
    build(root, conf)
    write(root, {"pkg/m0001.py": "X = 1\n"})
    first = build(root, conf)
    (first.folder / damage).write_bytes(b"garbage")
    again = build(root, conf, commit="next")
    assert again.generation > first.generation
    assert contents(again) == contents(build(root, settings(tmp_path / "other")))


@pytest.mark.slow
def test_a_stopped_update_is_taken_up_again(tmp_path, conf):
    root, cancel = write(tmp_path / "big", many(100)), threading.Event()
    before = build(root, conf)
    write(root, {path: f"def again_{n}():\n    pass\n" for n, path in enumerate(list(many(30)))})

    def stop(progress):
        if progress.phase == "parsing" and progress.done >= 72:
            cancel.set()

    with pytest.raises(Cancelled):
        build(root, conf, cancel=cancel, progress=stop, parse=f"{MODULE}:slow")
    assert (before.folder.parent / layout.BUILDING).exists()
    assert opened(root, conf).generation == before.generation
    index = build(root, conf)
    assert index.report.reused >= 72
    assert contents(index) == contents(build(root, settings(tmp_path / "other")))


@pytest.mark.slow
def test_names_of_files_may_be_anything(tmp_path, conf):
    names = ["a b.py", "<i>[x](y).py", "quo'te\".py", "ünïcode-名.py", "-rf.py", "%s{0}.py"]
    index = build(write(tmp_path / "odd", {name: f"def f{n}():\n    pass\n" for n, name in enumerate(names)}), conf)
    assert set(index.files) == set(names)
    assert [s.path for s in index.symbols("f1")] == ["<i>[x](y).py"]


@pytest.mark.slow
def test_a_parser_that_hangs_or_crashes_costs_one_file(tmp_path, conf):
    root = write(tmp_path / "hostile", {**many(6), "pkg/hang.py": "x = 1\n", "pkg/crash.py": "x = 2\n"})
    index = build(root, conf, parse=f"{MODULE}:misbehaving", file_limit_s=2.0)
    assert index.report.files == 6
    assert {(skip.path, skip.reason) for skip in index.report.skipped} == {
        ("pkg/hang.py", "the parser timed out"),
        ("pkg/crash.py", "the parser crashed"),
    }
    assert build(root, conf).generation == index.generation, "a known bad file is not tried at every indexing"
    assert build(root, conf, full=True).report.files == 8


@pytest.mark.slow
def test_files_that_disappear_or_turn_binary_meanwhile_are_skipped(tmp_path, conf):
    root = write(tmp_path / "unsteady", {**many(3), "pkg/gone.py": "x = 1\n", "pkg/binary.py": "x = 2\n"})
    index = build(root, conf, parse=f"{MODULE}:unsteady")
    assert set(index.files) == set(many(3))
    assert {skip.path: skip.reason for skip in index.report.skipped} == {
        "pkg/gone.py": "gone or unreadable",
        "pkg/binary.py": "binary",
    }
    write(root, {"pkg/gone.py": "x = 1\n", "pkg/binary.py": "text = 2\n"})
    assert len(build(root, conf).files) == 5


def test_an_empty_folder_is_reported(tmp_path, conf):
    (tmp_path / "empty").mkdir()
    with pytest.raises(IndexFailed, match="empty is empty"):
        build(tmp_path / "empty", conf)


def test_a_folder_of_binaries_is_reported_with_the_reason(tmp_path, conf):
    root = write(tmp_path / "binaries", {f"{n}.dat": b"\0\1\2\3" * 50 for n in range(3)} | {"a.py": b"\0\0"})
    with pytest.raises(IndexFailed, match=r"nothing to read in binaries: all 4 files are skipped"):
        build(root, conf)


@pytest.mark.slow
def test_a_folder_without_code_is_noted(tmp_path, conf):
    index = build(write(tmp_path / "papers", {"README.md": "# Notes\n\nOnly words.\n"}), conf)
    assert index.notes == ("There is no source code here, only documents and configuration.",)
    assert len(index.chunks) == 1


@pytest.mark.slow
def test_an_index_of_another_version_is_rebuilt_with_a_note(root, conf):
    first = build(root, conf)
    with sqlite3.connect(first.folder / layout.DATABASE) as database:
        database.execute("UPDATE meta SET value = '0.0.0' WHERE key = 'version'")
    database.close()
    assert opened(root, conf) is None
    again = build(root, conf)
    assert again.notes == ("The index was written by another version and is being rebuilt.",)
    assert again.report.reused == 0
    assert build(root, conf).notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["index.db", "index.db-middle", "digests.npy", "lexical/texts.json", "report.json"])
def test_a_broken_index_is_rebuilt(tmp_path, conf, damage):
    root = write(tmp_path / "shop", many(40))
    first = build(root, conf)
    path = first.folder / damage.removesuffix("-middle")
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + b"\xff" * 50_000 + data[middle:] if "middle" in damage else b"garbage")
    again = build(root, conf, commit="next")
    assert again.generation > first.generation
    assert contents(again) == contents(build(root, settings(tmp_path / "other")))


@pytest.mark.slow
def test_damage_found_while_reading_is_reported_and_repaired(tmp_path, conf):
    root = write(tmp_path / "shop", many(200))
    path = build(root, conf).folder / layout.DATABASE
    data = bytearray(path.read_bytes())
    data[20_000:] = b"\xff" * (len(data) - 20_000)
    path.write_bytes(data)
    damaged = opened(root, conf)
    if damaged is not None:
        with pytest.raises(IndexFailed, match="broken"):
            list(damaged.chunks)
    repaired = build(root, conf)
    assert "The index was damaged and is being rebuilt." in repaired.notes
    assert len(repaired.files) == 200


@pytest.mark.slow
def test_stopping_keeps_what_was_done(tmp_path, conf):
    root, cancel = write(tmp_path / "big", many(30)), threading.Event()

    def stop(progress):
        if progress.phase == "parsing" and progress.done >= 2:
            cancel.set()

    with pytest.raises(Cancelled):
        build(root, conf, cancel=cancel, progress=stop, parse=f"{MODULE}:slow")
    assert opened(root, conf) is None
    assert build(root, conf).report.reused >= 2


@pytest.mark.slow
def test_a_full_disk_is_reported_and_the_old_index_stays(tmp_path, conf):
    root = write(tmp_path / "shop", many(30))
    before = build(root, conf)
    write(root, many(60))
    code = f"""
import resource, sys, threading
sys.path[:] = {sys.path}
from pathlib import Path
from support.index_case import instant_index, settings, snapshot
from repopilot.errors import StorageError
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    instant_index(snapshot(Path({str(root)!r})), settings(Path({str(conf.home)!r})))
except StorageError as error:
    print("said:", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "said: The disk is full: the index could not be written." in done.stdout
    assert opened(root, conf).generation == before.generation
    assert len(build(root, conf).files) == 60


@pytest.mark.slow
def test_a_stored_report_can_be_translated(tmp_path, conf):
    root = write(tmp_path / "papers", {"README.md": "# Notes\n\nOnly words.\n", "pkg/broken.md": b"\0\1"})
    build(root, conf)
    report = opened(root, conf).report
    assert i18n.translated(report.notes[0], "fr").startswith("Il n’y a pas de code source ici")
    assert {skip.path: i18n.translated(skip.reason, "fr") for skip in report.skipped} == {"pkg/broken.md": "binaire"}
    again = build(root, conf)
    assert [i18n.translated(skip.reason, "fr") for skip in again.report.skipped] == ["binaire"]
