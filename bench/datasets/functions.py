"""The functions of a file, by its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot.code.languages import language_of
from repopilot.code.symbols import definitions
from repopilot.code.syntax import parse, tags
from repopilot.types import Symbol

PARSE_SECONDS = 10.0
_FUNCTIONS = ("function", "method", "constructor")


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method with its lines, 1-based and inclusive. `qualified` has its classes (`Class.method`), `leaf`
    says that no other function is inside it."""

    path: str
    name: str
    qualified: str
    first: int
    last: int
    text: str
    leaf: bool


def functions_in(path: str, text: str) -> list[Function]:
    """Every function of a file, in the order of the text; none of a language without a grammar."""
    lines = text.split("\n")
    found = sorted((s for s in symbols(path, text) if s.kind in _FUNCTIONS), key=lambda s: (s.start_line, -s.end_line))
    return [
        Function(path, s.name, s.qualified, s.start_line, s.end_line, _text(lines, s), not _holds(s, following))
        for s, following in zip(found, [*found[1:], None], strict=False)
    ]


def _holds(symbol: Symbol, following: Symbol | None) -> bool:
    return following is not None and following.start_line <= symbol.end_line


def _text(lines: Sequence[str], symbol: Symbol) -> str:
    return "\n".join(lines[symbol.start_line - 1 : symbol.end_line])


def defined(path: str, text: str) -> list[int]:
    """The first lines of all definitions of a file, each once."""
    return sorted({symbol.start_line for symbol in symbols(path, text)})


def symbols(path: str, text: str) -> Iterator[Symbol]:
    """Every definition of a file."""
    language = language_of(path) or ""
    queries = tags(language) if language else None
    data = text.encode("utf-8", "replace")
    tree = parse(data, language, PARSE_SECONDS) if queries else None
    if tree is not None and queries is not None:
        yield from (found.symbol for found in definitions(tree.root_node, queries, path, data))
