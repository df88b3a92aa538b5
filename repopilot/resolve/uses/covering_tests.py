"""Which tests of the repository cover a file: by their names and the names they use, or by the code graph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from repopilot.code.file_analysis import FileAnalysis
from repopilot.code.graph.graph import dependents
from repopilot.code.languages import is_test_path
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index

MOST_TESTS = 5
_MOST_NAMES = 25
_NAMED_AFTER = 100
_MOST_USERS = 3
"""Most users of a file whose tests are run where the file has none."""
_AFFIXES = (("test_", ""), ("", "_test"))
_USES_CHANGED = 200
"""Votes. Using a changed name outweighs being named after the file."""


def reaching_tests(index: Index, path: str, changed: Collection[str] = ()) -> list[str]:
    """Python test files that reach a file: those that cover it or, without any, those of the files that use it.

    Args:
        index: the repository's index.
        path: the file under test.
        changed: plain names of definitions; tests and files that use one of them come first.

    Returns:
        Paths, the best first, at most MOST_TESTS.
    """
    direct = covering_tests(index, path, changed)
    through = (
        (test for user in _users(index, path, changed) for test in covering_tests(index, user)) if not direct else ()
    )
    return (direct or list(dict.fromkeys(through)))[:MOST_TESTS]


def _users(index: Index, path: str, changed: Collection[str]) -> list[str]:
    """The code files that use names which only this file defines; those that use a changed name come first."""
    counted: Counter[str] = Counter()
    for name in {symbol.name for symbol in (index.outline(path) if path in index.files else ())}:
        if all(symbol.path == path for symbol in index.symbols(name)):
            users = {reference.path for reference in index.references(name)} - {path}
            votes = _USES_CHANGED if name in changed else 1
            counted.update({user: votes for user in users if user.endswith(".py") and not is_test_path(user)})
    return [user for user, _ in counted.most_common(_MOST_USERS)]


def covering_tests(index: Index, path: str, changed: Collection[str] = ()) -> list[str]:
    """Python test files that are named after a file or use what it defines.

    Args:
        index: the repository's index.
        path: the file under test.
        changed: plain names of definitions; tests that use one of them come first.

    Returns:
        Paths, the best first, at most MOST_TESTS.
    """
    named = _names_of_tests(path)
    counted: Counter[str] = Counter()
    for test in index.files:
        if _is_test(index, test) and PurePosixPath(test).stem in named:
            counted[test] += _NAMED_AFTER
    names = [s.name for s in index.outline(path) if s.kind not in ("variable", "field")] if path in index.files else []
    names = sorted(names, key=lambda n: n not in changed)[:_MOST_NAMES]
    elsewhere = {name for name in names if any(s.path != path for s in index.symbols(name))}
    for test in dict.fromkeys(test for name in names for test in index.may_use(name)):
        used = index.uses_in(test) if _is_test(index, test) else None
        if used is None:
            continue
        uncertain = set() if _imports(used, path) else elsewhere
        times = Counter(reference.name for reference in used.references)
        for name in names:
            if name in times and name not in uncertain:
                counted[test] += times[name] * (_USES_CHANGED if name in changed else 1)
    counted.update(_about(index, changed))
    return [p for p, _ in counted.most_common() if is_test_file(p)][:MOST_TESTS]


def _about(index: Index, names: Collection[str]) -> Counter[str]:
    """Votes for the test files that are named after a changed name or hold it as a string, also with hyphens, as in a
    command's name. A string in more than half of the tests gets no votes."""
    forms = {form: name for name in names for form in (name, name.replace("_", "-"))}
    written = re.compile(rf"""(["'])({"|".join(map(re.escape, forms))})\1""")
    tests = [path for path in index.files if _is_test(index, path)] if names else []
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    for test in tests:
        for _, form in written.findall(index.text(test) or ""):
            found[forms[form]][test] += _USES_CHANGED
    rare = [votes for votes in found.values() if 2 * len(votes) <= max(len(tests), MOST_TESTS)]
    called = {stem for name in names for stem in _names_of_tests(name)}
    about = {test: _NAMED_AFTER * _USES_CHANGED for test in tests if PurePosixPath(test).stem in called}
    return sum(rare, Counter(about))


def _is_test(index: Index, path: str) -> bool:
    """Whether a Python file is among the repository's own tests."""
    return path.endswith(".py") and is_test_path(path) and not index.is_foreign(path)


def _imports(test: FileAnalysis, path: str) -> bool:
    """Whether a test imports the module of a file, or something from it."""
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    items = test.imports
    written = {item.module for item in items} | {f"{item.module}.{name}" for item in items for name, _ in item.names}
    return any(f".{dotted}".endswith(f".{module}") for module in written if module.strip("."))


def all_tests(index: Index) -> list[str]:
    """Every Python test file of the repository, in the index's order."""
    return [p for p in index.files if is_test_file(p) and _is_test(index, p)]


def _names_of_tests(path: str) -> set[str]:
    """The names of a file's test files; `test_make` also belongs to `_make.py`."""
    stem = PurePosixPath(path).stem
    return {f"{prefix}{name}{suffix}" for name in (stem, stem.strip("_")) for prefix, suffix in _AFFIXES}


def is_test_file(path: str) -> bool:
    """Whether the file is named as pytest expects its test files."""
    stem = PurePosixPath(path).stem
    return stem.startswith("test_") or stem.endswith("_test") or stem in ("test", "tests")


def is_test_place(path: str, symbol: str) -> bool:
    """Whether a place is a test: in a test file, or in the module `tests` of a Rust file."""
    return is_test_path(path) or (path.endswith(".rs") and ".tests." in f".{symbol}")


def tests_by_graph(index: Index, paths: Iterable[str]) -> list[str]:
    """The test files of any language that depend on what some files define, by the code graph.

    Args:
        index: the repository's index.
        paths: files of code; tests among them are passed over.

    Returns:
        Paths, the nearest and surest first.
    """
    graph = graph_of(index)
    files = [graph.by_path[path] for path in paths if path in graph.by_path and not is_test_path(path)]
    start = [node for file in files for node in (file, *graph.inside(file))]
    best: dict[str, tuple[int, float]] = {}
    for node, (distance, _, link) in dependents(graph, start).items():
        place = graph.nodes[node]
        if is_test_place(place.path, place.name) and not index.is_foreign(place.path):
            reached = (distance, -link.confidence)
            best[place.path] = min(reached, best.get(place.path, reached))
    return sorted(best, key=lambda path: best[path])
