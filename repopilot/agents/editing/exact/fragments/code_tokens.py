"""Code as tokens, so that fragments are compared whatever their spaces, line ends and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import SourceText

_TOKEN = re.compile(
    r"(?P<string>[rRbBuUfF]{0,2}(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|\"(?:[^\"\\\n]|\\.)*\"|"
    r"'(?:[^'\\\n]|\\.)*'))|(?P<word>[^\W\d][\w$]*|\$[\w$]*)|(?P<number>\.?\d(?:[\w.]|[eE][-+])*)|"
    r"(?P<mark>\*\*=|//=|>>>=|>>=|<<=|===|!==|\.\.\.|\.\.=|&&=|\|\|=|\?\?=|->|=>|:=|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\*\*|//|<<|>>|"
    r"\+=|-=|\*=|/=|%=|&=|\|=|\^=|@=|::|\+\+|--|\S)",
    re.S,
)
_STRINGS = frozenset(
    ("string", "string_literal", "interpreted_string_literal", "raw_string_literal", "char_literal", "rune_literal",
     "character_literal", "regex")
)  # fmt: skip


class CodeToken(NamedTuple):
    """A token: its text as it is compared, its bytes, and its leaf of the syntax tree."""

    text: str
    start: int
    end: int
    node: Node | None = None

    @property
    def is_word(self) -> bool:
        """Whether it is a name or keyword."""
        return self.text.isidentifier() or self.text.startswith("$")


def fragment_tokens(text: str) -> list[CodeToken]:
    """The tokens of a fragment of code."""
    return [CodeToken(_compared(m[0]), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def _compared(text: str) -> str:
    """A token without what doesn't matter: the quotes of a plain string."""
    match = re.fullmatch(r"(?P<quote>[\"'])(?P<body>[^\"'\\]*)(?P=quote)", text, re.S)
    return f"\N{APOSTROPHE}{match['body']}\N{APOSTROPHE}" if match else text


def source_tokens(source: SourceText, start: int, end: int) -> list[CodeToken]:
    """The tokens of a range of a parsed file, without comments."""
    return list(_leaves(source, source.root, start, end)) if source.root is not None else []


def _leaves(source: SourceText, root: Node, start: int, end: int) -> Iterator[CodeToken]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.end_byte <= start or node.start_byte >= end or "comment" in node.type:
            continue
        plain = node.type in _STRINGS and not any(c.type == "interpolation" for c in node.children)
        if plain:
            if start <= node.start_byte and node.end_byte <= end:
                yield CodeToken(_compared(source.slice(node)), node.start_byte, node.end_byte, node)
        elif node.child_count:
            pending.extend(reversed(node.children))
        elif start <= node.start_byte and node.end_byte <= end:
            yield from _words(source, node)


def _words(source: SourceText, leaf: Node) -> Iterator[CodeToken]:
    """A leaf as tokens: some grammars take `not in` for one."""
    text = source.slice(leaf)
    if leaf.type in ("string_content", "string_start", "string_end", "string_fragment", "escape_sequence"):
        yield CodeToken(text, leaf.start_byte, leaf.end_byte, leaf)
        return
    for match in _TOKEN.finditer(text):
        first = leaf.start_byte + len(text[: match.start()].encode("utf-8"))
        yield CodeToken(match[0], first, first + len(match[0].encode("utf-8")), leaf)


def occurrences(wanted: Sequence[CodeToken], tokens: Sequence[CodeToken]) -> list[Sequence[CodeToken]]:
    """Where tokens stand one behind the other, without overlaps.

    A fragment that begins with a name doesn't begin in the middle of a dotted one, nor is a single name that of an
    argument, unless it stands only there.
    """
    texts = [t.text for t in wanted]
    found: list[Sequence[CodeToken]] = []
    inside: list[Sequence[CodeToken]] = []
    at = 0
    while texts and at + len(texts) <= len(tokens):
        if [t.text for t in tokens[at : at + len(texts)]] != texts:
            at += 1
            continue
        here = tokens[at : at + len(texts)]
        (inside if _continues(here, tokens[at - 1] if at else None) else found).append(here)
        at += len(texts)
    return found or inside


def _continues(here: Sequence[CodeToken], before: CodeToken | None) -> bool:
    first = here[0]
    if not first.is_word:
        return False
    if before is not None and before.text in (".", "?.", "::"):
        return True
    parent = first.node.parent if first.node is not None else None
    label = parent.child_by_field_name("name") if parent is not None and parent.type == "keyword_argument" else None
    return len(here) == 1 and label is not None and first.node is not None and label.id == first.node.id
