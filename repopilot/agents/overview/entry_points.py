"""Where a repository is entered: what its manifests declare, `main` functions, and what users import. Sync."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import get_args

from repopilot.agents.overview.groups import folders_of
from repopilot.agents.overview.overview_values import EntryKind, EntryPoint
from repopilot.agents.overview.own_code import CALL
from repopilot.agents.overview.uses import STUBS, reached, successors, users_of
from repopilot.code.graph.graph import Graph
from repopilot.code.languages import C_FAMILY, file_kind, is_product_path
from repopilot.code.source_positions import line_at
from repopilot.index.manifests import facts, is_imported, manifests, project_name
from repopilot.index.store import Index
from repopilot.project.manifest import Manifest
from repopilot.retrieval.repo_map import readme_path
from repopilot.types import Symbol

MOST = 12
MOST_HEADERS = 4
_LEAST_REACH = 0.1
"""A program that reaches a smaller share of the code than the entry point that reaches most is a tool."""
_DECLARING = frozenset(("rust", "go"))
"""Languages whose files themselves declare what others can import."""
_STARTED = re.compile(r"^if __name__ == [\"']__main__[\"']:", re.M)
_GO_MAIN = re.compile(r"^package main\b", re.M)
_CONDITION = re.compile(r"^[^\S\n]*#[^\S\n]*(if|endif)(.*)", re.M)
_OWN_MACRO = re.compile(r"(?<!\w)(?!defined\b)[A-Za-z]\w*")
"""A preprocessor macro of the project; those of the compiler begin with `_`."""
_INSTALLED = re.compile(
    r"(?:install|^(?:nodist_)?(?:pkg)?include_HEADERS)[^\n()]*(?:(?:\\\n|\n\t)[^\n]*)*(?:\([^()]*\))?", re.I | re.M
)
"""What a Makefile, Makefile.am, CMakeLists.txt or meson.build installs."""
_TYPED = re.compile(r"(?<!\.d)\.[cm]?tsx?$")
"""TypeScript sources, not declaration files."""
_HEADERS = (".h", ".hpp", ".hh", ".hxx")
_PATH = re.compile(r"[\w./+-]+")
_JVM_BUILDS = ("pom.xml", "build.gradle", "build.gradle.kts")
_BUILD_FILES = frozenset(("makefile", "makefile.am", "cmakelists.txt", "meson.build"))
_SERVED = re.compile(r"(?:^|/)(?:(?:wsgi|asgi)\.py|config\.ru)$")
_APPLICATION = re.compile(r"^(?:app(?:lication)?\s*=|run\b)", re.M)
"""What a web server loads from these files, by the conventions of WSGI, ASGI and Rack."""
_RUST_ROOT = re.compile(r"(?:^|/)src/(?:main\.rs|bin/[^/]+(?:/main)?\.rs)$")


def entry_points(
    index: Index, graph: Graph, lines: Mapping[str, int], uses: Iterable[tuple[str, str]]
) -> tuple[EntryPoint, ...]:
    """Find where a repository is entered.

    Args:
        index: the repository.
        graph: its code graph.
        lines: lines of its own code by path.
        uses: which files use which.

    Returns:
        Commands first, then programs, then what is imported; each place once for those who run it, and once for those
        who import it.
    """
    found = [*_declared(index, lines), *_programs(index, lines)]
    found += _facades(index, lines)
    declares = any(index.files[path].language in _DECLARING for path in lines)
    if not declares and not any(e.kind == "facade" for e in found) and not _has_program_on_top(found, lines):
        found += _most_used_outside(index, graph, lines)
    found = _without_tools(found, lines, uses)
    below = _lines_below(lines)
    order = get_args(EntryKind)
    commands = {entry.path for entry in found if entry.kind == "command"}
    mains = {entry.path: entry for entry in found if entry.kind == "main"}
    found = [
        replace(mains[entry.path], kind="command", name=entry.name)
        if entry.kind == "command" and not entry.symbol and entry.path in mains
        else entry
        for entry in found
        if entry.kind not in ("main", "script") or entry.path not in commands
    ]
    found.sort(key=lambda e: (order.index(e.kind), e.export_depth, -below[posixpath.dirname(e.path)], e.path))
    unique: dict[tuple[str, str, bool], EntryPoint] = {}
    for entry in found:
        unique.setdefault((entry.path, entry.symbol, entry.kind == "facade"), entry)
    return tuple(unique.values())[:MOST]


def _without_tools(
    found: Sequence[EntryPoint], lines: Mapping[str, int], uses: Iterable[tuple[str, str]]
) -> list[EntryPoint]:
    """The entry points without programs that use hardly any of the code, such as release scripts."""
    used = successors(uses)
    ways = {entry.path: {entry.path} | reached([entry.path], used) for entry in found}
    reach = {start: sum(lines.get(path, 0) for path in way) for start, way in ways.items()}
    least = _LEAST_REACH * max(reach.values(), default=0)
    return [entry for entry in found if entry.kind not in ("main", "script") or reach[entry.path] >= least]


def _has_program_on_top(found: Iterable[EntryPoint], lines: Iterable[str]) -> bool:
    """Whether a program is declared, or stands in the outermost folder with code: the repository is an application
    then, not a library with tools."""
    outermost = min((path.count("/") for path in lines), default=0)
    return any(entry.kind in ("command", "server") or entry.path.count("/") == outermost for entry in found)


def _lines_below(lines: Mapping[str, int]) -> Counter[str]:
    """The lines of code in each folder, subfolders included."""
    below = Counter({"": sum(lines.values())})
    for path, count in lines.items():
        for folder in folders_of(path):
            below[folder] += count
    return below


def _declared(index: Index, lines: Mapping[str, int]) -> Iterator[EntryPoint]:
    for manifest in manifests(index):
        for name, target in manifest.entry_points.items():
            library = is_imported(manifest, name)
            if library and "/" in manifest.path and (manifest.is_private or not manifest.name):
                continue  # a package for others in its workspace, or a part of the one above
            place = _source_of(manifest, target, index, lines, library=library)
            if place is None or place[0].endswith(STUBS):
                continue
            path, symbol = place
            line = symbol.start_line if symbol else 1
            shown = _shown_name(manifest.name or index.name, name, library)
            yield EntryPoint("facade" if library else "command", shown, path, line, symbol.qualified if symbol else "")


def _shown_name(package: str, name: str, library: bool) -> str:
    """What users type or import; for an export of an npm package, its path below the package."""
    if name.startswith("./"):
        return posixpath.normpath(posixpath.join(package, name))
    return package if library or name == "bin" else name


def _source_of(
    manifest: Manifest, target: str, index: Index, lines: Mapping[str, int], *, library: bool
) -> tuple[str, Symbol | None] | None:
    """The file and the definition that a target means: `package.module:function`, or a path, possibly of a built
    file."""
    folder = posixpath.dirname(manifest.path)
    module, _, name = target.partition(":")
    module = module.split("[")[0].strip()
    if manifest.ecosystem == "npm":
        built = posixpath.normpath(posixpath.join(folder, target))
        typed = [each for each in lines if each.startswith(f"{folder}/" if folder else "") and _TYPED.search(each)]
        if library and typed and built not in typed:
            # JavaScript beside TypeScript sources is built from them, or wraps the built files.
            return _source_alike(built, typed) or _root_module(typed) or _of_script(built, index, lines)
        return _of_script(built, index, lines)
    stem = module.replace(".", "/")
    wanted = (f"{stem}.py", f"{stem}/__init__.py", f"{stem}/__main__.py", target)
    beside = (posixpath.normpath(posixpath.join(folder, end)) for end in wanted)
    anywhere = (path for path in index.files for end in wanted if path.endswith(f"/{end}"))
    path = next(chain(filter(index.files.__contains__, beside), anywhere), None)
    if path is None:
        return None
    symbol = (
        next((s for s in index.outline(path) if s.qualified == name.split(".")[0].split()[0]), None) if name else None
    )
    return _followed(path, name, index) if name and symbol is None else (path, symbol)


def _root_module(sources: Iterable[str]) -> tuple[str, None] | None:
    """The outermost `index` source of an npm package, from which builds with other names are made."""
    found = min((path for path in sources if _stem(path) == "index"), key=lambda path: path.count("/"), default=None)
    return (found, None) if found else None


def _followed(path: str, name: str, index: Index) -> tuple[str, Symbol | None]:
    """The definition of a name that a package imports from one of its modules."""
    folder = posixpath.dirname(path)
    found = [s for s in index.symbols(name) if s.path.startswith(f"{folder}/") and s.qualified == name]
    return (found[0].path, found[0]) if len(found) == 1 else (path, None)


def _of_script(path: str, index: Index, lines: Mapping[str, int]) -> tuple[str, None] | None:
    """The source of an npm script or module: the file itself, else the source that it is built from."""
    if path in index.files:
        return path, None
    return _source_alike(path, [source for source in lines if source.startswith(_package_of(path))])


def _source_alike(path: str, inside: Sequence[str]) -> tuple[str, None] | None:
    """The source whose path has the longest ending in common with that of a built file."""
    built = re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", path).split("/")
    parts = {source: re.sub(r"\.[cm]?[jt]sx?$", "", source).split("/") for source in inside}
    alike = {source: len(posixpath.commonprefix([own[::-1], built[::-1]])) for source, own in parts.items()}
    near = max(inside, key=lambda source: (alike[source], -source.count("/"), "src/" in source), default=None)
    return (near, None) if near and alike[near] else None


def _package_of(path: str) -> str:
    """The folder above the one with build output: `packages/a/` of `packages/a/dist/index.js`."""
    parts = path.split("/")[:-1]
    built = next(
        (n for n, part in enumerate(parts) if part in ("dist", "build", "lib", "out", "cjs", "esm")), len(parts)
    )
    return "".join(f"{part}/" for part in parts[:built])


def _programs(index: Index, lines: Mapping[str, int]) -> Iterator[EntryPoint]:
    """`main` functions, packages that are run, what servers load, and scripts at the top that start themselves."""
    yield from (
        EntryPoint("server", path, path, 1)
        for path in index.files
        if _SERVED.search(path)
        and is_product_path(path)
        and not index.is_foreign(path)
        and _APPLICATION.search(index.text(path) or "")
    )
    for path in lines:
        name = posixpath.basename(path)
        if name == "__main__.py":
            package = posixpath.dirname(path).removeprefix("src/").replace("/", ".")
            yield EntryPoint("package", f"python -m {package}", path, 1)
        elif path.endswith(".py") and "/" not in path and name not in ("setup.py", "conftest.py"):
            text = index.text(path) or ""
            if started := _STARTED.search(text):
                yield EntryPoint("script", f"python {path}", path, line_at(text, started.start()))
    found: dict[str, Symbol] = {}
    for symbol in chain.from_iterable(map(index.symbols, ("main", "Main", "wmain", "WinMain", "wWinMain"))):
        if symbol.path in lines and symbol.kind in ("function", "method"):
            found.setdefault(symbol.path, symbol)
    packages = [each for each in manifests(index) if each.name]
    is_package = any("/" not in each.path and not each.is_private for each in packages)
    inner = [posixpath.dirname(each.path) for each in packages if is_package and each.is_private]  # for developers
    beside = _beside_the_product(index, lines)
    for path in filter(found.__contains__, lines):
        main = found[path]
        if _is_program(main, index) and path not in beside and not any(map(inner.__contains__, folders_of(path))):
            yield EntryPoint("main", _program_name(path, index), path, main.start_line, main.qualified)


def _beside_the_product(index: Index, lines: Mapping[str, int]) -> set[str]:
    """The files of Maven and Gradle modules whose build names no main class, except the module with most code."""
    modules: dict[str, list[str]] = {}
    for path in lines:
        modules.setdefault(path.partition("/src/")[0] if "/src/main/" in path else "", []).append(path)
    largest = max(modules, key=lambda module: sum(lines[path] for path in modules[module]), default="")
    builds = {module: [index.text(posixpath.join(module, name)) or "" for name in _JVM_BUILDS] for module in modules}
    return {
        path
        for module, files in modules.items()
        if module not in ("", largest) and not any("mainClass" in text for text in builds[module])
        for path in files
    }


def _is_program(main: Symbol, index: Index) -> bool:
    """Whether a function named main is where its language starts a program."""
    language = index.files[main.path].language
    if language in C_FAMILY:
        return not _is_conditional(main, index.text(main.path) or "")
    if language == "go":
        return _GO_MAIN.search(index.text(main.path) or "") is not None
    if language == "kotlin":
        return "fun main(" in main.signature  # not an extension of a class
    if language == "rust":
        return _RUST_ROOT.search(main.path) is not None
    return language in ("java", "csharp", "scala") and "static" in main.signature


def _is_conditional(main: Symbol, text: str) -> bool:
    """Whether a `main` is compiled only where a macro of the project is set, such as a library's test program."""
    above = "\n".join(text.split("\n")[: main.start_line - 1])
    open_ones: list[str] = []
    for found in _CONDITION.finditer(above):
        if found[1] == "if":
            open_ones.append(found[2])
        elif open_ones:
            open_ones.pop()
    return any(_OWN_MACRO.search(condition.partition(" ")[2]) for condition in open_ones)


