"""Tests that were left out are listed, and fail CI where they are browser or sandbox tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SKIPPED = "import pytest\n\n\ndef test_it():\n    pytest.skip('nothing to test it with')\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "ci", "status"),
    [("browser", "true", 1), ("browser", "", 0), ("sandbox", "true", 1), ("code", "true", 0)],
)
def test_a_skipped_test_is_listed(tmp_path: Path, folder: str, ci: str, status: int) -> None:
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "test_one.py").write_text(SKIPPED)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS.parent} {TESTS}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "CI": ci}, capture_output=True, text=True)
    assert done.returncode == status, done.stdout
    assert f"1  {folder}/test_one.py: nothing to test it with" in done.stdout
