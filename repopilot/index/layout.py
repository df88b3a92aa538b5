"""Where an index lies on disk, in which version it is written, and how one generation of it replaces another.

    <home>/index/<snapshot key>/
        g00000007/            the published generation: immutable, the highest number counts
        building/             the next one; left behind by a killed build and taken up again
        build.lock            held by the one process that builds
        history.json          past commits (not part of a generation: they only grow)
        graph.bin             the code graph of the newest content it was made for, see graph_file.py
        graph.lock            held by the one process that makes it
        dense.json            how far the vectors are
        stamps.json           hashes of a local folder's files by modification time

Renaming `building` to the next number is the publication: a reader sees the old generation or the new one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from repopilot.code import split
from repopilot.index import lexical

_GENERATION = re.compile(r"g(\d{8})")
BUILDING = "building"
DATABASE = "index.db"
DENSE = "dense.json"
GRAPH = "graph.bin"
HISTORY = "history.json"
STAMPS = "stamps.json"
SCHEMA = 2
"""Raised with every change of what is stored; `version` adds what is split and counted."""


def version() -> str:
    """Of everything in a generation."""
    return f"{SCHEMA}.{split.VERSION}.{lexical.VERSION}"


def splitter() -> str:
    """Of what decides the texts of the chunks, and with them the vectors."""
    return str(split.VERSION)


def generations(folder: Path) -> list[Path]:
    """The published generations, newest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [folder / name for name in sorted(filter(_GENERATION.fullmatch, names), reverse=True)]


def publish(folder: Path) -> Path:
    """Make `building` the current generation and drop what it replaces. Returns its folder. Raises OSError."""
    old = generations(folder)
    number = int(old[0].name[1:]) + 1 if old else 1
    for path in (folder / BUILDING).rglob("*"):
        _to_disk(path)
    target = folder / f"g{number:08d}"
    os.rename(folder / BUILDING, target)
    _to_disk(folder)
    for path in old:
        remove(path)
    return target


def remove(folder: Path) -> None:
    """Delete a folder so that no reader meets half of it. What can't be deleted now (open files on Windows) stays."""
    doomed = folder.with_name(f"old-{os.getpid()}-{folder.name}")
    try:
        os.rename(folder, doomed)
    except OSError:
        return
    shutil.rmtree(doomed, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Delete what earlier builds could not, or had no time to."""
    for path in (*generations(folder)[1:], *folder.glob("old-*"), *folder.glob("copy-*")):
        shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob(f"{GRAPH}.*.new"):
        path.unlink(missing_ok=True)


def write_json(path: Path, value: object) -> None:
    """Replace a small JSON file in one step. Raises OSError."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.write_text(json.dumps(value, separators=(",", ":")), encoding="utf-8")
    os.replace(draft, path)


def read_json(path: Path) -> object | None:
    """The value of a JSON file; None when it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _to_disk(path: Path) -> None:
    if os.name != "posix":  # neither folders nor files opened for reading can be flushed there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
