"""Which tests cover a change, and how they are run."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.background import run_in_thread
from repopilot.code.changed_definitions import changed_definitions
from repopilot.code.languages import file_kind, is_test_path
from repopilot.code.source_positions import rows_of
from repopilot.errors import NoRunner, SandboxError
from repopilot.index.store import Index
from repopilot.project.package_declarations import PackageDeclaration
from repopilot.project_environment import declaration_of, declared_packages, packages_for_tests
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.resolve.uses.covering_tests import all_tests, is_test_file, reaching_tests, tests_by_graph
from repopilot.sandbox.baseline import TestFiles
from repopilot.sandbox.controls.mutants import changed_lines
from repopilot.sandbox.job_spec import patience
from repopilot.sandbox.levels import level
from repopilot.sandbox.run import ChosenTests, run_pytest
from repopilot.sandbox.run_program import RunnerSuite, run_suite
from repopilot.sandbox.run_shell import ShellNeeds, run_shell
from repopilot.sandbox.runners.junit import lacking_artifacts, local_repository
from repopilot.sandbox.runners.node_test import OUTSIDE
from repopilot.sandbox.runners.runner_table import (
    LANGUAGES,
    find_program,
    is_run_as_test,
    language_of_tests,
    runner_of,
)
from repopilot.tools.file_change import Changes, texts_of
from repopilot.types import Failure, TestRun
from repopilot.workspace import Workspace

MOST_TEST_FILES = 6
_MOST_CODE_FILES = 8
_MOST_OF_A_SUITE = 12
_NOT_STARTED = (126, 127)
"""Exit statuses of a shell that can't start a command."""
_OUTPUT_OF_COMMAND = 4_000
_WITH_OTHERS = ("rust", "go")
"""Languages whose runners also run tests outside of the chosen files, so that a run is useful without these."""
_TEST_NAME = re.compile(r"(?:^|[/._-])(?:test|spec)s?\.[^./]+$")
_NAMED_AS_TEST = re.compile(r"((?:tests?|specs?)[._-]|Test(?=[A-Z]))?.*?([._-](?:tests?|specs?)|Tests?|Spec|IT)?")
"""How the name of a test file begins and ends, without its suffix."""
_WITHOUT_MANIFEST = ("javascript", "ruby")
"""Languages whose tests run without one: Ruby's with the packages of the system."""
COMPILED = re.compile(r"\.(?:c|cc|cpp|cxx)$")
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx)$")
_CONFIGURES = re.compile(r"(?:^|/)(?:conftest\.py|\.rspec|(?:\w+_)?helper\.rb)$")
"""Files by which a repository configures its own test runs."""
_LEVELS = re.compile(r"::| > ")
_CALLS_TEST = re.compile(r"^\s*(?:await |\w+\.)?(?:describe|it|specify|suite|test)\b[\w.]*[(<`]", re.M)
RUST_TESTS = re.compile(r"#\[(?:cfg\(|\w+::)?test\b")
"""Rust tests within code files."""
_RUST_TARGETS = ("src/lib.rs", "src/main.rs")


