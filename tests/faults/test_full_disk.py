"""The disk is full at any moment of each write: it is said, what was there stays, and with space again all goes on."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys

import pytest
from support.git_server import commit, publish, serve
from support.index_case import WordEmbedder, jobs_for, many, settings, snapshot, write
from support.model_hub import hub
from support.small_disk import on_small_disk, own_mounts

from repopilot.index.build.job import IndexRequest
from repopilot.index.vectors import release, vectors_of

pytestmark = own_mounts

CHATS = """
from support.small_disk import fill, free, in_forks
from repopilot.errors import StorageError
from repopilot.results import Answer
from repopilot.database.chat_database import ChatDatabase
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, load, save
from repopilot.logins.recent import recent, remember

KEY = ThreadKey("thread", "repository")

def questions():
    return [each.question for each in load(ChatDatabase(disk), KEY).exchanges]

def step(free_kb):
    for file in disk.glob("*"):
        file.unlink()
    for number in range(5):
        save(ChatDatabase(disk), KEY, Exchange(f"before {number}", "", Answer("a" * 2000)))
    remember(ChatDatabase(disk), "before", "before")
    before = questions()
    fill(disk, free_kb)
    assert questions() == before, "what was said can be read on a full disk"
    assert recent(ChatDatabase(disk))
    database, stored, said = ChatDatabase(disk), [], set()
    for number in range(8):
        try:
            save(database, KEY, Exchange(f"then {number}", "", Answer("b" * 9000)))
            stored.append(f"then {number}")
        except StorageError as error:
            said.add(str(error))
    remember(database, "then", "then")
    free(disk)
    assert questions() == before + stored
    assert not database.set_aside()
    assert all("the disk is full" in each and "Free some disk space" in each for each in said), said
    return len(stored)

in_forks(step, [*range(0, 24, 4), *range(24, 272, 24)])
"""


@pytest.mark.slow
def test_chats(tmp_path):
    stored = [int(line) for line in on_small_disk(CHATS, tmp_path / "disk", "512k").split()]
    assert stored[0] == 0 and stored[-1] == 8 and len(set(stored)) > 3


FILES = """
from support.small_disk import fill, free
from repopilot.disk import write_private
from repopilot.errors import StorageError
from repopilot.llm.speed import calibration
from repopilot.llm.speed.model_speed import Speed
from repopilot.repo.patches.apply import write_files
from repopilot.types import FileChange
from repopilot.ui.server.serve import copy_app

def found():
    paths = (path for path in disk.rglob("*") if path.name != "fill")
    return {path.relative_to(disk): path.is_file() and path.read_bytes() for path in paths}

def accept():
    write_files(disk / "shop", [
        FileChange("a.py", "modified", "", "a = 2\\n" * 900),
        FileChange("old.py", "deleted", "", ""),
        FileChange("new/deep/b.py", "added", "", "b = 2\\n" * 900),
        FileChange("c.py", "modified", "", "c = 2\\n" * 9000),
    ])

def refused(act, *arguments):
    before = found()
    try:
        act(*arguments)
    except (StorageError, OSError) as error:
        assert found() == before, (act, set(found()) ^ set(before))
        return str(error)
    return ""

(disk / "shop").mkdir()
for name in ("a", "old", "c"):
    (disk / "shop" / f"{name}.py").write_text(f"{name} = 1\\n")
app = {Path("public/a.css"): b"a" * 9000, Path("chainlit_app.py"): b"b" * 9000}
for path, content in app.items():
    for folder in (Path(arguments[0]), disk / "app"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if folder != disk / "app" else b"earlier")
speeds = calibration.keep, disk, "key", Speed(1.0, 1.0)
speeds[0](*speeds[1:])
acts = {"accept": (accept,), "private": (write_private, disk / "address.txt", "x" * 5000), "speeds": speeds}
said = {name: set() for name in acts}
for free_kb in range(0, 80, 4):
    fill(disk, free_kb)
    for name, act in acts.items():
        said[name].add(refused(*act))
        if not free_kb:
            assert all(said[name]), name
    try:
        copy_app(Path(arguments[0]), disk / "app")
    except OSError:
        pass
    assert all((disk / "app" / path).read_bytes() in (b"earlier", content) for path, content in app.items())
    free(disk)
