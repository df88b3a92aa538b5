"""The environment of an opened repository: its declarations, read from its snapshot, and what was built for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache, partial, wraps
from typing import Protocol, TypeVar

from repopilot import i18n
from repopilot.background import run_in_thread
from repopilot.code.languages import is_test_path
from repopilot.errors import EnvironmentFailed, RepoPilotError, SandboxError
from repopilot.project.declaration_parts import Read
from repopilot.project.node_test_packages import of_tests
from repopilot.project.package_declarations import PackageDeclaration, read_packages
from repopilot.project.python_project import ProjectDeclaration, read_project
from repopilot.project.workspaces import ListNames
from repopilot.repo.history import committed_at
from repopilot.repo.read import names_in, read_on_demand
from repopilot.sandbox.environments.environment_build import build_environment
from repopilot.sandbox.environments.environment_store import (
    environment_key,
    failed_lately,
    load_environment,
    note_failure,
    read_facts,
)
from repopilot.sandbox.environments.named_interpreter import named_environment
from repopilot.sandbox.environments.newer_node import with_newer_node
from repopilot.sandbox.environments.package_install import NODE_MODULES, install_packages, load_packages, packages_key
from repopilot.sandbox.environments.publication import is_being_built
from repopilot.sandbox.runners.junit import own_artifacts
from repopilot.sandbox.runners.runner_table import is_run_as_test, language_of_tests, missing_programs, runner_of
from repopilot.settings import Settings
from repopilot.types import Environment, InstalledPackages, OnProgress, Snapshot

Declared = TypeVar("Declared")

_POLL_S = 0.5
_LARGEST = 8 * 1024 * 1024  # lock files are large
_FOLDERS = ("", "requirements", "test", "tests", "testing")


@dataclass(frozen=True, slots=True)
class TestPackages:
    """Packages that tests need, by language; `python` is None where no Python packages are asked for."""

    __test__ = False

    python: ProjectDeclaration | None = None
    others: tuple[PackageDeclaration, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements of all languages."""
        own = self.python.requirements if self.python else ()
        return (*own, *(each for other in self.others for each in other.requirements))

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the environments on disk."""
        own = (environment_key(self.python),) if self.python else ()
        return (*own, *map(packages_key, self.others))

    def parts(self) -> Iterator[TestPackages]:
        """The packages of each language alone."""
        if self.python:
            yield TestPackages(self.python)
        for each in self.others:
            yield TestPackages(others=(each,))


def _remembered(read: Callable[[Snapshot], Declared]) -> Callable[[Snapshot], Declared]:
    """Make a reader of declarations remember those of commits. Where the files can have changed, it reads again."""
    of_commit = lru_cache(maxsize=16)(read)

    @wraps(read)
    def remembered(snapshot: Snapshot) -> Declared:
        return of_commit(snapshot) if snapshot.git_dir is not None else read(snapshot)

    return remembered


@_remembered
def declared_project(snapshot: Snapshot) -> ProjectDeclaration:
    """The declarations of a snapshot's Python project."""
    read, _ = _files_of(snapshot)
    return replace(read_project(read), as_of=committed_at(snapshot))


@_remembered
def declared_packages(snapshot: Snapshot) -> tuple[PackageDeclaration, ...]:
    """The declarations of a snapshot's other languages."""
    found = read_packages(*_files_of(snapshot))
    return tuple(with_newer_node(replace(each, as_of=committed_at(snapshot))) for each in found)


def _files_of(snapshot: Snapshot) -> tuple[Read, ListNames]:
    """What gives the texts of a project's files, and the names in its folders, by paths from the project's top."""
    top = f"{snapshot.subdir}/" if snapshot.subdir else ""
    names = cache(lambda folder: names_in(snapshot, f"{top}{folder}".rstrip("/")))

    def read(path: str) -> str | None:
        folder, _, name = path.rpartition("/")
        if folder in _FOLDERS and name not in names(folder):
            return None
        return read_on_demand(snapshot, f"{top}{path}", _LARGEST)

    return read, names


