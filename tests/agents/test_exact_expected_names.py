"""Renames of what somebody expects to have its name: fixtures, bases from elsewhere, decorators, composed names."""

from __future__ import annotations

import pytest
from support.edited import carried_out, changed_lines, workspace_of

from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": "",
    "pkg/forms.py": """import ast
import queue
from typing import TypeVar

from pydantic import BaseModel
from web import app

FormType = TypeVar("FormType", bound="type[Form]")


class Form(BaseModel):
    model_config = {}
    title_text: str = ""


class Words(ast.NodeVisitor, queue.Queue):
    def visit_Name(self, node): ...

    def get_nowait(self): ...

    def write_line(self): ...

    def write(self, kind):
        return getattr(self, f"write_{kind}")()


class Other:
    title_text = ""


def register(form: FormType, other):
    return form.title_text, other.title_text


@app.command("x")
def init_store(): ...


def narrow(thing, other):
    if isinstance(thing, Form) and other:
        thing.title_text = other.title_text
    if isinstance(other, Form):
        other = thing
        print(other.title_text)
    return isinstance(thing, Other) and thing.title_text


init_store.title_text()
""",
    "pkg/visitors.py": "class Visitor:\n    def visit(self, node):\n        getattr(self, f'visit_{node}')()\n",
    "pkg/writer.py": "from pkg.visitors import Visitor\n\n\nclass Writer(Visitor):\n    def visit_Add(self): ...\n",
    "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef store_dir(tmp_path):\n    return tmp_path\n\n\n"
    "@pytest.fixture()\ndef store(store_dir):\n    return store_dir\n",
    "tests/test_a.py": "import pytest\n\n\ndef helper(store_dir): ...\n\n\n@pytest.mark.usefixtures('store_dir')\n"
    "def test_one(store_dir):\n    assert helper(store_dir)\n\n\ndef test_two(request):\n"
    "    request.getfixturevalue('store_dir')\n",
    "tests/own/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef store_dir(): ...\n",
    "tests/own/test_b.py": "def test_own(store_dir): ...\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("expected"), FILES)


def test_a_fixture_is_renamed_in_the_tests_that_ask_for_it(repo: Workspace) -> None:
    outcome = carried_out(repo, "rename", "store_dir", "conftest.py", new="folder")
    assert [line[1:] for line in changed_lines(outcome) if line[0] == "+"] == [
        "def folder(tmp_path):",
        "def store(folder):",
        "return folder",
        "@pytest.mark.usefixtures('folder')",
        "def test_one(folder):",
        "assert helper(folder)",
        "request.getfixturevalue('folder')",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Words.visit_Name", "NodeVisitor"),
        ("Words.get_nowait", "queue.Queue"),
        ("Words.write_line", "pkg/forms.py:24"),
        ("Writer.visit_Add", "pkg/visitors.py:3"),
    ],
)
def test_a_name_that_code_elsewhere_calls_stays(repo: Workspace, name: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        carried_out(repo, "rename", name, new="other_name")


@pytest.mark.parametrize(
    ("name", "open_"),
    [
        ("Form.model_config", ["class Form(BaseModel):"]),
        ("init_store", ['@app.command("x")']),
        (
            "Form.title_text",
            [
                "class Form(BaseModel):",
                "return form.title_text, other.title_text",
                "thing.title_text = other.title_text",
                "print(other.title_text)",
                "init_store.title_text()",
            ],
        ),
    ],
)
def test_who_may_expect_the_name_is_told(repo: Workspace, name: str, open_: list[str]) -> None:
    assert [o.text for o in carried_out(repo, "rename", name, new="renamed").open_references] == open_


def test_bounds_of_type_variables_and_checks_of_instances_tell_the_class(repo: Workspace) -> None:
    lines = changed_lines(carried_out(repo, "rename", "Form.title_text", new="title"))
    assert "+return form.title, other.title_text" in lines and "+thing.title = other.title_text" in lines
    assert len(lines) == 6
