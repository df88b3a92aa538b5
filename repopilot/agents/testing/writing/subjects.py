"""Finds the definitions that a request for tests is about."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.coding.places import last_files, named_paths
from repopilot.agents.exploration import Exploration
from repopilot.code.languages import file_kind, is_test_path
from repopilot.code.mutation.mutants import functions_of
from repopilot.code.python_ast import read_python
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.impact.covering_tests import covering_tests
from repopilot.index.store import Index
from repopilot.redaction.redact import redact
from repopilot.tools.stored_text import stored_text
from repopilot.types import Symbol
from repopilot.workspace import Workspace

MOST_SUBJECTS = 3
"""Definitions that are tested where the request names only their file."""
_TESTABLE = ("function", "method", "class")
_PLACE = re.compile(r"@?(?P<path>[\w./+-]+\.py):(?P<symbol>[A-Za-z_][\w.]*)")
_WORD = re.compile(r"`?(?P<name>[A-Za-z_][\w.]*[\w])(?P<called>\(\))?`?")
_BEFORE_NAME = re.compile(
    r"(?:\b(?:for|of|function|method|class|cover|covering|test|tests?|pour|de|la fonction|la méthode|la classe)"
    r"(?: the| le| la)?\s+)$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class TestSubject:
    """A definition to test.

    Attributes:
        path: of its file.
        symbol: its qualified name.
        text: of the file, LF line ends.
        shown: the same as a model may read it.
        changed: the text is not that of the snapshot.
    """

    __test__ = False

    path: str
    symbol: str
    text: str
    shown: str
    changed: bool = False

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.symbol.rpartition(".")[2]

    @property
    def top(self) -> str:
        """What is imported to reach it: its class, or itself."""
        return self.symbol.partition(".")[0]


def named_subjects(question: str, workspace: Workspace) -> tuple[TestSubject, ...]:
    """The Python definitions that a request is about without any search.

    Args:
        question: as the user asked it.
        workspace: the repository and the conversation.

    Returns:
        The definitions that it names; else those of the file it names, or of the last generated one, the untested
        first. Empty where it names none, or a file of another language.

    Raises:
        PlaceAmbiguous: several files define the name.
        GenerationFailed: the file it names has nothing to test.
    """
    drafts = {f.path: f.content for f in last_files(workspace.turns) if f.change != "deleted"}
    paths = [p for p in named_paths(question, workspace.index) if not is_test_path(p)]
    if named := _named(question, paths, workspace.index):
        return tuple(_subject(path, symbol, workspace, drafts) for path, symbol in named)
    own = [p for p in drafts if not is_test_path(p)]
    path = (paths or own or [""])[0]
    return _subjects_in(path, workspace, drafts) if path.endswith(".py") else ()


def found_subjects(found: Exploration, workspace: Workspace) -> tuple[TestSubject, ...]:
    """The definitions of the best Python file that a search has found; empty where it has found another language.

    Raises:
        GenerationFailed: the file has nothing to test.
    """
    paths = [hit.chunk.path for hit in found.results.hits if not is_test_path(hit.chunk.path)]
    code = [path for path in paths if file_kind(path) == "code"]
    return _subjects_in(code[0], workspace, {}) if code and code[0].endswith(".py") else ()


def _subjects_in(path: str, workspace: Workspace, drafts: dict[str, str]) -> tuple[TestSubject, ...]:
    symbols = _worth_testing(path, workspace, drafts)
    if not symbols:
        message = i18n.message("testing.no_subject", path=path)
        raise GenerationFailed(message, i18n.message("testing.no_subject_hint"))
    return tuple(_subject(path, symbol, workspace, drafts) for symbol in symbols[:MOST_SUBJECTS])


def _named(question: str, paths: Sequence[str], index: Index) -> list[tuple[str, str]]:
    """(path, symbol) of the definitions that the question names.

    Raises:
        PlaceAmbiguous: several files define the name.
        GenerationFailed: it is written like a name, and nothing has it.
    """
    places = [(m["path"], m["symbol"]) for m in _PLACE.finditer(question)]
    exact = [(s.path, s.qualified) for path, name in places for s in _testable(index, name) if s.path.endswith(path)]
    if exact:
        return list(dict.fromkeys(exact))[:MOST_SUBJECTS]
    found: list[tuple[str, str]] = []
    for match in _WORD.finditer(question):
        name = match["name"]
        if not _looks_like_a_name(match, question):
            continue
        symbols = _testable(index, name) or _testable(index, f"_{name}")
        if not symbols and not index.symbols(name) and _is_surely_a_name(match, index):
            raise GenerationFailed(i18n.message("testing.no_such_name", name=name), _alike(name, index))
        near = [s for s in symbols if s.path in paths] or symbols
        best = [s for s in near if s.qualified == name] or near
        places = list(dict.fromkeys((s.path, s.qualified) for s in best))
        if len(places) > 1:
            choices = tuple(f"{path}:{symbol}" for path, symbol in places[:8])
            message = i18n.message("testing.ambiguous", name=name, count=len(places))
            raise PlaceAmbiguous(message, i18n.message("testing.ambiguous_hint"), choices)
        found += places
    inner = {symbol for _, symbol in found}
    return [p for p in dict.fromkeys(found) if not any(o.startswith(p[1] + ".") for o in inner)][:MOST_SUBJECTS]


def _looks_like_a_name(match: re.Match[str], question: str) -> bool:
    name = match["name"]
    written = "`" in match[0] or match["called"] or "_" in name or "." in name or re.search(r"[a-z][A-Z]", name)
    return bool(written or name[0].isupper() or _BEFORE_NAME.search(question[: match.start()]))


def _is_surely_a_name(match: re.Match[str], index: Index) -> bool:
    """Whether it can't be a file, a package or a plain word."""
    name = match["name"]
    written = "`" in match[0] or match["called"] or "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name)
    parts = {part for path in index.files for part in re.split(r"[/.]", path)}
    return bool(written) and not parts & set(name.split("."))


