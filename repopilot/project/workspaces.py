"""The packages of one repository that are developed together: workspaces of npm, Yarn, pnpm, Bun and Cargo. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from repopilot.code.formats.data_formats import from_json, parsed_table, strings, table
from repopilot.code.formats.yaml_document import from_yaml
from repopilot.code.languages import is_doc_path, is_example_path
from repopilot.project.declaration_parts import Read, texts

ListNames = Callable[[str], frozenset[str]]
"""Gives the names in a folder of the repository, '' for its top."""
MANIFEST = "package.json"
_PNPM = "pnpm-workspace.yaml"
_CATALOG = "catalog:"
_MOST_MEMBERS = 100
_DEPTHS = ("", "*", "*/*")
"""What `**` stands for in the patterns of members: folders of these depths."""
_VERSION_FILES = (".nvmrc", ".node-version")
_SOURCES = ("src/", "source/", "lib/", "")
_SUFFIXES = ("ts", "tsx", "mts", "js", "mjs")
_BUILT = re.compile(r"^[^*]*(?:\.[cm]?js|\.d\.[cm]?ts)$")
_DEFAULT = re.compile(r"\bexport\s+default\b|\bas\s+default\b|\bexport\s*\{\s*default\b")
_BY_MEMBER = re.compile(r"(?<!\S)(?:-r|--recursive|recursive|-w|-ws|(?:--)?workspaces?|--filter|turbo|lerna|nx)(?!\S)")
"""Found in a test script that runs the members' test scripts."""
_OWN_SETTINGS = ("vitest.config.*", "vitest.workspace.*", "vite.config.*", "jest.config.*")


@dataclass(frozen=True, slots=True)
class EntrySource:
    """The source file that an entry file is built from.

    Attributes:
        path: of the source file.
        has_default: whether it has a default export.
        module: whether its package consists of ES modules.
    """

    path: str
    has_default: bool
    module: bool


@dataclass(frozen=True, slots=True)
class NodeWorkspace:
    """A package.json with those of its members.

    Attributes:
        manifest: the package.json at the top.
        members: the manifests of the members by their folders.
        catalogs: versions that members share, by the name of the catalog and of the package.
        projects: the settings files of test runners in the members' folders, where those at the top don't serve them.
        node: the version of Node that its developers use, as they wrote it; '' where they don't say.
        unbuilt: the sources of entry files that a build has yet to write, by the path of the entry file.
    """

    manifest: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    catalogs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    projects: tuple[str, ...] = ()
    node: str = ""
    unbuilt: Mapping[str, EntrySource] = field(default_factory=dict)

    @property
    def links(self) -> dict[str, str]:
        """The folders of the members by the names of their packages."""
        return {str(manifest["name"]): folder for folder, manifest in self.members.items() if manifest.get("name")}

    def wanted(self, key: str) -> dict[str, str]:
        """The versions that the package and its members want, by package; those at the top take precedence.

        Args:
            key: of a manifest, such as `dependencies`.
        """
        found: dict[str, str] = {}
        for manifest in (self.manifest, *self.members.values()):
            found = strings(manifest.get(key)) | found
        links = self.links
        return {name: self._version(name, version) for name, version in found.items() if name not in links}

    def _version(self, name: str, version: str) -> str:
        catalog = version.removeprefix(_CATALOG) or "default"
        return self.catalogs.get(catalog, {}).get(name, version) if version.startswith(_CATALOG) else version


def read_node_workspace(read: Read, names: ListNames) -> NodeWorkspace:
    """The packages of JavaScript at the top of a repository; nothing where its package.json can't be read."""
    manifest = parsed_table(from_json, read(MANIFEST))
    declared = manifest.get("workspaces")
    shared = table(declared)
    pnpm = parsed_table(from_yaml, read(_PNPM)) if _PNPM in names("") else {}
    patterns = [*texts(declared), *texts(shared.get("packages")), *texts(pnpm.get("packages"))]
    catalogs = {"default": strings(shared.get("catalog")) | strings(pnpm.get("catalog"))}
    for place in (shared, pnpm):
        catalogs |= {str(name): strings(each) for name, each in table(place.get("catalogs")).items()}
    folders = [folder for folder in member_folders(patterns, MANIFEST, names) if not _is_shown(folder)]
    members = {folder: parsed_table(from_json, read(f"{folder}/{MANIFEST}")) for folder in folders}
    by_member = _BY_MEMBER.search(strings(manifest.get("scripts")).get("test", ""))
    configured = not by_member and (_settings_in(names("")) or "jest" in manifest)
    inside = (_settings_in(names(folder)) or (MANIFEST if "jest" in members[folder] else "") for folder in folders)
    own = () if configured else zip(folders, inside, strict=True)
    projects = tuple(f"{folder}/{name}" for folder, name in own if name)
    node = next((read(name) or "" for name in _VERSION_FILES if name in names("")), "")
    unbuilt: dict[str, EntrySource] = {}
    for folder, package in {"": manifest, **members}.items():
        for path, source in _unbuilt(folder, package, read, names):
            unbuilt.setdefault(path, source)
    return NodeWorkspace(manifest, members, catalogs, projects, node, unbuilt)


