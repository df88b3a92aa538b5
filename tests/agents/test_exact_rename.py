"""Renames without a model: what is sure is renamed, the rest is left to the user."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.edited import changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.sources import SourceText
from repopilot.code.syntax import parse
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": 'from .parsing import Reader, parse_args\n\n__all__ = ["parse_args", "Reader"]\n',
    "pkg/every.py": "from .parsing import *\n\nparse_args(1)\n",
    "pkg/parsing.py": '''"""Parsing."""

from __future__ import annotations


def parse_args(text):
    """Parse."""
    parse_args.calls = 1
    return [part for part in text.split()]


def other():
    parse_args = 1
    return parse_args


class Reader:
    chunk = 10

    def read_all(self, size=1) -> "Reader":
        return self

    def twice(self):
        return self.read_all().read_all(size=2), f"{self.read_all()!r}"

    def close(self): ...


class Faster(Reader):
    def read_all(self, size=3):
        return super().read_all(size)


class Stream:
    def close(self): ...


def open_it(reader: Reader, unknown):
    reader.close()
    unknown.close()
    with open("x") as handle:
        handle.close()
    return reader.read_all()
''',
    "pkg/use.py": """import pkg.parsing
import pkg.parsing as p
from pkg import parse_args
from pkg.parsing import parse_args as pa, Reader, Faster


def main(argv):
    parse_args(argv)
    pa(argv)
    p.parse_args(argv)
    pkg.parsing.parse_args(argv)
    getattr(p, "parse_args")
    r = Faster()
    r.read_all()
    thing = make()
    thing.read_all()
""",
    "pkg/owner.py": """class Owner:
    def build_thing(self): ...


def make_thing(): ...


class Maker:
    def make_thing(self): ...


def use(unknown):
    unknown.make_thing()
    unknown.of("x").make_thing()
    made = unknown["y"]
    made.make_thing()
    either = unknown
    either.make_thing()
""",
    "pkg/timed.py": """class Timed:
    def size(self):
        self.expire_all()


class One(Timed):
    def expire_all(self): ...


class Two(Timed):
    def expire_all(self): ...
""",
    "tests/apps/pkg.py": "",
    "tests/test_use.py": """from unittest import mock

from pkg.use import main


@mock.patch("pkg.parsing.parse_args")
def test_main(parse_args):
    main("")
