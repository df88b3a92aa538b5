"""The texts of a folder's files as they lie there now, decoded once for each state of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from repopilot.repo.read import regular_bytes
from repopilot.repo.text_encoding import decoded

_LARGEST = 32 << 20
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_Stamp = tuple[int, int, int]


class FolderTexts:
    """Reads texts below a folder. Links are not followed.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._known: dict[str, tuple[_Stamp, str | None]] = {}
        self.changed: list[str] = []
        """The files that were found to be others than when they were read before, each time anew."""

    def text(self, path: str) -> str | None:
        """The text of a file as it is stored; None for none, and for what is no text."""
        stamp = self._stamp(path)
        if stamp is None:
            if self._known.pop(path, None) is not None:
                self.changed.append(path)
            return None
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            if known is not None:
                self.changed.append(path)
            data = regular_bytes(self._root, path)
            found = decoded(data, path) if data is not None else None
            known = self._known[path] = (stamp, found[0] if found else None)
        return known[1]

    def holding(self, paths: Iterable[str], *words: str) -> Iterator[tuple[str, str]]:
        """The files that hold one of some words, with their texts."""
        wanted = [word.encode() for word in words]
        plain = all(map(str.isascii, words))
        for path in paths:
            if path not in self._known and not self._may_hold(path, wanted, plain=plain):
                continue
            text = self.text(path)
            if text is not None and any(word in text for word in words):
                yield path, text

    def _may_hold(self, path: str, words: Sequence[bytes], *, plain: bool) -> bool:
        """Whether the bytes of a file may be a text with a word; files that aren't are neither decoded nor kept."""
        if self._stamp(path) is None:
            return False
        data = regular_bytes(self._root, path)
        return data is not None and (any(word in data for word in words) or not plain or data.startswith(_WIDE))

    def _stamp(self, path: str) -> _Stamp | None:
        try:
            found = os.lstat(f"{self._root}/{path}")
        except (OSError, ValueError):
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino) if found.st_size <= _LARGEST else None
