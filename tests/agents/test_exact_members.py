"""Members, entries, imports, texts and deletions without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": 'from .kinds import Color, old_helper\n\n__all__ = ["Color", "old_helper"]\n',
    "pkg/kinds.py": '''"""Kinds."""

import os
import sys
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Dict, List

from .parsers import JsonParser


class Color(Enum):
    RED = 1
    BLUE = 2

    def label(self):
        return self.name


class Mode(Enum):
    FAST = auto()
    SLOW = auto()


class Name(str, Enum):
    FIRST_ONE = "first-one"


@dataclass
class Options:
    width: int
    depth: int = 3


PARSERS = {
    "json": JsonParser,  # the usual one
}
ALLOWED = ("a", "b")
EMPTY = []
ONE = ("a",)
SETS = frozenset({"x"})


# Helps.
def old_helper(value: Any):
    return os.path.join(value)


def used(values: List[int]):
    """Doc."""
    raise ValueError("something is wrong")


class Only:
    def alone(self):
        return 1
''',
    "pkg/stubbed.py": "class Gone: ...\n\n\nclass Stays: ...\n",
    "pkg/stubbed.pyi": "class Gone: ...\nclass Stays: ...\n",
    "pkg/parsers.py": "class JsonParser: ...\n\n\nclass XmlParser: ...\n",
    "pkg/use.py": "from pkg.kinds import used\n\nused([1])\n",
    "pkg/bare.py": "def f():\n    return 1\n",
    "README.md": "# Demo\n\nInstall foo. Then use foo-bar or foo.\n",
}
KINDS = "pkg/kinds.py"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("members"), FILES)


@pytest.mark.parametrize(
    ("task", "path", "old", "new"),
    [
        ("add GREEN = 3 to enum Color", KINDS, "    BLUE = 2\n", "    BLUE = 2\n    GREEN = 3\n"),
        ("add a member GREEN to Color", KINDS, "    BLUE = 2\n", "    BLUE = 2\n    GREEN = 3\n"),
        ("ajoute le membre GREEN à l'énumération Color", KINDS, "    BLUE = 2\n", "    BLUE = 2\n    GREEN = 3\n"),
        ("add `IDLE` to `Mode`", KINDS, "    SLOW = auto()\n", "    SLOW = auto()\n    IDLE = auto()\n"),
        ("add member LAST_ONE to Name", KINDS, '"first-one"\n', '"first-one"\n    LAST_ONE = "last-one"\n'),
        ("add field `height: int` to Options", KINDS, "    width: int\n", "    width: int\n    height: int\n"),
        ("add `height: int = 1` to Options", KINDS, "= 3\n", "= 3\n    height: int = 1\n"),
        ("add 'c' to ALLOWED", KINDS, '("a", "b")', '("a", "b", "c")'),
        ("add c to ALLOWED", KINDS, '("a", "b")', '("a", "b", "c")'),
        ("add 'z' to EMPTY", KINDS, "EMPTY = []", "EMPTY = ['z']"),
        ("add 'b' to ONE", KINDS, 'ONE = ("a",)', 'ONE = ("a", "b")'),
        ("add 'y' to SETS", KINDS, '{"x"}', '{"x", "y"}'),
        ("remove 'b' from ALLOWED", KINDS, '("a", "b")', '("a")'.replace(")", ",)")),
        ("remove 'json' from PARSERS", KINDS, '    "json": JsonParser,  # the usual one\n', ""),
        ("add Other to __all__ in pkg/__init__.py", "pkg/__init__.py", '"old_helper"]', '"old_helper", "Other"]'),
        ("add `import json` to pkg/kinds.py", KINDS, "import os\n", "import json\nimport os\n"),
        ("add `from typing import Set` to kinds.py", KINDS, "Dict, List", "Dict, List, Set"),
        ("add import of re to pkg/bare.py", "pkg/bare.py", "def f", "import re\n\n\ndef f"),
        ("ajoute `import re` dans pkg/use.py", "pkg/use.py", "from pkg", "import re\n\nfrom pkg"),
        ("remove the unused import sys from kinds.py", KINDS, "import sys\n", ""),
        ("replace 'foo-bar' with 'baz' in README.md", "README.md", "foo-bar", "baz"),
        ("Dans le README, remplace « foo-bar » par « baz »", "README.md", "foo-bar", "baz"),
        ('README: "foo-bar" should read "baz"', "README.md", "foo-bar", "baz"),
        ("change the error message 'something is wrong' to 'no'", KINDS, "something is wrong", "no"),
        ('change "Install foo" to "Install it" in README.md', "README.md", "Install foo", "Install it"),
        ("delete the method Only.alone", KINDS, "    def alone(self):\n        return 1\n", "    pass\n"),
    ],
)
def test_a_change_and_nothing_else(repo: Workspace, task: str, path: str, old: str, new: str) -> None:
    if not old:
        assert exact_edit(task, repo) is None
        return
    assert FILES[path].count(old) == 1
    assert texts(edited(repo, task)) == {path: FILES[path].replace(old, new)}


def test_an_entry_brings_its_import(repo: Workspace) -> None:
    new = texts(edited(repo, "add 'xml': XmlParser to PARSERS"))[KINDS]
    assert 'JsonParser,  # the usual one\n    "xml": XmlParser,\n}' in new
    assert "from .parsers import JsonParser, XmlParser\n" in new


def test_unused_imports_are_removed(repo: Workspace) -> None:
    new = texts(edited(repo, "remove the unused imports in pkg/kinds.py"))[KINDS]
    assert (
        "import os\nfrom dataclasses import dataclass\nfrom enum import Enum, auto\nfrom typing import Any, List\n"
        in new
    )


def test_a_deleted_function_takes_its_imports_and_exports_along(repo: Workspace) -> None:
    outcome = edited(repo, "delete the function `old_helper`")
    new = texts(outcome)
    assert new["pkg/__init__.py"] == 'from .kinds import Color\n\n__all__ = ["Color"]\n'
    kinds = new[KINDS]
    assert 'frozenset({"x"})\n\n\ndef used' in kinds
    assert "import os" not in kinds and "import sys" in kinds and "import Dict, List" in kinds
    assert not outcome.open_references


def test_a_stub_loses_what_its_module_loses(repo: Workspace) -> None:
    outcome = edited(repo, "Remove the exception Gone, we don't raise it anymore")
    assert texts(outcome) == {"pkg/stubbed.py": "class Stays: ...\n", "pkg/stubbed.pyi": "class Stays: ...\n"}
    assert not outcome.open_references


def test_what_still_refers_to_a_deleted_function_is_listed(repo: Workspace) -> None:
    outcome = edited(repo, "supprime la fonction used")
    assert [(o.path, o.line) for o in outcome.open_references] == [("pkg/use.py", 1), ("pkg/use.py", 3)]


ALTERNATIVES = """__all__ = ["pairs", "count", "total"]


