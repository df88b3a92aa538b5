"""Sections of documents are removed."""

from __future__ import annotations

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.workspace import Workspace

GUIDE = (
    "# Guide\n\n- [Install](#install)\n- [Old *mode*](#old-mode)\n\n## Install\n\nRun it.\n\n"
    "## Old *mode*\n\n```\n# no heading\n```\n\n### Inside\n\nMore.\n\n## Last\n\nEnd.\n"
)
NOTES = "Notes\n=====\n\nFirst\n-----\n\nOne.\n\nSecond\n------\n\nTwo.\n"
FILES = {"docs/guide.md": GUIDE, "notes.rst": NOTES, "a.py": "X = 1\n", "setup.cfg": "[First]\nx = 1\n"}


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("sections"), FILES)


@pytest.mark.parametrize(
    "task",
    [
        'remove the "Old mode" section from docs/guide.md',
        "Supprime toute la section « Old mode » de guide.md, plus personne n'utilise ce mode.",
        "Please drop the section 'Old mode' from the docs.",
    ],
)
def test_a_section_goes_with_what_is_below_it_and_its_entry(docs: Workspace, task: str) -> None:
    new = texts(edited(docs, task))
    assert new == {
        "docs/guide.md": "# Guide\n\n- [Install](#install)\n\n## Install\n\nRun it.\n\n## Last\n\nEnd.\n",
    }


def test_the_last_section_leaves_no_blank_lines(docs: Workspace) -> None:
    assert texts(edited(docs, 'delete the "Second" section of notes.rst')) == {
        "notes.rst": NOTES[: NOTES.index("\nSec")]
    }


@pytest.mark.parametrize(
    "task",
    [
        'remove the "Absent" section from docs/guide.md',
        'remove the "Old mode" section from docs/guide.md and add one on new modes',
        'remove the "First" section from setup.cfg',
    ],
)
def test_another_task_is_not_read_as_one(docs: Workspace, task: str) -> None:
    result = exact_edit(task, docs)
    assert result is None or not {"docs/guide.md", "notes.rst"} & set(texts(result))
