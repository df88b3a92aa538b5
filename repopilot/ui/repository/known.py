"""The repositories opened before, with the disk space they take: shown on the first screen, deleted from there."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from repopilot import disk, i18n
from repopilot.errors import IndexFailed, StorageError
from repopilot.i18n.format import commit_words, count, size
from repopilot.index.storage import layout
from repopilot.index.store import Index
from repopilot.logins.ownership import folders_of, parsed
from repopilot.settings import Settings
from repopilot.types import Source

NO_CHATS: Mapping[str, int] = MappingProxyType({})
Sizes = dict[Path, tuple[float, int]]
"""A cache of the bytes below folders, each with the folder's modification time, which tells whether they still hold."""


def known_rows(
    entries: Sequence[Mapping], settings: Settings, sizes: Sizes, language: str, chats: Mapping[str, int] = NO_CHATS
) -> list[dict]:
    """What the first screen shows of each repository.

    Args:
        entries: {name, address}, as stored.
        settings: of the data directory.
        sizes: the cache of sizes, which is updated.
        language: of the reader.
        chats: the number of chats, by address.

    Returns:
        {name, address, facts: commit, when it was indexed, whether its folder has another commit by now, chats and
        disk space, gone: whether its folder isn't there any more}.
    """
    return [_row(entry, settings, sizes, language, chats.get(entry["address"], 0)) for entry in entries]


def disk_used(settings: Settings, sizes: Sizes) -> int:
    """Bytes of everything in the data directory; `sizes` is the cache of sizes."""
    parts = (settings.repos, settings.indexes, settings.environments_folder, settings.models)
    return sum(_size(each, sizes) for part in parts if part.is_dir() for each in part.iterdir())


def check_disk_limit(source: Source, settings: Settings, sizes: Sizes) -> None:
    """Refuse a repository that has no data yet if the data directory has reached the limit.

    Args:
        source: the repository.
        settings: of the data directory, with the limit.
        sizes: the cache of sizes, which is updated.

    Raises:
        StorageError: the limit is reached.
    """
    limit = settings.disk_limit_mb << 20
    if not limit or any(folder.exists() for folder in folders_of(source, settings)):
        return
    used = disk_used(settings, sizes)
    if used >= limit:
        facts = {"used": size(used), "limit": size(limit)}
        raise StorageError(i18n.message("ui.known.limit_reached", **facts), i18n.message("ui.known.limit_hint"))


def delete_data(address: str, others: Sequence[str], settings: Settings) -> None:
    """Delete the index of a repository and its clone, if no other address needs it; a local folder itself stays.

    Args:
        address: as stored.
        others: the addresses of the other repositories, and this one if another login has it, too.
        settings: of the data directory.

    Raises:
        StorageError: something can't be deleted.
    """
    source = parsed(address)
    kept = [each for each in map(parsed, others) if each is not None]
    if source is None:
        return
    needed = {folder for each in kept for folder in folders_of(each, settings)}
    for folder in folders_of(source, settings):
        if folder in needed:
            continue
        if error := disk.remove_tree(folder):
            raise StorageError(i18n.message("ui.known.not_deleted", folder=folder, error=i18n.reason(error))) from error


def _row(entry: Mapping, settings: Settings, sizes: Sizes, language: str, chats: int) -> dict:
    source = parsed(entry["address"])
    folders = list(folders_of(source, settings)) if source else []
    taken = sum(_size(folder, sizes) for folder in folders)
    newest = next((folder for each in folders[:1] for folder in layout.generations(each)[:1]), None)
    commit = indexed_commit(newest) if newest else ""
    root = source.path if source else None
    stale = bool(commit) and root is not None and _head(root) not in ("", commit.partition("+")[0])
    facts = [
        commit_words(commit, language) if commit else "",
        i18n.text("ui.known.indexed", language, when=_minute(newest)) if newest else "",
        i18n.text("ui.known.stale", language) if stale else "",
        count(chats, "chat", language) if chats else "",
        size(taken, language) if taken else "",
    ]
    gone = source is None or (source.path is not None and not source.path.exists())
    if gone:
        facts.insert(0, i18n.text("ui.known.gone", language))
    return {"name": entry["name"], "address": entry["address"], "facts": " · ".join(filter(None, facts)), "gone": gone}


def _minute(folder: Path) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(folder.stat().st_mtime))


@lru_cache(maxsize=64)
def indexed_commit(generation: Path) -> str:
    """The commit that a generation of an index was built from, '' if it can't be read."""
    try:
        return Index(generation, searchable=False).commit
    except (OSError, ValueError, KeyError, IndexFailed, sqlite3.Error):
        return ""


def _head(root: Path) -> str:
    """The commit of a folder's HEAD, read from git's files: this runs every second, too often to start a process."""
    git = root / ".git"
    try:
        head = (git / "HEAD").read_text("utf-8", "replace").strip()
        return (git / head[5:]).read_text("utf-8", "replace").strip() if head.startswith("ref: ") else head
    except OSError:
        return ""  # a linked work tree, or a packed ref: unknown


def _size(folder: Path, sizes: Sizes) -> int:
    """Bytes of a file, or below a folder: counted again only after something was added to it or removed from it."""
    try:
        found = folder.stat()
    except OSError:
        return 0
    changed = found.st_mtime
    if not folder.is_dir():
        return found.st_size
    if sizes.get(folder, (0.0, 0))[0] != changed:
        sizes[folder] = (changed, _bytes_below(folder))
    return sizes[folder][1]


def _bytes_below(folder: Path) -> int:
    total = 0
    for top, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # deleted meanwhile
                total += os.lstat(os.path.join(top, name)).st_size
    return total
