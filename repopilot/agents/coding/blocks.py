"""SEARCH/REPLACE blocks: a grammar and a schema that constrain a reply to them, and their parser. Pure.

The format is Aider's (https://aider.chat/docs/more/edit-formats.html), which code models know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from repopilot.agents.coding.excerpts import LineExcerpt
from repopilot.code.formats.data_formats import from_json

MOST_BLOCKS = 3
_LONGEST_SEARCH = 6
"""Lines of the text that is replaced."""
_LONGEST_REPLACE = 24
"""Lines of the text that replaces it."""
_LONGEST_LINE = 160
"""Characters of a new line."""
_SEARCH = "<<<<<<< SEARCH"
_DIVIDER = "======="
_END = ">>>>>>> REPLACE"
_BLOCK = re.compile(rf"^(.+)\n{_SEARCH}\n((?:.*\n)*?){_DIVIDER}\n((?:.*\n)*?){_END}$", re.M)


@dataclass(frozen=True, slots=True)
class SearchReplaceBlock:
    """Lines of a file and their replacement."""

    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]


def read_blocks(reply: str) -> list[SearchReplaceBlock]:
    """The blocks of a reply that are complete, in their order."""
    found = _BLOCK.finditer(reply)
    return [SearchReplaceBlock(m[1].strip(), tuple(m[2].split("\n")[:-1]), tuple(m[3].split("\n")[:-1])) for m in found]


def is_complete(reply: str) -> bool:
    """Whether a reply is complete: it has the most blocks allowed, or the last one changes nothing. A model that starts
    to copy lines unchanged keeps doing so."""
    if not reply.rstrip("\n").endswith(_END):
        return False
    blocks = read_blocks(reply)
    return len(blocks) >= MOST_BLOCKS or (bool(blocks) and blocks[-1].old == blocks[-1].new)


def block_grammar(excerpts: Sequence[LineExcerpt]) -> str:
    """A grammar in GBNF for a few blocks whose SEARCH lines are neighbouring lines of the excerpts.

    Args:
        excerpts: at least one, each with a line that is not blank.
    """
    rules = [
        f"text ::= [^<=>\\n\\r] [^\\n\\r]{{0,{_LONGEST_LINE}}}",
        'new ::= text? "\\n"',
    ]
    heads = []
    for number, excerpt in enumerate(excerpts):
        rules += [f'l{number}x{at} ::= {_literal(line)} "\\n"' for at, line in enumerate(excerpt.lines)]
        starts = [_from(number, at, excerpt) for at, line in enumerate(excerpt.lines) if line.strip()]
        rules.append(f"s{number} ::= " + " | ".join(starts))
        head = _literal(f"{excerpt.path}\n{_SEARCH}\n")
        divider = _literal(f"{_DIVIDER}\n")
        end = _literal(f"{_END}\n")
        rules.append(f"b{number} ::= {head} s{number} {divider} new{{0,{_LONGEST_REPLACE}}} {end}")
        heads.append(f"b{number}")
    root = f"root ::= block{' block?' * (MOST_BLOCKS - 1)}"
    return "\n".join([root, "block ::= " + " | ".join(heads), *rules]) + "\n"


def _from(number: int, at: int, excerpt: LineExcerpt) -> str:
    """A line and those that follow it, up to _LONGEST_SEARCH lines in all."""
    rest = ""
    for other in range(min(len(excerpt.lines), at + _LONGEST_SEARCH) - 1, at, -1):
        rest = f"( l{number}x{other} {rest})? "
    return f"l{number}x{at} {rest}".rstrip()


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + '"'


def block_schema(excerpts: Sequence[LineExcerpt]) -> dict[str, Any]:
    """The JSON schema of the same blocks.

    Args:
        excerpts: as for `block_grammar`.
    """
    lines = [line for e in excerpts for line in e.lines if line.strip()]
    item = {
        "path": {"type": "string", "enum": list(dict.fromkeys(e.path for e in excerpts))},
        "search": {"type": "string", "enum": list(dict.fromkeys(lines))},
        "replace": {"type": "string"},
    }
    block = {"type": "object", "properties": item, "required": list(item), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"blocks": {"type": "array", "items": block, "minItems": 1, "maxItems": MOST_BLOCKS}},
        "required": ["blocks"],
        "additionalProperties": False,
    }


def blocks_of_json(reply: str) -> list[SearchReplaceBlock]:
    """The blocks in a reply that follows `block_schema`; [] for any other text."""
    try:
        return [
            SearchReplaceBlock(
                b["path"], (b["search"],), tuple(b["replace"].rstrip("\n").split("\n")) if b["replace"] else ()
            )
            for b in from_json(reply)["blocks"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
