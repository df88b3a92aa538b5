"""Tree-sitter: syntax trees, parsed within a time limit, and the compiled queries of each language."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal

from tree_sitter import Language, Node, Parser, Query, Tree
from tree_sitter_language_pack import get_language

from repopilot.code.languages import TYPESCRIPT, grammar

PARSE_S = 5.0
"""The usual time limit of one parse."""
_SLICE = 1 << 16
_FILES = {"javascript": ("javascript", "jsx"), "tsx": ("typescript", "jsx")}
_LEVELS = re.compile(rb"^(?:[ \t]|[-?:](?=\s))+", re.M)
_DEEPEST = 200
"""The most columns of indentation; each column may be a level."""
_SIGNATURE = re.compile(rb"^([ \t]*)[ \t](?=<)", re.M)
"""The indentation before a generic signature of TypeScript, which the grammar takes for a continuation of the line
above."""
_TYPES_ONLY = re.compile(rb"^(export[ \t]+)type(?=[ \t]*\*)", re.M)
"""TypeScript's `export type * from`, in which the grammar doesn't know `type`."""
_SECTIONS = ("definitions", "references", "imports")


@dataclass(frozen=True, slots=True)
class Tags:
    """The queries of a language, from `tags/<language>.scm`; captures of references and imports are named by kind."""

    definitions: Query
    references: Query
    imports: Query


def parse(data: bytes, language: str, seconds: float = PARSE_S) -> Tree | None:
    """Parse a text.

    Args:
        data: the text as UTF-8.
        language: as `languages.language_of` names it.
        seconds: limit of CPU time.

    Returns:
        The syntax tree, or None when the language has no grammar or parsing takes longer.
    """
    grammar_of_language = _grammar(language)
    if grammar_of_language is None:
        return None
    tree = _parsed(data, grammar_of_language, seconds)
    if language not in TYPESCRIPT or tree is None or not tree.root_node.has_error:
        return tree
    spelt = _TYPES_ONLY.sub(rb"\1    ", _SIGNATURE.sub(rb"\1;", data))
    known = _parsed(spelt, grammar_of_language, seconds) if spelt != data else None
    return known if known is not None and not known.root_node.has_error else tree


def parse_data(data: bytes, language: Literal["toml", "json", "yaml"], seconds: float) -> Tree | None:
    """Parse a configuration file, whose language has a grammar but no definitions.

    Args:
        data: the text as UTF-8.
        language: its language.
        seconds: limit of CPU time.

    Returns:
        The syntax tree; None where parsing takes longer, or for YAML that is indented so deeply that its scanner would
        write past its buffer.
    """
    if language == "yaml" and max((len(found[0]) for found in _LEVELS.finditer(data)), default=0) > _DEEPEST:
        return None
    return _parsed(data, get_language(language), seconds)


def _parsed(data: bytes, grammar_of_language: Language, seconds: float) -> Tree | None:
    # A new parser each time: two threads using one at once crash the process.
    parser = Parser(grammar_of_language)
    # CPU time, which doesn't grow when the machine is busy.
    deadline = time.thread_time() + seconds

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + _SLICE]

    def timed_out(_offset: int, _has_error: bool) -> bool:
        return time.thread_time() > deadline

    try:
        # The time limit only works when the source is read through a callback.
        return parser.parse(read, progress_callback=timed_out)
    except ValueError:  # raised by py-tree-sitter when the callback stops it
        return None


@lru_cache(maxsize=32)
def tags(language: str) -> Tags | None:
    """The compiled queries of a language, None where it has none."""
    name = grammar(language)
    if name is None:
        return None
    folder = resources.files("repopilot.code").joinpath("tags")
    files = _FILES.get(language, (language,))
    parts = _sections("\n".join(folder.joinpath(f"{file}.scm").read_text(encoding="utf-8") for file in files))
    compiled = get_language(name)  # type: ignore[arg-type]  # it is typed for literal names only
    return Tags(*(Query(compiled, parts.get(section, "")) for section in _SECTIONS))


def ancestors(node: Node) -> Iterator[Node]:
    """The nodes around a node, the innermost first."""
    current = node.parent
    while current is not None:
        yield current
        current = current.parent


def text_of(node: Node | None, data: bytes) -> str:
    """The source text of a node, '' for none. (`node.text` would use the read callback, which is slow.)"""
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""


def _sections(text: str) -> dict[str, str]:
    """The parts of a query file, by the name on the line `;; name` above each."""
    parts: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        if line.startswith(";; "):
            current = line[3:].strip()
        else:
            parts[current] = parts.get(current, "") + line + "\n"
    return parts


@lru_cache(maxsize=32)
def _grammar(language: str) -> Language | None:
    name = grammar(language)
    return get_language(name) if name else None  # type: ignore[arg-type]  # it is typed for literal names only
