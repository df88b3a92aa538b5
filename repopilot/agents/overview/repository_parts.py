"""The components of a repository, what uses what between them, and what they are. Sync."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from repopilot.agents.overview.groups import Group, folders_of, grouped, shortest_paths
from repopilot.agents.overview.overview_values import Component, ComponentUse, NamedPlace
from repopilot.agents.overview.uses import TEST_MODULES, FileUse, between, sure_uses, users_of
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.nodes import KINDS
from repopilot.code.languages import file_kind, folder_is_module, is_named_as_test, is_test_path
from repopilot.index.manifests import manifests
from repopilot.index.store import Index
from repopilot.retrieval.places.checked_docs import is_deprecated, said_in, said_of
from repopilot.retrieval.places.doc_summary import first_sentence, head_summary
from repopilot.retrieval.repo_map import readme_paragraphs
from repopilot.types import Symbol, innermost

MOST_SYMBOLS = 10
STANDS_FOR = 0.5
"""The share of the uses of a component by others from which on one definition stands for it."""
_FOLDER_MODULES = ("__init__.py", "mod.rs")
"""Files whose module goes by the name of their folder."""
_HEADS = (*_FOLDER_MODULES, "index.ts", "index.js", "lib.rs", "package-info.java", "doc.go")
"""The main files of packages."""
_WITH_DOCSTRINGS = ("python", "rust", "go", "elixir")
"""Languages whose modules have documentation; in others, a comment at the head of a file may be about anything."""
_NAMED_SHARE = 0.15
"""A component is named after the folders and files with this share of its code."""


def components_of(
    index: Index, graph: Graph, lines: Mapping[str, int], uses: Mapping[tuple[str, str], FileUse]
) -> tuple[Component, ...]:
    """Group the code into components and say what each is.

    Args:
        index: the repository.
        graph: its code graph.
        lines: lines of its own code by path.
        uses: what uses what between these files.
    """
    defining = {path: count for path, count in lines.items() if not _only_passes_on(graph, path)} or lines
    whole = {path for path in defining if folder_is_module(index.files[path].language)}
    ties = {pair: use.count for pair, use in between(uses, defining).items()}
    groups = _with_facades(lines.keys() - defining.keys(), grouped(defining, ties, whole))
    ranked = _most_used(index, graph, groups)
    tests = tests_of(graph, groups)
    names = component_names(groups, lines, index.name)
    needed = needed_places(graph, {path: number for number, group in enumerate(groups) for path in group.files})
    used = _used_definitions(index, needed)
    described = [_described(index, group, used) for group in groups]
    parts = zip(names, groups, ranked, described, tests, strict=True)
    return tuple(_component(name, group, lines, symbols, said, len(of)) for name, group, symbols, said, of in parts)


def _only_passes_on(graph: Graph, path: str) -> bool:
    """Whether a file stands for its folder and only re-exports what other files define."""
    inside = graph.inside(graph.by_path[path]) if path in graph.by_path else ()
    values = KINDS.index("value")
    return path.rpartition("/")[2] in _HEADS and all(
        graph.nodes.kinds[n] == values or is_private(graph.nodes.name(n)) for n in inside
    )


def _with_facades(facades: Iterable[str], groups: Sequence[Group]) -> list[Group]:
    """The groups with the files that pass on what their folder defines, where one group holds all of the folder."""
    holders: dict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(groups):
        for folder in {folder for path in group.files for folder in ("", *folders_of(path))}:
            holders[folder].add(number)
    held = {path: holders[posixpath.dirname(path)] for path in sorted(facades)}
    own = [tuple(path for path, by in held.items() if by == {number}) for number in range(len(groups))]
    return [replace(group, files=group.files + more) for group, more in zip(groups, own, strict=True)]


def _known_as(group: Group, lines: Mapping[str, int]) -> list[str]:
    """The folders and files that a group is named after: the one that others were joined to, the largest of those where
    it holds _NAMED_SHARE of the code, and "…" where the unnamed ones hold more than half of it."""
    folder, _, last = group.name.rpartition("/")
    module = next((name for name in _FOLDER_MODULES if name.partition(".")[0] == last), "")
    if f"{folder}/{module}" in group.files:
        return [folder]
    joined = _joined(group)
    sizes: dict[str, int] = {}
    for name in shortest_paths(joined, lines):
        inside = (path for path in joined if path == name or path.startswith(f"{name}/"))
        sizes[posixpath.splitext(name)[0]] = sum(lines[path] for path in inside)
    whole = sum(lines[path] for path in group.files)
    others = [name for name in sorted(sizes, key=lambda name: -sizes[name])[:1] if sizes[name] >= _NAMED_SHARE * whole]
    untold = sum(size for name, size in sizes.items() if name not in others)
    return [group.name, *others, *(["…"] if 2 * untold > whole else [])]


def _joined(group: Group) -> tuple[str, ...]:
    """The files of a group beside the folder or file that it is called after."""
    own = (f"{group.name}/", f"{group.name}.")
    return tuple(path for path in group.files if group.name and not path.startswith(own))


def component_names(groups: Sequence[Group], lines: Mapping[str, int], whole: str) -> list[str]:
    """The last part of the path that each group is known as; where several have the same, with as many folders before
    it as tell them apart. Then those of the other paths that hold much of it.

    Args:
        groups: the groups.
        lines: lines of code by path.
        whole: the name of the repository.
    """
    paths = [_known_as(group, lines) if group.name else [whole] for group in groups]
    depths = [1] * len(paths)
    while True:
        names = ["/".join(path.split("/")[-depth:]) for (path, *_), depth in zip(paths, depths, strict=True)]
        often = Counter(names)
        longer = [n for n, (path, *_) in enumerate(paths) if often[names[n]] > 1 and depths[n] <= path.count("/")]
        if not longer:
            others = ([posixpath.basename(path) for path in more] for _, *more in paths)
            return [", ".join((name, *more)) for name, more in zip(names, others, strict=True)]
        for number in longer:
            depths[number] += 1


def _component(
    name: str,
    group: Group,
    lines: Mapping[str, int],
    symbols: Sequence[NamedPlace],
    source: NamedPlace | None,
    tests: int,
) -> Component:
    return Component(
        name=name,
        paths=shortest_paths(group.files, lines),
        files=group.files,
        summary=source.note if source else "",
        source=source,
        symbols=tuple(symbols),
        lines=sum(lines[path] for path in group.files),
        tests=tests,
        joined=_joined(group),
    )


def _used_definitions(index: Index, needed: Mapping[tuple[str, int], int]) -> dict[str, Counter[Symbol]]:
    """How often other parts use each outermost definition and its members, by file."""
    found: dict[str, Counter[Symbol]] = {}
    outlines = {path: index.outline(path) for path, _ in needed}
    for (path, line), count in needed.items():
        around = (s for s in outlines[path] if s.kind != "module" and s.start_line <= line <= s.end_line)
        found.setdefault(path, Counter()).update(dict.fromkeys(islice(around, 1), count))
    return found


def _described(index: Index, group: Group, of_path: Mapping[str, Counter[Symbol]]) -> NamedPlace | None:
    """What the component is, by the first text that says it: at the head of its package or module, in the manifest or
    the README of its folder, at the definition that it is named after, if others use little else of it."""
    used = sum((of_path[path] for path in group.files if path in of_path), Counter[Symbol]())
    main = [s for s, n in used.items() if n >= STANDS_FOR * used.total() and _plain(s.name) == _plain(group.name)]
    said = chain(
        _heads(index, group),
        _said_of_folder(index, re.sub(r"/(?:src|lib)$", "", group.name)),
        (NamedPlace(s.qualified, s.path, s.start_line, said_of(index, s)) for s in main if not is_deprecated(index, s)),
    )
    return next((place for place in said if place.note and not place.note.endswith(":")), None)


def _plain(name: str) -> str:
    """The last part of a name or a path, in lower case and the singular."""
    return re.sub(r"\W|_|s$", "", name.rpartition("/")[2]).casefold()


def _heads(index: Index, group: Group) -> Iterator[NamedPlace]:
    """What is said at the head of a package's main file, of a module with all that is below it, or of the only file; in
    Go at the head of any file of the package, if it begins with `Package`."""
    is_whole = all(path.startswith((f"{group.name}/", f"{group.name}.")) for path in group.files)
    for path in sorted(group.files):
        folder, _, name = path.rpartition("/")
        is_main = folder == group.name and (name in _HEADS or name.endswith(".go"))
        is_module = len(group.files) == 1 or (is_whole and path.rpartition(".")[0] == group.name)
        if is_main or (is_module and index.files[path].language in _WITH_DOCSTRINGS):
            said = said_in(index, path, head_summary(index.text(path) or ""))
            yield NamedPlace(path, path, 1, said if not name.endswith(".go") or said[:8].lower() == "package " else "")


def _is_deprecated_at(index: Index, place: NamedPlace) -> bool:
    """Whether the definition at a place is deprecated."""
    symbol = next((s for s in index.outline(place.path) if s.start_line == place.line), None)
    return symbol is not None and is_deprecated(index, symbol)


def _said_of_folder(index: Index, folder: str) -> Iterator[NamedPlace]:
    """What the manifest and the README in a folder below the root say that it is."""
    own = [manifest for manifest in manifests(index) if folder and posixpath.dirname(manifest.path) == folder]
    facts = (fact for manifest in own for fact in manifest.facts if fact.kind == "description")
    yield from (NamedPlace(f.path, f.path, f.line, said_in(index, f.path, f.value)) for f in facts)
    readme = posixpath.join(folder, "README.md")
    if folder and readme in index.files:
        said = first_sentence(next(readme_paragraphs(index.text(readme) or ""), ""))
        yield NamedPlace(readme, readme, 1, said_in(index, readme, said))


def subclasses(index: Index, name: str) -> Iterator[Symbol]:
    """The classes that inherit directly from a class.

    Args:
        index: the repository.
        name: the name of the base class, which needn't be defined in the repository.
    """
    for reference in index.references(name):
        if reference.kind == "inherit":
            classes = (symbol for symbol in index.outline(reference.path) if symbol.kind == "class")
            if found := innermost(classes, reference.line):
                yield found


def _most_used(index: Index, graph: Graph, groups: Sequence[Group]) -> list[list[NamedPlace]]:
    """The definitions of each group that matter most to others, by how many files use them and how long they are: a
    definition that many use but that is empty (an exception, a marker) tells little. Public names come before others;
    deprecated ones are left out."""
    wanted = sure_uses(graph)
    owners = graph.nodes.owners
    wanted &= owners[graph.sources] != owners[graph.targets]
    pairs = np.unique(np.stack([owners[graph.sources[wanted]], graph.targets[wanted]]), axis=1)
    used = np.bincount(pairs[1], minlength=len(graph.nodes))
    weight = np.log1p(used) * np.log1p(graph.nodes.ends - graph.nodes.lines + 1)
    names = graph.nodes.names
    is_shown = np.isin(graph.nodes.kinds, [KINDS.index("class"), KINDS.index("function")])
    found = []
    for group in groups:
        nodes = [
            node
            for path in group.files
            if path in graph.by_path
            for node in graph.inside(graph.by_path[path])
            if is_shown[node] and not _is_of_tests(path, names[node])
        ]
        nodes.sort(key=lambda node: (is_private(names[node]), -weight[node], node))
        named: dict[str, int] = {}  # an overload is named once
        for node in nodes:
            named.setdefault(names[node], node)
        shown = (graph.nodes[node] for node in named.values())
        places = (NamedPlace(each.name, each.path, each.line) for each in shown)
        wished = (place for place in places if not _is_deprecated_at(index, place))
        found.append(list(islice(wished, MOST_SYMBOLS)))
    return found


def needed_places(graph: Graph, part_of: Mapping[str, int]) -> Counter[tuple[str, int]]:
    """The places of definitions that other parts of the repository are sure to use, each with how often they do.

    Args:
        graph: the code graph.
        part_of: the part that each file belongs to.
    """
    part = np.full(len(graph.nodes), -1)  # packages come after the files, and belong to no part
    part[: len(graph.nodes.paths)] = [part_of.get(path, -1) for path in graph.nodes.paths]
    part = part[graph.nodes.owners]
    user, used = part[graph.sources], part[graph.targets]
    wanted = sure_uses(graph) & (user != used) & (user >= 0) & (used >= 0)
    places = (graph.nodes[node] for node in graph.targets[wanted].tolist())
    return Counter((place.path, place.line) for place in places)


def _is_of_tests(path: str, name: str) -> bool:
    """Whether a definition stands in the module for tests of a Rust file."""
    return path.endswith(".rs") and name.partition(".")[0] in TEST_MODULES


def is_private(name: str) -> bool:
    """Whether a part of a qualified name begins with an underscore, which marks what others should not use."""
    return any(part.startswith("_") for part in name.split("."))


def tests_of(graph: Graph, parts: Sequence[Group] | Sequence[Component]) -> list[list[str]]:
    """The test files that are sure to use each part, those that use it most first.

    Where most test code is in files named as tests, the other files are what tests share, and don't count as tests. The
    main file of a package doesn't count for a part where other parts lie in the package: all tests import it.

    Args:
        graph: the code graph.
        parts: the parts of the repository.
    """
    groups = [part.files for part in parts]
    inside = Counter(folder for files in groups for folder in {"", *chain.from_iterable(map(folders_of, files))})
    own = [
        [path for path in files if posixpath.basename(path) not in _HEADS or inside[posixpath.dirname(path)] == 1]
        for files in groups
    ]
    uses = users_of(graph, own, sure_uses(graph))
    tests = {path for path in graph.by_path if is_test_path(path) and file_kind(path) == "code"}
    named = {path for path in tests if is_named_as_test(path)}
    tests = named if 2 * len(named) > len(tests) else tests
    return [
        [path for path, _ in sorted(each.items(), key=lambda each: (-each[1], each[0])) if path in tests]
        for each in uses
    ]


def component_uses(
    components: Sequence[Component], uses: Mapping[tuple[str, str], FileUse]
) -> tuple[ComponentUse, ...]:
    """What uses what between components, the strongest first.

    Args:
        components: the components.
        uses: what uses what between files.
    """
    of = {path: number for number, component in enumerate(components) for path in component.files}
    uses = between(uses, of)
    strongest: dict[tuple[int, int], tuple[int, str, int]] = {}
    counts: Counter[tuple[int, int]] = Counter()
    shared = _shared(components, of, uses)
    for (user, used), use in uses.items():
        pair = of[user], of[used]
        if pair[0] == pair[1] or used in shared:
            continue
        counts[pair] += use.count
        if use.count > strongest.get(pair, (0, "", 0))[0]:
            strongest[pair] = use.count, user, use.line
    return tuple(ComponentUse(*pair, count, *strongest[pair][1:]) for pair, count in counts.most_common())


def _shared(
    components: Sequence[Component], of: Mapping[str, int], uses: Mapping[tuple[str, str], FileUse]
) -> set[str]:
    """The files shared by all, such as constants, exceptions and types, whose uses say nothing about the component that
    they were joined to: several other components use them and they use nothing, or most other components use them."""
    users: dict[str, set[int]] = {path: set() for component in components for path in component.joined}
    for user, used in uses:
        if used in users and of[user] != of[used]:
            users[used].add(of[user])
    using = {user for user, _ in uses}
    most = (len(components) - 1) / 2
    return {path for path, by in users.items() if len(by) > most or (len(by) > 1 and path not in using)}