assert all("" in each for each in said.values()), "with space all is written"
assert not list(disk.rglob(".*")), list(disk.rglob(".*"))
assert all((disk / "app" / path).read_bytes() == content for path, content in app.items())
print(*sorted(filter(None, said["accept"])), sep="\\n")
"""


@pytest.mark.slow
def test_accepted_files_and_small_ones(tmp_path):
    said = on_small_disk(FILES, tmp_path / "disk", "512k", tmp_path / "app").splitlines()
    assert any("c.py" in line for line in said) and any("a.py" in line for line in said)
    assert all("No space left on device" in line and "Free some space" in line for line in said), said


INDEX = """
import shutil
from support.index_case import jobs_for, settings, snapshot
from support.small_disk import fill, free, in_forks
from repopilot.errors import StorageError
from repopilot.index.build.job import IndexRequest
from repopilot.index.vectors import release
from repopilot.retrieval.search import search

root, first = Path(arguments[0]), Path(arguments[1])

def built(conf):
    index = jobs_for(conf).build(IndexRequest(snapshot(root), conf))
    return [(hit.chunk.path, hit.chunk.symbol) for hit in search(index, "written_later").hits]

def step(pages):
    home = disk / f"home-{pages}"
    shutil.copytree(first, home)
    conf = settings(home)
    fill(disk, pages * 4)
    said = ""
    try:
        hits = built(conf)
    except StorageError as error:
        said = str(error)
    free(disk)
    assert not said or "disk is full" in said or "could not be written" in said, said
    again = built(conf)
    assert again[0] == ("pkg/m0000.py", "written_later") and (said or hits == again)
    shutil.rmtree(home)
    return said or "built"

built(settings(Path(arguments[2])))  # the worker processes are started once
in_forks(step, [*range(0, 40, 4), 40, 80, 160, 320])
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_an_index_build(tmp_path):
    """The free space grows from none, so that every write of the build is once the one that fails."""
    root, first = write(tmp_path / "shop", many(30)), settings(tmp_path / "first")
    jobs_for(first).build(IndexRequest(snapshot(root), first))
    write(root, {"pkg/m0000.py": "def written_later():\n    pass\n"})
    said = on_small_disk(INDEX, tmp_path / "disk", "3m", root, first.home, tmp_path / "other").splitlines()
    assert said[-1] == "built" and len([line for line in said if line != "built"]) > 3


VECTORS = """
import shutil
import chromadb.api.rust
from support.index_case import WordEmbedder, settings, snapshot
from support.small_disk import fill, free, in_forks
from repopilot.errors import StorageError
from repopilot.index.store import IndexStore
from repopilot.index.vectors import release, vectors_of
from repopilot.retrieval.search import search

root, first = Path(arguments[0]), Path(arguments[1])

def step(free_kb):
    shutil.copytree(first, disk / "home")
    conf = settings(disk / "home")
    fill(disk, free_kb)
    index = IndexStore(conf.indexes).open(snapshot(root))
    found = search(index, "how is helper_7 computed?", embedder=WordEmbedder())
    assert found.hits
    said = ""
    try:
        vectors_of(index, WordEmbedder()).in_time(index, range(len(index.chunks)), 1e9)[1]
    except StorageError as error:
        said = str(error)
    release(conf.indexes)
    free(disk)
    again = vectors_of(index, embedder := WordEmbedder())
    again.in_time(index, range(100), 1e9)[1]
    assert not embedder.texts, "stored vectors were lost"
    assert not again.notes, again.notes
    again.in_time(index, range(len(index.chunks)), 1e9)[1]
    release(conf.indexes)
    shutil.rmtree(disk / "home")
    return said or "stored"

in_forks(step, [0, 64, 1200, 2000])
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_vectors(tmp_path):
    root, conf = write(tmp_path / "shop", many(200)), settings(tmp_path / "first")
    index = jobs_for(conf).build(IndexRequest(snapshot(root), conf))
    vectors_of(index, WordEmbedder()).in_time(index, range(100), 1e9)[1]
    release(conf.indexes)
    said = on_small_disk(VECTORS, tmp_path / "disk", "8m", root, conf.home).splitlines()
    assert said[-1] == "stored" and "disk is full" in said[0] and "Free some space" in said[0]
    assert all(line == "stored" or "can't be written" in line for line in said), said


CLONE = """
import shutil
from support.small_disk import fill, free, in_forks, limit_files
from repopilot.errors import StorageError
from repopilot.repo.history import commits, deepen
from repopilot.repo.read import read
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.settings import Settings

def opened(home):
    options = {"allow_http": True, "allow_private_hosts": True, "git_token": "", "home": home}
    conf = Settings(_env_file=None, **options)
    snapshot = open_source(parse_source(arguments[0]), conf)
    deepen(snapshot, conf)
    texts = {file.path: text for file, text in read(snapshot, walk(snapshot, conf)[0])}
    return snapshot.stale, texts, [each.subject for each in commits(snapshot, 9)]

