"""What one file declares, and which groups of requirements are for tests or development, by their names. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

Read = Callable[[str], str | None]
"""Gives the text of a file of the repository by its path, None for none."""

_TESTS = re.compile(r"(?:^|[-_./])(?:tests?|testing|unittests?|pytest|unit)(?:$|[-_./\d])", re.I)
_DEVELOPMENT = re.compile(r"^(?:dev|devel|develop|development|all[-_]?dev|ci|qa)(?:$|[-_./])|[-_.](?:dev|devel)$", re.I)


@dataclass(frozen=True, slots=True)
class DeclarationParts:
    """What one file says of the project.

    Attributes:
        name, version, licence, description, python: as declared, '' for none; `python` has the bounds of its version.
        build: requirements of its build.
        runtime: requirements of the package itself.
        extras: requirements by the name of the extra.
        groups: further requirements by the name of their group, environment or session; `-r path` includes a file.
        wanted: extras and groups that another declaration asks for, such as tox's `extras`.
        entry_points: `name → place`, by group.
    """

    name: str = ""
    version: str = ""
    licence: str = ""
    description: str = ""
    python: str = ""
    build: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()
    entry_points: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def is_for_tests(name: str) -> bool:
    """Whether a group, extra, environment or file of this name has what tests need."""
    return bool(_TESTS.search(name))


def is_for_development(name: str) -> bool:
    """Whether a group, extra or file of this name has what developers need."""
    return bool(_DEVELOPMENT.search(name))


def parsed(requirement: str) -> Requirement | None:
    """The requirement, None where it is not valid."""
    try:
        return Requirement(requirement)
    except ValueError:  # InvalidRequirement, and numbers too long to be read
        return None


def applies_here(requirement: str) -> bool:
    """Whether a requirement applies to this system, by its environment marker; True where that can't be read."""
    found = parsed(requirement)
    try:
        return found is None or found.marker is None or found.marker.evaluate()
    except ValueError:  # a marker that compares what can't be compared
        return True


def canonical(name: str) -> str:
    """A package's name as the index writes it."""
    return str(canonicalize_name(name))


def text_of(value: object) -> str:
    """A text from a file without the spaces around it, '' for anything else."""
    return value.strip() if isinstance(value, str) else ""


def texts(values: object) -> tuple[str, ...]:
    """The texts in a list from a file; anything else is passed over."""
    return tuple(v for v in values if isinstance(v, str)) if isinstance(values, (list, tuple, set)) else ()


def classified_licence(classifiers: Iterable[str]) -> str:
    """The licence that the classifiers of a Python package name, '' for none."""
    start = "License :: OSI Approved :: "
    return next((each.removeprefix(start) for each in classifiers if each.startswith(start)), "")


def shell_words(command: str) -> list[str]:
    """The words of a command as a shell reads them; by spaces where a quote is left open."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def lines(text: object) -> tuple[str, ...]:
    """The lines of an option that are neither blank nor comments."""
    stripped: Iterable[str] = (line.strip() for line in text.splitlines()) if isinstance(text, str) else ()
    return tuple(line for line in stripped if line and not line.startswith("#"))
