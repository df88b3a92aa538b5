"""What a Python project's tests need, from everything that the project declares. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from repopilot.project.declaration_parts import (
    DeclarationParts,
    Read,
    canonical,
    is_for_development,
    is_for_tests,
    parsed,
)
from repopilot.project.lock_files import LOCK_FILES, locked_versions
from repopilot.project.project_version import UNKNOWN_VERSION, built_files, declared_version
from repopilot.project.pyproject_tables import read_pyproject
from repopilot.project.requirement_files import RequirementFile, read_requirement_lines
from repopilot.project.setup_files import read_setup_cfg, read_setup_py
from repopilot.project.tox import read_tox

_PACKAGING = {"pyproject.toml": read_pyproject, "setup.cfg": read_setup_cfg, "setup.py": read_setup_py}
_READERS = {**_PACKAGING, "tox.ini": read_tox}
_TEST_FILES = tuple(
    pattern.format(name)
    for name in ("test", "tests", "testing")
    for pattern in (
        "requirements-{}.txt",
        "requirements_{}.txt",
        "{}-requirements.txt",
        "{}_requirements.txt",
        "requirements/{}.txt",
        "requirements/requirements-{}.txt",
        "{}/requirements.txt",
        "requirements.{}.txt",
    )
)
_DEVELOPMENT_FILES = tuple(
    pattern.format(name)
    for name in ("dev", "develop", "development", "ci")
    for pattern in (
        "requirements-{}.txt",
        "requirements_{}.txt",
        "{}-requirements.txt",
        "{}_requirements.txt",
        "requirements/{}.txt",
        "requirements.{}.txt",
    )
)
_PLAIN_FILES = ("requirements.txt", "requirements/base.txt", "requirements/main.txt")


@dataclass(frozen=True, slots=True)
class ProjectDeclaration:
    """What a Python project declares, as far as its tests need it.

    Attributes:
        name, version: of the package; '' where they are not stated.
        python: the bounds on Python's version, '' for none.
        requirements: those of the package and of its tests, as PEP 508 writes them.
        constraints: `name==version` of lock files and constraints of requirements files.
        elsewhere: requirements that no index has: repositories, addresses, folders.
        entry_points: `name → place`, by group.
        files: the paths of the files that declare all this.
        built: texts by path of the files that a build would write into the source.
        as_of: the time of its commit, from which versions are taken where none are stated; '' for the newest.
    """

    name: str = ""
    version: str = ""
    python: str = ""
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    entry_points: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    built: Mapping[str, str] = field(default_factory=dict)
    as_of: str = ""


def read_project(read: Read) -> ProjectDeclaration:
    """What the project at the top of a repository declares.

    Args:
        read: gives the texts of the repository's files.

    Returns:
        The project; without any file that declares something, an empty one.
    """
    seen: dict[str, bool] = {}

    def noting(path: str) -> str | None:
        text = read(path)
        seen[path] = text is not None
        return text

    parts = {path: reader(text) for path, reader in _READERS.items() if (text := noting(path)) is not None}
    name = _first(part.name for part in parts.values())
    chosen = read_requirement_lines(tuple(_chosen(parts, noting)), noting)
    requirements, elsewhere = _with_own_extras(name, chosen, parts, noting)
    version = _first(part.version for part in parts.values()) or (declared_version(name, read) if name else "")
    locked = {
        package: version
        for path in reversed(LOCK_FILES)
        if (text := noting(path)) is not None
        for package, version in locked_versions(text).items()
    }
    pins = {f"{package}=={version}" for package, version in locked.items() if package != canonical(name)}
    return ProjectDeclaration(
        name=name,
        version=version,
        python=_first(part.python for part in parts.values()),
        requirements=requirements,
        constraints=(*chosen.constraints, *sorted(pins)),
        elsewhere=elsewhere,
        entry_points=_entry_points(parts),
        files=tuple(path for path, exists in seen.items() if exists),
        built=built_files(version or UNKNOWN_VERSION, read),
    )


def _first(values: Iterator[str]) -> str:
    return next((value for value in values if value), "")


def _chosen(parts: Mapping[str, DeclarationParts], read: Read) -> Iterator[str]:
    """Lines as in a requirements file: what the package needs, then what its tests need, and where these don't name
    pytest, what its developers need.

    None of the developers' are left out: tests may import what a type checker or a formatter brings along.
    """
    runtime = [line for path in _PACKAGING if path in parts for line in parts[path].runtime]
    plain = [f"-r {path}" for path in _PLAIN_FILES if read(path) is not None]
    yield from runtime or plain
    asked = frozenset(canonical(name) for part in parts.values() for name in part.wanted)
    tests = [*_groups(parts, is_for_tests, asked), *(f"-r {path}" for path in _TEST_FILES if read(path) is not None)]
    yield from tests
    if not _names_pytest(tests, read):
        development = [
            *_groups(parts, is_for_development),
            *(f"-r {path}" for path in _DEVELOPMENT_FILES if read(path) is not None),
        ]
        yield from development
        if not _names_pytest(development, read):
            yield from plain


def _groups(
    parts: Mapping[str, DeclarationParts], wanted: Callable[[str], bool], asked: frozenset[str] = frozenset()
) -> Iterator[str]:
    """The requirements of groups and extras that are wanted by their names, or asked for."""
    for part in parts.values():
        for groups in (part.extras, part.groups):
            for name, group in groups.items():
                if wanted(name) or canonical(name) in asked:
                    yield from group


def _names_pytest(rows: list[str], read: Read) -> bool:
    found = read_requirement_lines(tuple(rows), read).requirements
    return any((requirement := parsed(row)) is not None and canonical(requirement.name) == "pytest" for row in found)


def _with_own_extras(
    name: str, own: RequirementFile, parts: Mapping[str, DeclarationParts], read: Read
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The requirements, with the project's own extras in place of the project itself; and those that no index has."""
    extras = {canonical(extra): group for part in parts.values() for extra, group in part.extras.items()}
    elsewhere: dict[str, None] = {}
    requirements: dict[str, None] = {}
    done: set[str] = set()
    waiting = [own]
    for file in waiting:  # grows while it is read
        elsewhere |= dict.fromkeys(file.elsewhere)
        asked = list(file.extras)
        for line in file.requirements:
            requirement = parsed(line)
            if requirement and name and canonical(requirement.name) == canonical(name):
                asked += requirement.extras
            elif requirement:
                requirements[line] = None
        for extra in map(canonical, asked):
            if extra not in done:
                done.add(extra)
                waiting.append(read_requirement_lines(extras.get(extra, ()), read))
    return tuple(requirements), tuple(elsewhere)


def _entry_points(parts: Mapping[str, DeclarationParts]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for part in reversed(list(parts.values())):
        for group, points in part.entry_points.items():
            found[group] = {**found.get(group, {}), **points}
    return {group: points for group, points in found.items() if points}
