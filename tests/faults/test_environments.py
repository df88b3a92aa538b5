"""An environment whose build is killed, or finds the disk full: nothing half-built is used, nothing is left over."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.hostile import processes_with
from support.small_disk import on_small_disk, own_mounts
from support.wheels import pack_installed, write_index, write_wheel

from repopilot.project.python_project import ProjectDeclaration
from repopilot.sandbox.environments.environment_build import build_environment
from repopilot.sandbox.environments.environment_store import list_environments, load_environment
from repopilot.settings import Settings

pytestmark = pytest.mark.slow

PROJECT = ProjectDeclaration(name="shop", version="1", requirements=("greeting",))
BUILD = f"""
import os, sys, threading
sys.path[:] = {sys.path}
from pathlib import Path
from repopilot.project.python_project import ProjectDeclaration
from repopilot.sandbox.environments.environment_build import build_environment
from repopilot.settings import Settings

def build(home, *requirements):
    project = ProjectDeclaration(name="shop", version="1", requirements=requirements)
    settings = Settings(_env_file=None, home=Path(home))
    return build_environment(project, settings, lambda _: None, threading.Event())
"""
KILLED = BUILD + "build(sys.argv[1], 'greeting')"


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("index")
    pack_installed(folder)
    write_wheel(folder, "greeting", "1.0", {"greeting.py": "def hello():\n    return 'hello'\n"})
    return write_index(folder).as_uri()


def index_at(address: str) -> dict[str, str]:
    return {"UV_DEFAULT_INDEX": address, "UV_INDEX": address, "PIP_CONFIG_FILE": os.devnull}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process learns that its parent was killed")
def test_a_killed_build_leaves_no_process_and_nothing_that_is_used(index, tmp_path, monkeypatch):
    home = tmp_path / "home"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        with subprocess.Popen([sys.executable, "-c", KILLED, home], env=os.environ | index_at(address)) as build:
            connection, _ = silent.accept()  # uv asks for a package, and gets no answer
            assert len(processes_with(str(home), wait=False)) > 1
            build.send_signal(signal.SIGKILL)
            build.wait()
            left = processes_with(str(home))
            for process in left:
                os.kill(process, signal.SIGKILL)
            connection.close()
    assert not left, "uv goes on without us"
    settings = Settings(_env_file=None, home=home)  # type: ignore[call-arg]
    assert load_environment(PROJECT, settings) is None and list_environments(settings) == {}
    for name, value in index_at(index).items():
        monkeypatch.setenv(name, value)
    built = build_environment(PROJECT, settings, lambda _: None, threading.Event())
    assert load_environment(PROJECT, settings) == built
    assert {path.name for path in settings.environments_folder.iterdir() if path.is_dir()} == {built.key, "cache"}


FULL_DISK = (
    BUILD
    + """
from support.small_disk import fill, free
from repopilot.errors import StorageError
from repopilot.sandbox.environments.environment_store import list_environments

disk, environments = Path(sys.argv[1]), Path(sys.argv[1]) / "environments"
settings = Settings(_env_file=None, home=disk)
for free_kb in (0, 8, 3000, 12000):
    fill(disk, free_kb)
    try:
        build(disk, "greeting")
    except StorageError as error:
        print(error)
    free(disk)
    assert not list_environments(settings)
    assert {path.name for path in environments.iterdir() if path.is_dir()} <= {"cache"}
built = build(disk, "greeting")
assert not built.left_out
fill(disk, 0)
try:
    build(disk, "greeting", "pytest")
except StorageError as error:
    print(error)
assert list(list_environments(settings)) == [built.key], "the one that was there stays"
"""
)


@own_mounts
def test_a_full_disk_is_said_and_not_taken_for_a_fault_of_the_packages(index, tmp_path: Path, monkeypatch):
    for name, value in index_at(index).items():
        monkeypatch.setenv(name, value)
    said = on_small_disk(FULL_DISK, tmp_path / "disk", "40m").splitlines()
    assert len(said) == 5 and len(set(said)) == 1, said
    assert said[0].startswith("The disk is full: the environment could not be written. Free some space")
