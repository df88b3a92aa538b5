"""Finds a damaged file in a clone. A damaged clone fails or lacks files at every later use.

Only proven damage counts: a wrong checksum, a ref to nothing. A file that can't be read at the moment, or a git that
fails or takes too long, proves nothing, and the clone may be the only copy.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from repopilot.repo import git_command
from repopilot.repo.git_command import GitFailed, GitTimeout, Supervision

_ALGORITHMS = ("sha1", "sha256")
"""Hash algorithms for git's object names, tried in this order; a repository uses one of them."""

_COMMITS = re.compile(r"(?:[0-9a-f]{40}(?:[0-9a-f]{24})?\n)*")
_HEAD = re.compile(r"ref: refs/\S+\s*|[0-9a-f]{40}(?:[0-9a-f]{24})?\s*")
_DAMAGED_REF = re.compile(r"broken ref (\S+)|missing object \S+ for (\S+)|unexpected line in \S*(packed-refs)")
_BLOCK = 1 << 20
_MAX_BOUNDARY = 1000
"""Most commits that are looked up: the length of a command is limited."""


def damaged_file(git_dir: Path, url: str) -> str | None:
    """The path of the first damaged file of a bare repository, relative to it; None if no damage is found.

    Each pack is read once per process, at more than a gigabyte a second.

    Args:
        git_dir: the clone.
        url: its origin.
    """
    try:
        for path, is_damaged in _checks(git_dir):
            if is_damaged(path):
                return path.relative_to(git_dir).as_posix()
        return _damaged_config(git_dir, url) or _damaged_ref(git_dir) or _damaged_boundary(git_dir)
    except (OSError, GitFailed, GitTimeout):  # unreadable at the moment
        return None


def _checks(git_dir: Path) -> Iterator[tuple[Path, Callable[[Path], bool]]]:
    yield git_dir / "HEAD", lambda path: not _HEAD.fullmatch(path.read_text("ascii", "replace"))
    if (git_dir / "shallow").exists():
        yield git_dir / "shallow", lambda path: not _COMMITS.fullmatch(path.read_text("ascii", "replace"))
    for index in (git_dir / "objects" / "pack").glob("*.idx"):
        yield index.with_suffix(".pack"), lambda path: not path.exists()
    for suffix in ("pack", "idx", "rev"):
        for file in (git_dir / "objects" / "pack").glob(f"*.{suffix}"):
            yield file, lambda path: not _ends_with_its_digest(path, *_state(path))
    for file in (git_dir / "objects").glob("[0-9a-f][0-9a-f]/*"):
        yield file, lambda path: not _has_its_name(path, *_state(path))


def _damaged_config(git_dir: Path, url: str) -> str | None:
    """`config` if git can't read it, or its origin is another address; else None. Raises GitFailed, GitTimeout."""
    try:
        found = git_command.run(git_dir, ["config", "--local", "remote.origin.url"], ok=(0, 1))
    except GitFailed as error:
        if re.search(r"\bbad (numeric |boolean )?config\b", error.stderr):
            return "config"
        raise
    return None if found.decode("utf-8", "replace").strip() == url else "config"


def _damaged_ref(git_dir: Path) -> str | None:
    """The first ref that git reports as damaged, None for none. Raises GitFailed, GitTimeout."""
    said: list[str] = []
    listing = ["for-each-ref", "--format=%(objectname) %(objecttype)"]
    try:
        git_command.run(git_dir, listing, supervision=Supervision(on_line=said.append))
    except GitFailed as error:
        said.append(error.stderr)
    # git only warns of a ref that it can't read.
    found = next(filter(None, map(_DAMAGED_REF.search, said)), None)
    return next(filter(None, found.groups())) if found else None


def _damaged_boundary(git_dir: Path) -> str | None:
    """`shallow` if it names commits that aren't there, else None. Raises GitFailed, GitTimeout."""
    shallow = git_dir / "shallow"
    if not shallow.exists():
        return None
    oldest = shallow.read_text("ascii").split()[:_MAX_BOUNDARY]
    try:
        git_command.run(git_dir, ["rev-list", "--no-walk", "--quiet", *oldest])
    except GitFailed as error:
        if "bad object" in error.stderr:
            return shallow.name
        raise
    return None


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4096)
def _ends_with_its_digest(path: Path, changed_at: int, size: int) -> bool:
    """Whether a pack or its index ends with the digest of the bytes before it. Raises OSError."""
    return any(_ends_with_digest(path, size, algorithm) for algorithm in _ALGORITHMS)


def _ends_with_digest(path: Path, size: int, algorithm: str) -> bool:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    left = size - digest.digest_size
    with path.open("rb") as file:
        while left > 0 and (block := file.read(min(left, _BLOCK))):
            digest.update(block)
            left -= len(block)
        return left == 0 and file.read() == digest.digest()


@lru_cache(maxsize=65536)
def _has_its_name(path: Path, changed_at: int, size: int) -> bool:
    """Whether the digest of a loose object is its name. Raises OSError."""
    try:
        content = zlib.decompress(path.read_bytes())
    except zlib.error:
        return False
    digests = (hashlib.new(algorithm, content, usedforsecurity=False).hexdigest() for algorithm in _ALGORITHMS)
    return path.parent.name + path.name in digests
