"""Finds where a name stands in the code, as nodes of syntax trees, and what is done to it there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from tree_sitter import Node

from repopilot.agents.explain.forms.known_symbols import program_first
from repopilot.agents.explain.forms.syntax.syntax_nodes import ParsedFile, first_line, parents, parsed_file
from repopilot.code.languages import file_kind, grammar, language_of
from repopilot.index.store import Index
from repopilot.index.tokens import expand, words

MOST_BYTES = 300_000
"""Bytes of the files that are parsed for one question. A name that stands in more code is too common to be asked of."""

_NOT_CODE = ("comment", "line_comment", "block_comment")
_STRINGS = ("string", "string_content", "string_fragment", "string_literal", "interpreted_string_literal", "raw_string")
_CONDITIONAL = {
    "if_statement": "condition",
    "elif_clause": "condition",
    "while_statement": "condition",
    "conditional_expression": "",
    "ternary_expression": "condition",
    "assert_statement": "",
    "if_expression": "condition",
    "while_expression": "condition",
    "match_expression": "value",
    "match_statement": "subject",
    "switch_statement": "value",
    "expression_switch_statement": "value",
    "switch_expression": "condition",
    "if": "condition",
    "unless": "condition",
    "elsif": "condition",
    "while": "condition",
    "if_modifier": "condition",
    "unless_modifier": "condition",
    "case": "value",
    "conditional": "condition",
    "do_statement": "condition",
    "for_statement": "condition",
}
"""Nodes with a condition, and the field that holds it; all of the node where it is ''."""
_CHECKING = re.compile(r"(?:^|[._:])(?:is_?)?(?:valid|check|verif|ensure|assert|require|guard|enforce)", re.I)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name where it stands in code: its node and file."""

    file: ParsedFile
    node: Node

    @property
    def line(self) -> int:
        """The 1-based line."""
        return first_line(self.node)


def files_with(index: Index, name: str) -> list[str]:
    """The files of code in which a name stands, the program's own where there are any.

    Args:
        index: the repository.
        name: an identifier.
    """
    lexical = index.lexical
    tokens = [lexical.tokens.get(token) for word in words(name) for token in expand(word)[:1]]
    known = [token for token in tokens if token is not None]
    if not known or len(known) < len(tokens):
        return []
    rows = lexical.fields["body"].of(known[0])[0]
    for token in known[1:]:
        rows = np.intersect1d(rows, lexical.fields["body"].of(token)[0], assume_unique=True)
    files = dict.fromkeys(lexical.files[file] for file in lexical.file_of[rows].tolist())
    parsed = [path for path in files if file_kind(path) == "code" and grammar(language_of(path) or "")]
    return program_first(parsed, lambda path: path)


def occurrences(index: Index, name: str, paths: Iterable[str]) -> list[Occurrence] | None:
    """Find where a name stands in code, and not in a comment or a text.

    Args:
        index: the repository.
        name: an identifier; also found as a whole string (a key).
        paths: the files.

    Returns:
        The places in the order of paths and lines; None where there is more code than can be read at once.
    """
    pattern = re.compile(rb"(?<![\w$-])" + re.escape(name.encode()) + rb"(?![\w$])")
    found: list[Occurrence] = []
    total = 0
    for path in paths:
        text = index.text(path) or ""
        if not re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text):
            continue
        total += len(text)
        file = parsed_file(index, path) if total <= MOST_BYTES else None
        if file is None:
            return None
        found += _in_file(file, pattern)
    return found


def _in_file(file: ParsedFile, pattern: re.Pattern[bytes]) -> Iterator[Occurrence]:
    for match in pattern.finditer(file.data):
        node = file.root.named_descendant_for_byte_range(match.start(), match.end())
        if node is None or node.type in _NOT_CODE:
            continue
        size = match.end() - match.start()
        if node.end_byte - node.start_byte == size or (node.type in _STRINGS and _is_key(file, node, size)):
            yield Occurrence(file, node)


def _is_key(file: ParsedFile, node: Node, size: int) -> bool:
    """Whether a string consists of the name, up to its quotes and dashes."""
    return len(file.text(node).strip("\"'`-:").encode()) == size


def is_checked(found: Occurrence) -> bool:
    """Whether a name stands in a condition, or is passed to something that checks."""
    for parent, child in parents(found.node):
        if _is_condition(parent, child) or _is_checking_call(found.file, parent, child):
            return True
        if parent.type.endswith(("_declaration", "_definition", "_item", "block")) or parent.type == "method":
            return False
    return False


def is_raised(found: Occurrence) -> bool:
    """Whether a name stands in a statement that raises, throws or panics, or returns an error."""
    for parent, _ in parents(found.node):
        if parent.type in ("raise_statement", "throw_statement", "throw_expression"):
            return True
        if parent.type == "return_statement":
            return found.file.language == "go"
        if parent.type in ("call_expression", "call") and re.match(r"Err\(|raise |fail ", found.file.text(parent)):
            return True
        if parent.type.endswith("_statement") and parent.type != "expression_statement":
            return False
    return False


def _is_condition(parent: Node, child: Node) -> bool:
    field = _CONDITIONAL.get(parent.type)
    if field is None:
        return False
    held = parent.child_by_field_name(field) if field else parent
    if parent.type == "conditional_expression" and len(parent.named_children) == 3:
        held = parent.child_by_field_name("condition") or parent.named_children[1]
    return held is not None and held.start_byte <= child.start_byte and child.end_byte <= held.end_byte


def _is_checking_call(file: ParsedFile, parent: Node, child: Node) -> bool:
    if parent.type not in ("call", "call_expression", "method_invocation", "macro_invocation"):
        return False
    called = next((n for f in ("function", "name", "method", "macro") if (n := parent.child_by_field_name(f))), None)
    return called is not None and called.id != child.id and bool(_CHECKING.search(file.text(called)))


def distinct_lines(found: Sequence[Occurrence]) -> list[Occurrence]:
    """The first occurrence of each line."""
    first: dict[tuple[str, int], Occurrence] = {}
    for occurrence in found:
        first.setdefault((occurrence.file.path, occurrence.line), occurrence)
    return list(first.values())
