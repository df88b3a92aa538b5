"""The warnings in a component's comments, in their authors' words. Sync."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.agents.wiki.wiki_page import Page
from repopilot.code.source_positions import line_at
from repopilot.code.syntax import parse
from repopilot.foreign_text import literal
from repopilot.index.store import Index
from repopilot.retrieval.places.doc_summary import without_markup

MOST_WARNINGS = 10
LINES_OF_A_COMMENT = 4
LONGEST_COMMENT = 240
PARSE_S = 2.0
_MARKS = ("DANGER", "WARNING", "CAUTION", "SAFETY", "BUG", "FIXME", "HACK", "XXX", "NOTE")
"""The words that begin a warning in a comment, the most urgent first."""
_WARNING = re.compile(rf"(?:#|//|/\*|\*|--|;)[!/*]*[ \t]*({'|'.join(_MARKS)})(?:\([^)\n]*\))?:")
_COMMENT_MARK = re.compile(r"^\s*(?:#|//|/?\*(?!/)|--|;)[!/*]*\s*")


def comment_warnings(index: Index, paths: Sequence[str], page: Page) -> list[str]:
    """Rows of what comments warn of, each with its place.

    Args:
        index: the repository.
        paths: the component's files.
        page: the page that cites them.
    """
    found = [(_MARKS.index(warning[1]), path, line) for path in paths for warning, line in _warnings(index, path)]
    return [
        f"- {literal(_comment(index, path, line))} {page.at(path, line)}"
        for _, path, line in sorted(found)[:MOST_WARNINGS]
    ]


def _warnings(index: Index, path: str) -> Iterator[tuple[re.Match[str], int]]:
    """The beginnings of warnings that stand in comments, not in strings, with their lines."""
    text = index.text(path) or ""
    found = list(_WARNING.finditer(text))
    tree = parse(text.encode(), index.files[path].language, PARSE_S) if found else None
    if tree is None:
        return
    for each in found:
        at = len(text[: each.end() - 1].encode())
        node = tree.root_node.descendant_for_byte_range(at, at + 1)
        if node is not None and node.type.endswith("comment"):
            yield each, line_at(text, each.end() - 1)


def _comment(index: Index, path: str, line: int) -> str:
    """The text of a comment from a line on, to the end of its paragraph, at most LINES_OF_A_COMMENT lines."""
    rows = (index.lines(path, line, line + LINES_OF_A_COMMENT - 1) or "").split("\n")
    first = _WARNING.search(rows[0])
    said = [rows[0][first.start(1) if first else 0 :]]
    for row in rows[1:]:
        text = _COMMENT_MARK.sub("", row)
        if text == row or not text.strip():
            break
        said.append(text)
    whole = " ".join(without_markup(" ".join(said).removesuffix("*/")).split())
    return whole if len(whole) <= LONGEST_COMMENT else f"{whole[:LONGEST_COMMENT].rsplit(' ', 1)[0]}…"
