"""The current texts of a folder's files, read and decoded once for each state of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot.repo.read import regular_bytes
from repopilot.repo.text_encoding import decoded

_LARGEST = 32 << 20
_MOST_KEPT = 256 << 20
"""Bytes kept of files that aren't decoded yet; files beyond that are read again for each name."""
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_Stamp = tuple[int, int, int]


@dataclass(slots=True)
class _File:
    """A file in one state: its bytes, until its text is asked for."""

    stamp: _Stamp
    data: bytes | None
    text: str | None = None
    is_read: bool = False


class FolderTexts:
    """Reads texts below a folder. Links are not followed.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._known: dict[str, _File] = {}
        self._kept = 0
        self.drafts: Mapping[str, str | None] = {}
        """Edited texts by path, which replace those on disk; None for a deleted file."""
        self.changed: list[str] = []
        """The files that changed after their text was read, once for each change."""

    def text(self, path: str) -> str | None:
        """The text of a file as it is stored; None where there is no file, or no text."""
        if path in self.drafts:
            return self.drafts[path]
        file = self._file(path)
        return self._text(path, file) if file is not None else None

    def holding(self, paths: Iterable[str], *words: str) -> Iterator[tuple[str, str]]:
        """The files that hold one of some words, with their texts."""
        wanted = [word.encode() for word in words]
        plain = all(map(str.isascii, words))
        for path in paths:
            if path not in self.drafts:
                file = self._file(path)
                if file is None or not (file.is_read or _may_hold(file.data, wanted, plain=plain)):
                    continue
            text = self.text(path)
            if text is not None and any(word in text for word in words):
                yield path, text

    def _file(self, path: str) -> _File | None:
        stamp = self._stamp(path)
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        if known is not None:
            self._forget(path, known)
        if stamp is None:
            return None
        file = _File(stamp, regular_bytes(self._root, path))
        size = len(file.data or b"")
        if self._kept + size <= _MOST_KEPT:
            self._known[path] = file
            self._kept += size
        return file

    def _forget(self, path: str, file: _File) -> None:
        del self._known[path]
        self._kept -= len(file.data or b"")
        if file.is_read:
            self.changed.append(path)

    def _text(self, path: str, file: _File) -> str | None:
        if not file.is_read:
            found = decoded(file.data, path) if file.data is not None else None
            if path in self._known:
                self._kept -= len(file.data or b"")
            file.text = found[0] if found else None
            file.data = None
            file.is_read = True
            self._known[path] = file
        return file.text

    def _stamp(self, path: str) -> _Stamp | None:
        try:
            found = os.lstat(f"{self._root}/{path}")
        except (OSError, ValueError):
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino) if found.st_size <= _LARGEST else None


def _may_hold(data: bytes | None, words: Sequence[bytes], *, plain: bool) -> bool:
    """Whether a file may hold one of the words, by its bytes; other files needn't be decoded."""
    return data is not None and (not plain or data.startswith(_WIDE) or any(word in data for word in words))
