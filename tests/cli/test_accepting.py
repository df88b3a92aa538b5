"""Accepted files are written below the folder the user named, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.errors import UsageError
from repopilot.repo.patches.apply import safe_target, write_files
from repopilot.types import FileChange


def test_files_are_added_changed_and_deleted(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("x")
    (tmp_path / "run.sh").write_text("a")
    (tmp_path / "run.sh").chmod(0o755)
    write_files(
        tmp_path,
        [
            FileChange("pkg/new.py", "added", "", "é\r\n"),
            FileChange("old.py", "deleted", "", ""),
            FileChange("run.sh", "modified", "", "b"),
        ],
    )
    assert (tmp_path / "pkg/new.py").read_bytes() == "é\r\n".encode()
    assert not (tmp_path / "old.py").exists()
    assert (tmp_path / "run.sh").read_text() == "b" and os.access(tmp_path / "run.sh", os.X_OK)


def test_a_change_stored_without_secrets_gets_those_of_the_file_or_is_refused(tmp_path: Path) -> None:
    secret = "xJ4&bNf9Rt2uYc"
    (tmp_path / "a.py").write_text(f'PASSWORD = "{secret}"\nx = 1\n')
    stored = 'PASSWORD = "[REDACTED:password]"\nx = 2\n'
    write_files(tmp_path, [FileChange("a.py", "modified", "", stored)])
    assert (tmp_path / "a.py").read_text() == f'PASSWORD = "{secret}"\nx = 2\n'
    lost = [FileChange("a.py", "modified", "", 'KEY = "[REDACTED:api-key]"\n'), FileChange("b.py", "added", "", stored)]
    for change in lost:
        with pytest.raises(UsageError):
            write_files(tmp_path, [change])
    assert secret in (tmp_path / "a.py").read_text() and not (tmp_path / "b.py").exists()


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", ".git/hooks/post-checkout", "", "a\0b"])
def test_a_path_that_leaves_the_folder_is_refused_before_anything_is_written(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError):
        write_files(tmp_path, [FileChange("fine.py", "added", "", "1"), FileChange(path, "added", "", "2")])
    assert list(tmp_path.iterdir()) == []


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "file").symlink_to(outside / "f")
    for path in ("link/x.py", "file"):
        with pytest.raises(UsageError):
            safe_target(inside, path)


@pytest.mark.slow
@given(st.text(max_size=40))
def test_whatever_is_asked_for_stays_below(path: str) -> None:
    folder = Path("/nowhere/folder")
    try:
        target = safe_target(folder, path)
    except UsageError:
        return
    assert target.is_relative_to(folder) and ".." not in target.parts
