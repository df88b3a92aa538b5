"""Resolves imports to files of the repository, from paths, declared packages and manifests alone. Pure."""

from __future__ import annotations

import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from repopilot.code.file_analysis import FileAnalysis, Import
from repopilot.code.formats.notebook import is_notebook
from repopilot.code.languages import C_FAMILY, COMPONENTS, JVM, SCRIPTS

_JS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".json")
_MOST_OF_A_PACKAGE = 400  # files that a star import of a package is resolved to


class OwnPackage(Protocol):
    """What import resolution reads from the manifest of a package of the repository itself."""

    @property
    def path(self) -> str:
        """The path of the manifest."""

    @property
    def ecosystem(self) -> str:
        """The ecosystem of its registry: npm, go, cargo."""

    @property
    def name(self) -> str:
        """The name of the package."""

    @property
    def paths(self) -> Mapping[str, str]:
        """Module patterns, and the paths that they stand for."""


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """One import, resolved.

    `files` are the numbers of the files it refers to; `bound` maps each local name to (files, name in them), with
    name '' for the module itself. `star`: every name of the files is in scope; `line` is 1-based.
    """

    files: tuple[int, ...]
    bound: Mapping[str, tuple[tuple[int, ...], str]]
    star: bool
    line: int


@dataclass(frozen=True, slots=True)
class FileLookup:
    """Files by everything that imports can name.

    `npm`, `go` and `cargo` map the names of packages of the repository to their folders, `js_paths` the folder of each
    tsconfig.json to its module patterns and their paths, relative to the folder. `absolute` caches the files of Python
    modules by (importing folder, module).
    """

    files: Sequence[FileAnalysis]
    by_path: dict[str, int]
    by_module: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_tail: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_folder: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_package: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    packaged: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    npm: dict[str, str] = field(default_factory=dict)
    go: dict[str, str] = field(default_factory=dict)
    cargo: dict[str, str] = field(default_factory=dict)
    js_paths: dict[str, Mapping[str, str]] = field(default_factory=dict)
    absolute: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)

    def at(self, *paths: str) -> tuple[int, ...]:
        """The first of the paths that is a file."""
        return next(((self.by_path[p],) for p in paths if p in self.by_path), ())


def file_lookup(files: Sequence[FileAnalysis], manifests: Iterable[OwnPackage] = ()) -> FileLookup:
    """Index files, and the packages that manifests name, for `resolve`."""
    found = FileLookup(files, {f.path: i for i, f in enumerate(files)})
    for number, file in enumerate(files):
        folder, name = posixpath.split(file.path)
        found.by_folder[folder].append(number)
        found.by_tail[name].append(number)
        if file.language == "python" and not is_notebook(file.path):  # no import finds a notebook
            found.by_module[python_module(file.path, found.by_path)].append(number)
        if file.package:
            found.by_package[file.package].append(number)
            for symbol in file.symbols:
                if symbol.kind not in ("field", "method"):
                    found.packaged[file.package, symbol.name].append(number)
    by_ecosystem = {"npm": found.npm, "go": found.go, "cargo": found.cargo}
    for manifest in manifests:
        if manifest.paths:
            found.js_paths[posixpath.dirname(manifest.path)] = manifest.paths
        if manifest.name and manifest.ecosystem in by_ecosystem:
            folder = posixpath.dirname(manifest.path)
            folders = by_ecosystem[manifest.ecosystem]
            # Tests contain copies of manifests; the real package is the outermost one with its name.
            folders[manifest.name] = min(folders.get(manifest.name, folder), folder, key=lambda each: each.count("/"))
    return found


def target_of(lookup: FileLookup, path: str, language: str, item: Import) -> ImportTarget:
    """What one import of a file refers to; without files for a module outside the repository."""
    finder = _FINDERS.get(language)
    return finder(lookup, path, item) if finder is not None else _target(item, ())


