"""Arrays and a remainder in one file, which is replaced in one step and can be mapped into memory.

    <CRC-32 of the next line, 8 hex digits>\\n
    <JSON: version, what the writer adds, the columns, and for each part its size and CRC-32>\\n
    <part 1: the columns, each begun at a multiple of eight>
    <part 2: anything>

A file that is damaged or of another version gives a ValueError: it counts as missing.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from repopilot.index.storage import layout
from repopilot.index.storage.database import storage_errors

_ALIGNED = 8
_CHECKSUM_BYTES = 9


def save(path: Path, head: Mapping[str, Any], columns: Mapping[str, np.ndarray], rest: bytes) -> None:
    """Replace a file.

    Args:
        path: the file.
        head: what stands in its head, `version` among it; nothing but ASCII once it is JSON.
        columns: one-dimensional arrays by name.
        rest: the second part.

    Raises:
        StorageError: it can't be written.
    """
    table, packed = _pack(columns)
    parts = [[len(part), zlib.crc32(part)] for part in (packed, rest)]
    line = json.dumps({**head, "columns": table, "parts": parts}, separators=(",", ":")).encode("ascii")
    line += b" " * (-(_CHECKSUM_BYTES + len(line) + 1) % _ALIGNED)
    draft = layout.draft_of(path)
    with storage_errors():
        try:
            draft.write_bytes(b"".join((b"%08x\n" % zlib.crc32(line), line, b"\n", packed, rest)))
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def read_head(file: BinaryIO, version: str) -> dict[str, Any]:
    """The decoded head of a file opened at its beginning, and in `begin` where it ends. Raises ValueError, OSError."""
    checksum, line = file.readline(_CHECKSUM_BYTES), file.readline()[:-1]
    if checksum != b"%08x\n" % zlib.crc32(line):
        raise ValueError("the head is damaged")
    found = json.loads(line)
    if found["version"] != version:
        raise ValueError("another version")
    return {**found, "begin": file.tell()}


def read_whole_head(file: BinaryIO, version: str) -> dict[str, Any]:
    """As `read_head`, for who goes by it without reading the rest: a damaged part is a ValueError too."""
    head = read_head(file, version)
    begin = head["begin"]
    for size, checksum in head["parts"]:
        _read(file, begin, size, checksum)
        begin += size
    return head


def read_columns(file: BinaryIO, head: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The columns, read into memory. Raises ValueError, OSError."""
    return _unpack(head, _read(file, head["begin"], *head["parts"][0]))


def map_columns(file: BinaryIO, head: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The columns, mapped into memory: pages that the system may drop. As `read_columns`."""
    begin, (size, checksum) = head["begin"], head["parts"][0]
    mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[begin : begin + size]
    if zlib.crc32(mapped) != checksum:
        raise ValueError("a part is damaged")
    return _unpack(head, mapped)


def read_rest(file: BinaryIO, head: Mapping[str, Any]) -> bytes:
    """The second part. Raises ValueError, OSError."""
    return _read(file, head["begin"] + head["parts"][0][0], *head["parts"][1])


def _read(file: BinaryIO, begin: int, size: int, checksum: int) -> bytes:
    file.seek(begin)
    part = file.read(size)
    if zlib.crc32(part) != checksum:
        raise ValueError("a part is damaged")
    return part


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


def _unpack(head: Mapping[str, Any], part: bytes | memoryview) -> dict[str, np.ndarray]:
    return {name: np.frombuffer(part, kind, length, at) for name, kind, at, length in head["columns"]}