def _alike(name: str, index: Index) -> str:
    """A hint with the names that are most alike."""
    names = {s.qualified for path in index.files if path.endswith(".py") for s in index.outline(path)}
    close = difflib.get_close_matches(name, sorted(names), 3, 0.7)
    if not close:
        return i18n.message("testing.no_subject_hint")
    return i18n.message("testing.alike", names=", ".join(close))


def _testable(index: Index, name: str) -> list[Symbol]:
    """The Python definitions of a name outside the tests, without those inside of functions."""
    symbols = [s for s in index.symbols(name) if s.path.endswith(".py") and not is_test_path(s.path)]
    return [s for s in symbols if s.kind in _TESTABLE and _owner_is_a_class(s, index)]


def _owner_is_a_class(symbol: Symbol, index: Index) -> bool:
    owner = symbol.qualified.rpartition(".")[0]
    return not owner or any(s.qualified == owner and s.kind == "class" for s in index.outline(symbol.path))


def _subject(path: str, symbol: str, workspace: Workspace, drafts: dict[str, str]) -> TestSubject:
    text = (drafts.get(path) or stored_text(path, workspace) or "").removeprefix("\ufeff").replace("\r\n", "\n")
    return TestSubject(path, symbol, text, redact(text)[0], path in drafts)


def _worth_testing(path: str, workspace: Workspace, drafts: dict[str, str]) -> list[str]:
    """Public functions and methods of a file, those first that no test mentions; trivial ones are left out."""
    subject = _subject(path, "", workspace, drafts)
    tree = read_python(subject.text)
    names = [
        f"{owner}{node.name}"
        for owner, body in [("", tree.body), *((f"{c.name}.", c.body) for c in _public_classes(tree))]
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_")
    ]
    tests = covering_tests(workspace.index, path)
    mentioned = " ".join(workspace.index.text(test) or "" for test in tests)
    known = set(re.findall(r"\w+", mentioned))
    sizes = {name: _statements(tree, name) for name in names}
    return sorted(dict.fromkeys(names), key=lambda n: (n.rpartition(".")[2] in known, sizes[n] < 2))


def _public_classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def _statements(tree: ast.Module, symbol: str) -> int:
    return max((sum(isinstance(n, ast.stmt) for n in ast.walk(f)) - 1 for f in functions_of(tree, symbol)), default=0)
