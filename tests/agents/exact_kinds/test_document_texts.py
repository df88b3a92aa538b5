"""Texts that are replaced in documents: over lines, in markup, in the file that the task speaks of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.edited import carried_out, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.text_replacing import text_pattern
from repopilot.errors import PlaceAmbiguous
from repopilot.workspace import Workspace

GUIDE = """# Guide

Requests offer what is useful for every day HTTP server
development. They need __node v18.0.0__ or higher.

## Getting started

Install it.
"""
FILES = {
    "docs/request.md": GUIDE.replace("Guide", "Request"),
    "docs/guide.md": GUIDE,
    "Readme.md": "# box\n\nIt needs __node v18.0.0__ today.\n\n## Getting started\n\nRun it.\n",
    "CHANGELOG.md": "- useful for every day HTTP server\n",
    "lib/box.js": "module.exports = function box () { return 1 }\n",
}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("documents"), FILES)


@pytest.mark.parametrize(
    ("task", "path", "old", "new"),
    [
        ('docs/request.md: "every day" should be "everyday"', "docs/request.md", "every day", "everyday"),
        ('In docs/guide.md, replace "useful for" by "good for"', "docs/guide.md", "useful for", "good for"),
        ('In the request docs, write "They do need" instead of "They need"', "docs/request.md", "They", "They do"),
        ('the README says "node v18.0.0", it should say "node v20.0.0"', "Readme.md", "v18.0.0", "v20.0.0"),
        (
            'Fix the typo in the request docs: "every day" should be "everyday"',
            "docs/request.md",
            "every day",
            "everyday",
        ),
        ('In the docs of the guide, replace "Install" with "Fetch"', "docs/guide.md", "Install", "Fetch"),
        ("change v18.0.0 to v20.0.0 in docs/guide.md", "docs/guide.md", "v18.0.0", "v20.0.0"),
        ("In the README, the node version should go from v18.0.0 to v20.0.0", "Readme.md", "v18.0.0", "v20.0.0"),
        ('rename "Getting started" to "Quick start" in Readme.md', "Readme.md", "Getting started", "Quick start"),
    ],
)
def test_the_document_that_is_meant_is_changed(box: Workspace, task: str, path: str, old: str, new: str) -> None:
    assert texts(edited(box, task)) == {path: FILES[path].replace(old, new)}


def test_of_a_text_over_two_lines_only_the_words_that_differ_change(box: Workspace) -> None:
    task = 'In docs/guide.md, replace "every day HTTP server development" by "everyday HTTP server development"'
    assert texts(edited(box, task)) == {"docs/guide.md": GUIDE.replace("every day", "everyday")}
    task = 'In docs/guide.md, replace "HTTP server development" by "HTTP work"'
    assert texts(edited(box, task)) == {"docs/guide.md": GUIDE.replace("server\ndevelopment", "work")}


def test_a_text_in_several_documents_is_asked_for(box: Workspace) -> None:
    with pytest.raises(PlaceAmbiguous) as asked:
        exact_edit('replace "useful for every day" by "good for"', box)
    assert set(asked.value.choices) >= {"docs/request.md", "docs/guide.md"}


@pytest.mark.parametrize(
    "task",
    [
        'the docs say "HTTP" where they mean "HTTPS"',  # several documents do
        'also replace "Install" with "Fetch" in the guide, and add a note',
    ],
)
def test_a_word_is_replaced_only_where_one_document_is_meant(box: Workspace, task: str) -> None:
    assert exact_edit(task, box) is None


def test_blanks_are_no_line_ends_and_many_of_them_cost_nothing() -> None:
    assert text_pattern(" ", "a.md").findall(b"a b\n\nc") == [b" "]
    assert text_pattern(f"a{' ' * 400}b", "a.md").search(f"a{' ' * 900}c".encode()) is None


def test_a_text_over_two_lines_can_be_replaced_by_nothing(box: Workspace) -> None:
    outcome = carried_out(box, "replace_text", "", "docs/guide.md", old="useful for every day HTTP server development.")
    assert texts(outcome) == {"docs/guide.md": GUIDE.replace("useful for every day HTTP server\ndevelopment.", "")}


WORDS = st.lists(st.text("abcé_*.(", min_size=1, max_size=5), min_size=1, max_size=6)


@given(WORDS, st.data())
def test_a_text_is_found_wherever_its_lines_end(words: list[str], data: st.DataObject) -> None:
    breaks = [data.draw(st.sampled_from([" ", "\n", "  \n  "])) for _ in words]
    text = "".join(f"{gap}{word}" for gap, word in zip(breaks, words, strict=True))
    found = text_pattern(" ".join(words), "a.md").search(f"x{text} y".encode())
    assert found is not None and found[0].decode().split() == words
