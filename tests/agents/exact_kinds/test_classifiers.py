"""Classifiers that are added and removed without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import changed_lines, edited, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed

TOML = """[project]
name = "pans"
classifiers = [
    'Development Status :: 4 - Beta',
    'Programming Language :: Python :: 3.9',
    'Programming Language :: Python :: 3.10',
    'Programming Language :: Python :: Implementation :: CPython',
    'Topic :: Home',
]
"""
CFG = """[metadata]
name = pans
classifiers =
    Programming Language :: Python :: 3.9
    Programming Language :: Python :: 3.10
"""
SETUP = 'from setuptools import setup\n\nsetup(classifiers=["Programming Language :: Python", "Topic :: Home"])\n'


@pytest.mark.parametrize(
    ("path", "text", "task", "lines"),
    [
        (
            "pyproject.toml",
            TOML,
            "add a classifier for Python 3.11",
            ["+'Programming Language :: Python :: 3.11',"],
        ),
        (
            "pyproject.toml",
            TOML,
            'Add the missing trove classifier "Topic :: Cooking" to pyproject.toml.',
            ["+'Topic :: Cooking',"],
        ),
        (
            "pyproject.toml",
            TOML,
            "remove the Python 3.9 classifier",
            ["-'Programming Language :: Python :: 3.9',"],
        ),
        ("setup.cfg", CFG, "add the classifier Typing :: Typed", ["+Typing :: Typed"]),
        ("setup.cfg", CFG, "remove the classifier for Python 3.9", ["-Programming Language :: Python :: 3.9"]),
        (
            "setup.py",
            SETUP,
            "add a classifier for python 3.12",
            [
                '-setup(classifiers=["Programming Language :: Python", "Topic :: Home"])',
                '+setup(classifiers=["Programming Language :: Python", "Programming Language :: Python :: 3.12", '
                '"Topic :: Home"])',
            ],
        ),
    ],
)
def test_a_classifier_is_changed(tmp_path: Path, path: str, text: str, task: str, lines: list[str]) -> None:
    assert sorted(changed_lines(edited(workspace_of(tmp_path, {path: text}), task))) == sorted(lines)


@pytest.mark.parametrize(
    ("task", "before"),
    [
        ("add a classifier for Python 3.11", "3.10'"),
        ("add the classifier Programming Language :: Python :: 3.8", "4 - Beta'"),
        ("add the classifier Programming Language :: Python :: Implementation :: PyPy", "CPython'"),
        ("add the classifier Topic :: Zoo", "Home'"),
    ],
)
def test_a_classifier_stands_among_those_like_it(tmp_path: Path, task: str, before: str) -> None:
    (change,) = edited(workspace_of(tmp_path, {"pyproject.toml": TOML}), task).changes
    rows = change.content.split("\n")
    new = next(n for n, row in enumerate(rows) if row not in TOML.split("\n"))
    assert before in rows[new - 1]


@pytest.mark.parametrize(
    ("task", "said"),
    [("add a classifier for Python 3.9", "already"), ("remove the classifier for Python 3.4", "Python :: 3.4")],
)
def test_a_classifier_that_is_there_or_missing_is_said(tmp_path: Path, task: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        exact_edit(task, workspace_of(tmp_path, {"pyproject.toml": TOML}))
