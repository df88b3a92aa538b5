"""Where a repository is entered: what its manifests declare, `main` functions, and what users import. Sync."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from repopilot.agents.overview.groups import folders_of
from repopilot.agents.overview.manifests import facts, manifests
from repopilot.agents.overview.overview_values import EntryPoint
from repopilot.agents.overview.uses import users_of
from repopilot.code.graph.graph import Graph
from repopilot.code.languages import file_kind, is_example_path, is_test_path
from repopilot.code.project.manifest import Manifest
from repopilot.index.store import Index
from repopilot.types import Symbol

MOST = 12
_LIBRARY_KEYS = ("main", "module", "types", "browser")
"""Keys of package.json for what is imported; all others of its entry points are commands."""
_MAIN_LANGUAGES = frozenset(("c", "cpp", "go", "java", "kotlin", "rust", "csharp", "scala"))
_STARTED = re.compile(r"^if __name__ == [\"']__main__[\"']:", re.M)
_GO_MAIN = re.compile(r"^package main\b", re.M)
_RUST_ROOT = re.compile(r"(?:^|/)src/(?:main\.rs|bin/[^/]+(?:/main)?\.rs)$")


def entry_points(index: Index, graph: Graph, lines: Mapping[str, int]) -> tuple[EntryPoint, ...]:
    """Find where a repository is entered.

    Args:
        index: the repository.
        graph: its code graph.
        lines: lines of its own code by path.

    Returns:
        Commands first, then programs, then what is imported; each place once.
    """
    found = [*_declared(index, lines), *_programs(index, lines)]
    found += _facades(index, lines) or ([] if found else _most_used_outside(graph, lines))
    order = ("command", "main", "package", "script", "facade")
    unique: dict[tuple[str, str], EntryPoint] = {}
    for entry in sorted(found, key=lambda entry: (order.index(entry.kind), entry.path.count("/"), entry.path)):
        unique.setdefault((entry.path, entry.symbol), entry)
    return tuple(unique.values())[:MOST]


def _declared(index: Index, lines: Mapping[str, int]) -> Iterator[EntryPoint]:
    for manifest in manifests(index):
        for name, target in manifest.entry_points.items():
            library = manifest.ecosystem == "npm" and name in _LIBRARY_KEYS
            place = _source_of(manifest, target, index, lines)
            if place is None:
                continue
            path, symbol = place
            line = symbol.start_line if symbol else 1
            package = manifest.name or index.name
            shown = package if library or name == "bin" else name
            yield EntryPoint("facade" if library else "command", shown, path, line, symbol.qualified if symbol else "")


def _source_of(
    manifest: Manifest, target: str, index: Index, lines: Mapping[str, int]
) -> tuple[str, Symbol | None] | None:
    """The file, and the definition in it, of `package.module:function` or of a path, which may be that of a build."""
    folder = posixpath.dirname(manifest.path)
    module, _, name = target.partition(":")
    module = module.split("[")[0].strip()
    if manifest.ecosystem == "npm":
        return _of_script(posixpath.normpath(posixpath.join(folder, target)), index, lines)
    stem = module.replace(".", "/")
    wanted = (f"{stem}.py", f"{stem}/__init__.py", f"{stem}/__main__.py")
    path = next((path for path in index.files for end in wanted if path == end or path.endswith(f"/{end}")), None)
    if path is None:
        return None
    symbol = (
        next((s for s in index.outline(path) if s.qualified == name.split(".")[0].split()[0]), None) if name else None
    )
    return _followed(path, name, index) if name and symbol is None else (path, symbol)


def _followed(path: str, name: str, index: Index) -> tuple[str, Symbol | None]:
    """The definition of a name that a package imports from one of its modules."""
    folder = posixpath.dirname(path)
    found = [s for s in index.symbols(name) if s.path.startswith(f"{folder}/") and s.qualified == name]
    return (found[0].path, found[0]) if len(found) == 1 else (path, None)


def _of_script(path: str, index: Index, lines: Mapping[str, int]) -> tuple[str, None] | None:
    """The source of a script or module of npm: itself, else the one that is built into it."""
    if path in index.files:
        return path, None
    stem = re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", path)
    name = posixpath.basename(stem)
    candidates = [p for p in lines if re.sub(r"\.[cm]?[jt]sx?$", "", posixpath.basename(p)) == name]
    inside = [p for p in candidates if p.startswith(_package_of(path))]
    near = sorted(inside, key=lambda p: (p.count("/"), "src/" not in p, p))
    return (near[0], None) if near else None


def _package_of(path: str) -> str:
    """The folder above the one that is built: `packages/a/` of `packages/a/dist/index.js`."""
    parts = path.split("/")[:-1]
    built = next(
        (n for n, part in enumerate(parts) if part in ("dist", "build", "lib", "out", "cjs", "esm")), len(parts)
    )
    return "".join(f"{part}/" for part in parts[:built])


def _programs(index: Index, lines: Mapping[str, int]) -> Iterator[EntryPoint]:
    """`main` functions, packages that are run, and scripts at the top that start themselves."""
    for path in lines:
        name = posixpath.basename(path)
        if name == "__main__.py":
            package = posixpath.dirname(path).removeprefix("src/").replace("/", ".")
            yield EntryPoint("package", f"python -m {package}", path, 1)
        elif path.endswith(".py") and "/" not in path and name not in ("setup.py", "conftest.py"):
            text = index.text(path) or ""
            if started := _STARTED.search(text):
                yield EntryPoint("script", f"python {path}", path, text.count("\n", 0, started.start()) + 1)
    found: dict[str, Symbol] = {}
    for symbol in (*index.symbols("main"), *index.symbols("Main")):
        if symbol.path in lines and symbol.kind in ("function", "method"):
            found.setdefault(symbol.path, symbol)
    for path in filter(found.__contains__, lines):
        main = found[path]
        if _is_program(main, index):
            yield EntryPoint("main", _program_name(path, index), path, main.start_line, main.qualified)


def _is_program(main: Symbol, index: Index) -> bool:
    """Whether a function named main is what its language starts a program with."""
    language = index.files[main.path].language
    if language == "go":
        return _GO_MAIN.search(index.text(main.path) or "") is not None
    if language == "rust":
        return _RUST_ROOT.search(main.path) is not None
    if language in ("java", "csharp", "scala"):
        return "static" in main.signature
    return language in _MAIN_LANGUAGES


def _program_name(path: str, index: Index) -> str:
    stem, folder = posixpath.splitext(posixpath.basename(path))[0], posixpath.basename(posixpath.dirname(path))
    if stem != "main":
        return stem
    return folder if folder not in ("", "src", "cmd") else index.name.rpartition("/")[2]


def _facades(index: Index, lines: Mapping[str, int]) -> list[EntryPoint]:
    """What users import: packages of Python that manifests name, else the largest; the roots of Rust's libraries."""
    names = {_plain(fact.value) for fact in facts(index, "name")} | {_plain(index.name.rpartition("/")[2])}
    below: Counter[str] = Counter()
    for path, count in lines.items():
        for folder in folders_of(path):
            below[folder] += count
    sizes = {path: below[posixpath.dirname(path)] for path in lines if path.endswith("/__init__.py")}
    chosen = [path for path in sizes if _plain(path.split("/")[-2]) in names]
    if not chosen and any(_plain(posixpath.basename(folder)) in names for folder in below):
        return []  # of a package whose `__init__` is empty its modules are imported
    chosen = chosen or sorted(sizes, key=lambda p: -sizes[p])[:1]
    found = [EntryPoint("facade", f"import {path.split('/')[-2]}", path, 1) for path in chosen]
    found += [
        EntryPoint("facade", f"use {_crate(path, index)}", path, 1) for path in lines if path.endswith("src/lib.rs")
    ]
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower())


def _crate(path: str, index: Index) -> str:
    folder = path.removesuffix("src/lib.rs").rstrip("/")
    named = (m.name for m in manifests(index) if m.ecosystem == "cargo" and posixpath.dirname(m.path) == folder)
    return next(filter(None, named), index.name)


def _most_used_outside(graph: Graph, lines: Mapping[str, int]) -> list[EntryPoint]:
    """The file that tests and examples use most: what users of a library begin with, where nothing declares it."""
    counts = Counter({path: sum(map(_is_outside, users_of(graph, [path]))) for path in graph.by_path if path in lines})
    best = counts.most_common(1)
    return [EntryPoint("facade", posixpath.splitext(posixpath.basename(path))[0], path, 1) for path, n in best if n > 1]


def _is_outside(path: str) -> bool:
    return file_kind(path) == "code" and (is_test_path(path) or is_example_path(path))
