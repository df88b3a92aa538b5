"""Lines, comments, docstrings and statements that a task gives, and sorting."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import carried_out, changed_lines, edited, texts, workspace_of

from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES: dict[str, str | bytes] = {
    ".gitignore": "*.pyc\r\nbuild/\r\nvenv/",
    "requirements.txt": "attrs\nclick\nzope\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n### Added\n\n* One thing.\n  It goes on.\n\n"
    "## 1.0.0 - 2024-01-02\n\n### Fixed\n\n* Old.\n",
    "docs/HISTORY.rst": "History\n=======\n\n2.0 (2024-01-02)\n----------------\n\n- Old.\n\n\n1.0 (2023-01-02)\n"
    "----------------\n\n- Older.\n",
    "NEWS.md": "# News\n\n<!-- towncrier release notes start -->\n\n## 1.0\n",
    "README.md": "# Demo\n\n## Features\n\n1. First\n2. Second\n\n## Install\n\nRun it.\n",
    "pyproject.toml": '[project]\nkeywords = ["b", "a"]\nname = "demo"\n',
    "pkg/google.py": '"""Google."""\n\n\ndef documented(x):\n'
    '    """Do it.\n\n    Args:\n        x: The x.\n    """\n\n\n'
    "def parse_date(text: str, *, strict=False) -> Result:\n"
    "    if strict:\n        raise ValueError(text)\n    return text\n",
    "pkg/numpy_like.py": "def first(a):\n    '''Do it.\n\n    Parameters\n    ----------\n"
    "    a : int\n        The a.\n    '''\n\n\n"
    "def second(size: int):\n    yield size\n",
    "pkg/plain.py": "# License\n\nimport os\n\nLIMIT = 1\n\n\n"
    "@wrapped\nclass Thing:\n\tdef run(self): return 1\n\n\tdef stop(self):\n"
    "\t\tpass\n",
    "pkg/headed.py": '# License\n\n"""Headed."""\n\n\ndef f(Path): ...\n',
    "pkg/none.py": "import os\n\n\ndef main():\n    pass\n\n\nif __name__ == '__main__':\n    main()\n",
    "pkg/lists.py": "NAMES = [\n    'b',  # two\n    'a',\n]\nSIZES = {10, 9, 100}\n"
    "MAP = {\n    # between\n    'b': 1,\n    'a': 2,\n}\n"
    "import sys\nimport os\n",
    "web/app.ts": "import x from 'x';\n\nexport interface Options {\n  width: number;\n}\n\n"
    "// Says it.\nfunction said() {}\nfunction run() {}\n",
    "go/main.go": 'package main\n\nimport "fmt"\n\ntype Box struct {\n\tWidth int\n}\n\nfunc Run() { fmt.Println() }\n',
}
PLAIN = "pkg/plain.py"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("lines"), FILES)


@pytest.mark.parametrize(
    ("name", "new", "section", "path", "text"),
    [
        (".gitignore", "dist/", "", ".gitignore", "*.pyc\r\nbuild/\r\ndist/\r\nvenv/"),
        (".dockerignore", "dist/", "", ".dockerignore", "dist/\n"),
        ("requirements.txt", "black", "", "requirements.txt", "attrs\nblack\nclick\nzope\n"),
        ("CHANGELOG", "Add another.", "", "CHANGELOG.md", "  It goes on.\n* Add another.\n\n## 1.0.0"),
        ("changelog", "- Fix it.", "", "CHANGELOG.md", "  It goes on.\n\n### Fixed\n\n* Fix it.\n\n## 1.0.0"),
        ("CHANGELOG.md", "Late.", "1.0.0", "CHANGELOG.md", "* Old.\n* Late.\n"),
        ("CHANGELOG.md", "Careful.", "security", "CHANGELOG.md", "\n### Security\n\n* Careful.\n\n## 1.0.0"),
        ("docs/HISTORY.rst", "New.", "", "docs/HISTORY.rst",
         "=======\n\nUnreleased\n----------\n\n- New.\n\n\n2.0 (2024-01-02)\n"),
        ("README.md", "Third", "Features", "README.md", "2. Second\n3. Third\n\n## Install"),
        ("README.md", "The end.", "", "README.md", "Run it.\n\nThe end.\n"),
    ],
)  # fmt: skip
def test_a_line_goes_where_such_lines_are(
    repo: Workspace, name: str, new: str, section: str, path: str, text: str
) -> None:
    assert text in texts(carried_out(repo, "add_line", name, new=new, section=section))[path]


@pytest.mark.parametrize(
    ("kind", "name", "places", "new", "path", "text"),
    [
        ("add_comment", "Thing", (), "Keep it.", PLAIN, "\n\n# Keep it.\n@wrapped\nclass Thing"),
        ("add_comment", "Thing.stop", (), "# One.\n# Two.", PLAIN, "\n\t# One.\n\t# Two.\n\tdef stop"),
        ("add_comment", "name", ("pyproject.toml",), "Ours.", "pyproject.toml", '# Ours.\nname = "demo"'),
        ("add_comment", "run", ("web/app.ts",), "Ours.", "web/app.ts", "// Ours.\nfunction run()"),
        ("docstring", "Thing", (), "A thing.", PLAIN, 'class Thing:\n\t"""A thing."""\n\n\tdef run'),
        ("docstring", "Thing.run", (), '"""Run."""', PLAIN, '\tdef run(self):\n\t\t"""Run."""\n\t\treturn 1\n'),
        ("docstring", "Thing.stop", (), "One.\n\nTwo.", PLAIN, '\t\t"""One.\n\n\t\tTwo.\n\t\t"""\n'),
        ("docstring", PLAIN, (), "Plain.", PLAIN, '# License\n\n"""Plain."""\n\nimport os'),
        ("docstring", "documented", (), "Do that.", "pkg/google.py", 'def documented(x):\n    """Do that."""\n\n\n'),
        ("docstring", "parse_date", (), "", "pkg/google.py",
         '    """Parse date.\n\n    Args:\n        text: The text.\n        strict: The strict.\n\n    Returns:\n'
         "        The Result.\n\n    Raises:\n        ValueError: If `strict`.\n    \"\"\"\n    if strict"),
        ("docstring", "second", (), "", "pkg/numpy_like.py",
         "    '''Second.\n\n    Parameters\n    ----------\n    size : int\n        The size.\n\n    Yields\n"
         "    ------\n"
         "    The result.\n    '''\n    yield"),
        ("docstring", "run", ("web/app.ts",), "Runs.", "web/app.ts", "/**\n * Runs.\n */\nfunction run()"),
        ("docstring", "Run", (), "Run runs.", "go/main.go", "// Run runs.\nfunc Run()"),
    ],
)  # fmt: skip
def test_comments_and_docstrings(
    repo: Workspace, kind: str, name: str, places: tuple[str, ...], new: str, path: str, text: str
) -> None:
    assert text in texts(carried_out(repo, kind, name, *places, new=new))[path]


