"""Wishes as they are typed in a chat, found by giving the program everyday tasks on repositories nobody had seen."""

from __future__ import annotations

import pytest
from support.edited import changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.redefined import adds_redefined
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

SETTINGS = (
    "from os import environ\n\n\ndef env(key, type_, default=None):\n    return type_(environ.get(key, default))\n\n\n"
    'APP_LEVEL = env("APP_LEVEL", str, "DEBUG")\nAPP_DEPTH = env("APP_DEPTH", int, 5)\n'
    'APP_CATCH = env("APP_CATCH", bool, True)\nBASE_PATH = "/"\n'
    'KEPT_HEADERS = ["name", "path"]\nVERBS = {"get", "put"}\n'
)
STORE = (
    "import enum\nimport json\n\nfrom app.settings import BASE_PATH\n\n\n"
    "class Status(enum.IntEnum):\n    DONE = 0\n\n\n"
    "class Message(str):\n    __slots__ = ()\n\n\n"
    "def deepmerge(one, other):\n    return {**one, **other}\n\n\ndef spare(x):\n    return x\n\n\n"
    "def get_folder():\n    return BASE_PATH\n\n\n"
    "class Link:\n    def ping(self, timeout=5, *, deep=False):\n        return deepmerge({}, {})\n\n"
    "    def save(self):\n        return json.dumps(get_folder())\n"
)
FILES = {
    "app/__init__.py": "VERSION = 1\n",
    "app/settings.py": SETTINGS,
    "app/store.py": STORE,
    "app/other.py": "class Message:\n    kind = 1\n",
    "app/net/__init__.py": 'from app.net.base import Base, Other\n\n__all__ = ["Other"]\n',
    "app/net/base.py": "class Base: ...\n\n\nclass Other: ...\n",
    "app/net/wire.py": "def check(form):\n    raise ValueError('must be in format \"<a>:<b>\".')\n",
    "app/boxes.py": (
        'class Box:\n    def get_top(self, last=None):\n        """Get the top of a box."""\n\n'
        '    def get_row(self, last=None):\n        """Get the top of a box."""\n\n\n'
        "class Crate:\n    def get_row(self, last=None):\n        return Box().get_row()\n"
    ),
    "app/match.py": (
        'import fnmatch as _fnmatch\n\nFOLDERS = (".git", ".tox")\n\n\n'
        'def fnmatch(name):\n    """Wrap :func:`fnmatch.fnmatch`."""\n    return _fnmatch.fnmatch(name, "*")\n'
    ),
    "docs/match.rst": ".. autofunction:: app.match.fnmatch\n\n:func:`fnmatch.fnmatch` takes one pattern.\n",
    "tests/test_link.py": (
        "import wires.client\n\nfrom app.store import Link\n\n\ndef test_ping():\n    assert Link().ping() == {}\n\n\n"
        'def test_wire(url: str):\n    with wires.client.connect(f"ws:{url}") as wire:\n        wire.ping()\n'
    ),
    "go/wait.go": 'package wait\n\nimport "time"\n\nvar ShowDuration = 5 * time.Second\n',
    "app/spare.py": 'from app.extra import old_way\n\n__all__ = ["old_way"]\n',
    "app/extra.py": "def old_way():\n    return 1\n",
    "tests/test_extra.py": "from app.extra import old_way\n\n\ndef test_old():\n    assert old_way() == 1\n",
    "README.md": "A swift store for links.\n",
    "docs/README.md": "A swift store for links.\n",
    "CHANGELOG.md": "# Changes\n\n## 1.1\n\n- Second.\n\n## 1.0\n\n- First.\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("app"), FILES)


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        ("APP_LEVEL should default to INFO", ["+" + 'APP_LEVEL = env("APP_LEVEL", str, "INFO")']),
        ("APP_CATCH should be off by default", ['+APP_CATCH = env("APP_CATCH", bool, False)']),
        ("BASE_PATH: make it '/api'", ["+BASE_PATH = '/api'"]),
        (
            "HTTP 2 knows 'patch' but VERBS doesn't list it - please add 'patch' there.",
            ['+VERBS = {"get", "put", "patch"}'],
        ),
        ("remove the constant KEPT_HEADERS' entry 'path'", ['+KEPT_HEADERS = ["name"]']),
        ("Add an exit status TIMED_OUT = 8 to Status", ["+TIMED_OUT = 8"]),
        (
            'The class Message in store.py lacks a docstring, add one: "Text with a record."',
            ['+"""Text with a record."""', "+"],
        ),
        ("get_folder() should cache its result with lru_cache", ["+from functools import lru_cache", "+@lru_cache"]),
        (
            "app/net/__init__.py imports Base already but doesn't export it: add it to `__all__`",
            ['+__all__ = ["Other", "Base"]'],
        ),
        ("in store.py use a relative import for settings", ["+from .settings import BASE_PATH"]),
        ("document in the changelog that VERBS has patch", ["+- VERBS has patch"]),
        ('changelog: add "Added `ping`." to 1.0', ["+- Added `ping`."]),
        ("ignore le répertoire .venv : à ajouter dans FOLDERS", ['+FOLDERS = (".git", ".tox", ".venv")']),
        (
            'Box.get_row claims to "Get the top of a box". It should be "Get a row of a box." That of get_top is right',
            ['+"""Get a row of a box."""'],
        ),
        ("BASE_PATH is now '/v2'", ["+BASE_PATH = '/v2'"]),
        ("README: 'swift store' should be 'fast store'", ["+A fast store for links."]),
        ("add __all__ to app/net/base.py exporting Base", ['+__all__ = ["Base"]', "+", "+"]),
        ("ShowDuration should be ten seconds", ["+var ShowDuration = 10 * time.Second"]),
        ("get rid of the spare helper in store.py if nothing uses it", []),
    ],
)
def test_what_a_wish_adds(app: Workspace, task: str, lines: list[str]) -> None:
    assert [line for line in changed_lines(edited(app, task)) if line[0] == "+"] == lines


