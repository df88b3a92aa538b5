"""Repositories that were written to attack: trees that lead elsewhere, commits that no git makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.git_objects import bare_repository, write_commit, write_head, write_object, write_tree

from repopilot.errors import SourceError
from repopilot.repo import local
from repopilot.repo.history import commits
from repopilot.repo.read import read
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.settings import Settings

OUTSIDE = ["../x.py", "/etc/x.py", "a/../../x.py", ".git/x.py", "a//x.py", "./x.py", ".GIT/hooks/x.py"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_path_of_a_tree_that_leads_elsewhere_is_not_read(tmp_path: Path, options: Settings, name: str) -> None:
    git_dir = bare_repository(tmp_path / "evil.git")
    write_commit(git_dir, [(name.encode(), b"SECRET = 1\n"), (b"good.py", b"A = 1\n")])
    files, skips = walk(open_source(parse_source(str(git_dir)), options), options)
    assert [file.path for file in files] == ["good.py"]
    assert [(skip.path, str(skip.reason)) for skip in skips] == [(name, "the path leads out of the repository")]


def test_an_index_of_a_work_tree_that_leads_elsewhere_is_not_followed(tmp_path: Path, options: Settings) -> None:
    """As in a folder that was downloaded with its .git."""
    (tmp_path / "private.py").write_text("SECRET = 1\n")
    root = tmp_path / "work"
    root.mkdir()
    (root / "good.py").write_text("A = 1\n")
    for command in (["init", "-q"], ["add", "good.py"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    index = root / ".git" / "index"
    data = bytearray(index.read_bytes())
    at = data.index(b"good.py\0")
    subprocess.run(["git", "config", "index.skipHash", "true"], cwd=root, check=True)
    # An entry of another length would need other padding: a path of as many bytes.
    (tmp_path / "p.py").write_text("SECRET = 1\n")
    data[at : at + 7] = b"../p.py"
    index.write_bytes(bytes(data[:-20]) + bytes(20))
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert "../p.py" in listed, "git no longer lists it: the test shows nothing"
    files, skips = walk(open_source(parse_source(str(root)), options), options)
    assert [file.path for file in files] == ["good.py"]
    assert "../p.py" in [skip.path for skip in skips]


@pytest.mark.parametrize("committer", [b"A", b"", b"A <a@b> x +0000", b"A <a@b> 99999999999999999999999 +0000"])
@pytest.mark.parametrize("message", [b"one", b"\x1e\x1f\x1f\x1f", b"\x1f" * 9, b"", b"\xff\xfe\n\n\x1ebody"])
def test_any_commit_can_be_read(tmp_path: Path, options: Settings, committer: bytes, message: bytes) -> None:
    git_dir = bare_repository(tmp_path / "odd.git")
    write_commit(git_dir, [(b"a.py", b"A = 1\n")], message=message, committer=committer)
    snapshot = open_source(parse_source(str(git_dir)), options)
    (found,) = commits(snapshot, 5)
    assert found.sha == snapshot.commit and 0 <= found.at < 253_402_300_800
    assert [text for _, text in read(snapshot, walk(snapshot, options)[0])] == ["A = 1\n"]


@pytest.mark.parametrize("versioned", [True, False])
def test_a_folder_of_too_many_files_is_refused(
    tmp_path: Path, options: Settings, monkeypatch: pytest.MonkeyPatch, versioned: bool
) -> None:
    monkeypatch.setattr(local, "MAX_FILES", 50)
    root = tmp_path / "crowd"
    root.mkdir()
    for number in range(51):
        (root / f"f{number}.py").write_text("A = 1\n")
    if versioned:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    with pytest.raises(SourceError, match="more than 50 files"):
        walk(open_source(parse_source(str(root)), options), options)
    (root / "f0.py").unlink()
    assert len(walk(open_source(parse_source(str(root)), options), options)[0]) == 50


@pytest.mark.slow
def test_a_million_tiny_files_are_refused_in_bounded_memory(tmp_path: Path) -> None:
    git_dir = bare_repository(tmp_path / "million.git")
    names = sorted(b"f%d.py" % number for number in range(1000))
    leaf = write_tree(git_dir, b"100644", names, write_object(git_dir, b"blob", b"A = 1\n"))
    write_head(git_dir, write_tree(git_dir, b"40000", sorted(b"d%d" % number for number in range(1000)), leaf))
    subprocess.run(["git", "repack", "-adq"], cwd=git_dir, check=True)  # as a clone has it: git finds sizes sooner
    program = (
        "import resource, sys\nfrom repopilot.cli.app import main\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))\nsys.exit(main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "index", str(git_dir)],
        env={**os.environ, "REPOPILOT_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "more than 500,000 files. Choose a folder inside it." in done.stderr
