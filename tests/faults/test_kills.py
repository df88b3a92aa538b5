"""Processes killed with SIGKILL at every stage of their work: the next one goes on, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from support.git_server import commit
from support.hostile import processes_with
from support.index_case import WordEmbedder, jobs_for, many

from repopilot.index.build.job import IndexRequest
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.vectors import release
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings

BUILDS = f"""
import os, signal, sys
sys.path[:] = {sys.path}
from pathlib import Path
import chromadb.api.rust  # once for all: the processes are forked
from support.git_server import commit
from support.index_case import WordEmbedder, jobs_for
from repopilot.index import vectors
from repopilot.index.build.job import IndexRequest
from repopilot.index.storage import column_file, layout
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.settings import Settings

home, root = Path(sys.argv[1]), Path(sys.argv[2])
conf = Settings(_env_file=None, home=home, workers=1)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def build(stage):
    def at_stage(progress):
        if progress.phase == stage and (progress.done or stage not in ("parsing", "vectors")):
            die()

    def at_file(act):
        def instead(source, target, **more):
            if stage == f"before {{Path(target).name}}" or stage == "before the generation" and "g0000" in str(target):
                die()
            act(source, target, **more)
            if stage == f"after {{Path(target).name}}" or stage == "after the generation" and "g0000" in str(target):
                die()
        return instead

    os.replace, os.rename = at_file(os.replace), at_file(os.rename)
    found = open_source(parse_source(str(root)), conf)
    job = jobs_for(conf).start(IndexRequest(found, conf, WordEmbedder(0.001)), at_stage)
    job.done.wait()
    print(stage, "was not reached:", job.error, flush=True)
    os._exit(1)

for number, stage in enumerate(sys.argv[3:]):
    # Each finds what the one before left, and something to do.
    commit(root, {{f"pkg/m{{number:04d}}.py": f"def changed_{{number}}():\\n    pass\\n"}}, f"Change {{number}}")
    child = os.fork() or build(stage)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
"""
STAGES = [
    *("listing", "parsing", "lexical", "graph", "vectors"),
    *("before stamps.json", "before checksums.json", "before report.json", "before history.bin", "before dense.json"),
    *("before the generation", "after the generation", "after stamps.json", "after history.bin"),
]


@pytest.mark.slow
def test_an_index_build_killed_at_any_stage_is_taken_up_again(tmp_path: Path) -> None:
    commit(tmp_path / "shop", many(60))
    root = tmp_path / "shop"
    conf = Settings(_env_file=None, home=tmp_path / "home", workers=2)  # type: ignore[call-arg]
    command = [sys.executable, "-c", BUILDS, conf.home, root, *STAGES]
    builds = subprocess.run(command, capture_output=True, text=True, check=False)
    assert builds.returncode == 0, builds.stdout + builds.stderr
    built, fresh = (index_of(root, home) for home in (conf.home, tmp_path / "fresh"))
    assert list(built.chunks) == list(fresh.chunks) and built.dense == fresh.dense == 1.0
    assert list(graph_of(built).nodes) == list(graph_of(fresh).nodes)
    assert built.commits == fresh.commits
    left = {path.name for path in built.folder.parent.iterdir()}
    assert left == {path.name for path in fresh.folder.parent.iterdir()} - {fresh.folder.name} | {built.folder.name}
    assert not list(conf.home.rglob("*.new"))


def index_of(root: Path, home: Path):
    conf = Settings(_env_file=None, home=home, workers=2)  # type: ignore[call-arg]
    found = jobs_for(conf).build(IndexRequest(open_source(parse_source(str(root)), conf), conf, WordEmbedder()))
    release(conf.indexes)
    return found


@pytest.mark.slow
def test_a_killed_sandbox_is_no_verified_pass() -> None:
    mark = "mark" + os.urandom(8).hex()
    call = f"subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)', '{mark}'])"
    waits = f"import subprocess, sys\n\ndef test_it():\n    {call}\n"
    settings = Settings(test_timeout_s=200)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_pytest, {"test_it.py": waits}, ["test_it.py"], settings)
        killed = 0
        while not run.done():  # controls may run beside it
            for process in processes_with(mark, wait=False):
                with suppress(ProcessLookupError, FileNotFoundError):  # it went with one that was killed
                    for each in ancestors(process):
                        os.kill(each, signal.SIGKILL)
                        killed += 1
            time.sleep(0.02)
        assert killed and not run.result().genuine
    assert not processes_with(mark)


def ancestors(process: int) -> list[int]:
    """The processes between this one and a descendant, the outermost first."""
    found: list[int] = []
    while process not in (os.getpid(), 0):
        found.insert(0, process)
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return found
