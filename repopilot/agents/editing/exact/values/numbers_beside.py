"""Corrects the comment behind a number that is exchanged: `LIFE = 300  # 5 minutes`."""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.sources import Patch, SourceText
from repopilot.agents.editing.exact.values.quantities import code_numbers, exchanged_remark

_BEHIND = re.compile(r"[^\n\"'`]*?(?:#|//|/\*)\s*(?P<text>.*)")


def correct_remark(patch: Patch, source: SourceText, start: int, end: int, new: str) -> None:
    """Change what the comment at the end of a line says of a number.

    Args:
        patch: gets the change.
        source: the file.
        start, end: the bytes of the number.
        new: the text that takes its place.
    """
    line_end = source.data.find(b"\n", end)
    behind = source.data[end : line_end if line_end >= 0 else len(source.data)].decode("utf-8")
    comment = _BEHIND.match(behind)
    number = next(code_numbers(source.data[start:end].decode("utf-8")), None)
    said = exchanged_remark(comment["text"], number, new) if comment and number else ""
    if comment is not None and said and said != comment["text"]:
        at = end + len(behind[: comment.start("text")].encode("utf-8"))
        patch.replace(source.path, at, at + len(comment["text"].encode("utf-8")), said)
