"""A computer that isn't as it should be: no home directory, a folder that is read-only, no network, a wrong clock."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.index_case import FILES, write
from support.models import SMALL, model_settings
from support.small_disk import mounted, own_mounts

from repopilot import trace

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
        check=False,
    )


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write(tmp_path / "shop", FILES)


@pytest.mark.slow
@own_mounts
def test_without_a_home_directory_it_says_what_to_set(shop):
    ended = run("search", shop, "total", within=["unshare", "--map-user=54321"])  # an account without an entry
    assert ended.returncode == 2, ended.stderr
    assert "REPOPILOT_HOME" in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.slow
@own_mounts
def test_a_data_directory_that_can_only_be_read_answers_from_the_index_it_has(shop, tmp_path):
    home = tmp_path / "home"
    assert run("index", shop, REPOPILOT_HOME=home).returncode == 0
    read_only = mounted(f"mount --bind {home} {home}; mount -o remount,ro,bind {home}")
    ended = run("search", shop, "total", "--json", within=read_only, REPOPILOT_HOME=home)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["hits"][0]["path"] == "src/shop/cart.py"
    assert "The index could not be updated" in ended.stderr

    shutil.rmtree(home / "index")
    ended = run("search", shop, "total", within=read_only, REPOPILOT_HOME=home)
    assert ended.returncode == 1 and "could not be written" in ended.stderr and "Traceback" not in ended.stderr


NO_NETWORK = ["unshare", "--map-root-user", "--net", "sh", "-ec", 'ip link set lo up; exec "$@"', "sh"]
"""A computer with no network but itself: no interface, no route, no name server."""


def has_own_networks() -> bool:
    return shutil.which("ip") is not None and not subprocess.run([*NO_NETWORK, "true"], check=False).returncode


own_networks = pytest.mark.skipif(not has_own_networks(), reason="no namespaces of the network, or no program `ip`")


@pytest.mark.slow
@own_networks
def test_without_a_network_the_first_start_searches_and_an_address_is_said_to_be_out_of_reach(shop, tmp_path):
    home = tmp_path / "home"
    ended = run("search", shop, "total", "--json", within=NO_NETWORK, REPOPILOT_HOME=home)
    assert ended.returncode == 0 and json.loads(ended.stdout)["hits"][0]["path"] == "src/shop/cart.py", ended.stderr
    ended = run("search", "https://github.com/o/r", "total", within=NO_NETWORK, REPOPILOT_HOME=home)
    assert ended.returncode == 1 and "can't be found. Check the address and the network" in ended.stderr


@own_networks
@pytest.mark.model
@pytest.mark.thorough
def test_without_a_network_the_first_start_answers_with_the_models_in_place(shop, tmp_path):
    home = model_settings(tmp_path / "home").home
    options = {"REPOPILOT_HOME": home, "REPOPILOT_LLM_MODEL": SMALL, "REPOPILOT_THREADS": 2}
    options |= {"REPOPILOT_EMBEDDED": True, "REPOPILOT_DENSE": True}
    ended = run("ask", shop, "how is the total of a cart computed?", "--json", within=NO_NETWORK, **options)
    answer = json.loads(ended.stdout)
    assert ended.returncode == 0 and answer["answer"] and SMALL in answer["model"], ended.stderr
    assert any(each["path"] == "src/shop/cart.py" for each in answer["evidence"])
    assert "reached" not in ended.stderr and "download" not in ended.stderr, ended.stderr


async def test_a_clock_that_is_set_during_a_step_changes_no_duration(monkeypatch):
    for jump in (-7200.0, 7200.0):
        events: list[trace.Event] = []
        async with trace.root(events.append, "request", "agent", "") as step, step.child("work", kind="tool"):
            now = time.time()
            monkeypatch.setattr(time, "time", lambda now=now + jump: now)
        monkeypatch.undo()
        (root,) = trace.tree(events)
        assert 0 <= root["children"][0]["duration_s"] <= root["duration_s"] < 3600