def step(more_files):
    home, said = disk / "home", ""
    limit_files(disk, more_files)
    try:
        found = opened(home)
    except StorageError as error:
        said = str(error)
        assert not list(home.glob("repos/*partial*")), list(home.glob("repos/*"))
    limit_files(disk, 1000)
    again = opened(home)
    assert len(again[1]) == 2 and again[2] == ["second", "first"] and (said or found == again)
    shutil.rmtree(home)
    return said or "cloned"

in_forks(step, [0, 1, 2, *range(4, 40, 4), 44])
whole = opened(disk / "known")
fill(disk, 1000)
stale = opened(disk / "known")
assert stale[1:] == whole[1:] and "full" in stale[0], stale
print("known:", stale[0])
"""


@pytest.mark.slow
def test_a_clone(tmp_path):
    """Every file of it is once the one that can't be made. A clone that is there is used as it is."""
    commit(tmp_path / "work", {"src/app.py": "def run():\n    return 1\n"}, "first")
    commit(tmp_path / "work", {"src/util.py": "UNIT = 1\n"}, "second")
    publish(tmp_path / "work", tmp_path / "served")
    with serve(tmp_path / "served") as git:
        said = on_small_disk(CLONE, tmp_path / "disk", "80m", f"{git.url}/demo.git").splitlines()
    assert said[-2] == "cloned" and "The disk that holds" in said[-1]
    assert {*said[:-2]} == {"The disk is full. Free some space, or move REPOPILOT_HOME.", "cloned"}


DOWNLOAD = """
import hashlib
from support.small_disk import fill, free
from repopilot.errors import StorageError
from repopilot.llm.weights import models
from repopilot.llm.weights.models import KnownModel, ModelFile
from repopilot.settings import Settings

url, size, digest = arguments
file = ModelFile("tiny.gguf", int(size), digest, url, ())
models.KNOWN["tiny"] = KnownModel("tiny", "chat", "tiny.gguf", (file,), 10)
models.RESERVE_BYTES = 0
conf = Settings(_env_file=None, home=disk / "home")
for free_kb in (0, 500, 2000):
    try:
        # Another program takes the space while the download goes on.
        models.ensure("tiny", conf, progress=lambda _: (free(disk), fill(disk, free_kb)))
    except StorageError as error:
        print(error)
    assert models.installed("tiny", conf) is None
    free(disk)
path = models.ensure("tiny", conf)
assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
assert sorted(each.name for each in conf.models.iterdir() if each.suffix != ".lock") == ["tiny.gguf"]
"""


@pytest.mark.slow
def test_a_download_of_a_model(tmp_path):
    content = random.Random(7).randbytes(3_000_000)
    digest = hashlib.sha256(content).hexdigest()
    with hub(content) as (url, asked):
        said = on_small_disk(DOWNLOAD, tmp_path / "disk", "16m", url, len(content), digest).splitlines()
    assert len(said) == 3 and all("the disk is full" in line for line in said), said
    assert asked[0] is None and asked[-1] is not None, "it goes on where it stopped"


REVIEW = """
import tempfile
from repopilot.cli.app import main
from support.small_disk import fill

tempfile.tempdir = str(disk)
fill(disk, 4)
sys.exit(main(["review", arguments[0]]))
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_the_temporary_folder_of_a_review(tmp_path, monkeypatch):
    """A tool that can't be given the code has found nothing, and that is said."""
    for name, value in {"HOME": tmp_path / "home", "EMBEDDED": False, "DENSE": False, "OLLAMA_URL": ""}.items():
        monkeypatch.setenv(f"REPOPILOT_{name}", str(value))
    root = write(tmp_path / "shop", {**many(30), "run.py": "import os\n\n\ndef run(x):\n    os.system(x)\n"})
    said = on_small_disk(REVIEW, tmp_path / "disk", "64k", root)
    assert all(f"{tool} was skipped: the disk is full" in said for tool in ("bandit (security)", "ruff (style)")), said


@pytest.mark.slow
def test_standard_output(tmp_path, monkeypatch):
    for name, value in {"HOME": tmp_path / "home", "EMBEDDED": False, "DENSE": False}.items():
        monkeypatch.setenv(f"REPOPILOT_{name}", str(value))
    command = [sys.executable, "-m", "repopilot", "search", write(tmp_path / "shop", many(3)), "helper_1"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1 and "The disk is full" in ended.stderr and "Traceback" not in ended.stderr
