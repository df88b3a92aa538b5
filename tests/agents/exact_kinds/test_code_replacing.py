"""Fragments of code in place of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import carried_out, changed_lines, edited, texts, workspace_of

from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.workspace import Workspace

FILES: dict[str, str | bytes] = {
    "pkg/errors.py": "class OldError(Exception): ...\n\n\nclass NewError(Exception): ...\n",
    "pkg/clock.py": '"""Clocks."""\r\n\r\nimport os\r\nimport time\r\n\r\nfrom pkg.errors import OldError\r\n\r\n\r\n'
    "def now():\r\n\t# time.time() is wrong\r\n\treturn time.time( )\r\n\r\n\r\ndef check(a, b, state):\r\n"
    "\tif a == b and not state:\r\n\t\traise OldError('x')\r\n\ttry:\r\n\t\treturn os.sep + 'time.time()'\r\n"
    "\texcept KeyError:\r\n\t\treturn self.state or state",
    "pkg/other.py": "import time\n\nSTART = time.time()\nEND = START * 2\nMODE = 'fast'\n",
    "pkg/deep.py": "class Walker:\n    def step(self, items):\n        for item in items:\n            print(item)\n\n"
    "    def stop(self, items):\n        print(items)\n",
    "web/app.ts": "export function same(a: string, b: string) {\n  return a == b || a != b;\n}\n"
    "export const n = parseInt('1');\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("fragments"), FILES)


@pytest.mark.parametrize(
    ("old", "new", "places", "lines"),
    [
        ("time.time()", "time.monotonic()", ("now",), ["-return time.time( )", "+return time.monotonic()"]),
        ("time.time()", "1.0", ("pkg/other.py",), ["-START = time.time()", "+START = 1.0", "-import time"]),
        ("raise OldError", "raise NewError", ("check",), [
            "-from pkg.errors import OldError", "+from pkg.errors import NewError", "-raise OldError('x')",
            "+raise NewError('x')",
        ]),
        ("except KeyError", "except (KeyError, OSError)", (), ["-except KeyError:", "+except (KeyError, OSError):"]),
        ("==", "is", ("check",), ["-if a == b and not state:", "+if a is b and not state:"]),
        ("state", "closed", ("check",), None),
        ("os.sep", "Path.cwd()", ("check",), ["-import os", "+from pathlib import Path"]),
        ("os.sep", "random.choice('ab')", ("check",), ["-import os", "+import random"]),
        ("START", "START + 1", ("pkg/other.py",), None),
        ("'fast'", '"slow"', ("pkg/other.py",), ["-MODE = 'fast'", "+MODE = 'slow'"]),
        ("print(item)", "if item:\n    print(item)", ("Walker.step",), ["-print(item)", "+if item:", "+print(item)"]),
        ("a == b", "a === b", ("same",), ["-return a == b || a != b;", "+return a === b || a != b;"]),
        ("parseInt", "Number", ("web/app.ts",), ["-export const n = parseInt('1');", "+export const n = Number('1');"]),
    ],
)  # fmt: skip
def test_a_fragment_is_replaced(
    repo: Workspace, old: str, new: str, places: tuple[str, ...], lines: list[str] | None
) -> None:
    outcome = carried_out(repo, "replace_code", "", *places, old=old, new=new)
    found = [line.rstrip("\r") for line in changed_lines(outcome)]
    if lines is not None:
        assert [line for line in lines if line not in found] == [], found
        return
    if old == "START":
        assert "+END = (START + 1) * 2" in found
    else:  # an attribute of another object has the same name
        assert "+return self.state or closed" in found


def test_the_indentation_and_line_ends_of_the_place_are_kept(repo: Workspace) -> None:
    walker = carried_out(repo, "replace_code", "", "Walker.step", old="print(item)", new="if item:\n    print(item)")
    assert "            if item:\n                print(item)\n" in walker.changes[0].content
    clock = carried_out(repo, "replace_code", "", "now", old="time.time()", new="time.monotonic()").changes[0].content
    assert "\treturn time.monotonic()\r\n" in clock
    assert "# time.time() is wrong\r\n" in clock
    assert clock.count("\n") == clock.count("\r\n")


@pytest.mark.parametrize(
    ("old", "places", "error", "said"),
    [
        ("time.clock()", ("now",), GenerationFailed, "now doesn't have the code"),
        ("time.time()", ("nowhere_at_all",), GenerationFailed, "nowhere_at_all"),
        ("import time", (), PlaceAmbiguous, "2 files"),
    ],
)
def test_what_can_not_be_replaced_is_said(
    repo: Workspace, old: str, places: tuple[str, ...], error: type[GenerationFailed], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        carried_out(repo, "replace_code", "", *places, old=old, new="x")
    if said.startswith("now "):
        assert "return time.time( )" in caught.value.hint
    if error is PlaceAmbiguous:
        outcome = carried_out(repo, "replace_code", "", old=old, new="0.0", everywhere="yes")
        assert {c.path for c in outcome.changes} == {"pkg/clock.py", "pkg/other.py"}


def test_a_dotted_name_is_replaced_in_every_file(repo: Workspace) -> None:
    outcome = carried_out(repo, "replace_code", "", old="time.time()", new="time.monotonic()")
    assert {c.path for c in outcome.changes} == {"pkg/clock.py", "pkg/other.py"}


@pytest.mark.parametrize("task", ["replace OrderedDict by dict", "use `dict` instead of `OrderedDict` everywhere"])
@pytest.mark.parametrize("path", ["pans/__init__.py", "pans/rows.py"])
def test_one_of_pythons_own_names_needs_no_import(tmp_path: Path, task: str, path: str) -> None:
    text = "from collections import OrderedDict\nimport re\n\nROWS = OrderedDict(re.findall('(.)(.)', 'abcd'))\n"
    after = texts(edited(workspace_of(tmp_path, {path: text}), task))
    assert after == {path: "import re\n\nROWS = dict(re.findall('(.)(.)', 'abcd'))\n"}
