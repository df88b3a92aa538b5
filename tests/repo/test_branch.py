"""A change on a branch of its own: nothing of the user's is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.git_server import commit, git
from support.small_repo import run_git

from repopilot.errors import StorageError, UsageError
from repopilot.redaction.redact import MARK, redacted
from repopilot.repo import local
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_paths_of_a_subfolder_are_relative_to_it(folder: Path) -> None:
    made = create_branch(folder / "src", "repopilot/it", [FileChange("a.py", "modified", "", "A = 3\n")], "Change it")
    assert run_git(folder, "show", f"{made}:src/a.py") == "A = 3\n"


@pytest.mark.slow
def test_a_branch_is_never_replaced(folder: Path) -> None:
    made = create_branch(folder, "repopilot/it", CHANGES[:1], "Change it")
    with pytest.raises(UsageError, match="already"):
        create_branch(folder, "repopilot/it", CHANGES, "Change it")
    assert run_git(folder, "rev-parse", "repopilot/it").strip() == made


@pytest.mark.slow
def test_uncommitted_changes_of_a_file_are_not_taken_along(folder: Path) -> None:
    (folder / "src/a.py").write_text("A = 'mine'\n")
    with pytest.raises(UsageError, match=r"src/a\.py"):
        create_branch(folder, "repopilot/it", CHANGES, "Change it")


LONG = "A = 1\nB = 1\nC = 1\nD = 1\nE = 1\nF = 1\nG = 1\nH = 1\n"
HUNK = "@@ -1,4 +1,4 @@\n-A = 1\n+A = 2\n B = 1\n C = 1\n D = 1\n"


@pytest.mark.slow
def test_commits_that_came_since_the_change_was_made_stay(folder: Path) -> None:
    change = FileChange("src/a.py", "modified", HUNK, LONG.replace("A = 1", "A = 2"))
    commit(folder, {"src/a.py": LONG.replace("H = 1", "H = 9")}, "Meanwhile")
    made = create_branch(folder, "repopilot/it", [change], "Change it")
    assert run_git(folder, "show", f"{made}:src/a.py") == LONG.replace("A = 1", "A = 2").replace("H = 1", "H = 9")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        FileChange("src/a.py", "modified", HUNK, LONG.replace("A = 1", "A = 2")),
        FileChange("src/a.py", "added", "@@ -0,0 +1 @@\n+A = 2\n", "A = 2\n"),
        FileChange("src/a.py", "deleted", "@@ -1 +0,0 @@\n-A = 1\n", ""),
    ],
    ids=["modified", "added", "deleted"],
)
def test_a_commit_of_the_same_lines_is_not_undone(folder: Path, change: FileChange) -> None:
    commit(folder, {"src/a.py": LONG.replace("A = 1", "A = 9")}, "Meanwhile")
    with pytest.raises(StorageError, match=r"src/a\.py"):
        create_branch(folder, "repopilot/it", [change], "Change it")
    assert git(folder, "branch", "--list", "repopilot/*") == ""


def test_a_folder_without_git_has_no_branches(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        create_branch(tmp_path, "repopilot/it", CHANGES, "Change it")


KEY = "ghp_" + "aB3dE5fG7h" * 4
SECRET = f'A = 1\nTOKEN = "{KEY}"\n'
LATIN = "# Une boîte très fermée, où l'été passe déjà\r\nA = 1\r\n"


def _committed(folder: Path, before: bytes, after: str) -> bytes:
    """What a branch has of a file, of whose text without its secrets the change was made."""
    commit(folder, {"src/a.py": before}, "Have it")
    made = create_branch(folder, "repopilot/it", [FileChange("src/a.py", "modified", "", after)], "Change it")
    assert (folder / "src/a.py").read_bytes() == before
    return local.run_git(folder, "cat-file", "blob", f"{made}:src/a.py")


@pytest.mark.slow
def test_secrets_that_the_change_was_made_without_are_committed_as_they_are(folder: Path) -> None:
    shown = redacted(SECRET)
    assert MARK in shown and KEY not in shown
    assert _committed(folder, SECRET.encode(), shown.replace("A = 1", "A = 2")) == SECRET.replace("1", "2", 1).encode()


@pytest.mark.slow
def test_a_secret_that_the_change_would_lose_is_not_committed(folder: Path) -> None:
    with pytest.raises(UsageError):
        _committed(folder, SECRET.encode(), redacted(SECRET).replace("TOKEN", "OTHER"))
    assert git(folder, "branch", "--list", "repopilot/*") == ""


@pytest.mark.slow
@pytest.mark.parametrize("text", [LATIN, LATIN + SECRET.replace("\n", "\r\n")], ids=["plain", "with a secret"])
def test_encoding_and_line_ends_of_a_file_stay(folder: Path, text: str) -> None:
    changed = redacted(text).replace("A = 1", "A = 2", 1)
    assert _committed(folder, text.encode("cp1252"), changed) == text.replace("A = 1", "A = 2", 1).encode("cp1252")


@pytest.mark.slow
def test_line_ends_that_git_writes_only_into_the_work_tree_are_not_committed(folder: Path) -> None:
    text = SECRET.replace("\n", "\r\n")
    (folder / ".gitattributes").write_text("*.py text eol=crlf\n")
    changed = redacted(text).replace("A = 1", "A = 2", 1)
    assert _committed(folder, text.encode(), changed) == SECRET.replace("A = 1", "A = 2", 1).encode()


@pytest.mark.slow
def test_a_file_behind_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (folder / "linked").symlink_to(tmp_path / "other")
    with pytest.raises(UsageError):
        create_branch(folder, "repopilot/it", [FileChange("linked/a.py", "added", "", "A = 1\n")], "Change it")


@pytest.mark.slow
@pytest.mark.parametrize("place", [".gitconfig", ".config/git/config", "elsewhere/git/config"])
def test_the_author_is_the_user_wherever_git_reads_the_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if place.startswith("elsewhere"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "elsewhere"))
    file = tmp_path / "home" / place
    file.parent.mkdir(parents=True)
    file.write_text("[user]\n\tname = Zoé\n\temail = zoe@example.org\n", "utf-8")
    made = create_branch(folder, "repopilot/it", CHANGES, "Change it")
    assert run_git(folder, "log", "-1", "--format=%an %ae %cn %ce", made).split() == ["Zoé", "zoe@example.org"] * 2