@dataclass(frozen=True, slots=True)
class TestSelection:
    """The tests to run: `files` of pytest, the `suite` of another runner, or the `command` that runs all.

    Attributes:
        left_out: ids of tests of Python that are not run.
        seconds: what the tests took the last time, 0 where that isn't known, as `TestRun.seconds_needed`.
        before: as in `ChosenTests`.
    """

    __test__ = False

    files: tuple[str, ...] = ()
    suite: RunnerSuite | None = None
    command: str = ""
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    before: TestRun | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the test files; () for all tests of a suite."""
        return self.suite.tests if self.suite else self.files

    def __bool__(self) -> bool:
        return bool(self.suite or self.files or self.command)

    def __str__(self) -> str:
        return ", ".join(self.paths) or (self.suite.language if self.suite else self.command)


@dataclass(frozen=True, slots=True)
class NewTest:
    """The path of a new test file, and of an existing one beside it, '' for none."""

    path: str
    beside: str = ""


def tests_of_changes(changes: Changes, workspace: Workspace, named: Sequence[str] = ()) -> TestSelection:
    """The tests that a change adds or edits, those that are named, and those that cover it.

    Args:
        changes: the version.
        workspace: the repository as it is.
        named: paths of test files of Python that are to run in any case.

    Returns:
        The tests of one language: that of most of the change.

    Raises:
        SandboxError: as `runner_suite`.
    """
    index = workspace.index
    language = suite_language(changes)
    gone = {change.path for change in changes if change.change == "deleted"}
    if language and (suite := _suite_of(changes, gone, language, workspace)):
        return TestSelection(suite=suite)
    python = [change for change in changes if change.path.endswith(".py")]
    python.sort(key=lambda change: -change.diff.count("\n+"))
    own = [change.path for change in python if is_test_path(change.path) and is_test_file(change.path)]
    covering: list[str] = []
    for change in [each for each in python if not is_test_path(each.path)][:_MOST_CODE_FILES]:
        changed = changed_definitions(change.path, index.text(change.path) or "", change.content)
        covering += reaching_tests(index, change.path, {each.name.rpartition(".")[2] for each in changed})
    found = [path for path in dict.fromkeys((*own, *named, *covering)) if path not in gone]
    return TestSelection(tuple(found[:MOST_TEST_FILES]))


def own_tests(changes: Changes) -> Changes:
    """The part of a change that is tests and files beside them; () for a change that consists of nothing else.

    Args:
        changes: the version.
    """
    own = tuple(change for change in changes if is_test_path(change.path) and change.change != "deleted")
    return own if len(own) < len(changes) else ()


def files_of(tests: TestSelection, changes: Changes, green: Collection[str]) -> TestFiles:
    """The files of some tests, as a comparison with the state before needs them.

    Args:
        tests: the tests that run.
        changes: the version.
        green: ids of tests that were seen to pass without it.
    """
    own = own_tests(changes)
    edited = [change.path for change in changes if is_test_path(change.path)]
    if any(change.path.endswith(".rs") and RUST_TESTS.search(change.content) for change in changes):
        edited += _RUST_TARGETS  # unit tests within code files are reported under these
    paths = [change.path for change in own]
    helpers = any(path not in tests.paths and not is_test_file(path) for path in paths)
    others = {*tests.paths} - {*edited}
    return TestFiles(edited, paths, others, helpers, partial(brings, own), green, partial(_path_of, changes))


def _path_of(changes: Changes, name: str) -> str:
    """The path of the file that a test stands in, by the test's id. Go's ids name the package instead: the path is then
    that of the changed file there that has, or had, the test."""
    package, _, inside = name.partition("::")
    begins = re.compile(rf"\bfunc {re.escape(inside.partition('/')[0])}\(")
    for change in changes:
        path = PurePosixPath(change.path)
        inside_of = path.suffix == ".go" and f"/{package}".endswith(f"/{path.parent}" if path.parent.name else "")
        if inside_of and begins.search(f"{change.content}\n{before_change(change) or ''}"):
            return change.path
    return package


def brings(own: Changes, name: str) -> bool:
    """Whether a test is itself new or edited in a change's own tests, by its id, and not only another test in the same
    file."""
    path = _path_of(own, name)
    change = next((change for change in own if change.path == path), None)
    old = before_change(change) if change else None
    if change is None or not old:
        return change is not None
    begins = _beginning(path, name)
    lines = rows_of(change.content)
    starts = [number for number, line in enumerate(lines) if begins.search(line)]
    touched = changed_lines(old, change.content)
    python = path.endswith(".py")
    return not starts or any(touched & {*range(*_block(lines, start, decorated=python))} for start in starts)


def is_new(own: Changes, name: str) -> bool:
    """Whether a test in one of a change's own test files is new, by its id."""
    path = _path_of(own, name)
    old = next((before_change(change) for change in own if change.path == path), None) or ""
    return not _beginning(path, name).search(old)


def _beginning(path: str, name: str) -> re.Pattern[str]:
    """A pattern for the place where a test begins in its file, by its id."""
    inside = name.partition("::")[2]
    if path.endswith(".py"):
        inside = inside.partition("[")[0]
    elif path.endswith(".go"):
        inside = inside.partition("/")[0]
    leaf = re.escape(_LEVELS.split(inside)[-1])
    return re.compile(rf"""\b(?:def|fn|func|fun|void) {leaf}\(|["'`]{leaf}["'`]""")


