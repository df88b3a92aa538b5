"""The environment of an opened repository: what it declares, read from its snapshot, and what was built for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from repopilot.code.dependencies.package_declarations import PackageDeclaration, read_packages
from repopilot.code.dependencies.project_version import built_files
from repopilot.code.dependencies.python_project import ProjectDeclaration, read_project
from repopilot.errors import SourceError
from repopilot.repo.read import names_in, read_on_demand
from repopilot.sandbox.environments.distribution_metadata import UNKNOWN_VERSION
from repopilot.sandbox.environments.environment_store import load_environment
from repopilot.sandbox.environments.named_interpreter import named_environment
from repopilot.sandbox.environments.package_install import NODE_MODULES, load_packages
from repopilot.settings import Settings
from repopilot.types import Environment, InstalledPackages, Snapshot

_LARGEST = 8 * 1024 * 1024  # lock files are large
_FOLDERS = ("", "requirements", "test", "tests", "testing")


@dataclass(frozen=True, slots=True)
class DeclaredProject:
    """A Python project as its repository declares it, with the files that its build would write."""

    project: ProjectDeclaration
    files: Mapping[str, str]


def declared_project(snapshot: Snapshot) -> DeclaredProject:
    """What the project of a snapshot declares; it is read anew where the files can have changed."""
    return _remembered(snapshot) if snapshot.git_dir is not None else _declared(snapshot)


def find_environment(snapshot: Snapshot, settings: Settings) -> Environment | None:
    """The interpreter that the user named, else the environment that was built for what the repository declares now.

    Args:
        snapshot: the repository.
        settings: the named interpreter, and the data directory.

    Returns:
        The environment, None where there is none.

    Raises:
        EnvironmentFailed: the named interpreter can't be used.
        StorageError: the data directory can't be used.
    """
    if not settings.test_python and not settings.environments_folder.is_dir():
        return None
    declared = declared_project(snapshot)
    if settings.test_python:
        return named_environment(settings.test_python, declared.files)
    return load_environment(declared.project, settings, declared.files)


def declared_packages(snapshot: Snapshot) -> tuple[PackageDeclaration, ...]:
    """What the other languages of a snapshot declare, read anew."""
    top = f"{snapshot.subdir}/" if snapshot.subdir else ""

    def read(path: str) -> str | None:
        try:
            return read_on_demand(snapshot, f"{top}{path}", _LARGEST)
        except SourceError:
            return None

    return read_packages(read, lambda folder: names_in(snapshot, f"{top}{folder}".rstrip("/")))


def find_packages(snapshot: Snapshot, declaration: PackageDeclaration, settings: Settings) -> InstalledPackages | None:
    """The packages that the user installed in a local repository, else those that were installed here.

    Args:
        snapshot: the repository.
        declaration: what one of its languages declares.
        settings: the data directory.

    Returns:
        The packages, None where there are none.
    """
    if declaration.language == "javascript" and snapshot.root is not None:
        own = snapshot.root / snapshot.subdir / NODE_MODULES
        if own.is_dir() and not own.is_symlink():
            return InstalledPackages("", own)
    return load_packages(declaration, settings)


@lru_cache(maxsize=16)
def _remembered(snapshot: Snapshot) -> DeclaredProject:
    return _declared(snapshot)


def _declared(snapshot: Snapshot) -> DeclaredProject:
    top = f"{snapshot.subdir}/" if snapshot.subdir else ""
    listed = {folder: names_in(snapshot, f"{top}{folder}".rstrip("/")) for folder in _FOLDERS}

    def read(path: str) -> str | None:
        folder, _, name = path.rpartition("/")
        if folder in listed and name not in listed[folder]:
            return None
        try:
            return read_on_demand(snapshot, f"{top}{path}", _LARGEST)
        except SourceError:
            return None

    project = read_project(read)
    return DeclaredProject(project, built_files(project.version or UNKNOWN_VERSION, read))
