"""Which commit and which branch a local folder is said to have checked out."""

import sys
from pathlib import Path

import pytest
from support.git_server import commit, git

from repopilot.repo.local import UNVERSIONED, folder_head


@pytest.fixture
def work(tmp_path: Path) -> Path:
    commit(tmp_path / "work", {"src/app.py": "a = 1\n", ".gitignore": "made/\n"})
    return tmp_path / "work"


def head_of(work: Path) -> str:
    return git(work, "rev-parse", "HEAD").strip()


def test_a_clean_folder_and_one_inside_it_are_at_the_commit_of_the_branch(work: Path) -> None:
    assert folder_head(work) == folder_head(work / "src") == (head_of(work), "main")


def test_only_a_difference_inside_the_folder_counts(work: Path) -> None:
    (work / "new.py").write_text("b = 2\n")
    assert folder_head(work) == (f"{head_of(work)}+dirty", "main")
    assert folder_head(work / "src") == (head_of(work), "main")


def test_a_detached_head_has_no_branch(work: Path) -> None:
    git(work, "checkout", "-q", "--detach")
    assert folder_head(work) == (head_of(work), None)


def test_a_branch_without_commits_is_unversioned(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "feature/first")
    (tmp_path / "app.py").write_text("a = 1\n")
    assert folder_head(tmp_path) == (UNVERSIONED, "feature/first")


def test_an_ignored_folder_and_one_outside_of_any_repository_have_neither(work: Path) -> None:
    (work / "made").mkdir()
    assert folder_head(work / "made") == folder_head(work.parent) == (UNVERSIONED, None)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_no_name_of_a_file_is_taken_for_a_branch_or_a_commit(work: Path) -> None:
    commit(work, {"# branch.head evil": "some lines\n" * 20})
    git(work, "mv", "# branch.head evil", "moved.txt")
    assert folder_head(work) == (f"{head_of(work)}+dirty", "main")
