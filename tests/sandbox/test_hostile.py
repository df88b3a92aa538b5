"""Hostile programs at every level that claims to contain them. Each returns something true where it got through."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import hostile
from support.waiting import until

from repopilot.sandbox.levels import why_unavailable
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings
from repopilot.types import TestRun

PROGRAMS = {path.stem: path.read_text() for path in sorted(Path(__file__, "../hostile").resolve().glob("*.py"))}
LEVELS = ("bwrap", "landlock", "limits")
MATRIX = [(name, level) for name, source in PROGRAMS.items() for level in LEVELS if level in hostile.claims(source)]
CONTROLLED = {"reads_a_secret", "writes_outside", "connects_to_the_host", "leaves_a_daemon", "forks_without_end"}
APART = {
    *("deletes_its_tests", "eats_memory", "eats_memory_together", "exhausts_descriptors", "fills_the_report"),
    *("forks_quietly", "holds_the_pipe", "ignores_signals", "keeps_deleted_files", "loops_forever"),
    *("prints_a_gigabyte", "starts_threads_without_end", "writes_a_huge_file", "writes_many_files"),
}
"""Those that never return, or of which something could stop the next one. All others share one run of a level."""
TOGETHER = sorted(set(PROGRAMS) - CONTROLLED - APART - set(hostile.HIDING))


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setenv("REPOPILOT_TEST_SECRET", hostile.ENVIRONMENT_SECRET)
    with hostile.world(tmp_path) as there:
        yield there


def contained(name: str, level: str, world: hostile.World, *, verify: bool) -> None:
    """Without `verify` the program is started once; its controls would start it in the same way again."""
    files = {"hostile.py": PROGRAMS[name], "target.py": world.target, "test_it.py": hostile.TEST}
    run = run_at(level, files, ["test_it.py"], 3, verify=verify)
    assert not run.passed, run.output
    assert not run.genuine
    assert world.damage() == []
    assert len(run.output) < 400_000


def run_at(level: str, files: dict[str, str], tests: list[str], seconds: int, *, verify: bool) -> TestRun:
    if reason := why_unavailable(level):
        pytest.skip(f"{level}: {reason}")
    settings = Settings(sandbox=level, allow_weak_sandbox=True, test_timeout_s=seconds)
    return run_pytest(files, tests, settings, verify=verify)


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 25
    assert set(PROGRAMS) >= CONTROLLED | APART | set(hostile.HIDING)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "level"), [pair for pair in MATRIX if pair[0] in CONTROLLED | APART])
@pytest.mark.sampled(18)
def test_matrix(name, level, world):
    contained(name, level, world, verify=name in CONTROLLED and level == "bwrap")


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_those_that_return_are_contained_in_one_run(level, world):
    names = [name for name in TOGETHER if (name, level) in MATRIX]
    files = {f"{name}.py": PROGRAMS[name] for name in names} | {"target.py": world.target}
    tests = {f"test_{name}.py": hostile.TEST.replace("hostile", name) for name in names}
    run = run_at(level, files | tests, list(tests), 180, verify=False)
    assert run.outcomes == {f"{path}::test_attack": "failed" for path in tests}, run.output
    assert world.damage() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    (
        "reads_a_secret lists_the_home reads_through_a_link reads_etc writes_outside overwrites_a_secret "
        "truncates_by_path changes_permissions connects_to_the_host sends_a_datagram leaves_a_daemon "
        "talks_to_an_abstract_socket kills_the_application limits_the_application exhausts_descriptors"
    ).split(),
)
def test_the_programs_work_where_nothing_stops_them(name, world, tmp_path):
    """Else the tests above would pass with programs that are merely broken."""
    (tmp_path / "hostile.py").write_text(PROGRAMS[name])
    (tmp_path / "target.py").write_text(world.target)
    program = "import sys; sys.path.insert(0, '.'); import hostile; sys.exit(0 if hostile.attack() else 1)"
    plain = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    assert plain.returncode == 0 or until(lambda: world.damage(wait=False))
    hostile.end_processes_with(world.mark)
