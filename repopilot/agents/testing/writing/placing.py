"""Finds where a test belongs: the module and class in which the neighbours of its subject are tested."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from repopilot.agents.coding.checks.import_fixer import module_name
from repopilot.agents.testing.writing.subjects import TestSubject
from repopilot.agents.testing.writing.suite import Suite, SuiteTest, read_suite
from repopilot.code.graph.graph import Edge
from repopilot.impact.covering_tests import all_tests, covering_tests, is_test_file, test_path_for
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.tools.stored_text import stored_text
from repopilot.workspace import Workspace

MOST_EXAMPLE_LINES = 16
_MOST_EXAMPLES = 2
_MOST_MODULES, _MOST_ALIKE = 10, 4
_BUILTIN_FIXTURES = {"tmp_path", "monkeypatch", "capsys", "caplog", "recwarn", "tmpdir", "request"}


@dataclass(frozen=True, slots=True)
class TestPlace:
    """Where new tests go.

    Attributes:
        path: of the test module.
        suite: the module as it is, with an empty text where it doesn't exist.
        exists: whether it does.
        owner: the class to put the tests into, '' for none.
        after: the test behind which they go, None for the end.
        call: how a test writes the subject, for example `click.echo`.
        import_line: what the module has to import for that, '' for nothing.
        fixtures: fixtures that the neighbouring tests take.
        examples: neighbouring tests, the nearest first.
    """

    __test__ = False

    path: str
    suite: Suite
    exists: bool
    owner: str = ""
    after: SuiteTest | None = None
    call: str = ""
    import_line: str = ""
    fixtures: tuple[str, ...] = ()
    examples: tuple[SuiteTest, ...] = ()

    @property
    def is_unittest(self) -> bool:
        """Whether the tests are methods of a `unittest.TestCase`."""
        return self.suite.classes.get(self.owner, (0, False))[1]


def place_of(subject: TestSubject, workspace: Workspace, drafts: dict[str, str] | None = None) -> TestPlace:
    """Find the place of a subject's tests. Blocking.

    Args:
        subject: the definition to test.
        workspace: the repository.
        drafts: texts by path of test modules that have changed in this conversation.
    """
    index = workspace.index
    candidates = []
    for path in _candidates(subject, index):
        text = (drafts or {}).get(path) or stored_text(path, workspace)
        suite = read_suite(text.removeprefix("\ufeff").replace("\r\n", "\n")) if text is not None else None
        if suite is not None:
            candidates.append((path, suite))
    if not candidates:
        path = test_path_for(index, subject.path)
        call, line = _reach(subject, Suite(""), index)
        return TestPlace(path, Suite(""), False, call=call, import_line=line)
    path, suite = max(candidates, key=lambda pair: _nearness(pair[0], pair[1], subject))
    near = neighbours(suite, subject, workspace)
    first = near[0] if near else None
    owner = _class_for(suite, subject, first)
    after = first if first is not None and first.owner == owner and _uses(first, subject) else None
    same = [test for test in near if _uses(test, subject) and test.owner == owner]
    after = max(same, key=lambda test: test.last) if same else after
    call, line = _reach(subject, suite, index)
    fixtures = _fixtures(path, suite, near, workspace)
    examples = _examples(near, subject, workspace)
    return TestPlace(path, suite, True, owner, after, call, line, fixtures, examples)


def neighbours(suite: Suite, subject: TestSubject, workspace: Workspace) -> list[SuiteTest]:
    """Tests that show how the subject or what stands near it is tested, the nearest and shortest first."""
    around = _around(subject, workspace)

    def distance(test: SuiteTest) -> tuple[int, bool, int]:
        near = 3 if _uses(test, subject) else 2 if subject.top in test.names else 1 if around & test.names else 0
        return (-near, not _named_after(test, subject), test.last - test.first)

    return sorted(suite.tests, key=distance)


def _examples(near: Sequence[SuiteTest], subject: TestSubject, workspace: Workspace) -> tuple[SuiteTest, ...]:
    """Short tests of what stands near the subject; its own only where there are none, as a small model copies them."""
    short = [test for test in near if test.last - test.first < MOST_EXAMPLE_LINES]
    around = {subject.top, *_around(subject, workspace)}
    others = [test for test in short if around & test.names and not _uses(test, subject)]
    return tuple((others or short)[:_MOST_EXAMPLES])


def _around(subject: TestSubject, workspace: Workspace) -> set[str]:
    return {s.name for s in workspace.index.outline(subject.path) if s.kind in ("function", "class")}


def tests_of_subject(suite: Suite, subject: TestSubject) -> list[SuiteTest]:
    """The tests of a module that use the subject, the shortest first."""
    return sorted((t for t in suite.tests if _uses(t, subject)), key=lambda test: test.last - test.first)


def _candidates(subject: TestSubject, index: Index) -> list[str]:
    """Test modules that may fit: by names, then by the code graph, then those named much alike."""
    by_name = covering_tests(index, subject.path, (subject.name, subject.top))
    graph = graph_of(index)
    file = graph.by_path.get(subject.path)
    links = sorted(graph.incoming(file, (Edge.TESTS,)), key=lambda link: -link.confidence) if file is not None else ()
    by_graph = [graph.nodes.paths[link.node] for link in links if link.node < len(graph.nodes.paths)]
    words = {_bare(subject.path), _bare(subject.name), _bare(subject.top)}
    stems = {path: _bare(path) for path in all_tests(index)}
    alike = [p for p, stem in stems.items() if len(stem) > 2 and any(stem in word or word == stem for word in words)]
    found = [*by_name, *alike[:_MOST_ALIKE], *(p for p in by_graph if p.endswith(".py") and is_test_file(p))]
    return list(dict.fromkeys(found))[:_MOST_MODULES]


def _nearness(path: str, suite: Suite, subject: TestSubject) -> tuple[int, int, int, int]:
    """Whether tests are named after the subject and use it, and the module after its file; then how many tests use it,
    and how often the module names its class."""
    users = [test for test in suite.tests if _uses(test, subject)]
    named = any(_named_after(test, subject) for test in users)
    stem = _bare(path)
    after = stem == PurePosixPath(subject.path).stem.strip("_").lower() or (
        len(stem) > 2 and stem in _bare(subject.top)
    )
    mentions = len(re.findall(rf"\b{re.escape(subject.top)}\b", suite.text))
    return (2 * named + (bool(users) or bool(mentions)) + (after and bool(mentions)), after, len(users), mentions)


def _named_after(test: SuiteTest, subject: TestSubject) -> bool:
    """Whether the name of a test, or of its class, begins with that of the subject."""
    name = _bare(subject.name)
    return len(name) > 2 and any(_bare(text).startswith(name) for text in (test.name, test.owner))


def _bare(name: str) -> str:
    """A name, or that of a file, without what marks it as a test."""
    plain = PurePosixPath(name).stem.lower().replace("_", "")
    return plain.removeprefix("test").removesuffix("tests").removesuffix("test")


def _uses(test: SuiteTest, subject: TestSubject) -> bool:
    """Whether a test calls the subject. A method counts when its class is in sight, if only in a name."""
    if subject.name.startswith("__") and subject.top != subject.name:
        return subject.top in test.names
    owner = subject.top.lower()
    seen = subject.top == subject.name or any(owner in name.lower() for name in (*test.names, test.owner))
    return subject.name in test.names and (seen or any(owner in p.lower() for p in test.parameters))


def _class_for(suite: Suite, subject: TestSubject, nearest: SuiteTest | None) -> str:
    """The class of tests: one named after the subject, else that of the nearest test; '' for the top level."""
    for name in suite.classes:
        if _bare(name) in (_bare(subject.top), _bare(subject.name)) and any(t.owner == name for t in suite.tests):
            return name
    if nearest is not None and (_uses(nearest, subject) or subject.top in nearest.names):
        return nearest.owner
    owners = [test.owner for test in suite.tests]
    if owners and "" not in owners:  # a module that has only classes
        return nearest.owner if nearest is not None else owners[-1]
    return ""


def _reach(subject: TestSubject, suite: Suite, index: Index) -> tuple[str, str]:
    """How a test of the module writes the subject, and the import line that this needs ('' for none)."""
    rest = subject.symbol[len(subject.top) :]
    for name, (module, original) in suite.bound.items():
        if original == subject.top and module and _fits(module, subject.path):
            return name + rest, ""
    for dotted in sorted(suite.attributes, key=len):
        base, _, last = dotted.rpartition(".")
        root = base.partition(".")[0]
        if last == subject.top and root in suite.bound and _fits(suite.bound[root][0], subject.path):
            return dotted + rest, ""
    package = module_name(subject.path).partition(".")[0]
    if suite.bound.get(package) == (package, "") and subject.top in _exports(package, index):
        return f"{package}.{subject.top}{rest}", ""
    if subject.top in _exports(package, index) and subject.top not in suite.bound:
        return subject.symbol, f"from {package} import {subject.top}"
    return subject.symbol, f"from {module_name(subject.path)} import {subject.top}"


def _fits(module: str, path: str) -> bool:
    """Whether a module may be the one of a file or a package around it."""
    first = module.lstrip(".").partition(".")[0]
    return not first or first in PurePosixPath(path).with_suffix("").parts


def _exports(package: str, index: Index) -> set[str]:
    """The names that a package's own file offers."""
    paths = [p for p in index.files if p in (f"{package}/__init__.py", f"src/{package}/__init__.py")]
    names = {s.name for p in paths for s in index.outline(p) if "." not in s.qualified}
    suites = (read_suite(index.text(p) or "") for p in paths)
    return names | {name for suite in suites if suite for name in suite.bound}


def _fixtures(path: str, suite: Suite, near: Sequence[SuiteTest], workspace: Workspace) -> tuple[str, ...]:
    """The fixtures that the nearest tests take: those of the module, of the `conftest.py` around it, of pytest."""
    known = set(suite.fixtures) | _BUILTIN_FIXTURES
    for folder in PurePosixPath(path).parents:
        shared = read_suite(workspace.index.text(str(folder / "conftest.py").removeprefix("./")) or "")
        known |= shared.fixtures if shared else frozenset()
    taken = [name for test in near[:_MOST_EXAMPLES] for name in test.parameters]
    return tuple(name for name in dict.fromkeys(taken) if name in known)
