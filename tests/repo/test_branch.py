"""A change on a branch of its own: nothing of the user's is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.git_server import commit
from support.small_repo import run_git

from repopilot.errors import UsageError
from repopilot.repo.publish.branch import create_branch
from repopilot.types import FileChange

FILES = {"src/a.py": "A = 1\n", "src/b.py": "B = 1\n", "run.sh": "echo\n"}
CHANGES = (
    FileChange("src/a.py", "modified", "", "A = 2\n"),
    FileChange("src/b.py", "deleted", "", ""),
    FileChange("src/c d.py", "added", "", "C = 1\n"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    commit(tmp_path / "it", FILES, "Begin")
    return tmp_path / "it"


def test_the_branch_has_the_change_and_the_work_tree_has_not(folder: Path) -> None:
    (folder / "run.sh").write_text("my own\n")
    before = run_git(folder, "status", "--porcelain"), run_git(folder, "rev-parse", "HEAD")
    made = create_branch(folder, "repopilot/it", CHANGES, "Change it")
    assert (run_git(folder, "status", "--porcelain"), run_git(folder, "rev-parse", "HEAD")) == before
    assert run_git(folder, "rev-parse", "repopilot/it").strip() == made
    assert run_git(folder, "show", "repopilot/it:src/a.py") == "A = 2\n"
    listed = run_git(folder, "ls-tree", "-r", "-z", "--name-only", made).strip("\0").split("\0")
    assert listed == ["run.sh", "src/a.py", "src/c d.py"]
    assert run_git(folder, "log", "-2", "--format=%s", made) == "Change it\nBegin\n"
    assert (folder / "src/a.py").read_text() == "A = 1\n"


def test_the_paths_of_a_subfolder_are_relative_to_it(folder: Path) -> None:
    made = create_branch(folder / "src", "repopilot/it", [FileChange("a.py", "modified", "", "A = 3\n")], "Change it")
    assert run_git(folder, "show", f"{made}:src/a.py") == "A = 3\n"


def test_a_branch_is_never_replaced(folder: Path) -> None:
    made = create_branch(folder, "repopilot/it", CHANGES[:1], "Change it")
    with pytest.raises(UsageError, match="already"):
        create_branch(folder, "repopilot/it", CHANGES, "Change it")
    assert run_git(folder, "rev-parse", "repopilot/it").strip() == made


def test_uncommitted_changes_of_a_file_are_not_taken_along(folder: Path) -> None:
    (folder / "src/a.py").write_text("A = 'mine'\n")
    with pytest.raises(UsageError, match=r"src/a\.py"):
        create_branch(folder, "repopilot/it", CHANGES, "Change it")


def test_a_folder_without_git_has_no_branches(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        create_branch(tmp_path, "repopilot/it", CHANGES, "Change it")
