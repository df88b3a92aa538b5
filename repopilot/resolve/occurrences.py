"""Where a name stands as a word in a text, told apart by the syntax tree into code, text and comment. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import repeat

from tree_sitter import Node, Tree

from repopilot.code.languages import grammar, language_of, language_of_script
from repopilot.code.syntax import parse
from repopilot.resolve.values import NameSpan, Occurrence, OccurrenceKind

_PARSE_S = 5.0
_LINE_END = re.compile(r"\r\n|\r|\n")
_SHOWN = 400
"""Characters of a line: some are the whole file."""
_TEXTS = ("string", "char", "heredoc", "jsx_text", "regex", "template_literal")


def language_in(path: str, text: str) -> str | None:
    """The language of a file by its name, or by the program that its first line names; None for none."""
    return language_of(path) or language_of_script(text[:200].split("\n", 1)[0])


def occurrences_in(name: str, path: str, text: str) -> list[Occurrence]:
    """Where a name stands as a word.

    Args:
        name: the name.
        path: the file.
        text: its text as it is stored.

    Returns:
        The places in order.
    """
    spans = list(_words(name, text))
    if not spans:
        return []
    language = language_in(path, text)
    is_code = language is not None and grammar(language) is not None
    kinds: Iterable[OccurrenceKind] = _kinds(spans, text, str(language)) if is_code else repeat("document", len(spans))
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    found = []
    for (start, end), kind in zip(spans, kinds, strict=True):
        line = bisect_right(starts, start)
        begin = starts[line - 1]
        source = text[begin : starts[line] if line < len(starts) else len(text)].rstrip("\r\n")
        if len(source) > _SHOWN:
            first = max(0, start - begin - _SHOWN // 2)
            source = source[first : first + _SHOWN]
        found.append(Occurrence(NameSpan(path, start, end), line, source.removeprefix("\ufeff"), kind))
    return found


def _words(name: str, text: str) -> list[tuple[int, int]]:
    """Where a name stands between what can't be part of a name, in any alphabet."""
    spans = ((found.start(), found.end()) for found in re.finditer(re.escape(name), text))
    return [(a, b) for a, b in spans if not _continues(text[a - 1 : a]) and not _continues(text[b : b + 1])]


def _continues(letter: str) -> bool:
    return f"a{letter}".isidentifier() if letter else False


def _kinds(spans: list[tuple[int, int]], text: str, language: str) -> list[OccurrenceKind]:
    """What each span stands in; code where the text can't be parsed in time."""
    data = text.encode("utf-8", "surrogatepass")
    tree = parse(data, language, _PARSE_S)
    if tree is None:
        return ["code"] * len(spans)
    kinds: list[OccurrenceKind] = []
    at, byte = 0, 0
    for start, end in spans:
        byte += len(text[at:start].encode("utf-8", "surrogatepass"))
        at = start
        kinds.append(_kind(tree, byte, byte + len(text[start:end].encode("utf-8", "surrogatepass"))))
    return kinds


def _kind(tree: Tree, start: int, end: int) -> OccurrenceKind:
    node: Node | None = tree.root_node.descendant_for_byte_range(start, end)
    innermost = True
    while node is not None:
        if "comment" in node.type:
            return "comment"
        if node.type.startswith("interpolation") or "substitution" in node.type or node.type.endswith("_expression"):
            return "code"
        # An identifier within an interpolation is code, whatever is around it.
        if innermost and node.is_named and node.child_count == 0 and "identifier" in node.type:
            return "code"
        if any(part in node.type for part in _TEXTS) and node.is_named:
            return "text"
        node, innermost = node.parent, False
    return "code"