def _block(lines: Sequence[str], start: int, *, decorated: bool) -> tuple[int, int]:
    """The first line of a test, from 1, and the line after its last: it ends before the next line that isn't indented
    deeper, except closing brackets. In Python it includes the lines right above, such as decorators."""

    def indent(line: str) -> int:
        return len(line) - len(line.lstrip())

    end = start + 1
    while end < len(lines) and (
        not lines[end].strip() or indent(lines[end]) > indent(lines[start]) or lines[end].lstrip()[0] in ")}]"
    ):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    while decorated and start and lines[start - 1].strip():
        start -= 1
    return start + 1, end + 1


def key_of(tests: TestSelection, workspace: Workspace, own: Changes = ()) -> tuple[str, ...]:
    """The key of a run without a change: the tests, the packages, and the texts of the change's `own` tests.
    Blocking."""
    environment = workspace.current_environment()
    kind = tests.suite.language if tests.suite else tests.command
    texts = (part for change in own for part in (change.path, change.content))
    return (*tests.paths, kind, environment.key if environment else "", *texts)


def tests_near(paths: Sequence[str], workspace: Workspace, names: Collection[str] = ()) -> list[str]:
    """Test files of one language: that of the first path with a known runner. Those among the paths come first, then
    those that cover the others, beginning with tests of the plain `names`; any one where there are none. Without a
    known runner, test files of any language."""
    index = workspace.index
    first = next((path for path in paths if path.endswith(".py") or language_of_tests(path)), "")
    language = language_of_tests(first)
    every = all_tests(index) if first.endswith(".py") else _tests_of_runner(language, workspace)
    if not first:
        every = (all_tests(index) or every)[:1]
        every = every or [path for path in index.files if is_test_path(path) and file_kind(path) == "code"]
    if first.endswith(".py"):
        covering = [test for path in paths if path.endswith(".py") for test in reaching_tests(index, path, names)]
    else:
        covering = tests_by_graph(index, paths)
    near = (path for path in dict.fromkeys((*paths, *covering)) if path in every and _has_tests(path, index))
    found = list(islice(near, MOST_TEST_FILES))
    return found or list(islice((path for path in every if _has_tests(path, index)), 1))