def _pairs(items):
    \"\"\"Pairs.\"\"\"
    return zip(items, items)


try:
    from itertools import pairwise
except ImportError:
    pairs = _pairs
else:

    def pairs(items):
        return pairwise(items)

    pairs.__doc__ = _pairs.__doc__


def count(items):
    return len(items)


total = count
"""


def test_what_sets_an_attribute_of_a_deleted_function_goes_with_it(tmp_path) -> None:
    (text,) = texts(
        exact_edit("delete the function pairs", workspace_of(tmp_path, {"pkg/a.py": ALTERNATIVES}))
    ).values()
    compile(text, "a.py", "exec")
    assert "pairs.__doc__" not in text and "def pairs" not in text and 'all__ = ["count", "total"]' in text


def test_a_module_that_uses_a_function_when_it_is_imported_keeps_it(tmp_path) -> None:
    with pytest.raises(GenerationFailed, match=r"pkg/a.py:25"):
        exact_edit("delete `count` from a.py", workspace_of(tmp_path, {"pkg/a.py": ALTERNATIVES}))


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("add RED = 5 to Color", "RED"),
        ("add 'json': JsonParser to PARSERS", "json"),
        ("add `import os` to pkg/kinds.py", "import os"),
        ("remove the import of os from pkg/kinds.py", "pkg/kinds.py:"),
        ("remove the unused function used", "pkg/use.py:"),
        ("delete function `old_helpr`", "old_helper"),
        ("replace 'quux' with 'x' in README.md", "README.md"),
        ("remove unused imports from pkg/bare.py", "no unused"),
    ],
)
def test_what_cannot_be_done_says_why(repo: Workspace, task: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        exact_edit(task, repo)


@pytest.mark.parametrize(
    "task",
    [
        "add caching to Color",
        "add a method to Color",
        "add logging to used",
        "add validation to Options",
        "add tests to pkg/kinds.py",
        "add a docstring explaining everything to the README",
        "remove the bug in used",
        "remove duplicates from ALLOWED",
        "delete everything that is slow",
        "add support for xml to PARSERS",
        "add error handling to the parser",
    ],
)
def test_other_tasks_are_left_to_the_model(repo: Workspace, task: str) -> None:
    try:
        assert exact_edit(task, repo) is None
    except PlaceAmbiguous:
        pytest.fail("asked for a place")


def test_a_member_stands_where_its_number_belongs_and_is_found_by_its_siblings(tmp_path: Path) -> None:
    codes = (
        "from enum import IntEnum\n\n\nclass Codes(IntEnum):\n"
        "    OK = 200, 'OK'\n    GONE = 410, 'Gone'\n    BAD = 500, 'Bad'\n"
    )
    repo = workspace_of(tmp_path, {"pkg/codes.py": codes})
    (change,) = edited(repo, 'add the status code 420 "Calm" as CALM').changes
    assert "    GONE = 410, 'Gone'\n    CALM = 420, \"Calm\"\n    BAD = 500" in change.content