def _program_name(path: str, index: Index) -> str:
    if _stem(path) != "main" and not path.endswith(".go"):
        return _stem(path)
    named = (folder for folder in reversed(path.split("/")[:-1]) if folder not in ("src", "cmd"))
    return next(named, project_name(index))


def _facades(index: Index, lines: Mapping[str, int]) -> list[EntryPoint]:
    """What users import, in each language."""
    dotnet = (each for each in manifests(index) if each.ecosystem == "dotnet" and not each.is_private)
    crates = (path for path in lines if path.endswith("src/lib.rs"))
    return [
        *_python_packages(index, lines),
        *_go_packages(index, lines),
        *_gems(index),
        *_installed_headers(index, lines),
        *(EntryPoint("facade", each.name, each.path, 1) for each in dotnet if is_product_path(each.path)),
        *(EntryPoint("facade", f"use {_crate(path, index)}", path, 1) for path in crates),
    ]


def _python_packages(index: Index, lines: Mapping[str, int]) -> list[EntryPoint]:
    """The packages that manifests name, else the largest; none where a folder has such a name but no `__init__.py` with
    code, since its modules are imported then."""
    names = {_plain(fact.value) for fact in facts(index, "name")} | {_plain(index.name.rpartition("/")[2])}
    below = _lines_below(lines)
    sizes = {path: below[posixpath.dirname(path)] for path in lines if path.endswith("/__init__.py")}
    chosen = [path for path in sizes if _plain(path.split("/")[-2]) in names]
    modules = [p for p in lines if p.removeprefix("src/") == posixpath.basename(p) and p.endswith(".py")]
    chosen += [path for path in modules if _plain(_stem(path)) in names]
    if not chosen and not any(_plain(posixpath.basename(folder)) in names for folder in below):
        parents = {posixpath.dirname(path) for path in lines if path.endswith(".py")}
        whole = [path for path in sizes if parents.isdisjoint(folders_of(path)[:-1])]
        chosen = sorted(whole, key=lambda path: -sizes[path])[:1]
    return [EntryPoint("facade", f"import {_stem(path.removesuffix('/__init__.py'))}", path, 1) for path in chosen]