async def run_selected(
    tests: TestSelection,
    files: Mapping[str, str],
    workspace: Workspace,
    inputs: Path | None,
    *,
    verify: bool = False,
) -> TestRun:
    """Run tests in the sandbox; test files that don't exist are left out.

    Args:
        tests: which.
        files: texts by path, which replace those of `inputs`.
        workspace: the repository, for its settings and what its tests need.
        inputs: a folder with the repository; None where `files` are all there is.
        verify: as in `run_pytest`.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    there = tuple(path for path in tests.paths if path in files or (inputs and (inputs / path).is_file()))
    others = tests.suite is not None and tests.suite.language in _WITH_OTHERS
    if tests.paths and not (there or others):
        return TestRun(0, 0, 0, 0.0, "limits", "", False)
    if tests.suite:
        suite = replace(tests.suite, tests=there or tests.paths, seconds=tests.seconds)
        return await run_in_thread(partial(run_suite, files, suite, workspace.settings, inputs))
    if tests.command:
        return await _run_command(tests.command, files, workspace, inputs, tests.seconds)
    environment = await asyncio.to_thread(workspace.current_environment)
    chosen = ChosenTests(there, tests.left_out, tests.seconds, tests.before)
    run = partial(run_pytest, files, chosen, workspace.settings)
    return await run_in_thread(partial(run, inputs=inputs, environment=environment, verify=verify))


async def _run_command(
    command: str, files: Mapping[str, str], workspace: Workspace, inputs: Path | None, seconds: float
) -> TestRun:
    """Run the command that the repository names for its tests, as one test that passes or fails by its exit status."""
    settings = workspace.settings
    needs = replace(await asyncio.to_thread(shell_needs, workspace), files=files)
    limit = max(settings.test_timeout_s, patience(seconds))
    run = await run_in_thread(partial(run_shell, command, limit, inputs, needs, settings))
    base = TestRun(0, 0, 0, run.seconds, await asyncio.to_thread(level, settings), run.output, genuine=False)
    if run.stopped:
        return replace(base, ended="timeout", reasons=(run.stopped,))
    if run.status in _NOT_STARTED:
        return base
    if run.status == 0:
        return replace(base, passed=1, outcomes={command: "passed"})
    failure = Failure(command, run.output[-_OUTPUT_OF_COMMAND:])
    return replace(base, failed=1, outcomes={command: "failed"}, failures=(failure,))


def shell_needs(workspace: Workspace) -> ShellNeeds:
    """What commands of a repository need: the packages of its languages. Blocking."""
    suites = []
    for each in declared_packages(workspace.snapshot):
        packages = packages_for_tests(workspace.snapshot, each, workspace.index, workspace.settings)
        suites.append(RunnerSuite(each.language, (), each.node, packages))
    return ShellNeeds(workspace.current_environment(), tuple(suites))


def place_of_new_test(changes: Changes, workspace: Workspace, used: Collection[str] = ()) -> NewTest | None:
    """Where a further test of a change goes: a free path beside tests of its language, named like them. Blocking.

    Args:
        changes: the version.
        workspace: the repository as it is.
        used: further paths that are taken.

    Returns:
        The place; None without a test file to name it after.
    """
    code = sorted(changes, key=lambda change: (is_test_path(change.path), -change.diff.count("\n+")))
    paths = [change.path for change in code if change.change != "deleted"]
    own = filter(is_test_path, paths)
    tested = next((path for path in paths if path.endswith(".py") or language_of_tests(path)), "")
    near = next(iter((*tests_near(paths, workspace), *own)), "") if tested else ""
    if not (near or tested.endswith(".py")):
        return None
    beside = PurePosixPath(near or "test_code.py")
    named = _NAMED_AS_TEST.fullmatch(beside.stem)
    before, after = named.groups("") if named else ("", "")
    start = f"{before}{PurePosixPath(tested).stem}{'Review' if beside.suffix in ('.java', '.kt') else '_review'}"
    taken = {*workspace.index.files, *paths, *used}
    free = (str(beside.with_name(f"{start}{n or ''}{after}{beside.suffix}")) for n in range(len(taken) + 1))
    return NewTest(next(path for path in free if path not in taken), near)


def has_known_tests(index: Index) -> bool:
    """Whether a repository has tests that a runner is known for."""
    return bool(all_tests(index) or _all_of(None, index))


def suite_language(changes: Changes) -> str | None:
    """The language whose tests test a change; None for Python, or no language."""
    code = [c for c in changes if c.change != "deleted" and not is_test_path(c.path)] or changes
    if any(change.path.endswith(".py") for change in code):
        return None
    lines = Counter[str]()
    for change in code:
        if language := language_of_tests(change.path):
            lines[language] += change.diff.count("\n+") + 1
    return max(lines, key=lambda language: lines[language], default=None)


def _suite_of(changes: Changes, gone: Collection[str], language: str, workspace: Workspace) -> RunnerSuite | None:
    """The test files that a change edits and those that cover it by the code graph, else all tests; None where the
    repository has none."""
    own = [c.path for c in changes if c.path not in gone and is_run_as_test(c.path)]
    if not (
        own or _all_of(language, workspace.index) or (language == "rust" and _tests_beside_code(changes, workspace))
    ):
        return None
    index = workspace.index
    taken = _tests_of_runner(language, workspace)
    reached = (path for path in tests_by_graph(index, [c.path for c in changes]) if path in taken)
    covering = (path for path in reached if path not in gone and _has_tests(path, index))
    found = list(dict.fromkeys((*own, *islice(covering, _MOST_OF_A_SUITE))))
    return runner_suite(language, tuple(found[:_MOST_OF_A_SUITE]), workspace)


def _has_tests(path: str, index: Index) -> bool:
    """Whether a test file of JavaScript has tests: helpers and programs that tests start lie beside them. True for
    others."""
    return language_of_tests(path) != "javascript" or bool(_CALLS_TEST.search(index.text(path) or ""))


def _tests_of_runner(language: str | None, workspace: Workspace) -> list[str]:
    """The test files of a language. Of JavaScript, only those in folders that the test scripts pass to the runner, if
    any, since others may be for a browser; and only those that are named as tests, where most are."""
    every = _all_of(language, workspace.index)
    if language != "javascript":
        return every
    declaration = declaration_of(workspace.snapshot, language)
    folders = declaration.node.test_folders if declaration is not None else ()
    given = [path for path in every if path.startswith(folders)] or every
    named = [path for path in given if _TEST_NAME.search(path)]
    return named if 2 * len(named) > len(given) else given


def _all_of(language: str | None, index: Index) -> list[str]:
    """The test files that a runner runs, of one language or of any."""
    return [path for path in index.files if is_run_as_test(path) and language in (None, language_of_tests(path))]


def _tests_beside_code(changes: Changes, workspace: Workspace) -> bool:
    index = workspace.index
    if any(RUST_TESTS.search(text) for text in texts_of(changes).values()):
        return True
    return any(path.endswith(".rs") and RUST_TESTS.search(index.text(path) or "") for path in index.files)


def _lacking(declaration: PackageDeclaration) -> list[str]:
    """A message about packages that the user's local Maven repository lacks; [] where it lacks none, or it isn't
    Java."""
    lacking = lacking_artifacts(declaration) if declaration.language == "java" and declaration.requirements else ()
    names = ", ".join(lacking)
    return [i18n.message("cli.environment.lacking", folder=str(local_repository()), names=names)] if lacking else []


def node_suite(workspace: Workspace) -> RunnerSuite:
    """What Node's programs need in a repository: its packages, if they are installed, and the members of its
    workspace."""
    declaration = declaration_of(workspace.snapshot, "javascript")
    if declaration is None:
        return RunnerSuite("javascript")
    packages = packages_for_tests(workspace.snapshot, declaration, workspace.index, workspace.settings)
    return RunnerSuite("javascript", project=declaration.node, packages=packages)


def compiled_suffix(changed: Iterable[str], index: Index) -> str:
    """The suffix of a test in C or C++ for changed sources or headers; '' where none is of these languages."""
    of_these = [path for path in changed if COMPILED.search(path) or _HEADER.search(path)]
    sources = (path for path in (*of_these, *index.files) if COMPILED.search(path))
    return PurePosixPath(next(sources, "test.cpp")).suffix if of_these else ""


def compiled_program(path: str, index: Index) -> str:
    """The command that compiles a test in C or C++ and runs it, with the folders of all headers on its search path. A
    test that doesn't compile has no outcome."""
    folders = dict.fromkeys(str(PurePosixPath(each).parent) for each in index.files if _HEADER.search(each))
    options = ["cc" if path.endswith(".c") else "c++", "-g", "-w", "-I.", *(f"-I{each}" for each in folders), path]
    program = '"${TMPDIR:-/tmp}/compiled-test"'
    return f"{shlex.join(options)} -o {program} -lm -lpthread || exit 127; exec {program}"


