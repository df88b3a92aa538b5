"""Imports of modules of the repository that a task names by the end of their name, and exports said by an import."""

from __future__ import annotations

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.workspace import Workspace

FILES = {
    "ten/__init__.py": 'from .stop import Stop  # noqa\n\n__all__ = ["Stop"]\n',
    "ten/stop.py": "from ten import _utils\n\n\nclass Stop:\n    limit = _utils.LIMIT\n\n\nclass Never:\n    pass\n",
    "ten/wait.py": "from . import stop\n\n\nclass Wait(stop.Stop):\n    pass\n",
    "ten/_utils.py": "import functools\n\nLIMIT = 3\n\n\ndef to_seconds(n):\n    return float(n)\n",
}


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("names"), FILES)


@pytest.mark.parametrize(
    ("task", "path", "line"),
    [
        ("stop.py: import to_seconds directly from _utils", "ten/stop.py", "from ten._utils import to_seconds\n"),
        ("wait.py: import to_seconds directly from _utils", "ten/wait.py", "from ._utils import to_seconds\n"),
        ("add `from json import dumps` to wait.py", "ten/wait.py", "from json import dumps\n"),
        ("from ten import Never should work", "ten/__init__.py", "from .stop import Never"),
        ("let users import Never from ten directly", "ten/__init__.py", "from .stop import Never"),
    ],
)
def test_a_module_is_imported_as_its_neighbours_are(ten: Workspace, task: str, path: str, line: str) -> None:
    ((changed, text),) = texts(edited(ten, task)).items()
    assert changed == path and line in text


def test_an_import_is_removed_from_a_module_that_is_named_without_its_ending(ten: Workspace) -> None:
    new = FILES["ten/_utils.py"].replace("import functools\n", "")
    assert texts(edited(ten, "remove the unused import of functools from _utils")) == {"ten/_utils.py": new}