@pytest.mark.parametrize(
    ("place", "new", "text"),
    [
        (PLAIN, "RETRIES = 3", "LIMIT = 1\nRETRIES = 3\n\n\n@wrapped"),
        (PLAIN, "KEPT = Thing()", "\t\tpass\n\n\nKEPT = Thing()\n"),
        ("pkg/none.py", "RETRIES = 3", "import os\n\nRETRIES = 3\n\n\ndef main"),
        ("pkg/none.py", "ROOT = Path('.')", "import os\nfrom pathlib import Path\n\nROOT = Path('.')\n\n\ndef main"),
        (
            "pkg/headed.py",
            "ROOT = Path()",
            '"""Headed."""\n\nfrom pathlib import Path\n\nROOT = Path()\n\n\ndef f(Path)',
        ),
        ("pkg/none.py", "def other():\n    return 1", "    pass\n\n\ndef other():\n    return 1\n\n\nif __name__"),
        ("Options", "height?: number", "  width: number;\n  height?: number;\n}"),
        ("Box", "Height int", "\tWidth int\n\tHeight int\n}"),
        ("web/app.ts", "const retries = 3", "import x from 'x';\n\nconst retries = 3;\n\nexport interface"),
        ("go/main.go", "const retries = 3", 'import "fmt"\n\nconst retries = 3\n\ntype Box'),
    ],
)
def test_a_statement_is_added_to_its_like(repo: Workspace, place: str, new: str, text: str) -> None:
    assert text in carried_out(repo, "add_definition_text", "", place, new=new).changes[0].content


@pytest.mark.parametrize(
    ("name", "places", "lines"),
    [
        ("NAMES", (), ["+'a',", "-'a',"]),
        ("SIZES", (), ["-SIZES = {10, 9, 100}", "+SIZES = {9, 10, 100}"]),
        ("keywords", ("pyproject.toml",), ['-keywords = ["b", "a"]', '+keywords = ["a", "b"]']),
        ("imports", ("pkg/lists.py",), ["-import os", "+import os"]),
    ],
)
def test_entries_are_sorted(repo: Workspace, name: str, places: tuple[str, ...], lines: list[str]) -> None:
    assert sorted(changed_lines(carried_out(repo, "sort", name, *places))) == sorted(lines)


def test_all_lists_of_exports_are_sorted_where_no_file_is_named(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.py": "__all__ = ['b', 'a']\n",
        "b.py": "__all__ = ['a', 'b']\n",
        "test_c.py": "__all__ = ['b', 'a']\n",
    }
    workspace = workspace_of(tmp_path, files)
    assert texts(edited(workspace, "sort __all__")) == {"a.py": "__all__ = ['a', 'b']\n"}


@pytest.mark.parametrize(
    ("kind", "name", "places", "new", "said"),
    [
        ("add_line", ".gitignore", (), "build/", "already"),
        ("add_line", "NEWS", (), "New.", "fragments"),
        ("add_line", "nowhere.cfg", (), "x", "nowhere.cfg"),
        ("docstring", "documented", (), "", "already"),
        ("add_definition_text", "", (PLAIN,), "LIMIT = 2", "already"),
        ("sort", "MAP", (), "", "between"),
        ("sort", "__all__", ("pkg/nowhere.py",), "", "nowhere"),
    ],
)
def test_what_does_not_fit_is_said(
    repo: Workspace, kind: str, name: str, places: tuple[str, ...], new: str, said: str
) -> None:
    with pytest.raises(GenerationFailed, match=said):
        carried_out(repo, kind, name, *places, new=new)
