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
from support.index_case import FILES, many, write

ROOT = Path(__file__).resolve().parents[2]
NAMESPACE = ["unshare", "--map-root-user", "--mount"]


def has_namespaces() -> bool:
    return shutil.which("unshare") is not None and not subprocess.run([*NAMESPACE, "true"], check=False).returncode


own_mounts = pytest.mark.skipif(not has_namespaces(), reason="no user namespaces to mount file systems in")


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


def mounted(mount: str) -> list[str]:
    """To run a command where something else is mounted."""
    return [*NAMESPACE, "sh", "-ec", f'{mount}; exec "$@"', "sh"]


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


@own_mounts
@pytest.mark.slow
def test_a_disk_that_is_full_at_any_moment_leaves_what_was_there(tmp_path):
    """The free space grows from none, so that every write of the build is once the one that fails."""
    shop, home = write(tmp_path / "shop", many(30)), tmp_path / "home"
    home.mkdir()
    assert run("index", shop, REPOPILOT_HOME=tmp_path / "first").returncode == 0
    write(shop, {"pkg/m0000.py": "def written_later():\n    pass\n"})
    wanted = run("search", shop, "written_later", "--json", REPOPILOT_HOME=tmp_path / "other").stdout
    failed = 0
    for pages in [*range(0, 40, 4), *range(40, 400, 40)]:
        fill = f"dd if=/dev/zero of={home}/fill bs=4k 2>/dev/null || true; truncate -s -{pages * 4}k {home}/fill"
        mount = f"mount -t tmpfs -o size=3m full {home}; cp -r {tmp_path / 'first'}/. {home}; {fill}"
        commands = 'rc=0; "$@" || rc=$?; rm "$REPOPILOT_HOME/fill"; "$@" 2>/dev/null; exit $rc'
        ended = run(
            "search", shop, "written_later", "--json",
            within=[*NAMESPACE, "sh", "-c", f"{mount}; {commands}", "sh"], REPOPILOT_HOME=home,
        )  # fmt: skip
        assert "Traceback" not in ended.stderr, ended.stderr
        documents = ended.stdout.replace("}\n{", "}\0{").split("\0")
        assert hits(documents[-1]) == hits(wanted), "once there is space again"
        assert ended.returncode == 0 or "disk is full" in ended.stderr or "could not be written" in ended.stderr
        assert (ended.returncode == 0) == (len(documents) == 2)
        failed += ended.returncode != 0
    assert failed > 3


def hits(document: str) -> list:
    return json.loads(document)["hits"]
