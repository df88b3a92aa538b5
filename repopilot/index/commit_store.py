"""Past commits on disk: one file beside the index, of which they are no part, replaced in one step.

    <CRC-32 of the next line, 8 hex digits>\\n
    <JSON: version, state, columns, and size and CRC-32 of what follows>\\n
    <the columns of the commit index, each begun at a multiple of eight; searches map them into memory>
    <the commits as deflated JSON; read by the next build and by impact analysis only>

A file that is damaged or of another version counts as missing.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from repopilot.index import commit_index, layout
from repopilot.index.commit_index import CommitIndex
from repopilot.index.database import storage_errors
from repopilot.index.path_tree import PathTree

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

_FORMAT = 1
_ALIGNED = 8
_CHECKSUM_BYTES = 9
_TREE = "tree."


@dataclass(frozen=True, slots=True)
class HistoryState:
    """Which history is stored: of which commit, at most how many commits, and whether all of these are there."""

    commit: str
    limit: int
    complete: bool


def version() -> str:
    """The version of the format and of what is counted."""
    return f"{_FORMAT}.{commit_index.VERSION}"


def stored_state(folder: Path) -> HistoryState | None:
    """The state of the history stored in `folder`; None when there is none."""
    try:
        with (folder / layout.HISTORY).open("rb") as file:
            return HistoryState(**_head(file)["state"])
    except (OSError, ValueError):
        return None


def write_commits(folder: Path, state: HistoryState, commits: Sequence[Commit], index: CommitIndex) -> None:
    """Replace the stored commits.

    Args:
        folder: the folder of the repository's index.
        state: which history the commits are.
        commits: the commits, newest first, with the paths they had then.
        index: the same commits made searchable.

    Raises:
        StorageError: they can't be written.
    """
    table, columns = _pack(_columns(index))
    texts = zlib.compress(json.dumps([astuple(commit) for commit in commits], separators=(",", ":")).encode())
    head = {
        "version": version(),
        "state": asdict(state),
        "columns": table,
        "parts": [[len(part), zlib.crc32(part)] for part in (columns, texts)],
    }
    line = json.dumps(head, separators=(",", ":")).encode()
    line += b" " * (-(_CHECKSUM_BYTES + len(line) + 1) % _ALIGNED)
    draft = layout.draft_of(folder / layout.HISTORY)
    with storage_errors():
        try:
            draft.write_bytes(b"".join((b"%08x\n" % zlib.crc32(line), line, b"\n", columns, texts)))
            os.replace(draft, folder / layout.HISTORY)
        finally:
            draft.unlink(missing_ok=True)


def read_commits(folder: Path) -> tuple[Commit, ...]:
    """The commits stored in `folder`, newest first, with the paths they had then; () when there are none."""
    from repopilot.repo.history import Commit

    try:
        with (folder / layout.HISTORY).open("rb") as file:
            head = _head(file)
            file.seek(head["parts"][0][0], os.SEEK_CUR)
            entries = json.loads(zlib.decompress(_part(file, head, 1)))
    except (OSError, ValueError, zlib.error):
        return ()
    return tuple(
        Commit(sha, subject, tuple(paths), at, body, tuple((old, new) for old, new in renames))
        for sha, subject, paths, at, body, renames in entries
    )


def stamp(folder: Path) -> tuple[int, int] | None:
    """What differs once the stored commits are replaced; None when there are none."""
    try:
        found = (folder / layout.HISTORY).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def open_index(folder: Path) -> CommitIndex | None:
    """The stored commits, searchable, their columns mapped into memory; None when there are none."""
    path = folder / layout.HISTORY
    try:
        with path.open("rb") as file:
            head = _head(file)
            begin, size = file.tell(), head["parts"][0][0]
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[begin : begin + size]
        # Read once to check them; after that they are pages that the system may drop.
        if zlib.crc32(mapped) != head["parts"][0][1]:
            return None
    except (OSError, ValueError):
        return None
    return _index({name: np.frombuffer(mapped, kind, length, at) for name, kind, at, length in head["columns"]})


def _head(file: BinaryIO) -> dict:
    """The decoded head. Raises ValueError, OSError."""
    checksum, line = file.readline(_CHECKSUM_BYTES), file.readline()[:-1]
    if checksum != b"%08x\n" % zlib.crc32(line):
        raise ValueError("the head is damaged")
    found = json.loads(line)
    if found["version"] != version():
        raise ValueError("another version")
    return found


def _part(file: BinaryIO, head: dict, number: int) -> bytes:
    """The next part. Raises ValueError, OSError."""
    size, checksum = head["parts"][number]
    part = file.read(size)
    if zlib.crc32(part) != checksum:
        raise ValueError("a part is damaged")
    return part


def _columns(index: CommitIndex) -> dict[str, np.ndarray]:
    own = {field.name: getattr(index, field.name) for field in fields(CommitIndex) if field.name != "tree"}
    return own | {_TREE + field.name: getattr(index.tree, field.name) for field in fields(PathTree)}


def _index(columns: Mapping[str, np.ndarray]) -> CommitIndex:
    tree = {name.removeprefix(_TREE): column for name, column in columns.items() if name.startswith(_TREE)}
    own = {name: column for name, column in columns.items() if not name.startswith(_TREE)}
    return CommitIndex(**own, tree=PathTree(**tree))


def _pack(columns: Mapping[str, np.ndarray]) -> tuple[list, bytes]:
    """[[name, type, offset, length], …] and the bytes."""
    table: list = []
    pieces: list[bytes] = []
    offset = 0
    for name, column in columns.items():
        data = column.tobytes()
        table.append([name, column.dtype.str, offset, len(column)])
        pieces += [data, bytes(-len(data) % _ALIGNED)]
        offset += len(data) + len(pieces[-1])
    return table, b"".join(pieces)
