"""Functions and classes that are marked as deprecated without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed

TEXT = '''"""Pans."""

import os


def boil(water):
    """Boil some water.

    Slowly."""
    return os.fspath(water)


def heat(water):
    return boil(water)


def drops(water):
    yield from water


class Pan:
    def __init__(self, size): self.size = size


class Pot:
    """A pot."""

    def __init__(self, size):
        self.size = size

    @property
    def volume(self):
        return self.size**3
'''


@pytest.mark.parametrize(
    ("task", "before", "message"),
    [
        ("deprecate boil", "    return os.fspath", "boil() is deprecated"),
        ("Deprecate `heat` in favour of `boil`.", "    return boil", "heat() is deprecated, use boil() instead"),
        ("mark the function heat as deprecated, use boil instead", "    return boil", "use boil() instead"),
        ("Pot should be deprecated", "        self.size = size\n\n    @property", "Pot is deprecated"),
        ("deprecate Pot.volume", "        return self.size**3", '"Pot.volume is deprecated'),
    ],
)
def test_who_calls_it_is_warned(tmp_path: Path, task: str, before: str, message: str) -> None:
    new = texts(edited(workspace_of(tmp_path, {"pans.py": TEXT}), task))["pans.py"]
    head, _, tail = TEXT.partition(before)
    assert new.startswith(head.replace("import os\n", "import os\nimport warnings\n"))
    assert new.endswith(before + tail)
    warning = new[len(head) + len("import warnings\n") : -len(before + tail)]
    assert message in warning
    assert "DeprecationWarning" in warning and "stacklevel=2" in warning
    compile(new, "pans.py", "exec")


def test_the_calls_of_what_is_deprecated_are_left_open(tmp_path: Path) -> None:
    outcome = edited(workspace_of(tmp_path, {"pans.py": TEXT}), "deprecate boil")
    assert [(r.path, r.text) for r in outcome.open_references] == [("pans.py", "return boil(water)")]


@pytest.mark.parametrize("task", ["deprecate drops", "deprecate Pan", "deprecate boil in favour of nothing_there"])
def test_what_code_cannot_deprecate_is_left_to_the_model(tmp_path: Path, task: str) -> None:
    assert exact_edit(task, workspace_of(tmp_path, {"pans.py": TEXT})) is None


def test_a_project_with_its_own_way_is_left_to_the_model(tmp_path: Path) -> None:
    files = {
        "pans.py": TEXT,
        "old.py": "from typing_extensions import deprecated\n\n\n@deprecated('x')\ndef f(): ...\n",
    }
    assert exact_edit("deprecate boil", workspace_of(tmp_path, files)) is None


def test_a_project_that_warns_somewhere_warns_here(tmp_path: Path) -> None:
    old = "import warnings\n\n\ndef f():\n    warnings.warn('f', DeprecationWarning)\n    return Deprecated('x')\n"
    new = texts(edited(workspace_of(tmp_path, {"pans.py": TEXT, "old.py": old}), "deprecate boil"))
    assert "boil() is deprecated" in new["pans.py"]


def test_what_is_deprecated_already_is_said(tmp_path: Path) -> None:
    text = "import warnings\n\n\ndef f():\n    warnings.warn('f', DeprecationWarning)\n    return 1\n"
    with pytest.raises(GenerationFailed, match="already"):
        exact_edit("deprecate f", workspace_of(tmp_path, {"a.py": text}))
