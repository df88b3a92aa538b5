"""Files that are deleted or renamed, and lines that are removed."""

from __future__ import annotations

import pytest
from support.edited import carried_out, texts, workspace_of

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.recognise import carry_out
from repopilot.agents.editing.exact.sources import Sources
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": "from .old import Old\nfrom .kept import Kept\n",
    "pkg/old.py": "class Old: ...\n",
    "pkg/kept.py": "class Kept: ...\n",
    "pkg/user.py": "from pkg import old\nfrom pkg.old import Old\n\nold, Old\n",
    "pyproject.toml": '[tool.coverage.run]\nomit = ["pkg/old.py", "*/kept.py"]\n',
    "MANIFEST.in": "include pkg/old.py\n",
    ".gitignore": "*.log\nbuild/\n\n# mine\ntmp\n",
    "requirements.txt": "flask>=2\nflask-cors\n",
    "README.md": "# Demo\n\n- one thing\n  goes on\n- another thing\n\nSee [old](pkg/old.py), old.py.\n",
    "web/package.json": '{\n  "main": "./lib/index.js",\n  "files": ["lib/pad.js"]\n}\n',
    "web/lib/index.js": "exports.pad = require('./pad');\nexports.fit = require('./fit').fit;\n",
    "web/lib/pad.js": "const fit = require('./fit');\nmodule.exports = fit;\n",
    "web/lib/fit.js": "exports.fit = 1;\n",
    "web/test/fit.test.ts": "import { fit } from '../lib/fit.js';\nimport all from '../lib';\n\nfit, all;\n",
    "go/a.go": "package a\n\nfunc HelpAll() {}\n",
    "go/b.go": "package a\n\nfunc b() { HelpAll() }\n",
    "crate/src/lib.rs": "mod shapes;\n#[cfg(x)]\npub mod text;\n\npub use shapes::Circle;\nuse self::text::trim;\n",
    "crate/src/shapes.rs": "use crate::text::{self, trim};\nuse super::text as other;\n\npub struct Circle;\n",
    "crate/src/text.rs": "mod deep;\npub fn trim() {}\n",
    "crate/src/text/deep.rs": "use super::super::shapes::Circle;\nuse crate::text::trim;\n",
    "java/BoxShape.java": "public class BoxShape {\n    BoxShape() {}\n}\n",
    "java/Main.java": "class Main {\n    BoxShape shape = new BoxShape();\n}\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("files"), FILES)


@pytest.mark.parametrize(
    ("path", "changed", "left"),
    [
        (
            "pkg/old.py",
            {"pkg/__init__.py": ("from .old import Old\n", "")},
            {"pyproject.toml:2", "MANIFEST.in:1", "README.md:7", "pkg/user.py:1", "pkg/user.py:2"},
        ),
        ("web/lib/pad.js", {"web/lib/index.js": ("exports.pad = require('./pad');\n", "")}, {"web/package.json:3"}),
        ("web/lib/index.js", {}, {"web/test/fit.test.ts:2", "web/package.json:2"}),
        ("go/a.go", {}, {"go/b.go:3"}),
        (
            "crate/src/shapes.rs",
            {"crate/src/lib.rs": ("mod shapes;\n#[cfg", "#[cfg"), "": ("pub use shapes::Circle;\n", "")},
            {"crate/src/text/deep.rs:1"},
        ),
    ],
)
def test_a_file_is_deleted(repo: Workspace, path: str, changed: dict[str, tuple[str, str]], left: set[str]) -> None:
    outcome = carried_out(repo, "delete_file", path)
    assert [c.path for c in outcome.changes if c.change == "deleted"] == [path]
    found = texts(outcome)
    for file, text in found.items():
        expected = FILES[file]
        for old, new in changed.values():
            expected = expected.replace(old, new)
        assert text == expected
    assert found.keys() == changed.keys() - {""}
    assert {f"{o.path}:{o.line}" for o in outcome.open_references} == left


def test_a_file_that_is_not_there_is_not_deleted(repo: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="pkg/none"):
        carried_out(repo, "delete_file", "pkg/none.py")


@pytest.mark.parametrize(
    ("path", "new", "changed"),
    [
        (
            "web/lib/fit.js",
            "fitting.js",
            {
                "web/lib/index.js": ("require('./fit')", "require('./fitting')"),
                "web/lib/pad.js": ("require('./fit')", "require('./fitting')"),
                "web/test/fit.test.ts": ("'../lib/fit.js'", "'../lib/fitting.js'"),
            },
        ),
        (
            "web/lib/pad.js",
            "web/src/pad.js",
            {
                "web/lib/index.js": ("require('./pad')", "require('../src/pad')"),
                "web/src/pad.js": ("require('./fit')", "require('../lib/fit')"),
                "web/package.json": ("lib/pad.js", "src/pad.js"),
            },
        ),
        ("go/a.go", "help.go", {}),
        (
            "crate/src/text.rs",
            "texts.rs",
            {
                "crate/src/lib.rs": ("text", "texts"),
                "crate/src/shapes.rs": ("text", "texts"),
                "crate/src/texts/deep.rs": ("text", "texts"),
            },
        ),
        (
            "java/BoxShape.java",
            "BoxForm.java",
            {"java/BoxForm.java": ("BoxShape", "BoxForm"), "java/Main.java": ("BoxShape", "BoxForm")},
        ),
        (
            "pkg/old.py",
            "former.py",
            {
                "pkg/__init__.py": (".old ", ".former "),
                "pkg/user.py": ("import old\nfrom pkg.old", "import former\nfrom pkg.former"),
                "": ("\nold, Old", "\nformer, Old"),
                "pyproject.toml": ("pkg/old.py", "pkg/former.py"),
                "MANIFEST.in": ("pkg/old.py", "pkg/former.py"),
                "README.md": ("(pkg/old.py)", "(pkg/former.py)"),
            },
        ),
    ],
)
def test_a_file_gets_another_name(repo: Workspace, path: str, new: str, changed: dict[str, tuple[str, str]]) -> None:
    outcome = carried_out(repo, "rename_file", path, new=new)
    folder = path.rpartition("/")[0]
    target = new if "/" in new else f"{folder}/{new}"
    moved = {target: path, "crate/src/texts/deep.rs": "crate/src/text/deep.rs"}
    expected = {target: FILES[path]}
    for file in changed.keys() - {""}:
        expected[file] = FILES[moved.get(file, file)].replace(*changed[file]).replace(*changed.get("", ("\0", "")))
    assert texts(outcome) == expected
    assert not [o for o in outcome.open_references if o.path.startswith("web/")]


@pytest.mark.parametrize(
    ("path", "line", "gone"),
    [
        (".gitignore", "build/", "build/\n"),
        (".gitignore", "`*.log`", "*.log\n"),
        ("requirements.txt", "flask", "flask>=2\n"),
        ("README.md", "one thing", "- one thing\n  goes on\n"),
    ],
)
def test_a_line_is_removed(repo: Workspace, path: str, line: str, gone: str) -> None:
    assert texts(carried_out(repo, "remove_line", path, new=line)) == {path: FILES[path].replace(gone, "")}


def test_lines_that_are_not_certain_stay(repo: Workspace) -> None:
    assert carry_out(ExactTask("remove_line", "README.md", new="thing"), Sources(repo)) is None
    with pytest.raises(GenerationFailed, match="dist"):
        carried_out(repo, "remove_line", ".gitignore", new="dist")