def resolve(lookup: FileLookup, number: int) -> list[ImportTarget]:
    """Resolve the imports of a file; those of modules outside the repository are left out.

    Args:
        lookup: the files.
        number: the number of the importing file.
    """
    file = lookup.files[number]
    found = (target_of(lookup, file.path, file.language, item) for item in file.imports)
    return [target for target in found if target.files or target.bound]


def _target(item: Import, files: tuple[int, ...], parts: Mapping[str, tuple[int, ...]] | None = None) -> ImportTarget:
    """An import whose names are bound to `files`; `parts` are the files of names that are modules themselves."""
    parts = parts or {}
    bound: dict[str, tuple[tuple[int, ...], str]] = {}
    for name, local in item.names:
        if name in parts:
            bound[local] = (parts[name], "")
        elif name != "*" and files:
            bound[local] = (files, name)
    if item.alias and files:
        bound[item.alias] = (files, "")
    everything = tuple(dict.fromkeys((*files, *(n for found in parts.values() for n in found))))
    return ImportTarget(everything, bound, any(name == "*" for name, _ in item.names), item.line)


# Python


def python_module(path: str, paths: Container[str]) -> str:
    """`src/flask/json/tag.py` is `flask.json.tag`: the folders that are packages, then the file."""
    folder, name = posixpath.split(path)
    parts = [] if name.startswith("__init__.") else [name.split(".")[0]]
    while folder and f"{folder}/__init__.py" in paths:
        folder, last = posixpath.split(folder)
        parts.append(last)
    return ".".join(reversed(parts))


def _python(lookup: FileLookup, path: str, item: Import) -> ImportTarget:
    dots = len(item.module) - len(item.module.lstrip("."))
    names = [name for name, _ in item.names]
    if dots:
        folder = posixpath.dirname(path)
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        base = posixpath.join(folder, item.module.lstrip(".").replace(".", "/")).rstrip("/")
        files = lookup.at(f"{base}.py", f"{base}/__init__.py", f"{base}.pyi") if base else lookup.at("__init__.py")
        beside = {n: posixpath.join(base, n) for n in names}
        parts = {n: lookup.at(f"{at}.py", f"{at}/__init__.py") for n, at in beside.items()}
    else:
        folder = posixpath.dirname(path)
        files = _python_absolute(lookup, folder, item.module)
        parts = {n: _python_absolute(lookup, folder, f"{item.module}.{n}") for n in names}
    return _target(item, files, {n: found for n, found in parts.items() if found})


def _python_absolute(lookup: FileLookup, folder: str, module: str) -> tuple[int, ...]:
    found = lookup.absolute.get((folder, module))
    if found is None:
        found = lookup.absolute[folder, module] = _python_files(lookup, folder, module)
    return found


def _python_files(lookup: FileLookup, folder: str, module: str) -> tuple[int, ...]:
    found = lookup.by_module.get(module)
    if found is None:
        # Namespace packages, and scripts that import their siblings.
        tail = module.replace(".", "/")
        of_library = f"{folder}/__init__.py" in lookup.by_path and module.partition(".")[0] in sys.stdlib_module_names
        roots = ("", "src/") if of_library else ("", "src/", folder + "/")
        return next((f for root in roots if (f := lookup.at(f"{root}{tail}.py", f"{root}{tail}/__init__.py"))), ())
    near = [n for n in found if posixpath.dirname(lookup.files[n].path) == folder]
    return tuple(near[:1] or found[:3])


# JavaScript and TypeScript


