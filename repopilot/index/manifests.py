"""The manifests of a repository, read once per index."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from repopilot.code.languages import is_example_path, is_test_path
from repopilot.index.store import Index
from repopilot.project.manifest import Dependency, Manifest, ProjectFact, is_manifest, maps_modules, read_manifest

_LIBRARY_KEYS = ("main", "module", "types", "browser")
_GO_VERSION = re.compile(r"[/.]v\d+$")
"""The version at the end of a Go module's path."""


def manifests(index: Index) -> tuple[Manifest, ...]:
    """The manifests of a repository, those nearest to its root first; those of tests and examples are left out."""
    return index.derived(_own)


def _own(index: Index) -> tuple[Manifest, ...]:
    own = (each for each in every_manifest(index) if is_manifest(each.path))
    kept = (each for each in own if not is_test_path(each.path) and not is_example_path(each.path))
    return tuple(sorted(kept, key=_depth))


def every_manifest(index: Index) -> tuple[Manifest, ...]:
    """Every manifest, and every file that maps names of JavaScript modules, in the order of the files."""
    return index.derived(_read)


def _read(index: Index) -> tuple[Manifest, ...]:
    paths = (path for path in index.files if is_manifest(path) or maps_modules(path))
    found = (read_manifest(path, index.text(path) or "") for path in paths)
    return tuple(_with_programs(each, index) for each in found if each is not None)


def _with_programs(manifest: Manifest, index: Index) -> Manifest:
    """The manifest of a gem with the programs of its folder `exe`, where it doesn't list them but finds them there."""
    if manifest.ecosystem != "ruby" or manifest.entry_points:
        return manifest
    folder = posixpath.join(posixpath.dirname(manifest.path), "exe")
    if not re.search(r"\.executables\s*=.*exe/", index.text(manifest.path) or ""):
        return manifest
    programs = {posixpath.basename(path): path for path in index.files if posixpath.dirname(path) == folder}
    return replace(manifest, entry_points=programs)


def _depth(manifest: Manifest) -> tuple[int, bool, str]:
    # A requirements file beside a real manifest lists what developers install, so it comes second.
    return manifest.path.count("/"), manifest.path.endswith((".txt", ".in")), manifest.path


def dependencies(index: Index) -> list[Dependency]:
    """The dependencies that the project declares, each name once per group, without transitive ones."""
    found: dict[tuple[str, str], Dependency] = {}
    declared = False
    own = {fact.value for manifest in manifests(index) for fact in manifest.facts if fact.kind == "name"}
    for manifest in manifests(index):
        is_list = manifest.path.endswith((".txt", ".in"))
        for need in manifest.dependencies:
            if (
                need.group != "indirect"
                and need.name not in own
                and not (is_list and declared and need.group == "runtime")
            ):
                found.setdefault((need.name.lower(), need.group), need)
        declared = declared or (not is_list and bool(manifest.dependencies))
    return list(found.values())


def facts(index: Index, kind: str) -> Iterator[ProjectFact]:
    """The facts of one kind that the manifests state about the project, from those nearest to the root first."""
    for manifest in manifests(index):
        yield from (fact for fact in manifest.facts if fact.kind == kind)


def project_name(index: Index) -> str:
    """What the manifest at the root calls the package that others can install; without one, the repository's name."""
    own = (each for each in manifests(index) if "/" not in each.path and each.name and not each.is_private)
    package = next(own, Manifest("", ""))
    name = _GO_VERSION.sub("", package.name).rpartition("/")[2] if package.ecosystem == "go" else package.name
    return name or index.name.rpartition("/")[2]


def is_imported(manifest: Manifest, name: str) -> bool:
    """Whether an entry point that a manifest declares is a module that others import, not a command."""
    return manifest.ecosystem == "npm" and (name in _LIBRARY_KEYS or name.startswith("."))
