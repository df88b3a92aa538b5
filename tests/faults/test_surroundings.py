"""A computer that isn't as it should be: no home directory, a folder that can't be written to, a full disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.index_case import FILES, write
from support.small_disk import mounted, own_mounts

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: object, within: Sequence[str] = (), **environment: object) -> subprocess.CompletedProcess[str]:
    """The command line, `within` another command, with nothing in the environment but `environment`."""
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    base |= {"REPOPILOT_EMBEDDED": "false", "REPOPILOT_DENSE": "false"}
    return subprocess.run(
        [*within, sys.executable, "-m", "repopilot", *map(str, arguments)],
        env=base | {name: str(value) for name, value in environment.items()},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write(tmp_path / "shop", FILES)


@own_mounts
def test_without_a_home_directory_it_says_what_to_set(shop):
    ended = run("search", shop, "total", within=["unshare", "--map-user=54321"])  # an account without an entry
    assert ended.returncode == 2, ended.stderr
    assert "REPOPILOT_HOME" in ended.stderr and "Traceback" not in ended.stderr


@own_mounts
def test_a_data_directory_that_can_only_be_read_answers_from_the_index_it_has(shop, tmp_path):
    home = tmp_path / "home"
    assert run("index", shop, REPOPILOT_HOME=home).returncode == 0
    read_only = mounted(f"mount --bind {home} {home}; mount -o remount,ro,bind {home}")
    ended = run("search", shop, "total", "--json", within=read_only, REPOPILOT_HOME=home)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["hits"][0]["path"] == "src/shop/cart.py"
    assert "could not be brought up to date" in ended.stderr

    shutil.rmtree(home / "index")
    ended = run("search", shop, "total", within=read_only, REPOPILOT_HOME=home)
    assert ended.returncode == 1 and "could not be written" in ended.stderr and "Traceback" not in ended.stderr