def without_configuration(index: Index) -> dict[str, str]:
    """Texts, by path, that replace the files in which a repository configures its test runs, such as fixtures that
    can't be loaded here. None for JavaScript: `suite_by_node` reads no such files."""
    found = (path for path in index.files if _CONFIGURES.search(path) and is_test_path(path))
    return {"pytest.ini": "[pytest]\n", ".rspec": "", **dict.fromkeys(found, "")}


def suite_by_node(tests: tuple[str, ...], workspace: Workspace) -> RunnerSuite:
    """Test files for Node's own runner, whatever runner the repository uses, with the repository's packages. Sources
    in TypeScript are compiled as they are imported, outside the repository's own configuration.

    Raises:
        SandboxError: Node is missing.
    """
    find_program("javascript")
    needs = node_suite(workspace)
    return replace(needs, tests=tests, project=replace(needs.project, scripts={"test": OUTSIDE}, requirements=()))


def runner_suite(language: str, tests: tuple[str, ...], workspace: Workspace) -> RunnerSuite:
    """Test files of one language with the runner and the packages of the repository.

    Args:
        language: of the tests.
        tests: their paths; () for all.
        workspace: the repository as it is.

    Raises:
        SandboxError: there is no manifest at the top, the runner isn't known here, or its program or the packages
            that the tests need are missing.
    """
    find_program(language)  # fails before anything is prepared
    declaration = declaration_of(workspace.snapshot, language)
    if declaration is None:
        if language not in _WITHOUT_MANIFEST:
            raise NoRunner(i18n.message("generate.no_manifest", program=LANGUAGES[language].program))
        return RunnerSuite(language, tests)
    runner_of(language, declaration.node)
    packages = packages_for_tests(workspace.snapshot, declaration, workspace.index, workspace.settings)
    needed = declaration.requirements or declaration.elsewhere
    if packages is None and needed and (language, declaration.node.runner) != ("javascript", "node"):
        raise SandboxError(
            i18n.message("generate.needs_packages"),
            i18n.joined([*_lacking(declaration), i18n.message("generate.needs_packages_hint")]),
        )
    return RunnerSuite(language, tests, declaration.node, packages)
