"""Entries of lists and tables in configuration files."""

from __future__ import annotations

import pytest
from support.edited import carried_out, edited, texts, workspace_of

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.recognise import carry_out
from repopilot.agents.editing.exact.sources import Sources
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "package.json": '{\n  "name": "x",\n  "keywords": [\n    "ant",\n    "bee",\n    "cow",\n    "dog"\n  ],\n'
    '  "scripts": {\n    "test": "jest",\n    "lint": "eslint ."\n  },\n  "files": ["lib", "index.js"]\n}\n',
    "pyproject.toml": '[project]\nkeywords = ["one", "two"]\nclassifiers = [\n    "A :: B",\n    "C :: D",\n]\n\n'
    '[tool.ruff.lint]\nignore = [\n    "E501", # long\n]\n\n[tool.ruff.lint.per-file-ignores]\n'
    '"tests/*" = ["S"]\n\n[project.scripts]\nrun = "a:b"\n',
    "ci.yml": "on:\n  push:\n    branches: [main, dev]\njobs:\n  test:\n    steps:\n      - uses: a\n    env:\n"
    "      A: 1  # one\n      B: x\nexclude:\n- one\n- two\n\n# end\nlast: 1\n",
    ".eslintrc.json": '{\n  "rules": {\n    "semi": "error",\n    "quotes": ["error", "single"]\n  }\n}\n',
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("config"), FILES)


@pytest.mark.parametrize(
    ("path", "name", "new", "old", "changed"),
    [
        ("package.json", "keywords", "cat", '    "cow"', '    "cat",\n    "cow"'),
        ("package.json", "scripts", '"build": "tsc -p ."', '"eslint ."', '"eslint .",\n    "build": "tsc -p ."'),
        ("package.json", "scripts", "watch = jest", '"eslint ."', '"eslint .",\n    "watch": "jest"'),
        ("package.json", "files", '"types"', '"index.js"]', '"index.js", "types"]'),
        ("pyproject.toml", "project.keywords", "three", '"two"]', '"two", "three"]'),
        ("pyproject.toml", "classifiers", "'E :: F'", '"C :: D",\n', '"C :: D",\n    "E :: F",\n'),
        ("pyproject.toml", "tool.ruff.lint.ignore", '"D100"', '"E501", # long\n', '"E501", # long\n    "D100",\n'),
        ("pyproject.toml", "project.scripts", 'walk = "c:d"', '"a:b"\n', '"a:b"\nwalk = "c:d"\n'),
        ("pyproject.toml", "per-file-ignores", '"docs/*" = ["D"]', '["S"]\n', '["S"]\n"docs/*" = ["D"]\n'),
        ("ci.yml", "branches", "next", "main, dev]", "main, dev, next]"),
        ("ci.yml", "exclude", "three", "- two\n", "- two\n- three\n"),
        ("ci.yml", "env", "C: 3", "      B: x\n", "      B: x\n      C: 3\n"),
        (".eslintrc.json", "rules", '"eqeqeq": "warn"', '"single"]', '"single"],\n    "eqeqeq": "warn"'),
    ],
)
def test_what_is_added(repo: Workspace, path: str, name: str, new: str, old: str, changed: str) -> None:
    assert FILES[path].count(old) == 1
    assert texts(carried_out(repo, "add_member", name, path, new=new)) == {path: FILES[path].replace(old, changed)}


@pytest.mark.parametrize(
    ("path", "name", "gone", "part"),
    [
        ("package.json", "keywords", "dog", ',\n    "dog"'),
        ("package.json", "scripts", "test", '    "test": "jest",\n'),
        ("pyproject.toml", "keywords", "'one'", '"one", '),
        ("pyproject.toml", "classifiers", '"A :: B"', '    "A :: B",\n'),
        ("pyproject.toml", "project.scripts", "run", 'run = "a:b"\n'),
        ("ci.yml", "branches", "main", "main, "),
        ("ci.yml", "exclude", "one", "- one\n"),
        ("ci.yml", "env", "A", "      A: 1  # one\n"),
    ],
)
def test_what_is_removed(repo: Workspace, path: str, name: str, gone: str, part: str) -> None:
    assert texts(carried_out(repo, "remove_member", name, path, new=gone)) == {path: FILES[path].replace(part, "", 1)}


def test_a_key_is_deleted_whatever_it_is_in(repo: Workspace) -> None:
    without = {"package.json": FILES["package.json"].replace('    "test": "jest",\n', "")}
    assert texts(edited(repo, "remove the script test from package.json")) == without
    assert texts(edited(repo, "remove 'test' from scripts in package.json")) == without
    none = ExactTask("remove_line", "package.json", new="ant")  # an element of a list, no key
    assert carry_out(none, Sources(repo)) is None


def test_what_is_there_or_not(repo: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="bee"):
        carried_out(repo, "add_member", "keywords", "package.json", new="bee")
    with pytest.raises(GenerationFailed, match="nothing"):
        carried_out(repo, "remove_member", "scripts", "package.json", new="nothing")
    unclear = ExactTask("add_member", "scripts", new="just words", places=(NamedPlace("package.json"),))
    assert carry_out(unclear, Sources(repo)) is None
