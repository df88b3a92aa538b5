"""Types, decorators and bases of definitions."""

from __future__ import annotations

import pytest
from support.edited import carried_out, changed_lines, workspace_of

from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.workspace import Workspace

FILES: dict[str, str | bytes] = {
    "pkg/__init__.py": "# The package\n",
    "pkg/shapes.py": "from __future__ import annotations\n\n\nclass Shape:\n    pass\n",
    "pkg/tools.py": '''"""Tools."""

import functools
from typing import Optional

LIMIT = 10


def measure(shape, scale=1.5, *names, unit: Optional[str] = None, **rest):
    total = 0
    return total


@functools.lru_cache
@functools.wraps(measure)
def cached(a, label="x", flag=False, size=-1, raw=b"", other=None):
    return a


class Base(Exception):
    width = 1

    def __init__(self, depth):
        self.depth = depth
        self.twin = None

    @property
    def area(self):
        return 1


class Late(Base, KeyError):
    pass


class Meta(metaclass=type):
    pass


class First(Exception):
    pass


class Second(Exception):
    pass
''',
    "pkg/tools.pyi": "def measure(shape, scale=..., *names, unit: Optional[str] = ..., **rest): ...\n",
    "pkg/crlf.py": b"class Plain(object):\r\n\tdef run(self, x):\r\n\t\treturn x",
    "one/same.py": "def same(x): ...\n",
    "two/same.py": "def same(x): ...\n",
    "web/app.ts": "export class Box extends Base {\n  size = 1;\n  fit(a, b?: string) { return a; }\n}\n"
    "const make = (n) => n;\n",
}
TOOLS = "pkg/tools.py"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("parts"), FILES)


def added(repo: Workspace, kind: str, name: str, *places: str, **parts: str) -> list[str]:
    """The added lines; those of a removal as they are."""
    found = [line.rstrip("\r") for line in changed_lines(carried_out(repo, kind, name, *places, **parts))]
    return [line for line in found if line not in ("+", "-")]


@pytest.mark.parametrize(
    ("name", "places", "parts", "line"),
    [
        ("shape", ("measure",), {"new": "Shape"}, "+def measure(shape: Shape, scale=1.5, *names, unit: Optional[str] "),
        ("scale", ("measure",), {"new": "float"}, "+def measure(shape, scale: float = 1.5, *names, "),
        ("names", ("measure",), {"new": "str"}, "+def measure(shape, scale=1.5, *names: str, "),
        ("unit", ("measure",), {"new": "str | None"}, "-from typing import Optional"),
        ("total", ("measure",), {"new": "int"}, "+total: int = 0"),
        ("measure", (), {"new": "Iterator[int]", "return": "yes"}, "+from collections.abc import Iterator"),
        ("", ("Base.area",), {"new": "str", "return": "yes"}, "+def area(self) -> str:"),
        ("width", ("Base",), {"new": "int"}, "+width: int = 1"),
        ("depth", ("Base",), {"new": "float"}, "+self.depth: float = depth"),
        ("depth", ("Base",), {"new": "float", "what": "parameter"}, "+def __init__(self, depth: float):"),
        ("Base.twin", (), {"new": "Late"}, '+self.twin: "Late" = None'),
        ("LIMIT", (), {"new": "Final[int]"}, "+from typing import Final, Optional"),
        ("x", ("Plain.run",), {"new": "int"}, "+\tdef run(self, x: int):".replace("\t", "")),
        ("size", ("Box",), {"new": "number"}, "+size: number = 1;"),
        ("b", ("Box.fit",), {"new": "number"}, "+fit(a, b?: number) { return a; }"),
        ("fit", (), {"new": "string", "what": "method", "return": "yes"}, "+fit(a, b?: string): string { return a; }"),
        ("n", ("make",), {"new": "number"}, "+const make = (n: number) => n;"),
    ],
)  # fmt: skip
def test_a_type_is_written(
    repo: Workspace, name: str, places: tuple[str, ...], parts: dict[str, str], line: str
) -> None:
    found = added(repo, "annotate", name, *places, **parts)
    assert any(f.startswith(line) for f in found), found


def test_types_of_defaults_and_the_stub_follow(repo: Workspace) -> None:
    assert (
        '+def cached(a, label: str = "x", flag: bool = False, size: int = -1, raw: bytes = b"", other=None):'
        in added(repo, "annotate_defaults", "cached")
    )
    both = carried_out(repo, "annotate", "shape", "measure", new="Shape")
    assert [c.path for c in both.changes] == [TOOLS, "pkg/tools.pyi"]
    assert "from pkg.shapes import Shape" in both.changes[0].content


