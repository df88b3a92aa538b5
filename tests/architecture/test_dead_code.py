"""Nothing in the package is there for its tests only: what the program can't reach goes, and its tests with it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from repopilot.code.python_ast import parse_python

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*sorted((ROOT / "repopilot").rglob("*.py")), ROOT / "chainlit_app.py"]

KEPT = {
    "repopilot.llamaindex.RepositoryRetriever": "the way in of other people's LlamaIndex applications",
    "repopilot.index.vectors.read_everything": "runs as the text of a program, in a process that may crash",
}
"""What is reached in a way that isn't seen here, and how."""
SAME = ("cache", "lru_cache", "contextmanager", "asynccontextmanager", "within_bounds", "dataclass")
"""Decorators that make a function known to nobody; any other registers it."""
_NAMED = re.compile(r"(?:from )?(repopilot[\w.]*)(?::| import )(\w+)")
"""A definition that is named in a text: `a.b:c`, as an intent names its agent, or an import of a program."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def trees() -> dict[str, ast.Module]:
    """Every module. Not read on import: every process of a test run imports this file."""
    return {module_of(path): parse_python(path.read_text("utf-8")) for path in SOURCES}


@cache
def said() -> set[str]:
    """Attributes and texts, by which a part of a module may be asked for that is handed on as a whole."""
    nodes = [node for tree in trees().values() for node in ast.walk(tree)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def defined(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


@cache
def imported(module: str) -> dict[str, set[str]]:
    """What names stand for that are imported anywhere in a module."""
    found = defaultdict[str, set[str]](set)
    for node in ast.walk(trees()[module]):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            found[alias.asname or alias.name].add(whole)
    return found


def used(module: str, top: ast.AST) -> Iterator[str]:
    """The definitions that a part of a module uses, with their modules before them."""
    inner = {id(node.value) for node in ast.walk(top) if isinstance(node, ast.Attribute)}
    for node in ast.walk(top):
        if isinstance(node, ast.Name):
            for whole in imported(module).get(node.id, {f"{module}.{node.id}"}):
                yield whole
                if whole in trees() and id(node) not in inner:  # as in `getattr(commands, name)`
                    names = (name for statement in trees()[whole].body for name in defined(statement))
                    yield from (f"{whole}.{name}" for name in names if name in said())
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from (f"{whole}.{node.attr}" for whole in imported(module).get(node.value.id, ()))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (".".join(found) for found in _NAMED.findall(node.value))


def is_registered(statement: ast.stmt) -> bool:
    """Whether a decorator makes a function known elsewhere."""
    decorators = (ast.unparse(d).partition("(")[0] for d in getattr(statement, "decorator_list", ()))
    return any(name.rpartition(".")[2] not in SAME for name in decorators)


@cache
def links(module: str) -> tuple[dict[str, set[str]], list[str], list[str]]:
    """What each name of a module leads to, what is used when it is imported, and what it defines."""
    leads = defaultdict[str, set[str]](set)
    runs, definitions = list[str](), list[str]()
    for name, wholes in imported(module).items():
        leads[f"{module}.{name}"] |= wholes
    for statement in trees()[module].body:
        names = [f"{module}.{name}" for name in defined(statement)]
        uses = set(used(module, statement))
        definitions += (name for name in names if not name.endswith("__"))
        for name in names:
            leads[name] |= uses
        if not names or is_registered(statement):
            runs += [*uses, *names]
    return leads, runs, definitions


def unreachable() -> list[str]:
    """The definitions that neither what runs when modules are imported nor an entry point leads to."""
    leads, reached = dict[str, set[str]](), set[str]()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    to_do = [*KEPT, *(script.replace(":", ".") for script in scripts.values())]
    definitions: list[str] = []
    for module in trees():
        more, runs, defines = links(module)
        leads |= more
        to_do += runs
        definitions += defines
    while to_do:
        if (name := to_do.pop()) not in reached:
            reached.add(name)
            to_do += [*leads.get(name, ()), name.rpartition(".")[0]]  # an attribute's owner, too
    return [name for name in definitions if name not in reached]


@pytest.mark.slow
def test_the_program_reaches_all_that_the_package_defines() -> None:
    assert unreachable() == []


@pytest.mark.slow
def test_what_is_kept_is_there_and_not_reached_otherwise(monkeypatch) -> None:
    kept = list(KEPT)
    monkeypatch.setattr(f"{__name__}.KEPT", {})
    assert set(kept) <= set(unreachable())


@pytest.mark.slow
def test_a_definition_that_nothing_reaches_is_found(monkeypatch) -> None:
    code = "def run(): ...\n\ndef alone():\n    return helper()\n\ndef helper(): ...\n\nrun()\n"
    monkeypatch.setitem(trees(), "repopilot.sample", parse_python(code))
    assert unreachable() == ["repopilot.sample.alone", "repopilot.sample.helper"]