def test_nit_and_an_abbreviation_are_no_names(app: Workspace) -> None:
    new = texts(edited(app, "nit: deepmerge in app/store.py isn't PEP 8, should be called deep_merge"))
    assert "deepmerge" not in new["app/store.py"] and new["app/store.py"].count("deep_merge") == 2


def test_a_quoted_text_that_ends_in_dots_goes_on_as_before(app: Workspace) -> None:
    task = "check should say 'must have the form \"<a>:<b>\"' rather than 'must be in format ...'"
    assert "'must have the form \"<a>:<b>\".'" in texts(edited(app, task))["app/net/wire.py"]


@pytest.mark.parametrize(
    "task",
    [
        "remove the function spare's docstring",
        "remove the function spare's annotations",
        "drop KEPT_HEADERS' last element",
        "add an argument `indent: int = 4` to Link.save and use it",
        "drop Message in other.py and raise Other instead",
        "turn BASE_PATH into a function base_path()",
        "supprime la méthode save si quelqu'un l'utilise",
    ],
)
def test_what_is_only_a_part_of_something_or_more_is_left_to_the_model(app: Workspace, task: str) -> None:
    assert exact_edit(task, app) is None


def test_a_text_is_not_replaced_the_other_way_round(app: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="doesn't contain"):
        exact_edit("README: replace 'very fast store' by 'swift store'", app)


@pytest.mark.parametrize("task", ["delete get_folder if it is unused", "remove get_folder, if nobody needs it"])
def test_what_is_used_is_not_deleted_under_that_condition(app: Workspace, task: str) -> None:
    with pytest.raises(GenerationFailed, match="is used at"):
        exact_edit(task, app)


@pytest.mark.parametrize("task", ["remove the unused old_way", "delete old_way if nothing uses it"])
def test_what_only_tests_and_exports_use_is_unused(app: Workspace, task: str) -> None:
    outcome = edited(app, task)
    assert "old_way" not in texts(outcome)["app/spare.py"]
    assert {reference.path for reference in outcome.open_references} == {"tests/test_extra.py"}


@pytest.mark.parametrize(
    "task",
    [
        "Let's drop the default of `timeout` in `Link.ping` so that it has to be given. Callers should spell out 5.",
        "Make `timeout` of Link.ping mandatory",
    ],
)
def test_only_calls_on_objects_that_may_be_meant_spell_a_default_out(app: Workspace, task: str) -> None:
    """What `wires.client.connect` returns is none of ours, though `ping` is defined once."""
    outcome = edited(app, task)
    assert "Link().ping(timeout=5)" in texts(outcome)["tests/test_link.py"]
    assert "wire.ping()" in texts(outcome)["tests/test_link.py"]
    assert "def ping(self, timeout, *, deep=False)" in texts(outcome)["app/store.py"]


def test_a_function_is_no_module_of_its_name(app: Workspace) -> None:
    new = texts(edited(app, "rename fnmatch in app/match.py to match_any, leave the standard library's fnmatch alone"))
    assert "def match_any(name):" in new["app/match.py"] and "Wrap :func:`fnmatch.fnmatch`" in new["app/match.py"]
    assert new["docs/match.rst"] == FILES["docs/match.rst"].replace("app.match.fnmatch", "app.match.match_any")


def test_both_functions_of_a_name_are_changed_where_both_are_meant(app: Workspace) -> None:
    task = (
        "get_row in boxes.py (both Box's and Crate's) lets callers forget `last`. Remove the `= None` from the two "
        "signatures and pass None explicitly where the argument was left out so far."
    )
    new = texts(edited(app, task))["app/boxes.py"]
    assert new.count("def get_row(self, last):") == 2 and "Box().get_row(last=None)" in new


def test_a_parameter_that_is_keyword_only_already_stays_so(app: Workspace) -> None:
    outcome = edited(app, "Make `deep` of Link.ping mandatory (it stays keyword-only)")
    assert "def ping(self, timeout=5, *, deep)" in texts(outcome)["app/store.py"]


@pytest.mark.parametrize(
    ("after", "adds"),
    [
        ("def f():\n    pass\n\n\ndef f():\n    return 1\n", True),
        ("def f():\n    def f():\n        pass\n", True),
        ("def f():\n    pass\n\n\n@functools.lru_cache(maxsize=1)\ndef f():\n    return 1\n", True),
        ("class A:\n    @property\n    def f(self): ...\n\n    @f.setter\n    def f(self, x): ...\n", False),
        ("@overload\ndef f(): ...\n\n\n@overload\ndef f(x): ...\n\n\ndef f(x=1): ...\n", False),
        ("def f(:", False),
    ],
)
def test_a_definition_that_stands_again_is_found(after: str, adds: bool) -> None:
    assert adds_redefined("def f():\n    pass\n", after) is adds
