"""Converts between characters of a text and LSP positions: lines from 0, and UTF-16 units. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|\r|\n")
_MARK = "\ufeff"


class Positions:
    """Positions in one text. A byte order mark at its start isn't counted: servers don't get it.

    Args:
        text: as it is stored.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.sent = text.removeprefix(_MARK)
        self._shift = len(text) - len(self.sent)
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(self.sent))]
        self._plain = self.sent.isascii()

    def position(self, offset: int) -> dict[str, int]:
        """The position of a character of the text."""
        at = max(0, offset - self._shift)
        line = bisect_right(self._starts, at) - 1
        start = self._starts[line]
        units = at - start if self._plain else len(self.sent[start:at].encode("utf-16-le")) // 2
        return {"line": line, "character": units}

    def offset(self, line: int, units: int) -> int:
        """The character at a position; the end of the line or the text for a position beyond that."""
        if not 0 <= line < len(self._starts):
            return len(self.sent) + self._shift
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.sent)
        if self._plain:
            return min(start + units, end) + self._shift
        before = self.sent[start:end].encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
        return start + len(before) + self._shift
