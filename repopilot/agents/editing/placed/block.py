"""Which statements of a long function, or which section of a document, a task is about. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from repopilot.code.syntax import parse
from repopilot.index.tokens import tokens_of
from repopilot.retrieval.focused_lines import line_scores

LONGEST, LEAST = 14, 4
"""Lines of a block."""
_PARSE_S = 5.0
_BLOCKS = frozenset({"block", "statement_block", "body", "declaration_list", "compound_statement"})
_HEADING = re.compile(r"#{1,6} \S")
_UNDERLINE = re.compile(r"([=\-~^\"*+])\1{2,}\s*$")


def changed_block(lines: Sequence[str], first: int, last: int, language: str, task: str) -> tuple[int, int]:
    """Choose the statements that a task changes, by its words.

    Args:
        lines: the lines of the file.
        first: the first line of the function, from 0.
        last: the line behind it.
        language: of the file.
        task: what to change.

    Returns:
        The range of whole statements, from 0, the end exclusive.
    """
    statements = _statements("\n".join(lines), language, first, last)
    scores = _scores(lines, first, last, task)
    if not statements:
        best = max(range(first, last), key=lambda n: scores[n - first])
        return max(first, best - LEAST), min(last, best + LEAST)
    return _narrowed(statements, scores, first)


def section(lines: Sequence[str], task: str) -> tuple[int, int]:
    """Choose the section of a document that a task is about, by the words of its heading, then of its text.

    Args:
        lines: the lines of the document.
        task: what to write.

    Returns:
        Its range, from 0, the end exclusive; that of the whole document where it has no headings.
    """
    words = tokens_of(task)
    starts = [n for n in range(len(lines)) if _is_heading(lines, n)] or [0]
    ranges = list(zip(starts, [*starts[1:], len(lines)], strict=True))

    def worth(part: tuple[int, int]) -> float:
        found = len(tokens_of("\n".join(lines[part[0] : part[1]])) & words)
        return 3.0 * len(tokens_of(lines[part[0]]) & words) + found

    return max(ranges, key=worth)


def _is_heading(lines: Sequence[str], number: int) -> bool:
    if _HEADING.match(lines[number]):
        return True
    below = lines[number + 1] if number + 1 < len(lines) else ""
    return bool(lines[number].strip()) and _UNDERLINE.match(below) is not None


def _scores(lines: Sequence[str], first: int, last: int, task: str) -> list[float]:
    """What each line has of the task; words that many lines have count less."""
    body = lines[first:last]
    found = [tokens_of(line) for line in body]
    weights = {word: 1.0 / (1 + sum(word in line for line in found)) for word in tokens_of(task)}
    return line_scores(body, {word: weight for word, weight in weights.items() if weight < 1.0})


def _statements(text: str, language: str, first: int, last: int) -> list[Node]:
    """The statements of the innermost body around some lines, as far as they are among these."""
    tree = parse(text.encode("utf-8", "replace"), language, _PARSE_S)
    node = tree.root_node if tree is not None else None
    found: Node | None = None
    while node is not None:
        body = node.child_by_field_name("body")
        found = body if body is not None and _spans(body, first, last) else found
        node = next((c for c in node.named_children if _spans(c, first, last)), None)
    children = _listed(found) if found is not None else []
    return [c for c in children if first <= c.start_point[0] and c.end_point[0] < last]


def _spans(node: Node, first: int, last: int) -> bool:
    return node.start_point[0] <= first and node.end_point[0] >= last - 1


def _narrowed(statements: Sequence[Node], scores: Sequence[float], offset: int) -> tuple[int, int]:
    """The best statement, its best part while it is too long, with its neighbours while it is too short."""

    def worth(node: Node) -> float:
        return max(scores[max(0, node.start_point[0] - offset) : node.end_point[0] - offset + 1], default=0.0)

    while True:
        node = max(statements, key=worth)
        inner = _inner(node)
        if node.end_point[0] - node.start_point[0] < LONGEST or not inner:
            break
        if worth(node) > max(map(worth, inner)):  # its first lines, a condition or the like, are meant
            return node.start_point[0], min(inner[0].end_point[0] + 1, node.start_point[0] + LONGEST)
        statements = inner
    statements = [s for s in statements if s.parent == node.parent]
    start = end = next(n for n, s in enumerate(statements) if s == node)
    while _rows(statements[start], statements[end]) < LEAST and end - start + 1 < len(statements):
        start, end = (start - 1, end) if start else (start, end + 1)
    return statements[start].start_point[0], statements[end].end_point[0] + 1


def _rows(first: Node, last: Node) -> int:
    return last.end_point[0] - first.start_point[0] + 1


def _inner(node: Node) -> list[Node]:
    """The statements inside of a statement: of its blocks, and of functions that are written in it."""
    found: list[Node] = []
    pending = list(reversed(node.named_children))
    while pending:
        current = pending.pop()
        if current.type in _BLOCKS:
            found += _listed(current)
        else:
            pending += reversed(current.named_children)
    return found


def _listed(body: Node) -> list[Node]:
    """The statements of a body."""
    children = body.named_children
    return children[0].named_children if [c.type for c in children] == ["statement_list"] else children
