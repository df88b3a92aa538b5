"""Finds the matches of a pattern that are a certain part of the syntax, not text that only looks like it. Sync."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.code.syntax import parse
from repopilot.index.store import Index

PARSE_S = 2.0


def matches_of(
    index: Index, path: str, form: re.Pattern[str], node_type: str | tuple[str, ...]
) -> Iterator[tuple[re.Match[str], int]]:
    """Find the matches of a pattern in a file that end within a certain type of syntax node.

    Args:
        index: the repository.
        path: the file.
        form: the pattern.
        node_type: how the type of the smallest node around a match's end, or of that node's parent, has to end; or
            several such ends.

    Yields:
        Each match with its line.
    """
    text = index.text(path) or ""
    found = list(form.finditer(text))
    tree = parse(text.encode(), index.files[path].language, PARSE_S) if found else None
    if tree is None:
        return
    for each in found:
        at = len(text[: each.end() - 1].encode())
        node = tree.root_node.descendant_for_byte_range(at, at + 1)
        around = (node, node.parent) if node is not None else ()
        if any(one is not None and one.type.endswith(node_type) for one in around):
            yield each, text.count("\n", 0, each.end() - 1) + 1
