"""Deletions that a task wants to take along tests, documentation and re-exports."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": "",
    "pkg/utils.py": "def old_width():\n    return 80\n\n\ndef width():\n    return 100\n",
    "pkg/_utils.py": "from .utils import old_width, width  # noqa: F401\n",
    "docs/api.rst": "API\n===\n\n.. autofunction:: pkg.utils.old_width\n.. autofunction:: pkg.utils.width\n",
    "tests/test_utils.py": "from pkg.utils import old_width, width\n\n\n"
    "def test_old_width():\n    assert old_width() == 80\n\n\ndef test_width():\n    assert width() == 100\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("companions"), FILES)


@pytest.mark.parametrize(
    ("task", "gone"),
    [
        ("Remove the long-deprecated old_width helper, together with its test.", {"tests/test_utils.py"}),
        ("old_width has been deprecated for years. Remove it, including its entry in the API docs.", {"docs/api.rst"}),
        (
            "Nobody calls `old_width`. Remove it from pkg/utils.py, and drop the re-export in pkg/_utils.py as well.",
            {"pkg/_utils.py"},
        ),
        ("supprime old_width ainsi que son test et la mention dans la documentation",
         {"tests/test_utils.py", "docs/api.rst"}),
    ],
)  # fmt: skip
def test_what_belongs_to_a_definition_goes_with_it(repository: Workspace, task: str, gone: set[str]) -> None:
    found = texts(edited(repository, task))
    assert "old_width" not in found["pkg/utils.py"] and "def width" in found["pkg/utils.py"]
    for path in gone:
        assert "old_width" not in found[path] and "width" in found[path]


def test_a_test_that_isnt_there_leaves_the_task_to_the_model(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if not path.startswith("tests/")}
    assert exact_edit("Remove old_width, together with its test.", workspace_of(tmp_path, files)) is None
