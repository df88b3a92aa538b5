"""Tests that were left out are listed and fail CI where they matter. Which cases `make test` runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SKIPPED = "import pytest\n\n\ndef test_it():\n    pytest.skip('nothing to test it with')\n"


def run(folder: Path, ci: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder with our conftest.py."""
    shutil.copy(TESTS / "conftest.py", folder)
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS.parent} {TESTS}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    # The plugins of this environment take much longer to load than pytest.
    env = {**os.environ, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "ci", "status"),
    [("browser", "true", 1), ("browser", "", 0), ("sandbox", "true", 1), ("code", "true", 0)],
)
def test_a_skipped_test_is_listed(tmp_path: Path, folder: str, ci: str, status: int) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "test_one.py").write_text(SKIPPED)
    done = run(tmp_path, ci)
    assert done.returncode == status, done.stdout
    assert f"1  {folder}/test_one.py: nothing to test it with" in done.stdout


SAMPLED = """
import pytest


@pytest.mark.sampled({cases})
@pytest.mark.parametrize("each", range(9))
def test_it(each):
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "run_cases"), [(1, [0]), (3, [0, 4, 8]), (20, [*range(9)])])
def test_cases_of_a_sampled_test_are_spread_evenly(tmp_path: Path, cases: int, run_cases: list[int]) -> None:
    (tmp_path / "test_one.py").write_text(SAMPLED.format(cases=cases))
    done = run(tmp_path, "", "-vv", "-m", "not thorough")
    assert [n for n in range(9) if f"test_it[{n}] PASSED" in done.stdout] == run_cases, done.stdout