@pytest.mark.parametrize(
    ("kind", "name", "parts", "lines"),
    [
        ("add_decorator", "measure", {"new": "@cache"}, ["+from functools import cache", "+@cache"]),
        ("add_decorator", "Base.area", {"new": "abstractmethod"}, [
            "+from abc import abstractmethod", "+@abstractmethod"
        ]),
        ("add_decorator", "Plain.run", {"new": "staticmethod"}, ["+@staticmethod"]),
        ("remove_decorator", "cached", {"old": "@lru_cache"}, ["-@functools.lru_cache"]),
        ("remove_decorator", "Base.area", {"new": "property"}, ["-@property"]),
        ("add_base", "Plain", {"new": "Shape"}, [
            "-class Plain(object):", "+from pkg.shapes import Shape", "+class Plain(Shape):"
        ]),
        ("add_base", "Shape", {"new": "ABC"}, ["-class Shape:", "+from abc import ABC", "+class Shape(ABC):"]),
        ("add_base", "Base", {"new": "ValueError"}, ["-class Base(Exception):", "+class Base(ValueError):"]),
        ("add_base", "Second", {"new": "First"}, ["-class Second(Exception):", "+class Second(First):"]),
        ("add_base", "Meta", {"new": "Base"}, ["-class Meta(metaclass=type):", "+class Meta(Base, metaclass=type):"]),
        ("add_base", "Late", {"new": "LoudMixin"}, [
            "-class Late(Base, KeyError):", "+class Late(LoudMixin, Base, KeyError):"
        ]),
        ("remove_base", "Late", {"old": "Base"}, ["-class Late(Base, KeyError):", "+class Late(KeyError):"]),
        ("remove_base", "Base", {"new": "Exception"}, ["-class Base(Exception):", "+class Base:"]),
        ("change_base", "Late", {"old": "KeyError", "new": "OSError"}, [
            "-class Late(Base, KeyError):", "+class Late(Base, OSError):"
        ]),
        ("change_base", "Box", {"old": "Base", "new": "Other"}, [
            "-export class Box extends Base {", "+export class Box extends Other {"
        ]),
    ],
)  # fmt: skip
def test_decorators_and_bases_change(
    repo: Workspace, kind: str, name: str, parts: dict[str, str], lines: list[str]
) -> None:
    assert sorted(added(repo, kind, name, **parts)) == sorted(lines)


def test_a_decorator_goes_where_it_works(repo: Workspace) -> None:
    text = carried_out(repo, "add_decorator", "Base.area", new="abstractmethod").changes[0].content
    assert "    @property\n    @abstractmethod\n    def area" in text
    text = carried_out(repo, "add_decorator", "cached", new="staticmethod").changes[0].content
    assert "@staticmethod\n@functools.lru_cache\n" in text
    text = carried_out(repo, "add_decorator", "Plain.run", new="staticmethod").changes[0].content
    assert text == "class Plain(object):\r\n\t@staticmethod\r\n\tdef run(self, x):\r\n\t\treturn x"


@pytest.mark.parametrize(
    ("kind", "name", "places", "parts", "error", "said"),
    [
        ("annotate", "unit", ("measure",), {"new": "Optional[str]"}, GenerationFailed, "already"),
        ("annotate", "unit", ("measure",), {"new": "int", "old": "float"}, GenerationFailed, "not float"),
        ("annotate", "unti", ("measure",), {"new": "int"}, GenerationFailed, "unti"),
        ("annotate", "x", ("same",), {"new": "int"}, PlaceAmbiguous, "same"),
        ("annotate_defaults", "measure_all", (), {}, GenerationFailed, "measure_all"),
        ("add_decorator", "Base.area", (), {"new": "property"}, GenerationFailed, "already"),
        ("remove_decorator", "measure", (), {"new": "cache"}, GenerationFailed, "@cache"),
        ("change_base", "Base", (), {"old": "Exception", "new": "Late"}, GenerationFailed, "below"),
        ("remove_base", "Base", (), {"old": "OSError"}, GenerationFailed, "OSError"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(
    repo: Workspace,
    kind: str,
    name: str,
    places: tuple[str, ...],
    parts: dict[str, str],
    error: type[GenerationFailed],
    said: str,
) -> None:
    with pytest.raises(error, match=said):
        carried_out(repo, kind, name, *places, **parts)
