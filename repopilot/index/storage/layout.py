"""The files of an index on disk, their version, and how one generation replaces another.

    <home>/index/<snapshot key>/
        g00000007/            the published generation: immutable, the one with the highest number is current
            index.db          files with their texts, chunks and symbols, see database.py
            lexical/ *.npy    the arrays, see arrays.py
            report.json       see build_report.py
            checksums.json    of the files above except the report
        building/             the next generation; a build that was killed leaves it behind, and the next one resumes it
        build.lock            locked by the one process that builds
        history.bin           past commits (no part of a generation), see commit_store.py
        graph.bin             the code graph, see graph_file.py
        graph-ahead.bin       that of the next generation, linked before it is published
        mypy-<environment>/   mypy's cache, see review/type_errors.py
        graph.lock            locked by the one process that links the graph
        dense.json            how many chunks have vectors
        stamps.json           hashes of a local folder's files by modification time

A damaged generation counts as missing: bytes that changed on the disk would give wrong answers. Small JSON files
contain their own checksum.

Renaming `building` to the next number publishes it: a reader sees either the old generation or the new one.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

from repopilot import disk
from repopilot.code import version as splitting
from repopilot.index import lexical
from repopilot.redaction import redact

BROKEN = "broken"
"""Marks a generation that could not be read."""
CHECKSUMS = "checksums.json"
_GENERATION = re.compile(r"g(\d{8})")
BUILDING = "building"
DATABASE = "index.db"
DENSE = "dense.json"
GRAPH = "graph.bin"
GRAPH_AHEAD = "graph-ahead.bin"
HISTORY = "history.bin"
LEXICAL = "lexical"
REPORT = "report.json"
STAMPS = "stamps.json"
_PROCESS = secrets.token_hex(4)
_DRAFT = re.compile(r".+\.(\d+)-(?:([0-9a-f]{8})-)?\d+\.new")
SCHEMA = 8
"""Raised with every change of the stored format; `version` adds the versions of splitter, lexical index and
redaction."""


def version() -> str:
    """The version of everything in a generation."""
    return f"{SCHEMA}.{splitting.version()}.{lexical.VERSION}.{redact.version()}"


def generations(folder: Path) -> list[Path]:
    """The published generations, newest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [folder / name for name in sorted(filter(_GENERATION.fullmatch, names), reverse=True)]


def publish(folder: Path, draft: Path) -> Path:
    """Make a draft the current generation and delete those it replaces.

    Args:
        folder: the folder of the index.
        draft: the folder of the draft, on the same disk.

    Returns:
        The folder of the generation.

    Raises:
        OSError: it can't be renamed or flushed to disk.
    """
    old = generations(folder)
    number = int(old[0].name[1:]) + 1 if old else 1
    write_json(draft / CHECKSUMS, _checksums(draft))
    for path in draft.rglob("*"):
        _flush(path)
    target = folder / f"g{number:08d}"
    os.rename(draft, target)
    _flush(folder)
    for path in old:
        remove(path)
    return target


def damaged(folder: Path) -> list[str]:
    """The files of a generation that differ from what was published.

    Reads all of them, at some gigabytes a second once they are in the page cache. Raises OSError.
    """
    known = read_json(folder / CHECKSUMS)
    if not isinstance(known, dict):
        return [CHECKSUMS]
    found = _checksums(folder)
    return sorted(name for name in known.keys() | found.keys() if known.get(name) != found.get(name))


def _checksums(folder: Path) -> dict[str, int]:
    """The checksums of a generation's files except the report, which contains its own."""
    return checksums(folder, lambda name: name not in (CHECKSUMS, REPORT, BROKEN))


def checksums(folder: Path, included: Callable[[str], bool] = lambda name: True) -> dict[str, int]:
    """The CRC-32 of each file below a folder, by its relative path. Raises OSError."""
    names = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: _checksum(path) for name, path in names.items() if included(name)}


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum


def remove(folder: Path) -> None:
    """Delete a folder, atomically for its readers, by renaming it first.

    What can't be deleted now (open files on Windows) is left to `sweep`.
    """
    trash = folder.with_name(f"old-{os.getpid()}-{folder.name}")
    try:
        os.rename(folder, trash)
    except OSError:
        return
    disk.remove_tree(trash)


def sweep(folder: Path) -> None:
    """Delete what earlier builds could not delete."""
    for path in (*generations(folder)[1:], *folder.glob("old-*"), *folder.glob("copy-*")):
        disk.remove_tree(path)
    for path in folder.glob("*.new"):
        if _is_abandoned(path.name):
            path.unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """The file this thread writes before it replaces `path`."""
    return path.with_name(f"{path.name}.{os.getpid()}-{_PROCESS}-{threading.get_ident()}.new")


def _is_abandoned(draft: str) -> bool:
    """Whether the process that wrote a draft is gone. Its process id may be ours now, as in a container."""
    written = _DRAFT.fullmatch(draft)
    if written is None:
        return False
    process = int(written[1])
    token = written[2]
    if process == os.getpid():
        return token != _PROCESS
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def write_json(path: Path, value: object) -> None:
    """Replace a small JSON file atomically. Raises OSError."""
    draft = draft_of(path)
    text = json.dumps(value, separators=(",", ":"))
    try:
        draft.write_text(f"{zlib.crc32(text.encode()):08x} {text}", encoding="utf-8")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def read_json(path: Path) -> object | None:
    """The value of a JSON file; None when it is missing or damaged."""
    try:
        checksum, _, text = path.read_text(encoding="utf-8").partition(" ")
        return json.loads(text) if checksum == f"{zlib.crc32(text.encode()):08x}" else None
    except (OSError, ValueError):
        return None


def _flush(path: Path) -> None:
    if os.name != "posix":  # neither folders nor files opened for reading can be flushed there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
