"""The direction of imports and who may import what, read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "repopilot"
SOURCES = [*sorted(PACKAGE.rglob("*.py")), ROOT / "chainlit_app.py"]

# A module may import from its own layer and from layers before it.
LEAVES = {"types", "errors", "trace", "settings", "prompts"}
PURE = {
    *(
        f"retrieval.{m}"
        for m in ("rank", "query", "cite", "claims", "tokens", "vocabulary", "frames", "patterns", "votes")
    ),
    *(f"sandbox.{m}" for m in ("verdict", "control", "assertions")),
}
PARTS = {"repo", "index", "llm", "sandbox", "retrieval", "workspace"}
AGENTS = {"agents", "impact", "review"}
ENTRY = {"assistant", "opening", "accepting", "doctor", "terminal"}
TOP = {"cli", "commands", "mcp_server", "github", "ui", "__main__", "chainlit_app"}

ONLY_IN = {
    "chainlit": ("ui", "chainlit_app"),
    "chromadb": ("index.vectors",),
    "git": ("repo",),
}


def module_of(path: Path) -> str:
    if path.parent == ROOT:
        return path.stem
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(p for p in parts if p != "__init__") or "__init__"


def imports(path: Path) -> set[str]:
    """Dotted modules a file imports when it runs, also inside functions; not those for annotations only."""
    found = set()
    tree = ast.parse(path.read_text("utf-8"))
    annotations_only = [
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    ]
    for node in ast.walk(tree):
        if node in annotations_only:
            continue
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            found |= {f"{node.module}.{a.name}" for a in node.names}
    return found


def layer(module: str) -> int:
    top = module.split(".")[0]
    if top in LEAVES or module == "__init__":
        return 0
    if module in PURE or top == "code":  # everything in code/ is a function of text
        return 1
    for depth, names in enumerate((PARTS, AGENTS, ENTRY, TOP), 2):
        if top in names:
            return depth
    raise AssertionError(f"{module} belongs to no layer: name it in this test and in the design")


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_imports_point_one_way(path: Path) -> None:
    module = module_of(path)
    known = {module_of(p) for p in SOURCES}
    for imported in imports(path):
        target = imported.removeprefix("repopilot.")
        if imported.startswith("repopilot.") and target in known:
            assert layer(target) <= layer(module), f"{module} imports {target}, which lies above it"


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_libraries_stay_in_their_rooms(path: Path) -> None:
    module = module_of(path)
    for library, rooms in ONLY_IN.items():
        used = any(i == library or i.startswith(f"{library}.") for i in imports(path))
        inside = any(module == room or module.startswith(f"{room}.") for room in rooms)
        assert inside or not used, f"{module} imports {library}; only {', '.join(rooms)} may"


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_no_swallowed_exceptions_and_no_overlong_modules(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= 350, f"{module_of(path)} is too long to read in one sitting"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or (
                isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            )
            silent = all(isinstance(s, ast.Pass) for s in node.body)
            assert not (broad and silent), f"{module_of(path)}:{node.lineno} swallows every error"
