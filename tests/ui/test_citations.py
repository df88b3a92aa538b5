"""Marks become links to places, and only marks that cite something."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.settings import EDITORS, Settings
from repopilot.types import Citation
from repopilot.ui.answer.code_panel import code_props
from repopilot.ui.answer.parts.citations import editor_link, host_link, linked, source_rows

GOOD = Citation(1, "src/a.py", 10, 12, "c" * 40, "f")
BAD = Citation(2, "src/b.py", 1, 1, "c" * 40, supported=False)


def test_marks_become_links_and_doubt_is_visible():
    text = linked("It does [1], perhaps also [2?].", [GOOD, BAD], "m")
    assert text == "It does [1](#cite-m-1), perhaps also [⚠ 2](#cite-m-2)."


def test_numbers_that_cite_nothing_and_code_stay():
    text = "See `a[1]` and [7].\n\n```python\nx[1]\n```\n[1](#already)"
    assert linked(text, [GOOD], "m") == text.replace("](", "]\\("), "a link of a stranger is its source"


def test_images_in_an_answer_are_disarmed():
    assert "![" not in linked("![x](https://evil.example/?q=1) [1]", [GOOD], "m")


def test_rows_name_the_place():
    assert source_rows([GOOD])[0] == {"number": 1, "place": "src/a.py:10-12", "symbol": "f", "supported": True}


@pytest.mark.slow
@given(st.integers(1, 3000), st.integers(0, 3000), st.integers(0, 2000))
def test_the_view_holds_the_cited_lines(start, length, total):
    text = "\n".join(str(n) for n in range(1, total + 1))
    props = code_props(Citation(1, "f", start, start + length, "abc"), text, "en")
    assert props["start"] >= 1 and props["end"] <= len(props["lines"]) == max(1, total)
    if start <= total:
        assert "".join(piece for _, piece in props["lines"][props["start"] - 1]) == str(start)


def test_lines_are_linked_on_hosts_whose_form_is_known():
    place = Citation(1, "src/a b.py", 3, 5, "c" * 40)
    link = host_link("https://github.com/o/r.git", place, 3, 5)
    assert link == f"https://github.com/o/r/blob/{'c' * 40}/src/a%20b.py#L3-L5"
    assert host_link("https://gitlab.com/o/r", place, 3, 5).endswith("/-/blob/" + "c" * 40 + "/src/a%20b.py#L3-5")
    assert host_link("https://host.example/o/r", place, 3, 5) == host_link("", place, 3, 5) == ""


def test_a_line_opens_in_the_editor_whatever_the_path_holds():
    link = editor_link(Settings(editor="vscode").editor_template, PurePosixPath("/home/a b"), "src/{line}&x.py", 3)
    assert link == "vscode://file/home/a%20b/src/%7Bline%7D%26x.py:3"
    assert editor_link(EDITORS["zed"], PureWindowsPath("C:/r"), "a.py", 1) == "zed://file/C:/r/a.py:1"
    shared = editor_link(EDITORS["vscode"], PureWindowsPath(r"\\host\share\r"), "a b.py", 2)
    assert shared == "vscode://file//host/share/r/a%20b.py:2"
    template = "txmt://open?url=file://{path}&line={line}"
    assert editor_link(Settings(editor=template).editor_template, PurePosixPath("/r"), "a.py", 7).endswith(
        "/r/a.py&line=7"
    )
    assert editor_link(Settings().editor_template, PurePosixPath("/r"), "a.py", 1) == ""


@pytest.mark.parametrize(
    "template",
    [
        "javascript://%0aalert(1)//{path}:{line}",
        "JavaScript://{path}{line}",
        "data://{path}{line}",
        "https://host.example/{path}?{line}",
        "vscode://file{path}",
        "vscode:{path}:{line}",
        " vscode://file{path}:{line}",
        "java\tscript://{path}{line}",
        "nano",
    ],
)
def test_no_other_address_is_taken_for_an_editor(template):
    with pytest.raises(ValueError, match="vscode"):
        Settings(editor=template)
