"""Git objects written byte by byte: trees and commits that git itself would never make."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

PERSON = b"A <a@example.org> 1700000000 +0000"


def bare_repository(git_dir: Path) -> Path:
    """An empty bare repository."""
    (git_dir / "objects").mkdir(parents=True)
    (git_dir / "refs").mkdir()
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n")
    return git_dir


def write_object(git_dir: Path, kind: bytes, data: bytes) -> str:
    """Store a loose object, valid or not, and return its id."""
    whole = b"%b %d\0%b" % (kind, len(data), data)
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    (git_dir / "objects" / name[:2]).mkdir(exist_ok=True)
    (git_dir / "objects" / name[:2] / name[2:]).write_bytes(zlib.compress(whole, 1))
    return name


def write_commit(
    git_dir: Path,
    files: Iterable[tuple[bytes, bytes]],
    *,
    message: bytes = b"x",
    committer: bytes = PERSON,
) -> str:
    """A commit of a tree with these names, each with a text, in one folder; it becomes the head of `main`."""
    rows = [b"100644 " + name + b"\0" + bytes.fromhex(write_object(git_dir, b"blob", text)) for name, text in files]
    return write_head(git_dir, write_object(git_dir, b"tree", b"".join(rows)), message=message, committer=committer)


def write_tree(git_dir: Path, mode: bytes, names: Iterable[bytes], content: str) -> str:
    """A folder in which every name stands for the same object; names in the order that git wants."""
    entry = b"\0" + bytes.fromhex(content)
    return write_object(git_dir, b"tree", b"".join(mode + b" " + name + entry for name in names))


def write_head(git_dir: Path, tree: str, *, message: bytes = b"x", committer: bytes = PERSON) -> str:
    """A commit of a tree; it becomes the head of `main`."""
    text = b"tree %b\nauthor %b\ncommitter %b\n\n%b\n" % (tree.encode(), PERSON, committer, message)
    commit = write_object(git_dir, b"commit", text)
    (git_dir / "refs" / "heads").mkdir(exist_ok=True)
    (git_dir / "refs" / "heads" / "main").write_text(commit + "\n")
    return commit
