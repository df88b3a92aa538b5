"""The packages that a repository's JavaScript, Rust, Go or Java declares, and what an installation reads. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from repopilot.code.formats.data_formats import table, tables, toml_tables
from repopilot.project.declaration_parts import Read
from repopilot.project.manifest import read_manifest
from repopilot.project.node_project import LOCK_FILES, NodeProject, read_node_project
from repopilot.project.workspaces import MANIFEST, ListNames, member_folders, read_node_workspace

_CARGO = "Cargo.toml"
_OF_REGISTRY = re.compile(r'("resolved": *")https?://[^"]*?/((?:@[^/"]+/)?[^/"]+/-/[^/"]+\.tgz)[^"]*')
"""A package's address in the registry used for locking. The public one goes in its place, and npm replaces that by the
user's."""
_CARGO_LOCK = "Cargo.lock"
_TARGETS = {"bin": "src/bin", "example": "examples", "test": "tests", "bench": "benches"}
_POM = "pom.xml"
_MOST_MODULES = 200
_GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
_MODULE = re.compile(r"<module>\s*([^<\s]+)\s*</module>")
_REGISTRY = re.compile(r"<(?:repository|pluginRepository)>(?:(?!<url>|pository>).)*<url>\s*([^<\s]+)", re.S)
_WRAPPER = re.compile(r"gradle-([\d.]+(?:-\w+-\d+)?)-(?:bin|all)")


@dataclass(frozen=True, slots=True)
class PackageDeclaration:
    """The packages that one language of a repository declares.

    Attributes:
        language: javascript, rust, go or java.
        name: of the project.
        declared_in: the paths of the files that were read.
        requirements: `name@version`.
        elsewhere: requirements that don't come from the registry.
        lock: the lock file that is used, '' without one.
        files: what an installation reads, texts by path: no scripts and no source files.
        node: for JavaScript, what package.json declares; for Java, what runs the tests.
        as_of: the time of its commit, from which versions are taken where none are stated; '' for the newest.
    """

    language: str
    name: str
    declared_in: tuple[str, ...]
    requirements: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    lock: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    node: NodeProject = field(default_factory=NodeProject)
    as_of: str = ""


def read_packages(read: Read, names: ListNames) -> tuple[PackageDeclaration, ...]:
    """What the languages at the top of a repository declare, those without a manifest left out.

    Args:
        read: gives the text of a file.
        names: gives the names in a folder.
    """
    found = (_node(read, names), _cargo(read, names), _go(read, names), _maven(read, names) or _gradle(read, names))
    return tuple(each for each in found if each is not None)


def _node(read: Read, names: ListNames) -> PackageDeclaration | None:
    top = names("")
    if MANIFEST not in top:
        return None
    workspace = read_node_workspace(read, names)
    project = read_node_project(workspace)
    manager = str(workspace.manifest.get("packageManager") or "").partition("@")[0]
    locks = sorted(LOCK_FILES, key=lambda name: not name.startswith(manager))  # another manager's may be outdated
    lock = next((name for name in locks if name in top), "")
    text = read(lock) if lock else None
    files = {MANIFEST: project.manifest or "{}"}
    if text is not None:
        files[lock] = _OF_REGISTRY.sub(r"\1https://registry.npmjs.org/\2", text)
    manifests = (MANIFEST, *(f"{folder}/{MANIFEST}" for folder in project.links.values()))
    return PackageDeclaration(
        "javascript",
        project.name,
        (*manifests, lock) if text is not None else manifests,
        project.requirements,
        project.elsewhere,
        lock if text is not None else "",
        files,
        project,
    )