def _javascript(lookup: FileLookup, path: str, item: Import) -> ImportTarget:
    module = item.module.split("?")[0]
    if not module:  # a name that the file itself exports
        return _target(item, lookup.at(path))
    if module.startswith("."):
        return _target(item, _js_file(lookup, posixpath.normpath(posixpath.join(posixpath.dirname(path), module))))
    aliased = _js_aliased(lookup, path, module)
    if aliased:
        return _target(item, aliased)
    package = next((n for n in lookup.npm if module == n or module.startswith(n + "/")), None)
    if package is not None:
        base = lookup.npm[package]
        rest = module[len(package) + 1 :]
        tries = [posixpath.join(base, folder, rest) for folder in ("", "src", "lib", "source")]
        if not rest:
            tries += [posixpath.join(base, entry) for entry in ("src/index", "lib/index", "index", f"src/{package}")]
    elif module.startswith(("@/", "~/", "#/", "src/")):
        rest = module.split("/", 1)[1]
        tries = [f"{root}{rest}" for root in ("src/", "app/", "")]
    else:
        return _target(item, ())
    return _target(item, next((f for t in tries if (f := _js_file(lookup, posixpath.normpath(t)))), ()))


def _js_aliased(lookup: FileLookup, path: str, module: str) -> tuple[int, ...]:
    """The file of a module by the `paths` of the nearest tsconfig.json above."""
    folders = sorted((f for f in lookup.js_paths if not f or path.startswith(f"{f}/")), key=len, reverse=True)
    for folder in folders:
        for pattern, target in lookup.js_paths[folder].items():
            before, star, after = pattern.partition("*")
            if module.startswith(before) and module.endswith(after) and (star or module == pattern):
                inner = module[len(before) : len(module) - len(after)] if star else ""
                found = _js_file(lookup, posixpath.normpath(posixpath.join(folder, target.replace("*", inner, 1))))
                if found:
                    return found
    return ()


def _js_file(lookup: FileLookup, base: str) -> tuple[int, ...]:
    stem = re.sub(r"\.(?:js|jsx|mjs|cjs)$", "", base)
    found = lookup.at(base, *(base + e for e in _JS), *(stem + e for e in _JS))
    return found or lookup.at(*(posixpath.normpath(f"{base}/index{e}") for e in _JS))


# Go


def _go(lookup: FileLookup, path: str, item: Import) -> ImportTarget:
    for module, folder in lookup.go.items():
        if item.module == module or item.module.startswith(module + "/"):
            wanted = posixpath.join(folder, item.module[len(module) + 1 :]).rstrip("/")
            return _target(item, _go_folder(lookup, wanted))
    parts = item.module.split("/")
    if "." not in parts[0] or lookup.go:
        return _target(item, ())
    # Without go.mod: the longest suffix of the path that is a folder of the repository.
    tails = ("/".join(parts[at:]) for at in range(3, len(parts)))
    return _target(item, next((f for tail in tails if (f := _go_folder(lookup, tail))), ()))


def _go_folder(lookup: FileLookup, folder: str) -> tuple[int, ...]:
    numbers = lookup.by_folder.get(folder, ())
    return tuple(
        n for n in numbers if lookup.files[n].language == "go" and not lookup.files[n].path.endswith("_test.go")
    )


# Java, Kotlin, Scala, C#, PHP: declared packages


def _packaged(lookup: FileLookup, path: str, item: Import) -> ImportTarget:
    module = item.module
    names = dict(item.names)
    if "*" in names or not names:
        files = tuple(lookup.by_package.get(module, ())[:_MOST_OF_A_PACKAGE])
        return _target(item, files or _class_in(lookup, module))
    found = {n: tuple(lookup.packaged.get((module, n), ())) for n in names}
    if not any(found.values()):
        # A static import, or a class inside a class: the module is itself a class.
        return _target(item, _class_in(lookup, module))
    files = tuple(dict.fromkeys(number for numbers in found.values() for number in numbers))
    return _target(item, files)


def _class_in(lookup: FileLookup, name: str) -> tuple[int, ...]:
    package, _, last = re.sub(r"\\", ".", name).rpartition(".")
    for separator in (".", "\\"):
        found = lookup.packaged.get((package.replace(".", separator), last))
        if found:
            return tuple(found)
    outer, _, owner = package.rpartition(".")
    return tuple(lookup.packaged.get((outer, owner), ()))


# Rust


