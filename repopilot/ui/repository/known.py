"""The repositories opened before, with what they take on the disk: shown on the first screen, deleted from there."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from repopilot import i18n
from repopilot.errors import RepoPilotError, StorageError
from repopilot.i18n.format import size
from repopilot.index import layout
from repopilot.repo.clone import clone_dir, clone_key
from repopilot.repo.local import folder_key
from repopilot.repo.source import parse_source
from repopilot.settings import Settings
from repopilot.types import Source

Sizes = dict[Path, tuple[float, int]]
"""Bytes below a folder, with the time of its last change, by which they are known to hold."""


def known_rows(entries: Sequence[Mapping], settings: Settings, sizes: Sizes, language: str) -> list[dict]:
    """What the first screen shows of each repository.

    Args:
        entries: {name, address}, as stored.
        settings: of the data directory.
        sizes: those found before, which are kept there.
        language: of the reader.

    Returns:
        {name, address, facts: when it was indexed and what it takes, gone: whether its folder isn't there any more}.
    """
    return [_row(entry, settings, sizes, language) for entry in entries]


def delete_data(address: str, others: Sequence[str], settings: Settings) -> None:
    """Delete the index of a repository and its clone, if no other address needs it; a local folder itself stays.

    Args:
        address: as stored.
        others: the addresses of the other repositories.
        settings: of the data directory.

    Raises:
        StorageError: something can't be deleted.
    """
    source, kept = _parsed(address), [each for each in map(_parsed, others) if each is not None]
    if source is None:
        return
    for folder in _folders(source, settings):
        if folder.parent == settings.repos and any(each.url == source.url for each in kept):
            continue
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StorageError(i18n.message("ui.known.not_deleted", folder=folder, error=i18n.reason(error))) from error


def _row(entry: Mapping, settings: Settings, sizes: Sizes, language: str) -> dict:
    source = _parsed(entry["address"])
    folders = list(_folders(source, settings)) if source else []
    taken = sum(_size(folder, sizes) for folder in folders)
    newest = max((folder.stat().st_mtime for each in folders[:1] for folder in layout.generations(each)[:1]), default=0)
    indexed = time.strftime("%Y-%m-%d %H:%M", time.localtime(newest)) if newest else ""
    facts = [
        i18n.text("ui.known.indexed", language, when=indexed) if indexed else "",
        size(taken, language) if taken else "",
    ]
    gone = source is None or (source.path is not None and not source.path.exists())
    if gone:
        facts.insert(0, i18n.text("ui.known.gone", language))
    return {"name": entry["name"], "address": entry["address"], "facts": " · ".join(filter(None, facts)), "gone": gone}


def _folders(source: Source, settings: Settings) -> Iterator[Path]:
    """Where the data of a repository is: its index, then its clone."""
    if source.url:
        git_dir = clone_dir(source.url, settings)
        yield settings.indexes / clone_key(source, git_dir)
        yield git_dir
    elif source.path is not None:
        yield settings.indexes / folder_key(source.path)


def _parsed(address: str) -> Source | None:
    try:
        return parse_source(address)
    except RepoPilotError:
        return None


def _size(folder: Path, sizes: Sizes) -> int:
    """Bytes below a folder; counted again only when something was put into it or taken out."""
    try:
        changed = folder.stat().st_mtime
    except OSError:
        return 0
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
