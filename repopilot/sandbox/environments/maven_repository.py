"""Maven commands that fetch artifacts into a repository of ours, so that a project's tests can run offline later.

Maven loads the build extensions that a pom.xml or its parents name as soon as it reads them, outside the sandbox. So
our copies leave out the repository's extensions, and a parent that has any is refused before Maven reads it. The goal
that fetches runs no other plugin.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from repopilot import i18n
from repopilot.errors import EnvironmentFailed
from repopilot.project.package_declarations import PackageDeclaration
from repopilot.sandbox.inside.maven_poms import POM, coordinates, parent_of, reduced, runs_code

REPOSITORY = "repository"
_ALONE = "alone"
"""The folder of an empty project, for fetching single artifacts."""
_EMPTY = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>alone</groupId><artifactId>alone</artifactId>"
    "<version>1</version></project>"
)
_GOALS = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:"
_COORDINATES = re.compile(r"[\w-]+(?:\.[\w-]+)*(?::[\w-]+(?:\.[\w-]+)*){2}")
_SUREFIRE = "org/apache/maven/surefire"
_PROVIDERS = {
    "junit/junit": ("surefire-junit3", "surefire-junit4", "surefire-junit47"),
    "org/junit/platform/junit-platform-commons": ("surefire-junit-platform",),
    "org/testng/testng": ("surefire-testng",),
}
_ENGINES = {
    "org/junit/platform/junit-platform-commons": "org.junit.platform:junit-platform-launcher",
    "org/junit/jupiter/junit-jupiter-api": "org.junit.jupiter:junit-jupiter-engine",
}
"""Artifacts that surefire looks up when it runs tests, by what the tests use."""


def files_of(declaration: PackageDeclaration) -> dict[str, str]:
    """The files that Maven reads. Raises EnvironmentFailed for invalid XML."""
    for path, text in declaration.files.items():
        _check(text, path)
    own = {coordinates(text)[1] for text in declaration.files.values()}
    return {path: reduced(text, own) for path, text in declaration.files.items()} | {f"{_ALONE}/{POM}": _EMPTY}


def steps(declaration: PackageDeclaration, folder: Path) -> Iterator[tuple[Sequence[str], bool]]:
    """The argument lists of Maven's commands, in order, each with whether it must succeed.

    Args:
        declaration: of a Maven project.
        folder: the folder with its files, in which the repository is made.

    Raises:
        EnvironmentFailed: a parent names code that Maven would load.
    """
    repository = folder / REPOSITORY
    options = ("-B", "-q", f"-Dmaven.repo.local={repository}")
    get = (*options, "-f", f"{_ALONE}/{POM}", f"{_GOALS}get")
    known: set[str] = set()
    for path, text in declaration.files.items():
        while (artifact := _parent(path, text, declaration)) and artifact not in known:
            known.add(artifact)
            yield (*get, "-Dtransitive=false", f"-Dartifact={artifact}:pom"), True
            path = ""
            text = _text_of(artifact, repository)
    yield (*options, "-fae", f"{_GOALS}resolve"), len(declaration.files) == 1  # of several modules, one may fail
    yield (*options, f"{_GOALS}resolve-plugins"), False  # a plugin that no test needs may be unavailable
    surefire = _versions(repository, f"{_SUREFIRE}/maven-surefire-common")
    for used, providers in _PROVIDERS.items():
        versions = surefire if _versions(repository, used) else []
        for name in (f"{_SUREFIRE.replace('/', '.')}:{each}:{version}" for version in versions for each in providers):
            yield (*get, f"-Dartifact={name}"), False
    for used, engine in _ENGINES.items():
        for version in _versions(repository, used):
            yield (*get, f"-Dartifact={engine}:{version}"), False


def installed(folder: Path) -> Sequence[str]:
    """`group:name@version` of the fetched artifacts."""
    places = (folder / REPOSITORY).rglob("*.jar")
    parts = (path.parent.relative_to(folder / REPOSITORY).parts for path in places)
    return sorted({f"{'.'.join(each[:-2])}:{each[-2]}@{each[-1]}" for each in parts})


def _parent(path: str, text: str, declaration: PackageDeclaration) -> str:
    """A pom.xml's parent if it comes from a registry, else ''. `path` is '' if the pom.xml itself was fetched."""
    parent = parent_of(text)
    if parent is None:
        return ""
    *coordinate, relative = parent
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), relative)) if path and relative else ""
    place = place if place.endswith(".xml") else posixpath.join(place, POM)
    if path and place in declaration.files and coordinates(declaration.files[place]) == tuple(coordinate):
        return ""
    artifact = ":".join(coordinate)
    if not _COORDINATES.fullmatch(artifact):
        raise EnvironmentFailed(i18n.message("environments.not_installed", problem=artifact))
    return artifact


def _text_of(artifact: str, repository: Path) -> str:
    """The pom.xml of a fetched parent. Raises EnvironmentFailed where it is invalid or names code to run."""
    group, name, version = artifact.split(":")
    place = repository.joinpath(*group.split("."), name, version, f"{name}-{version}.pom")
    text = place.read_text("utf-8", "replace") if place.is_file() else ""
    _check(text, artifact)
    if "<!DOCTYPE" in text or runs_code(text):
        raise EnvironmentFailed(i18n.message("environments.build_extensions", name=artifact))
    return text


def _check(text: str, name: str) -> None:
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise EnvironmentFailed(i18n.message("environments.not_installed", problem=f"{name}: {error}")) from error


def _versions(repository: Path, artifact: str) -> list[str]:
    """The versions of an artifact that have a jar in the repository."""
    return sorted({path.parent.name for path in (repository / artifact).glob("*/*.jar")})
