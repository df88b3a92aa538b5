"""Occurrences of names and what they mean. Pure values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

OccurrenceKind = Literal["code", "text", "comment", "document"]
"""Where a name stands: as an identifier of code, within a string, in a comment, or in a file that isn't code."""


class Tree(Protocol):
    """The files of a repository as they are now: a working copy, or a snapshot."""

    def root(self) -> Path:
        """A folder that holds the texts with the drafts. Whoever resolves names only reads it."""
        ...

    def lies_in(self) -> Path:
        """A folder that holds the texts except the drafts; it may hold the texts that they replace."""
        ...

    def searched(self) -> Sequence[str]:
        """The files in which a name is looked for, as POSIX paths from the repository's root: also those that the index
        skips, never secret or ignored ones."""
        ...

    def drafts(self) -> Mapping[str, str | None]:
        """The texts of the files that were edited, None for those that were deleted."""
        ...


def differing(one: Mapping[str, str | None], other: Mapping[str, str | None]) -> set[str]:
    """The paths that have different texts in two sets of drafts, or a draft in only one of them."""
    return {path for path in {*one, *other} if (path in one, one.get(path)) != (path in other, other.get(path))}


class NameSpan(NamedTuple):
    """The characters [start, end) of a file's text, as `Resolver.text` gives it."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a name stands as a word.

    Attributes:
        span: its characters.
        line: of its first character, from 1.
        source: the text of that line.
        kind: what it stands in.
    """

    span: NameSpan
    line: int
    source: str
    kind: OccurrenceKind


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an occurrence means. Several definitions where it may mean any of them; both sets are empty where that can't
    be told.

    Attributes:
        inside: the names of definitions of the repository.
        outside: the files of libraries that define it.
    """

    inside: frozenset[NameSpan] = frozenset()
    outside: frozenset[str] = frozenset()

    @property
    def known(self) -> bool:
        """Whether it is resolved."""
        return bool(self.inside or self.outside)


@dataclass(frozen=True, slots=True)
class Resolved:
    """An occurrence with what it means."""

    occurrence: Occurrence
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the language's type checker or compiler says of a file.

    Attributes:
        path: the file.
        line: from 1.
        message: in its own words.
    """

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Family:
    """The definitions and uses that must keep one name.

    Attributes:
        members: all their places.
        outside: definitions of libraries that a member overrides or is bound to, and that a rename would break.
        unsure: unresolved occurrences that may belong to it.
        kept: names that imports take from outside and bind to the same variable: they stay, and get an alias.
    """

    members: frozenset[NameSpan]
    outside: frozenset[str] = frozenset()
    unsure: tuple[Resolved, ...] = ()
    kept: frozenset[NameSpan] = frozenset()


@dataclass(frozen=True, slots=True)
class Uses:
    """Where a definition is used.

    Attributes:
        sure: occurrences that mean it, by path and line.
        by_name: occurrences that may mean it.
    """

    sure: tuple[Occurrence, ...]
    by_name: tuple[Occurrence, ...]
