"""Exports and imports an index as one file: built once, in CI for example, for everybody with the same repository."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import tarfile
import zlib
from contextlib import suppress
from pathlib import Path, PurePosixPath

from filelock import FileLock

from repopilot import disk, i18n
from repopilot.errors import IndexFailed, StorageError
from repopilot.index.object_store import opened
from repopilot.index.storage import database, layout

FORMAT = 1
MANIFEST = "manifest.json"
INSIDE = "generation/"
BESIDE = (layout.GRAPH, layout.HISTORY)
"""Files beside the generation that are exported with it."""
LARGEST = 64 << 30
"""The most bytes that an archive may unpack to."""
_BROKEN = (tarfile.TarError, zlib.error, EOFError, ValueError, KeyError, TypeError)


def export_index(folder: Path, target: Path) -> dict:
    """Write the newest generation of an index to a file, which is replaced atomically.

    Args:
        folder: the folder of the index.
        target: the file, a gzipped tar archive.

    Returns:
        {file, sha256, commit, version, bytes}.

    Raises:
        IndexFailed: there is no index.
        StorageError: the file can't be written.
    """
    newest = next(iter(layout.generations(folder)), None)
    meta = database.read_meta(newest) if newest else None
    if newest is None or meta is None:
        raise IndexFailed(i18n.message("index.nothing_to_export"))
    files = {f"{INSIDE}{path.relative_to(newest).as_posix()}": path for path in newest.rglob("*") if path.is_file()}
    files |= {name: folder / name for name in BESIDE if (folder / name).is_file()}
    manifest = {
        "format": FORMAT,
        "version": layout.version(),
        "commit": meta["commit"],
        "name": meta["name"],
        "key": folder.name,
        "files": {name: _sha256(path) for name, path in sorted(files.items())},
    }
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        with tarfile.open(draft, "w:gz", compresslevel=5) as archive:
            data = json.dumps(manifest, indent=1).encode()
            head = tarfile.TarInfo(MANIFEST)
            head.size = len(data)
            archive.addfile(head, io.BytesIO(data))
            for name, path in sorted(files.items()):
                archive.add(path, name, recursive=False)
        size = draft.stat().st_size
        sha256 = _sha256(draft)
        os.replace(draft, target)
    except OSError as error:
        raise StorageError(
            i18n.message("repo.not_written", path=target, error=error), i18n.message("repo.not_written_hint")
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return {
        "file": str(target),
        "sha256": sha256,
        "commit": meta["commit"],
        "version": manifest["version"],
        "bytes": size,
    }


def read_manifest(place: str) -> dict:
    """The manifest of an exported index: format, version, commit, name, key, and the hashes of its files.

    Args:
        place: the path or URL of the archive.

    Returns:
        The manifest; {} where there is no such file, or none that this version reads.
    """
    try:
        with opened(place) as file, tarfile.open(fileobj=file, mode="r|gz") as archive:
            return _manifest(archive, place)
    except (*_BROKEN, OSError, IndexFailed, StorageError):
        return {}


def is_newest(manifest: dict, folder: Path) -> bool:
    """Whether an exported index is the newest generation of the index in a folder, byte for byte."""
    newest = next(iter(layout.generations(folder)), None)
    sums = newest / layout.CHECKSUMS if newest else None
    known = manifest.get("files", {}).get(f"{INSIDE}{layout.CHECKSUMS}")
    return sums is not None and sums.is_file() and _sha256(sums) == known


def import_index(file: Path, folder: Path, sha256: str = "", commit: str = "") -> dict:
    """Import an exported index, replacing the existing one.

    Args:
        file: the archive.
        folder: the folder of the index.
        sha256: the hash that the archive must have, '' for any.
        commit: the commit that the index must be of, '' for any.

    Returns:
        {commit, name, version}.

    Raises:
        IndexFailed: the archive is damaged, forged, of another commit, or of a version that this program can't read.
        StorageError: the archive can't be read, or the index can't be written.
    """
    try:
        if sha256 and _sha256(file) != sha256.lower():
            raise IndexFailed(i18n.message("index.import.hash", file=file))
        folder.mkdir(parents=True, exist_ok=True)
        drafted = folder / f"old-import-{secrets.token_hex(4)}"  # `layout.sweep` deletes what a killed process leaves
        try:
            manifest = _unpacked(file, drafted, commit)
            with FileLock(folder / "build.lock", timeout=60):
                for name in BESIDE:
                    if (drafted / name).is_file():
                        os.replace(drafted / name, folder / name)
                layout.publish(folder, drafted / INSIDE.rstrip("/"))
        finally:
            disk.remove_tree(drafted)
    except _BROKEN as error:
        raise IndexFailed(i18n.message("index.import.damaged", file=file)) from error
    except OSError as error:
        raise StorageError(i18n.message("index.import.unreadable", file=file, error=error)) from error
    return {name: manifest[name] for name in ("commit", "name", "version")}


def _manifest(archive: tarfile.TarFile, file: Path | str) -> dict:
    first = archive.next()
    opened = archive.extractfile(first) if first is not None and first.name == MANIFEST else None
    manifest = json.loads(opened.read(1 << 24)) if opened else {}
    if manifest.get("format") != FORMAT or manifest.get("version") != layout.version():
        raise IndexFailed(i18n.message("index.import.version", file=file), i18n.message("index.import.version_hint"))
    return manifest


def _unpacked(file: Path, target: Path, commit: str) -> dict:
    """Unpack the archive, check its files against its manifest, and return the manifest."""
    with tarfile.open(file, "r:gz") as archive:
        manifest = _manifest(archive, file)
        if commit and manifest["commit"].partition("+")[0] != commit.partition("+")[0]:
            raise IndexFailed(i18n.message("index.import.commit", commit=manifest["commit"][:10], wanted=commit[:10]))
        left = LARGEST
        expected = dict(manifest["files"])
        while (member := archive.next()) is not None:
            left -= member.size
            path = PurePosixPath(member.name)
            if not member.isreg() or path.is_absolute() or ".." in path.parts or left < 0:
                raise IndexFailed(i18n.message("index.import.damaged", file=file))
            archive.extract(member, target, set_attrs=False)
            if _sha256(target / path) != expected.pop(member.name, ""):
                raise IndexFailed(i18n.message("index.import.damaged", file=file))
        if expected or layout.damaged(target / INSIDE.rstrip("/")):
            raise IndexFailed(i18n.message("index.import.damaged", file=file))
        return manifest


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
