"""Which parts of a repository's own guides a model is told that changes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models import model_settings
from support.shop_workspace import workspace_of

from repopilot.agents.conventions import Conventions
from repopilot.index.embed import Embedders

SECTIONS = {
    "Getting an account": "Sign the licence agreement, then fork the repository on the host and clone your fork.",
    "Publishing": "Maintainers bump the version, tag the commit and upload the packages to the index.",
    "Where to ask": "Open a discussion for questions, and a bug report with the version you use for faults.",
    "How we write code": "Lines have at most 100 characters. Functions are typed, and formatted before each commit.",
    "Checking your work": "Each fix comes with a test in the folder tests that fails without it. Run `make unit`.",
    "News": "Add a fragment to the folder changes that tells users in one sentence what is different.",
}


def told(tmp_path: Path, room: int, with_vectors: bool) -> str:
    text = "# Contributing\n\nWelcome!\n\n" + "\n\n".join(f"## {title}\n\n{text}" for title, text in SECTIONS.items())
    space = workspace_of(tmp_path, {"CONTRIBUTING.md": f"{text}\n", "app.py": "x = 1\n"})
    embedder = Embedders().choose(model_settings(tmp_path / "models")) if with_vectors else None
    task = "make the limit of retries a setting"
    return Conventions(space.index, task, room, lambda text: len(text.split()), embedder).of("")


@pytest.mark.model
def test_sections_about_changes_are_told_and_others_left_out(tmp_path):
    """By what they mean: no title is a known word, and those left out come first in the file."""
    assert "## Getting an account" not in told(tmp_path / "roomy", 1000, with_vectors=True)
    text = told(tmp_path, 72, with_vectors=True)
    shown = [title for title in SECTIONS if f"## {title}" in text]
    assert shown == ["How we write code", "Checking your work", "News"]
    assert "left out, about: " in text and "Getting an account; Publishing; Where to ask" in text


def test_without_vectors_the_beginning_is_told(tmp_path):
    text = told(tmp_path, 60, with_vectors=False)
    assert text.startswith("CONTRIBUTING.md:\n# Contributing\n\nWelcome!\n\n## Getting an account")
    assert "How we write code; Checking your work; News" in text.splitlines()[-1]
