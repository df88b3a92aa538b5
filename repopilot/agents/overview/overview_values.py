"""What an overview consists of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from repopilot.project.project_commands import ProjectCommand, Purpose

EntryKind = Literal["command", "main", "server", "package", "script", "facade"]
RegisteredKind = Literal["route", "subcommand"]
"""What code registers with a framework: routes of a web server, commands of a program."""
DataKind = Literal["table", "schema", "settings", "variable", "config"]
"""The kinds of stored data and configuration: `settings` is a class, `variable` an environment variable, `config` a
file that the code names."""


UNSURE = "unsure"
"""The note of a step in a flow whose call is known by name only."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A definition or a file, by its name and place; `line` is 1-based."""

    name: str
    path: str
    line: int
    note: str = ""
    is_deprecated: bool = False


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Where the repository is entered: from a shell (command, main, package, script), by a web server, or by an import
    (facade).

    `name` is what users type or import, `symbol` the definition, '' for a whole file.
    """

    kind: EntryKind
    name: str
    path: str
    line: int
    symbol: str = ""

    @property
    def export_depth(self) -> int:
        """How many levels below its package the imported path is; a scope (`@scope/name`) isn't a level."""
        return 0 if " " in self.name else self.name.count("/") - self.name.startswith("@")  # names of npm packages


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the repository.

    Attributes:
        name: the name of its folder or file.
        paths: the folders and files that it consists of.
        files: all of its files with code.
        summary: what it is, in the words of the repository; '' where they don't say.
        source: where the summary stands.
        symbols: the definitions that others use most, the most used first.
        lines: its lines of code.
        commits: how many of the past commits changed it.
        tests: how many test files use it.
        people: who made most of its commits of the last years; () where that isn't read.
        joined: its files outside the folder or file that it is named after.
    """

    name: str
    paths: tuple[str, ...]
    files: tuple[str, ...]
    summary: str = ""
    source: NamedPlace | None = None
    symbols: tuple[NamedPlace, ...] = ()
    lines: int = 0
    commits: int = 0
    tests: int = 0
    people: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComponentUse:
    """One component uses another: how often, and a place where it does."""

    source: int
    target: int
    count: int
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Flow:
    """A chain of calls, from where the code is entered to where the work is done."""

    title: str
    path: tuple[NamedPlace, ...]


@dataclass(frozen=True, slots=True)
class DataPlace:
    """A table, a schema, a variable, a route or the like: where it is first declared or read, how often it is, and
    each place, by path and line."""

    kind: DataKind | RegisteredKind
    name: str
    path: str
    line: int
    count: int = 1
    places: tuple[tuple[str, int], ...] = ()

    def within(self, files: Collection[str]) -> DataPlace | None:
        """The same with its first place in some files, None where it has none there."""
        every = self.places or ((self.path, self.line),)
        return next((replace(self, path=path, line=line) for path, line in every if path in files), None)


@dataclass(frozen=True, slots=True)
class Overview:
    """What a repository is, computed from its index.

    Attributes:
        name, commit: those of the repository.
        purpose: the sentence that says what it is, with its place in `purpose_source`; '' where none does.
        languages: share of the code by language, the largest first.
        lines, files: how much code is indexed, tests included; how much of everything where there is no code.
        licence: as declared, else as its text is known.
        entry_points, components, uses, flows: see their classes. `uses` refer to components by number.
        commands: the best command for each purpose.
        cycles: components that use each other, directly or by way of others, each group sorted.
        reading: where to start, in order, each with why.
        terms: the names that everyone must know.
        data: tables, schemas, settings, variables of the environment and configuration files; routes and subcommands.
        recent: the newest commits, as (short id, subject); () while the history isn't read.
        hot: the files that change most often.
        last_commit: when the newest commit was made, in seconds since the epoch; 0 while the history isn't read.
        year: how many commits were made in the year up to it, without merges.
    """

    name: str
    commit: str
    purpose: str
    purpose_source: NamedPlace | None
    languages: tuple[tuple[str, float], ...]
    lines: int
    files: int
    licence: str
    entry_points: tuple[EntryPoint, ...]
    components: tuple[Component, ...]
    uses: tuple[ComponentUse, ...]
    cycles: tuple[tuple[int, ...], ...]
    commands: Mapping[Purpose, ProjectCommand]
    flows: tuple[Flow, ...]
    reading: tuple[NamedPlace, ...]
    terms: tuple[NamedPlace, ...]
    data: tuple[DataPlace, ...] = ()
    recent: tuple[tuple[str, str], ...] = ()
    hot: tuple[tuple[str, int], ...] = ()
    last_commit: int = 0
    year: int = 0
