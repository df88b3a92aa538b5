"""Arrays in one file, which is replaced atomically.

    <CRC-32 of what follows, 8 hex digits>\\n
    <JSON: version, what the writer adds, the names of the columns>\\n
    <the columns as NumPy saves arrays>

A file that is damaged or of another version counts as missing.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from repopilot.index.storage import layout
from repopilot.index.storage.database import storage_errors

_CHECKSUM_BYTES = 9


class Stored(NamedTuple):
    """What a file holds: see `save`."""

    head: dict[str, Any]
    columns: dict[str, np.ndarray]


@storage_errors()
def save(path: Path, head: Mapping[str, Any], columns: Mapping[str, np.ndarray]) -> None:
    """Replace a file.

    Args:
        path: the file.
        head: values for JSON, `version` among them.
        columns: arrays by name.

    Raises:
        StorageError: it can't be written.
    """
    packed = io.BytesIO()
    packed.write(json.dumps({**head, "columns": list(columns)}).encode() + b"\n")
    for column in columns.values():
        np.save(packed, column, allow_pickle=False)
    data = packed.getvalue()
    draft = layout.draft_of(path)
    try:
        draft.write_bytes(b"%08x\n" % zlib.crc32(data) + data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def load(path: Path, version: str) -> Stored | None:
    """What was saved; None where there is no file, or it is damaged or of another version."""
    try:
        data = path.read_bytes()
        if data[:_CHECKSUM_BYTES] != b"%08x\n" % zlib.crc32(memoryview(data)[_CHECKSUM_BYTES:]):
            return None
        packed = io.BytesIO(data)
        packed.seek(_CHECKSUM_BYTES)
        head = json.loads(packed.readline())
        if head["version"] != version:
            return None
        return Stored(head, {name: np.load(packed, allow_pickle=False) for name in head["columns"]})
    except (OSError, ValueError, KeyError, TypeError, EOFError):
        return None
