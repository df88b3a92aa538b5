"""Where a name stands as a word in a file: in code, in a string literal or in a comment, by the syntax tree. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import repeat

from tree_sitter import Tree

from repopilot.code.formats.notebook import is_notebook
from repopilot.code.formats.notebook_cells import read_cells
from repopilot.code.languages import grammar, language_in
from repopilot.code.syntax import ancestors, parse
from repopilot.resolve.python_scopes import python_tree
from repopilot.resolve.values import NameSpan, Occurrence, OccurrenceKind

_LINE_END = re.compile(r"\r\n|\r|\n")
_SHOWN = 400
"""Characters kept of a line: some files are a single line."""
_TEXTS = ("string", "char", "heredoc", "jsx_text", "regex", "template_literal")


_Found = tuple[tuple[int, int], OccurrenceKind]


def occurrences_in(name: str, path: str, text: str) -> list[Occurrence]:
    """Where a name stands as a word.

    Args:
        name: the name.
        path: the file.
        text: its text as it is stored.

    Returns:
        The places in order.
    """
    if is_notebook(path):
        return _placed(path, text, sorted(_in_cells(name, text)))
    spans = spans_in(name, text)
    if not spans:
        return []
    language = language_in(path, text)
    is_code = language is not None and grammar(language) is not None
    kinds: Iterable[OccurrenceKind] = _kinds(spans, text, str(language)) if is_code else repeat("document")
    return _placed(path, text, zip(spans, kinds, strict=False))


def _in_cells(name: str, text: str) -> Iterator[_Found]:
    """Where a name stands in a notebook's cells: spans of the notebook as it is stored."""
    code, other = read_cells(text)
    spans = spans_in(name, code.text)
    for (start, end), kind in zip(spans, _kinds(spans, code.text, "python"), strict=True):
        yield code.stored(start, end), kind
    for start, end in spans_in(name, other.text):
        yield other.stored(start, end), "document"


def _placed(path: str, text: str, found: Iterable[_Found]) -> list[Occurrence]:
    """Occurrences with the lines that they stand in."""
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    occurrences = []
    for (start, end), kind in found:
        line = bisect_right(starts, start)
        begin = starts[line - 1]
        source = text[begin : starts[line] if line < len(starts) else len(text)].rstrip("\r\n")
        if len(source) > _SHOWN:
            first = max(0, start - begin - _SHOWN // 2)
            source = source[first : first + _SHOWN]
        occurrences.append(Occurrence(NameSpan(path, start, end), line, source.removeprefix("\ufeff"), kind))
    return occurrences


def spans_in(name: str, text: str) -> list[tuple[int, int]]:
    """Where a name stands as a whole word, in any alphabet."""
    spans = ((found.start(), found.end()) for found in re.finditer(re.escape(name), text))
    return [(a, b) for a, b in spans if not _continues(text[a - 1 : a]) and not _continues(text[b : b + 1])]


def _continues(letter: str) -> bool:
    return f"a{letter}".isidentifier() if letter else False


def _kinds(spans: list[tuple[int, int]], text: str, language: str) -> list[OccurrenceKind]:
    """What each span stands in; code where the text can't be parsed in time."""
    data = text.encode("utf-8", "surrogatepass")
    tree = python_tree(text)[1] if language == "python" else parse(data, language)
    if tree is None:
        return ["code"] * len(spans)
    kinds: list[OccurrenceKind] = []
    at = 0
    byte = 0
    for start, end in spans:
        byte += len(text[at:start].encode("utf-8", "surrogatepass"))
        at = start
        kinds.append(_kind(tree, byte, byte + len(text[start:end].encode("utf-8", "surrogatepass"))))
    return kinds


def _kind(tree: Tree, start: int, end: int) -> OccurrenceKind:
    leaf = tree.root_node.descendant_for_byte_range(start, end)
    for node in (leaf, *ancestors(leaf)) if leaf is not None else ():
        if "comment" in node.type:
            return "comment"
        if node.type.startswith("interpolation") or "substitution" in node.type or node.type.endswith("_expression"):
            return "code"
        # An identifier within an interpolation is code, whatever is around it.
        if node is leaf and node.is_named and node.child_count == 0 and "identifier" in node.type:
            return "code"
        if any(part in node.type for part in _TEXTS) and node.is_named:
            return "text"
    return "code"