def _go_packages(index: Index, lines: Mapping[str, int]) -> Iterator[EntryPoint]:
    """The root packages of Go modules, each by the file named after the module or `doc.go`, else by the largest."""
    for manifest in (each for each in manifests(index) if each.ecosystem == "go"):
        folder = posixpath.dirname(manifest.path)
        files = [p for p in lines if p.endswith(".go") and posixpath.dirname(p) == folder]
        files = [path for path in files if not _GO_MAIN.search(index.text(path) or "")]
        name = posixpath.basename(folder) or project_name(index)
        if files:
            chosen = max(files, key=lambda path: (posixpath.basename(path) in (f"{name}.go", "doc.go"), lines[path]))
            yield EntryPoint("facade", f"import {manifest.name}", chosen, 1)


def _gems(index: Index) -> Iterator[EntryPoint]:
    """What users of a gem require: the file named after it."""
    for manifest in manifests(index):
        if not manifest.path.endswith(".gemspec"):
            continue
        folder, file = posixpath.split(manifest.path)
        name = manifest.name or file.removesuffix(".gemspec")
        required = (posixpath.join(folder, "lib", f"{stem}.rb") for stem in (name, name.replace("-", "/")))
        for path in [path for path in required if path in index.files][:1]:
            yield EntryPoint("facade", f'require "{name}"', path, 1)


