"""What is read from one file, as values. Kept apart from the parsers, so that an index is read without loading them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, NamedTuple

from repopilot.types import Chunk, Reference, Symbol

Declared = Literal["prisma", "sql", "rails", "django", "sqlalchemy"]
Names = tuple[tuple[str, str], ...]
LEAF_KINDS = frozenset({"variable", "field", "declaration", "macro"})
CLASS_KINDS = frozenset({"class", "interface", "struct", "trait", "enum", "impl", "module"})


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol with its byte range and that of its name (ends exclusive)."""

    symbol: Symbol
    start_byte: int
    end_byte: int
    name_byte: int
    name_end: int

    @property
    def is_class(self) -> bool:
        """Whether it is a class or the like, whose inner definitions are its members."""
        return self.symbol.kind in CLASS_KINDS

    @property
    def is_leaf(self) -> bool:
        """Whether it has no inner definitions."""
        return self.symbol.kind in LEAF_KINDS


class Use(NamedTuple):
    """A use of a name: a `Reference` without its path, small enough to keep by the million.

    `receiver` is what precedes the name (`self`, `os.path`; `Client()` for the result of a call, or a variable set to
    it), `)` where it can't be told, '' for none.
    """

    name: str
    line: int
    kind: str
    scope: str
    receiver: str


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module. `module` is as written, without quotes (`.views`, `./app`, `crate::db`, `java.util.List`).

    `names` pairs each imported name with the local name it is bound to; `*` stands for all of them. `alias` is the
    local name of the module itself, '' for none. `line` is 1-based.
    """

    module: str
    names: Names
    line: int
    alias: str = ""

    @property
    def bound(self) -> tuple[str, ...]:
        """The names that the import binds in its file."""
        locals_ = tuple(local for _, local in self.names if local != "*")
        return (*locals_, self.alias) if self.alias else locals_


class PassedValue(NamedTuple):
    """A value that a call passes to a parameter, or that a method keeps as an attribute of its object.

    `name`, `receiver` and `scope` are those of the call, see `Use`; `name` is '' for an attribute. `target` is the
    position or the name of the parameter, or the name of the attribute. `value` is `self`, an attribute of it, a
    parameter of the scope, or `Client()` for an object of a class.
    """

    name: str
    receiver: str
    scope: str
    target: str | int
    value: str


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table.

    `line` is 1-based; `model` is the qualified name of the class or Prisma model that maps it, '' for plain SQL;
    `refers` names the tables or models that its foreign keys refer to.
    """

    name: str
    columns: tuple[str, ...]
    path: str
    line: int
    declared: Declared
    model: str = ""
    refers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileAnalysis:
    """What was found in the text of one file. Picklable.

    `language` is the one it was parsed as. `parsed` is False where there is a grammar but the text has syntax errors or
    took too long; `notes` tell which. `uses` is the compact form of `references`; a use of kind `table` is a table
    named in SQL. `passed` are the values that tell types where the language declares none. `tables` are those the file
    declares; `package` is its package or namespace, '' for none. `lines` is the number of lines.
    """

    path: str
    language: str
    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    uses: tuple[Use, ...] = ()
    passed: tuple[PassedValue, ...] = ()
    imports: tuple[Import, ...] = ()
    tables: tuple[Table, ...] = ()
    package: str = ""
    parsed: bool = True
    lines: int = 0
    notes: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[Reference, ...]:
        """Uses and imported names as references, ordered by line."""
        imported = [
            Reference(name, self.path, i.line, "import")
            for i in self.imports
            for name in ([n for n, _ in i.names if n != "*"] or [_last_part(i.module)])
        ]
        used = [Reference(u.name, self.path, u.line, u.kind, u.scope) for u in self.uses if u.kind != "table"]
        return tuple(sorted(imported + used, key=lambda r: r.line))


def defined_in(chunk: Chunk, symbols: Sequence[Symbol]) -> list[Symbol]:
    """The symbols whose definition begins inside a chunk.

    Args:
        chunk: the chunk.
        symbols: those of the chunk's file, ordered by first line (as in `FileAnalysis`).
    """
    first = bisect_left(symbols, chunk.start_line, key=lambda s: s.start_line)
    return list(takewhile(lambda s: s.start_line <= chunk.end_line, symbols[first:]))


def _last_part(module: str) -> str:
    for separator in ("::", "/", "\\", "."):
        if separator in module:
            return module.rstrip(separator).rsplit(separator, 1)[-1] or module
    return module