def _unbuilt(
    folder: str, manifest: Mapping[str, Any], read: Read, names: ListNames
) -> Iterator[tuple[str, EntrySource]]:
    """The entry files of a package that are missing, with the source that each is built from."""
    own = [manifest.get(key) for key in ("main", "module", "types", "typings")]
    for name, value in islice(exports_of(manifest).items(), _MOST_MEMBERS):
        written = [*(own if name == "." else ()), *export_paths(value)]
        paths = [posixpath.normpath(f"{folder}/./{each}").lstrip("/") for each in written if isinstance(each, str)]
        missing = [path for path in paths if _BUILT.search(path) and not _is_there(path, names)]
        source = next(_sources(folder, name, manifest, names), "") if missing else ""
        if source:
            default = bool(_DEFAULT.search(read(source) or ""))
            module = manifest.get("type") == "module"
            made = (path for path in missing if ".d." not in path or not source.endswith("js"))
            yield from ((path, EntrySource(source, default, module)) for path in made)


def _sources(folder: str, name: str, manifest: Mapping[str, Any], names: ListNames) -> Iterator[str]:
    """The files that an entry can be built from: the one that the manifest names, then the usual ones."""
    called = str(manifest.get("name") or "").rpartition("/")[2]
    stems = ("index", called) if name == "." else (name[2:], f"{name[2:]}/index")
    said = [str(manifest.get("source") or "")] if name == "." else []
    usual = (f"{place}{stem}.{suffix}" for place in _SOURCES for stem in stems for suffix in _SUFFIXES)
    paths = (posixpath.normpath(f"{folder}/./{each}").lstrip("/") for each in (*said, *usual) if each)
    return (path for path in paths if _is_there(path, names))


def _is_there(path: str, names: ListNames) -> bool:
    return path.startswith("..") or posixpath.basename(path) in names(posixpath.dirname(path))


def exports_of(manifest: Mapping[str, Any]) -> Mapping[str, object]:
    """What a package exports, by subpath (`./router`, `.` for the package itself)."""
    exports = manifest.get("exports")
    named = table(exports)
    return named if any(name.startswith(".") for name in named) else {".": exports}


def export_paths(export: object, depth: int = 6) -> Iterator[str]:
    """The paths of what a package exports under one name, whatever the conditions."""
    if isinstance(export, str):
        yield export
    for each in table(export).values() if depth else ():
        yield from export_paths(each, depth - 1)


def member_folders(patterns: object, manifest: str, names: ListNames) -> tuple[str, ...]:
    """The folders below the top that are members of a workspace.

    Args:
        patterns: of their paths, as a manifest lists them; those that begin with `!` exclude folders.
        manifest: the name of the file that makes a folder a member.
        names: gives the names in a folder.
    """
    found: dict[str, None] = {}
    left_out = [pattern[1:] for pattern in texts(patterns) if pattern.startswith("!")]
    for pattern in texts(patterns):
        for written in dict.fromkeys(pattern.replace("**", depth, 1) for depth in _DEPTHS):
            parts = [part for part in written.split("/") if part not in ("", ".")]
            if parts and ".." not in parts and not pattern.startswith(("/", "!")):
                found.update(dict.fromkeys(islice(_matching("", parts, names), _MOST_MEMBERS)))
    kept = (each for each in found if not any(fnmatchcase(each, pattern) for pattern in left_out))
    return tuple(islice((each for each in kept if manifest in names(each)), _MOST_MEMBERS))


def _matching(folder: str, parts: list[str], names: ListNames) -> Iterator[str]:
    if not parts:
        yield folder
        return
    here, *below = parts
    inside = sorted(name for name in names(folder) if fnmatchcase(name, here)) if "*" in here else [here]
    for name in inside:
        yield from _matching(f"{folder}/{name}".lstrip("/"), below, names)


def _settings_in(names: frozenset[str]) -> str:
    """The file with the settings of a test runner, '' for none."""
    found = (name for pattern in _OWN_SETTINGS for name in sorted(names) if fnmatchcase(name, pattern))
    return next(found, "")


def _is_shown(folder: str) -> bool:
    """Whether a member is an example or the documentation."""
    return is_example_path(f"{folder}/{MANIFEST}") or is_doc_path(f"{folder}/{MANIFEST}")
