"""Hostile programs at every level that claims to contain them. Each returns something true where it got through."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import hostile

from repopilot.sandbox.levels import why_unavailable
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings

PROGRAMS = {path.stem: path.read_text() for path in sorted(Path(__file__, "../hostile").resolve().glob("*.py"))}
LEVELS = ("bwrap", "landlock", "limits")
MATRIX = [(name, level) for name, source in PROGRAMS.items() for level in LEVELS if level in hostile.claims(source)]
QUICK = {"reads_a_secret", "writes_outside", "connects_to_the_host", "leaves_a_daemon", "forks_without_end"}


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setenv("REPOPILOT_TEST_SECRET", hostile.ENVIRONMENT_SECRET)
    with hostile.world(tmp_path) as there:
        yield there


def contained(name: str, level: str, world: hostile.World, *, verify: bool) -> None:
    """Without `verify` the program is started once; its controls would start it in the same way again."""
    if reason := why_unavailable(level):
        pytest.skip(f"{level}: {reason}")
    settings = Settings(sandbox=level, allow_weak_sandbox=True, test_timeout_s=4)
    files = {"hostile.py": PROGRAMS[name], "target.py": world.target, "test_it.py": hostile.TEST}
    run = run_pytest(files, ["test_it.py"], settings, verify=verify)
    assert not run.passed, run.output
    assert not run.genuine
    assert world.damage() == []
    assert len(run.output) < 400_000


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 25
    assert set(PROGRAMS) >= QUICK


@pytest.mark.slow
@pytest.mark.parametrize(("name", "level"), [pair for pair in MATRIX if pair[0] in QUICK])
def test_quick(name, level, world):
    contained(name, level, world, verify=True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "level"), [pair for pair in MATRIX if pair[0] not in QUICK])
def test_matrix(name, level, world):
    contained(name, level, world, verify=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "reads_a_secret",
        "lists_the_home",
        "reads_through_a_link",
        "reads_etc",
        "writes_outside",
        "overwrites_a_secret",
        "truncates_by_path",
        "changes_permissions",
        "connects_to_the_host",
        "sends_a_datagram",
        "leaves_a_daemon",
        "talks_to_an_abstract_socket",
        "kills_the_application",
        "limits_the_application",
        "exhausts_descriptors",
    ],
)
def test_the_programs_work_where_nothing_stops_them(name, world, tmp_path):
    """Else the tests above would pass with programs that are merely broken."""
    (tmp_path / "hostile.py").write_text(PROGRAMS[name])
    (tmp_path / "target.py").write_text(world.target)
    program = "import sys; sys.path.insert(0, '.'); import hostile; sys.exit(0 if hostile.attack() else 1)"
    plain = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env={"TMPDIR": str(tmp_path)}, timeout=30)
    assert plain.returncode == 0 or world.damage()
    hostile.end_processes_with(world.mark)
