"""Exports from packages, index files and crates."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import carried_out, changed_lines, edited, texts, workspace_of

from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.workspace import Workspace

FILES = {
    # An import of its own for each name, with its alias, and a stub.
    "src/lines/__init__.py": "from .core import Zebra as Zebra\nfrom .core import ant as ant\n"
    "from .util import a_b as a_b\n",
    "src/lines/__init__.pyi": "from .core import Zebra as Zebra\nfrom .core import ant as ant\n",
    "src/lines/core.py": "class Zebra: ...\n\n\nclass Cow: ...\n\n\ndef ant(): ...\n\n\ndef bee(): ...\n",
    "src/lines/util.py": "def a_b(): ...\n",
    # Lists in parentheses, absolute, with a sorted `__all__`, in CRLF.
    "lists/__init__.py": "from lists.core import (\r\n    alpha,\r\n    gamma,\r\n)\r\n\r\n__all__ = [\r\n"
    "    'alpha',\r\n    'gamma',\r\n]\r\n",
    "lists/core.py": "def alpha(): ...\n\n\ndef beta(): ...\n\n\ndef gamma(): ...\n",
    "lists/sub/__init__.py": "from lists.sub.deep import Deep\n",
    "lists/sub/deep.py": "class Deep: ...\n",
    # Everything by stars.
    "stars/__init__.py": 'from .one import *\nfrom .two import *\n\n__all__ = ("First", "second")\n',
    "stars/one.py": '__all__ = ["First"]\n\n\nclass First: ...\n\n\nclass Other: ...\n',
    "stars/two.py": "def second(): ...\n\n\ndef third(): ...\n",
    "stars/user.py": "from stars import First\nimport stars\n\nstars.third()\nFirst()\n",
    "empty/__init__.py": "",
    "empty/module.py": "VALUE = 1\n",
    "linted/__init__.py": '"""Linted."""\n\nfrom .a import a_one  # noqa: F401\nfrom .b import b_one  # noqa: F401',
    "linted/a.py": "a_one = 1\n\n\ndef a_two(): ...\n",
    "linted/b.py": "b_one = 1\n",
    "one/same.py": "def same(): ...\n",
    "two/same.py": "def same(): ...\n",
    "web/package.json": "{}\n",
    "web/src/index.ts": "export { add, sub } from './math.js'\nexport type { Shape } from './shapes.js'\n",
    "web/src/math.ts": "export function add() {}\nexport function sub() {}\nexport const mul = 1\n"
    "function hidden() {}\n",
    "web/src/shapes.ts": "export interface Shape {}\nexport interface Area {}\n",
    "web/src/page.ts": "export default class Page {}\n",
    "node/package.json": "{}\n",
    "node/index.js": "exports.one = require('./lib').one;\n",
    "node/lib.js": "function one() {}\nfunction two() {}\nmodule.exports = { one, two };\n",
    "crate/src/lib.rs": "mod shapes;\npub mod text;\n\npub use shapes::Circle;\n",
    "crate/src/shapes.rs": "pub struct Circle;\nstruct Square;\n",
    "crate/src/text.rs": "pub fn trim_all() {}\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("exports"), FILES)


@pytest.mark.parametrize(
    ("name", "places", "lines"),
    [
        ("bee", (), ["+from .core import bee as bee", "+from .core import bee as bee"]),
        ("Cow", ("lines",), ["+from .core import Cow as Cow", "+from .core import Cow as Cow"]),
        ("beta", (), ["+beta,", "+'beta',"]),
        ("Deep", (), ["+from lists.sub import Deep", "+'Deep',"]),
        ("Other", (), ['-__all__ = ["First"]', '+__all__ = ["First", "Other"]']),
        ("VALUE", (), ["+from .module import VALUE"]),
        ("a_two", (), ["+from .a import a_two  # noqa: F401"]),
        ("same", ("two/same.py",), None),
        ("mul", ("web/src",), ["-export { add, sub } from './math.js'", "+export { add, mul, sub } from './math.js'"]),
        ("Area", (), ["-export type { Shape } from './shapes.js'", "+export type { Shape, Area } from './shapes.js'"]),
        ("Page", (), ["+export { default as Page } from './page.js'"]),
        ("two", (), ["+exports.two = require('./lib').two;"]),
        ("Square", (), ["-pub use shapes::Circle;", "+pub use shapes::{Circle, Square};", "-struct", "+pub struct"]),
        ("trim_all", (), ["+pub use text::trim_all;"]),
    ],
)
def test_what_is_exported(repo: Workspace, name: str, places: tuple[str, ...], lines: list[str] | None) -> None:
    if lines is None:
        with pytest.raises(GenerationFailed):  # no package, no list of exports
            carried_out(repo, "export", name, *places)
        return
    found = changed_lines(carried_out(repo, "export", name, *places))
    for line in lines:
        assert any(changed.startswith(line) for changed in found), found


def test_a_module_that_is_named_lists_its_own_definition(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "pans/__init__.py": "from .lids import close\n\n__all__ = ['close']\n",
        "pans/lids.py": "def close(): ...\n\n\ndef open_lid(): ...\n\n\n__all__ = ['close']\n",
    }
    outcome = edited(workspace_of(tmp_path, files), "export open_lid from pans.lids")
    assert texts(outcome) == {"pans/lids.py": files["pans/lids.py"].replace("['close']", "['close', 'open_lid']")}


def test_a_list_of_exports_follows_the_imports(repo: Workspace) -> None:
    outcome = carried_out(repo, "export", "third")
    assert texts(outcome) == {
        "stars/__init__.py": 'from .one import *\nfrom .two import *\n\n__all__ = ("First", "second", "third")\n'
    }
    assert texts(carried_out(repo, "export", "beta"))["lists/__init__.py"].count("\r\n") == 11
    hidden = texts(carried_out(repo, "export", "hidden"))
    assert "export function hidden" in hidden["web/src/math.ts"]
    assert "export { add, hidden, sub } from './math.js'" in hidden["web/src/index.ts"]


@pytest.mark.parametrize(
    ("name", "gone", "open_"),
    [
        ("Zebra", ["-from .core import Zebra as Zebra"] * 2, []),
        ("gamma", ["-gamma,", "-'gamma',"], []),
        ("First", ['-__all__ = ["First"]', "+__all__ = []"], ["stars/user.py:1"]),
        ("sub", ["-export { add, sub } from './math.js'", "+export { add } from './math.js'"], []),
        ("Circle", ["-pub use shapes::Circle;"], []),
    ],
)
def test_what_is_no_longer_exported(repo: Workspace, name: str, gone: list[str], open_: list[str]) -> None:
    outcome = carried_out(repo, "unexport", name)
    found = changed_lines(outcome)
    assert all(line in found for line in gone), found
    assert [f"{o.path}:{o.line}" for o in outcome.open_references] == open_


@pytest.mark.parametrize(
    ("kind", "name", "error", "said"),
    [
        ("export", "alpha", GenerationFailed, "lists/__init__.py"),
        ("export", "add", GenerationFailed, "web/src/index.ts"),
        ("export", "Circle", GenerationFailed, "lib.rs"),
        ("export", "same", PlaceAmbiguous, "same"),
        ("export", "no_such_thing", GenerationFailed, "no_such_thing"),
        ("unexport", "beta", GenerationFailed, "beta"),
    ],
)
def test_what_can_not_be_done_is_said(
    repo: Workspace, kind: str, name: str, error: type[GenerationFailed], said: str
) -> None:
    with pytest.raises(error, match=said):
        carried_out(repo, kind, name)


def test_a_module_that_passes_names_on_takes_another(tmp_path: Path) -> None:
    files = {
        "kit/__init__.py": "",
        "kit/parts.py": "class Part: ...\n\n\nclass Spare: ...\n",
        "kit/core.py": "from .parts import Spare\n\n__all__ = (\n    'Spare',\n)\n",
    }
    new = texts(edited(workspace_of(tmp_path, files), "Could you also export the Part class from kit.core?"))
    assert new == {"kit/core.py": "from .parts import Part, Spare\n\n__all__ = (\n    'Spare',\n    'Part',\n)\n"}