def _installed_headers(index: Index, lines: Mapping[str, int]) -> Iterator[EntryPoint]:
    """The headers that the build installs for users of a library."""
    for path in index.files:
        folder, name = posixpath.split(path)
        if name.lower() not in _BUILD_FILES:
            continue
        for rule in _INSTALLED.findall(index.text(path) or ""):
            for word in _PATH.findall(rule):
                installed = posixpath.normpath(posixpath.join(folder, word))
                if installed.endswith(_HEADERS) and installed in lines:
                    yield EntryPoint("facade", _stem(installed), installed, 1)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower())


def _crate(path: str, index: Index) -> str:
    folder = path.removesuffix("src/lib.rs").rstrip("/")
    named = (m.name for m in manifests(index) if m.ecosystem == "cargo" and posixpath.dirname(m.path) == folder)
    return next(filter(None, named), index.name)


def _most_used_outside(index: Index, graph: Graph, lines: Mapping[str, int]) -> list[EntryPoint]:
    """What users of a library begin with, where nothing declares that: the headers that tests and examples use
    most, else the file with the class that the README calls first, else the file that tests and examples use most."""
    paths = [path for path in graph.by_path if path in lines]
    users = users_of(graph, ([path] for path in paths))
    counts = Counter({path: sum(map(_is_outside, by)) for path, by in zip(paths, users, strict=True)})
    headers = Counter({path: n for path, n in counts.items() if path.endswith(_HEADERS)})
    best = [path for path, n in headers.most_common(MOST_HEADERS) or counts.most_common(1) if n > 1]
    best = best if headers else _called_first(index, lines) or best
    return [EntryPoint("facade", _stem(path), path, 1) for path in best or _headers_of_sources(lines)]


def _called_first(index: Index, lines: Mapping[str, int]) -> list[str]:
    """A list with the file that defines the first class that the README makes an object of; [] for none."""
    called = CALL.findall(index.text(readme_path(index) or "") or "")
    found = (symbol for symbol in chain.from_iterable(map(index.symbols, called)) if symbol.path in lines)
    return [symbol.path for symbol in found if symbol.kind == "class"][:1]


def _headers_of_sources(lines: Mapping[str, int]) -> list[str]:
    """A list with the header of the largest source that has a header of its name; [] for none."""
    stems = {posixpath.splitext(path)[0]: path for path in lines if path.endswith(_HEADERS)}
    sources = [path for path in lines if not path.endswith(_HEADERS) and posixpath.splitext(path)[0] in stems]
    return [stems[posixpath.splitext(max(sources, key=lines.__getitem__))[0]]] if sources else []


def _is_outside(path: str) -> bool:
    return file_kind(path) == "code" and not is_product_path(path)
