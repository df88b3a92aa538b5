"""What a process shares: made once, when it is first used, and closed at the end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.index_case import FILES, snapshot, write

from repopilot.errors import Cancelled
from repopilot.index.build.job import IndexRequest
from repopilot.runtime import Runtime
from repopilot.settings import Settings


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path / "home", workers=1, history_commits=0, dense=False)


def test_each_part_is_made_once(settings):
    with Runtime(settings) as runtime:
        for name in ("workers", "indexes", "index_jobs", "embedders", "models"):
            assert getattr(runtime, name) is getattr(runtime, name)


@pytest.mark.slow
def test_making_a_runtime_imports_none_of_its_parts():
    code = (
        "import sys, repopilot.runtime; print([n for n in sys.modules if n.startswith(('repopilot.index', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_closing_ends_jobs_and_worker_processes(tmp_path, settings):
    with Runtime(settings) as runtime:
        job = runtime.index_jobs.start(IndexRequest(snapshot(write(tmp_path / "shop", FILES)), settings))
    assert job.done.is_set()
    assert job.error is None or isinstance(job.error, Cancelled)
    children = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    assert str(settings.home) not in children.stdout
    assert runtime.index_jobs.running(job.snapshot) is None
