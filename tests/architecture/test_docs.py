"""The generated parts of the documentation are current, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from repopilot.agents.review.rules.registry import RULES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["options", "commands"])
def test_generated_documentation_is_current(name: str) -> None:
    made = getattr(generator(), name)()
    assert (ROOT / "docs" / f"{name}.md").read_text("utf-8") == made, "run `make docs`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_documents_name_exist(document: Path) -> None:
    if document.name == "CHANGELOG.md":
        return  # of files as they were then
    named = set(re.findall(r"`((?:repopilot|tests|bench|docs|public)/[\w./-]+\.\w+)`", document.read_text("utf-8")))
    assert not [name for name in named if not (ROOT / name).exists()]


def promises(name: str) -> list[list[str]]:
    """The rows of the tables of a document that say what a promise is held by: their cells."""
    rows: list[list[str]] = []
    table = ""
    for line in (ROOT / name).read_text("utf-8").splitlines():
        table = (table or line) if line.startswith("|") else ""
        if re.search(r"\| (?:Held by|Tests) \|", table) and line not in (table, "") and not line.startswith("| ---"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def named_in(cell: str) -> list[Path]:
    """The tests that a cell names; one without a folder lies beside the one before it."""
    found: list[Path] = []
    for named in re.findall(r"`(?:pytest [^`]*?)?((?:tests/)?[\w/]*(?:test_\w+\.py|tests/\w+))`", cell):
        found.append(ROOT / named if named.startswith("tests/") else found[-1].parent / named)
    return found


@pytest.mark.parametrize(("name", "column"), [("docs/trust.md", 1), ("SECURITY.md", 3)])
def test_every_promise_names_tests_that_there_are(name: str, column: int) -> None:
    rows = promises(name)
    assert len(rows) >= 7
    for row in rows:
        named = named_in(row[column])
        assert named and all(path.exists() for path in named), row


@pytest.mark.parametrize(
    ("begin", "end", "python"),
    [
        ("### Rules that remain", "### Rules that were removed", True),
        ("### What the rules find in public code", "## Workflows", False),
    ],
)
def test_rules_that_documents_count_are_there(begin: str, end: str, python: bool) -> None:
    table = (ROOT / "docs" / "review-rules.md").read_text("utf-8").partition(begin)[2].partition(end)[0]
    named = re.findall(r"^\| `?([a-z][\w-]*)`? \| .*\d", table, re.MULTILINE)
    known = {rule.id for rule in RULES if python == ("python" in rule.languages)}
    assert named and not set(named) - known
