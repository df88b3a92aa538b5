"""The texts of a folder's files as they lie there now, decoded once for each state of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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
        self.changes = 0
        """How often a file was found to be another than when it was read before."""

    def text(self, path: str) -> str | None:
        """The text of a file as it is stored; None for none, and for what is no text."""
        stamp = self._stamp(path)
        if stamp is None:
            self.changes += self._known.pop(path, None) is not None
            return None
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            self.changes += known is not None
            data = regular_bytes(self._root, path)
            found = decoded(data, path) if data is not None else None
            known = self._known[path] = (stamp, found[0] if found else None)
        return known[1]

    def holding(self, word: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The files that hold a word, with their texts."""
        wanted = word.encode()
        for path in paths:
            if path not in self._known and not self._may_hold(path, wanted, plain=word.isascii()):
                continue
            text = self.text(path)
            if text is not None and word in text:
                yield path, text

    def _may_hold(self, path: str, word: bytes, *, plain: bool) -> bool:
        """Whether the bytes of a file may be a text with a word; files that aren't are neither decoded nor kept."""
        if self._stamp(path) is None:
            return False
        data = regular_bytes(self._root, path)
        return data is not None and (word in data or not plain or data.startswith(_WIDE))

    def _stamp(self, path: str) -> _Stamp | None:
        try:
            found = os.lstat(f"{self._root}/{path}")
        except (OSError, ValueError):
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino) if found.st_size <= _LARGEST else None