def find_environment(snapshot: Snapshot, settings: Settings) -> Environment | None:
    """The interpreter that the user named, else the environment that was built for the repository's current
    declarations.

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
    project = declared_project(snapshot)
    if settings.test_python:
        return named_environment(settings.test_python, project.built)
    found = load_environment(project, settings)
    opened = snapshot.edited_from
    return find_environment(opened, settings) if found is None and opened is not None else found


def declaration_of(snapshot: Snapshot, language: str) -> PackageDeclaration | None:
    """The declaration of one language of a snapshot, None for none."""
    return next((each for each in declared_packages(snapshot) if each.language == language), None)


def find_packages(snapshot: Snapshot, declaration: PackageDeclaration, settings: Settings) -> InstalledPackages | None:
    """The packages that the user installed in a local repository, else those that were installed here.

    Args:
        snapshot: the repository.
        declaration: the declaration of one of its languages.
        settings: the data directory.

    Returns:
        The packages; for Java otherwise those that the user's own builds fetched. None where there are none.
    """
    if declaration.language == "javascript" and snapshot.root is not None:
        own = snapshot.root / snapshot.subdir / NODE_MODULES
        if own.is_dir() and not own.is_symlink():
            return InstalledPackages("", own)
    built = load_packages(declaration, settings)
    return built or (own_artifacts(declaration) if declaration.language == "java" else None)


class RepositoryFiles(Protocol):
    """The files of a repository, as in its index."""

    @property
    def files(self) -> Collection[str]:
        """Their paths."""

    def text(self, path: str) -> str | None:
        """The text of a file, None where there is none."""


def packages_for_tests(
    snapshot: Snapshot, declaration: PackageDeclaration, files: RepositoryFiles, settings: Settings
) -> InstalledPackages | None:
    """The installed packages of a language other than Python: those of `find_packages`, else those of the reduced
    declaration by `of_tests`, else those of the snapshot that a working copy was edited from. Blocking.

    Args:
        snapshot: the repository.
        declaration: the declaration of the language.
        files: its files.
        settings: the data directory.
    """
    found = find_packages(snapshot, declaration, settings)
    if found is None and declaration.language == "javascript":
        found = load_packages(_of_tests(declaration, files), settings)
    opened = snapshot.edited_from
    if found is not None or opened is None:
        return found
    there = declaration_of(opened, declaration.language)
    return packages_for_tests(opened, there, files, settings) if there is not None else None


def needed_packages(snapshot: Snapshot, files: RepositoryFiles, settings: Settings) -> TestPackages:
    """The packages needed by those tests of a repository that can run here, fetched or not. Blocking.

    Args:
        snapshot: the repository.
        files: its files.
        settings: the interpreter that the user named, whose packages are not ours to fetch.
    """
    paths = files.files
    declared = declared_project(snapshot) if not settings.test_python else None
    tested = any(path.endswith(".py") and is_test_path(path) for path in paths)
    python = declared if declared and declared.files and tested else None
    languages = {language_of_tests(path) for path in paths if is_run_as_test(path)}
    languages |= {"rust"} if any(path.endswith(".rs") for path in paths) else set()  # tests are in code files
    others = [each for each in declared_packages(snapshot) if each.language in languages and _can_run(each)]
    fewer = (each if find_packages(snapshot, each, settings) else _of_tests(each, files) for each in others)
    return TestPackages(python, tuple(fewer))


def _of_tests(declaration: PackageDeclaration, files: RepositoryFiles) -> PackageDeclaration:
    """A declaration reduced to what tests need, with a Node that is new enough."""
    return with_newer_node(of_tests(declaration, files.files, files.text))


def _can_run(declaration: PackageDeclaration) -> bool:
    """Whether a declaration has requirements, and its tests can run here."""
    try:
        runner_of(declaration.language, declaration.node)
    except SandboxError:
        return False
    return bool(declaration.requirements) and not missing_programs([declaration.language])


def not_fetched(needed: TestPackages, snapshot: Snapshot, settings: Settings) -> TestPackages:
    """Those of the packages that aren't installed yet. Blocking."""
    python = needed.python
    if python is not None and load_environment(python, settings) is not None:
        python = None
    others = [each for each in needed.others if find_packages(snapshot, each, settings) is None]
    return TestPackages(python, tuple(others))


def fetch(
    packages: TestPackages,
    settings: Settings,
    progress: OnProgress,
    cancel: threading.Event,
    *,
    allow_builds: bool = False,
) -> None:
    """Fetch and install packages. Blocking. Raises as `build_environment` and `install_packages`."""
    if packages.python:
        build_environment(packages.python, settings, progress, cancel, allow_builds=allow_builds)
    for each in packages.others:
        install_packages(each, settings, progress, cancel)


async def fetch_for_tests(
    snapshot: Snapshot, files: RepositoryFiles, settings: Settings, progress: OnProgress
) -> tuple[str, ...]:
    """Fetch the missing packages that a repository's tests need, once for its declarations. What failed within the last
    hour isn't tried again.

    Args:
        snapshot: the repository.
        files: its files.
        settings: nothing is fetched where `environments` is `never`.
        progress: called with the progress.

    Returns:
        Messages on packages that could not be fetched; the work goes on without them.
    """
    if settings.environments == "never":
        return ()
    return await run_in_thread(partial(_fetched, snapshot, files, settings, progress))


async def until_fetched(snapshot: Snapshot, files: RepositoryFiles, settings: Settings) -> None:
    """Wait while packages that a repository's tests need are being fetched, by any process."""
    if settings.environments_folder.is_dir():
        missing = not_fetched(await asyncio.to_thread(needed_packages, snapshot, files, settings), snapshot, settings)
        while any(is_being_built(key, settings) for key in missing.keys):
            await asyncio.sleep(_POLL_S)


def _fetched(
    snapshot: Snapshot, files: RepositoryFiles, settings: Settings, progress: OnProgress, cancel: threading.Event
) -> tuple[str, ...]:
    problems: list[str] = []
    for part in not_fetched(needed_packages(snapshot, files, settings), snapshot, settings).parts():
        (key,) = part.keys
        if why := failed_lately(key, settings):
            problems.append(i18n.message("environments.failed_lately", why=why))
            continue
        try:
            fetch(part, settings, progress, cancel)
        except RepoPilotError as error:
            problems.append(i18n.reason(error))
            if isinstance(error, EnvironmentFailed) and not is_being_built(key, settings):
                note_failure(key, i18n.reason(error), settings)
    return tuple(problems)


def environment_document(packages: TestPackages, settings: Settings, problems: Iterable[str] = ()) -> dict[str, object]:
    """The packages that tests can use, as JSON: their number and size, and what is missing, with the reason."""
    found = (read_facts(settings.environments_folder / key) for key in packages.keys)
    built = [facts for facts in found if facts is not None]
    return {
        "requirements": len(packages.requirements),
        "packages": sum(len(each.packages) for each in built),
        "megabytes": round(sum(each.megabytes for each in built), 1),
        "seconds": round(sum(each.seconds for each in built), 1),
        "left_out": [asdict(entry) for each in built for entry in each.left_out],
        "problems": list(problems),
    }