def _cargo(read: Read, names: ListNames) -> PackageDeclaration | None:
    if _CARGO not in names(""):
        return None
    text = read(_CARGO) or ""
    top = toml_tables(text)
    manifests = {_CARGO: text}
    for folder in member_folders(table(top.get("workspace")).get("members"), _CARGO, names):
        if member := read(f"{folder}/{_CARGO}"):
            manifests[f"{folder}/{_CARGO}"] = member
    read_ones = (read_manifest(path, manifest) for path, manifest in manifests.items())
    needs = {need.name: need for each in read_ones if each is not None for need in each.dependencies}
    elsewhere = tuple(need.name for need in needs.values() if need.source in ("git", "registry"))
    lock = read(_CARGO_LOCK) if _CARGO_LOCK in names("") else None
    files = dict(manifests)
    for path, manifest in manifests.items():
        folder = path.removesuffix(_CARGO)
        files |= {f"{folder}{source}": "" for source in _targets(toml_tables(manifest))}
    if lock is not None:
        files[_CARGO_LOCK] = lock
    return PackageDeclaration(
        "rust",
        str(table(top.get("package")).get("name") or ""),
        (*manifests, _CARGO_LOCK) if lock is not None else tuple(manifests),
        tuple(f"{need.name}@{need.constraint or '*'}" for need in needs.values() if not need.source),
        elsewhere,
        _CARGO_LOCK if lock is not None else "",
        files,
    )


def _go(read: Read, names: ListNames) -> PackageDeclaration | None:
    if "go.mod" not in names(""):
        return None
    text = read("go.mod") or ""
    sums = read("go.sum") if "go.sum" in names("") else None
    module = read_manifest("go.mod", text)
    files = {"go.mod": text} | ({"go.sum": sums} if sums is not None else {})
    requirements = tuple(f"{need.name}@{need.constraint}" for need in module.dependencies) if module else ()
    lock = "go.sum" if sums is not None else ""
    return PackageDeclaration("go", module.name if module else "", tuple(files), requirements, (), lock, files)


def _maven(read: Read, names: ListNames) -> PackageDeclaration | None:
    """A project of Maven with its modules."""
    if _POM not in names(""):
        return None
    poms: dict[str, str] = {}
    pending = [_POM]
    while pending and len(poms) < _MOST_MODULES:
        path = pending.pop()
        text = read(path) if path not in poms else None
        if text is not None:
            poms[path] = text
            modules = [posixpath.normpath(f"{posixpath.dirname(path)}/./{each}") for each in _MODULE.findall(text)]
            pending += [f"{each}/{_POM}".removeprefix("/") for each in modules if not each.startswith("..")]
    needed = {each for text in poms.values() for each in _artifacts(text)}
    registries = dict.fromkeys(address for text in poms.values() for address in _REGISTRY.findall(text))
    return PackageDeclaration("java", "", tuple(poms), tuple(sorted(needed)), tuple(registries), files=poms)


def _artifacts(pom: str) -> Iterator[str]:
    """The dependencies of a pom.xml: `group:name@version`; `*` for a version that another file states."""
    manifest = read_manifest(_POM, pom)
    for need in manifest.dependencies if manifest is not None else ():
        yield f"{need.name}@{'*' if '${' in need.constraint else need.constraint or '*'}"


def _gradle(read: Read, names: ListNames) -> PackageDeclaration | None:
    """A project of Gradle. Its build is a program, so nothing is read from it."""
    found = tuple(name for name in _GRADLE if name in names(""))
    wrapper = _WRAPPER.search(read("gradle/wrapper/gradle-wrapper.properties") or "")
    scripts = {"test": "gradle"} | ({"wrapper": wrapper[1]} if wrapper else {})
    return PackageDeclaration("java", "", found, node=NodeProject(scripts=scripts)) if found else None


def _targets(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The source files that cargo wants to exist before it reads what a package needs."""
    if "package" not in manifest:
        return
    yield str(table(manifest.get("lib")).get("path") or "src/lib.rs")
    for kind, folder in _TARGETS.items():
        for target in tables(manifest.get(kind)):
            yield str(target.get("path") or f"{folder}/{target.get('name')}.rs")