""",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("rename"), FILES)


def test_a_function_is_renamed_with_its_imports_and_exports(repo: Workspace) -> None:
    outcome = edited(repo, "rename `parse_args` to `parse_arguments`")
    new = texts(outcome)
    assert new["pkg/__init__.py"] == FILES["pkg/__init__.py"].replace("parse_args", "parse_arguments")
    assert "def parse_arguments(text)" in new["pkg/parsing.py"] and "parse_arguments.calls" in new["pkg/parsing.py"]
    assert "    parse_args = 1\n    return parse_args\n" in new["pkg/parsing.py"]
    use = new["pkg/use.py"]
    assert "from pkg.parsing import parse_arguments as pa, Reader" in use and "    pa(argv)" in use
    assert "    p.parse_arguments(argv)\n    pkg.parsing.parse_arguments(argv)\n" in use
    assert 'mock.patch("pkg.parsing.parse_arguments")\ndef test_main(parse_args)' in new["tests/test_use.py"]
    assert 'getattr(p, "parse_arguments")' in use
    assert not outcome.open_references


def test_a_method_is_renamed_in_its_family(repo: Workspace) -> None:
    outcome = edited(repo, "rename the method Reader.read_all to read_everything")
    new = texts(outcome)
    assert "read_all" not in new["pkg/parsing.py"] + new["pkg/use.py"]
    assert any("read_all" in note for note in outcome.notes)


def test_uses_of_other_classes_stay_and_unknown_ones_are_open(repo: Workspace) -> None:
    outcome = edited(repo, "rename close to shut @pkg/parsing.py:Reader.close")
    assert changed_lines(outcome) == [
        "-def close(self): ...",
        "+def shut(self): ...",
        "-reader.close()",
        "+reader.shut()",
    ]
    assert [o.text for o in outcome.open_references] == ["unknown.close()", "handle.close()"]


TEXTS = {
    "pkg/__init__.py": "",
    "pkg/core.py": '''"""Core, where `URLPattern` lives."""

from pkg.words import Reader


class URLPattern:
    """Matches.

    >>> URLPattern("all://")
    """

    __slots__ = ("raw_text", "scheme")

    def __init__(self, raw_text):
        """Keep it.

        :param raw_text: the URLPattern as text.
        """
        self.raw_text = raw_text  # raw_text stays

    def __repr__(self):
        return f"<URLPattern {self.raw_text!r}>"

    def as_row(self):
        """See `as_row` and pattern.as_row(), as_row.html and :ref:`as_row`."""
        if type(self).__name__ == "URLPattern":
            raise ValueError("no URLPattern here")
        return Reader(self)


def load(make_rows, fetch_data):
    """Load with make_rows, which another function makes."""
    return make_rows, setattr(URLPattern, "as_row", 1), load.fetch_data  # fetch_data is a parameter


def make_rows():
    """make_rows makes rows."""


def fetch_data(): ...
''',
    "pkg/words.py": "class Reader:\n    pass  # a Reader of words\n",
    "docs/api.rst": ".. autoclass:: pkg.core.URLPattern\n\nA URLPattern, see x/URLPattern and -URLPattern.\n"
    "Every Reader reads.\n",
    "tests/test_core.py": 'def test_repr():\n    assert repr(make()) == "<URLPattern 1>" or "<Reader 1>"\n',
    "CHANGELOG.md": "URLPattern is new.\n",
    "docs/versions.rst": "1.0\n---\n\n:class:`URLPattern` is new.\n",
    "setup.cfg": "[options.entry_points]\nrun = pkg.core:make_rows\nother = x:make_rows\n",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("texts"), TEXTS)


def test_a_name_that_is_no_word_is_renamed_in_texts(said: Workspace) -> None:
    outcome = edited(said, "rename URLPattern to ProxyPattern")
    new = texts(outcome)
    assert new["pkg/core.py"] == TEXTS["pkg/core.py"].replace("URLPattern", "ProxyPattern")
    assert new["tests/test_core.py"] == TEXTS["tests/test_core.py"].replace("URLPattern", "ProxyPattern")
    assert new["docs/api.rst"].startswith(
        ".. autoclass:: pkg.core.ProxyPattern\n\nA ProxyPattern, see x/URLPattern and -URLPattern.\n"
    )
    assert "CHANGELOG.md" not in new and "docs/versions.rst" not in new
    assert {o.text for o in outcome.open_references} == {"A URLPattern, see x/URLPattern and -URLPattern."}


def test_a_word_is_renamed_where_code_shows_it(said: Workspace) -> None:
    lines = changed_lines(edited(said, "rename the class Reader to Scanner"))
    assert "+return Scanner(self)" in lines and "+pass  # a Scanner of words" not in lines
    assert any('or "<Scanner 1>"' in line for line in lines)


def test_a_member_is_renamed_in_texts_and_look_ups(said: Workspace) -> None:
    lines = changed_lines(edited(said, "rename URLPattern.as_row to to_row"))
    assert '+"""See `to_row` and pattern.to_row(), as_row.html and :ref:`as_row`."""' in lines
    assert '+return make_rows, setattr(URLPattern, "to_row", 1), load.fetch_data  # fetch_data is a parameter' in lines


def test_an_attribute_is_renamed_with_its_slot(said: Workspace) -> None:
    outcome = edited(said, "rename URLPattern.raw_text to raw")
    lines = changed_lines(outcome)
    assert '+__slots__ = ("raw", "scheme")' in lines and "+self.raw = raw_text  # raw_text stays" in lines
    assert any(":param raw_text: the" in o.text for o in outcome.open_references)


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        (
            "rename the function make_rows to rows_of",
            {"def rows_of():", "run = pkg.core:rows_of"},
        ),
        ("rename fetch_data in pkg/core.py to get_data", {"def get_data(): ..."}),
    ],
)
def test_texts_that_speak_of_something_else_stay(said: Workspace, task: str, lines: set[str]) -> None:
    assert {line[1:] for line in changed_lines(edited(said, task)) if line[0] == "+"} == lines


@pytest.mark.parametrize(
    "task",
    [
        "The class Stream should be called Flow",
        "rename the class Stream (@pkg/parsing.py) to Flow, also in the docs and tests",
        "renomme la classe Stream en Flow, avec tous ses appels",
        "refactor: rename Stream to Flow everywhere",
    ],
)
def test_ways_to_ask_for_a_rename(repo: Workspace, task: str) -> None:
    assert changed_lines(edited(repo, task)) == ["-class Stream:", "+class Flow:"]


def test_a_member_that_a_base_expects_is_renamed_in_all_classes(repo: Workspace) -> None:
    new = texts(edited(repo, "rename One.expire_all to evict_all"))["pkg/timed.py"]
    assert new == FILES["pkg/timed.py"].replace("expire_all", "evict_all")


def test_a_function_of_the_same_name_makes_uses_of_a_method_uncertain(repo: Workspace) -> None:
    outcome = edited(repo, "rename Maker.make_thing to create_thing")
    assert [line for line in changed_lines(outcome) if line[0] == "+"] == [
        "+def create_thing(self): ...",
        '+unknown.of("x").create_thing()',  # no module
        "+made.create_thing()",
    ]
    assert [o.text for o in outcome.open_references] == ["unknown.make_thing()", "either.make_thing()"]


def test_there_and_back_gives_the_same_text(repo: Workspace, tmp_path: Path) -> None:
    there = texts(edited(repo, "renomme la classe Reader en Lecteur"))
    again = workspace_of(tmp_path, {**FILES, **there})
    assert texts(edited(again, "renomme la classe Lecteur en Reader")) == {path: FILES[path] for path in there}


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("rename `parse_arg` to `x`", "parse_args"),
        ("rename parse_args to other", "other"),
        ("rename parse_args to class", "class"),
        ("rename `parse_args` to `parse_args`", "already"),
    ],
)
def test_a_rename_that_cannot_be_done_says_why(repo: Workspace, task: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        exact_edit(task, repo)


def test_which_of_several_is_asked_for(repo: Workspace) -> None:
    with pytest.raises(PlaceAmbiguous) as asked:
        exact_edit("rename close to shut", repo)
    assert asked.value.choices == ("pkg/parsing.py:Reader.close", "pkg/parsing.py:Stream.close")


@pytest.mark.parametrize(
    "task", ["rename the thing", "rename things to be clearer", "rename foo to bar and fix the bug"]
)
def test_other_tasks_are_left_to_the_model(repo: Workspace, task: str) -> None:
    assert exact_edit(task, repo) is None


def table(code: str, name: str):
    data = code.encode()
    tree = parse(data, "python", 5)
    return name_table(SourceText("x.py", data, "python", tree.root_node if tree else None), name)


@pytest.mark.parametrize(
    ("code", "roles"),
    [
        ("x = 1", ["bind"]),
        ("def f(x, *, y=x): return x", ["parameter", "load", "load"]),
        ("[x for x in x]", ["load", "bind", "load"]),
        ("a.x = x", ["attribute", "load"]),
        ("f(x=x)", ["keyword", "load"]),
        ("import x.x as y", ["module", "module"]),
        ("from x import x as y", ["module", "imported"]),
        ("import x", ["bind"]),
        ("with a as (x, b): pass", ["bind"]),
        ("try: pass\nexcept E as x: pass", ["bind"]),
        ("match a:\n    case x: pass\n    case P(x=1): pass\n    case x.y: pass", ["bind", "keyword", "load"]),
        ("def f():\n    global x\n    x = 1", ["declared", "bind"]),
        ('a: "x" = "x"', ["load", "string"]),
        ('def f(a: Literal["x"]) -> list["x"]: ...', ["string", "load"]),
        ("# x\nf'{x}'", ["comment", "load"]),
        ("lambda x=x: x", ["parameter", "load", "load"]),
        ("(x := 1)", ["bind"]),
        ("for x, (y, *z) in x: del x", ["bind", "load", "bind"]),
    ],
)
def test_what_a_name_is(code: str, roles: list[str]) -> None:
    assert [u.role for u in table(code, "x").uses] == roles


def test_scopes_are_those_of_the_language() -> None:
    code = (
        "x = 1\nclass C:\n    x = 2\n    def f(self): return x\n    y = [x for _ in x]\n"
        "def g():\n    x = 3\n    return [x for _ in 'a']\n"
    )
    found = table(code, "x")
    scopes = [(u.start, s.type) for u in found.uses if (s := found.binding_scope(u)) is not None]
    module, inside, function = "module", "class_definition", "function_definition"
    assert [kind for _, kind in scopes] == [module, inside, module, module, inside, function, function]


@pytest.mark.slow
@given(st.text("x=():,.[]{}'\"# \n\\defclasimprtyw*@", max_size=60))
def test_any_text_can_be_read(code: str) -> None:
    for use in table(code, "x").uses:
        assert code.encode()[use.start : use.end] == b"x"
