"""Rules of the source that no linter knows. The direction of imports is import-linter's: see pyproject.toml."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from repopilot.code.python_ast import parse_python

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "repopilot"
SOURCES = [*sorted(PACKAGE.rglob("*.py")), ROOT / "chainlit_app.py"]

SAME_ROLE = {
    "registry": "what there is of a kind, in one place",
    "agent": "the entry point of an agent",
    "render": "an agent's result as text",
    "question": "what a question asks of an agent",
    "recognise": "tries the forms of text that code can answer or carry out",
    "__init__": "a package",
    "__main__": "a program",
}
"""File names that several folders may use, because they mean the same in each of them."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return parse_python(path.read_text("utf-8"))


@pytest.mark.slow
def test_no_exception_is_swallowed() -> None:
    assert [f"{module_of(path)}:{line}" for path in SOURCES for line in swallowed(tree_of(path))] == []


def swallowed(tree: ast.Module) -> Iterator[int]:
    """The lines of handlers that take every error and do nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or (
                isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            )
            if broad and all(isinstance(s, ast.Pass) for s in node.body):
                yield node.lineno


def test_a_swallowed_exception_is_found() -> None:
    code = "try:\n    go()\nexcept {0}:\n    {1}\n"
    for names, body, found in (("", "pass", [3]), ("Exception", "pass", [3]), ("Exception", "log()", []),
                               ("OSError", "pass", [])):  # fmt: skip
        assert list(swallowed(parse_python(code.format(names, body).replace("except :", "except:")))) == found


def test_no_folder_is_crowded() -> None:
    modules = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    crowded = {str(folder.relative_to(ROOT)): n for folder, n in modules.items() if n > 18 and folder != PACKAGE}
    assert crowded == {}, "a newcomer doesn't find the room for a change among so many modules: group them"


def test_a_module_name_means_one_thing() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        places[path.stem].append(module_of(path))
    shared = {name: found for name, found in places.items() if len(found) > 1 and name not in SAME_ROLE}
    assert not shared


def test_a_public_class_name_means_one_thing() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module_of(path))
    assert not {name: found for name, found in places.items() if len(found) > 1}


@pytest.mark.slow
def test_only_the_index_knows_the_vector_stores_of_llamaindex() -> None:
    """import-linter sees of another package its first name only."""
    named = {module_of(path) for path in SOURCES for node in ast.walk(tree_of(path)) if is_vector_store(node)}
    assert named and all(module.startswith("repopilot.index.") for module in named)


def is_vector_store(node: ast.AST) -> bool:
    """Whether a node imports a vector store of LlamaIndex."""
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return any(f"{name}.".startswith("llama_index.vector_stores.") for name in names)


@pytest.mark.slow
def test_one_assignment_a_line() -> None:
    packed = [f"{module_of(path)}:{line}" for path in SOURCES for line in packed_assignments(tree_of(path))]
    lines = sum(path.read_text("utf-8").count("\n") for path in SOURCES)
    assert len(packed) <= lines / 1000, packed
    assert [module_of(path) for path in SOURCES if "# fmt:" in path.read_text("utf-8")] == []


def packed_assignments(tree: ast.Module) -> Iterator[int]:
    """The lines on which several values are assigned to as many names: `a, b = 1, 2`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and len(target.elts) == len(node.value.elts):
                yield node.lineno


@pytest.mark.slow
def test_a_packed_assignment_is_found() -> None:
    assert list(packed_assignments(parse_python("a, b = 1, 2\nc = 1, 2\nd, e = f()\n"))) == [1]