def _rust(lookup: FileLookup, path: str, item: Import) -> ImportTarget:
    root = _crate_root(lookup, path)
    parts = item.module.split("::")
    folder = _rust_folder(path)
    if parts[0] == "crate":
        base = root
        parts = parts[1:]
    elif parts[0] in ("self", "super"):
        base = folder
        while parts and parts[0] in ("self", "super"):
            base = posixpath.dirname(base) if parts[0] == "super" else base
            parts = parts[1:]
    else:
        crate = next((n for n in lookup.cargo if n.replace("-", "_") == parts[0]), None)
        around = next((each for each in (folder, root) if _rust_file(lookup, posixpath.join(each, parts[0]))), None)
        if crate is not None:
            base = posixpath.join(lookup.cargo[crate], "src")
            parts = parts[1:]
        elif around is not None:
            base = around
        else:
            return _target(item, ())
    files = _rust_deepest(lookup, base, parts)
    modules = {n: _rust_file(lookup, posixpath.join(base, *parts, n)) for n, _ in item.names}
    if modules and all(modules.values()):
        files = ()  # the parent module itself is not used
    return _target(item, files, {n: found for n, found in modules.items() if found})


def _crate_root(lookup: FileLookup, path: str) -> str:
    folder = posixpath.dirname(path)
    while folder:
        if lookup.at(f"{folder}/lib.rs", f"{folder}/main.rs"):
            return folder
        folder = posixpath.dirname(folder)
    return "src" if path.startswith("src/") else ""


def _rust_folder(path: str) -> str:
    """The folder of the submodules of a file."""
    folder, name = posixpath.split(path)
    return folder if name in ("mod.rs", "lib.rs", "main.rs") else posixpath.join(folder, name.removesuffix(".rs"))


def _rust_file(lookup: FileLookup, base: str) -> tuple[int, ...]:
    return lookup.at(f"{base}.rs", f"{base}/mod.rs")


def _rust_deepest(lookup: FileLookup, base: str, parts: Sequence[str]) -> tuple[int, ...]:
    """The file of the longest prefix of the path that is a module; the rest are items in it."""
    for length in range(len(parts), 0, -1):
        found = _rust_file(lookup, posixpath.join(base, *parts[:length]))
        if found:
            return found
    return _rust_file(lookup, base) or lookup.at(posixpath.join(base, "lib.rs"), posixpath.join(base, "main.rs"))


# C and C++, Ruby


def _include(lookup: FileLookup, path: str, item: Import) -> ImportTarget:
    near = posixpath.normpath(posixpath.join(posixpath.dirname(path), item.module))
    return _target(item, lookup.at(near, item.module) or _by_tail(lookup, item.module))


def _ruby(lookup: FileLookup, path: str, item: Import) -> ImportTarget:
    name = item.module if item.module.endswith(".rb") else item.module + ".rb"
    if item.module.startswith("."):
        return _target(item, lookup.at(posixpath.normpath(posixpath.join(posixpath.dirname(path), name))))
    return _target(item, lookup.at(f"lib/{name}", name) or _by_tail(lookup, name))


def _by_tail(lookup: FileLookup, path: str) -> tuple[int, ...]:
    """The file whose path ends with this one, if there is exactly one."""
    candidates = lookup.by_tail.get(posixpath.basename(path), ())
    found = [n for n in candidates if lookup.files[n].path.endswith("/" + path)]
    return tuple(found) if len(found) == 1 else ()


_Finder = Callable[[FileLookup, str, Import], ImportTarget]
_FINDERS: dict[str, _Finder] = {
    "python": _python,
    **dict.fromkeys((*SCRIPTS, *COMPONENTS), _javascript),
    "go": _go,
    **dict.fromkeys((*JVM, "csharp", "php"), _packaged),
    "rust": _rust,
    **dict.fromkeys((*C_FAMILY, "bash", "make", "protobuf"), _include),
    "ruby": _ruby,
}
