"""What manifests require: versions, dependencies."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import carried_out, changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES: dict[str, str | bytes] = {
    "pyproject.toml": '[project]\r\nname = "demo"\r\nrequires-python = ">=3.8"\r\nclassifiers = [\r\n'
    '    "Programming Language :: Python :: 3",\r\n    "Programming Language :: Python :: 3.8",\r\n'
    '    "Programming Language :: Python :: 3.10",\r\n]\r\ndependencies = [\r\n    "click>=8.0,<9",\r\n'
    "    \"requests[socks] >= 2.0; python_version > '3'\",\r\n]\r\n\r\n[dependency-groups]\r\n"
    'dev = ["pytest>=7", "ruff"]\r\n\r\n[tool.ruff]\r\ntarget-version = "py38"\r\n',
    "tox.ini": "[tox]\nenvlist = py{38,39,310}-x, py38, py310, py38-docs\n\n"
    "[testenv]\ndeps =\n    pytest\n    click>=8.0,<9\n",
    "requirements.txt": "# Pinned\nclick==8.1.0\nrequests==2.30.0  # why\nzope==1.0",
    "src/demo.py": "import requests\n",
    "package.json": '{\n\t"engines": {"node": ">=18"},\n\t"devDependencies": {\n\t\t"eslint": "^8.0.0",\n'
    '\t\t"vite": "~5.0.0"\n\t}\n}\n',
    "Cargo.toml": '[package]\nname = "demo"\nrust-version = "1.60"\n\n[dependencies]\nserde = { version = "1.0", '
    'features = ["derive"] }\nregex = "1"\n\n[dependencies.tokio]\nversion = "1.2"\n',
    "go.mod": "module example.com/demo\n\ngo 1.18\n\nrequire (\n"
    "\tgithub.com/a/one v1.0.0\n\tgithub.com/c/three v1.2.0\n)\n",
    "pom.xml": "<project><properties><maven.compiler.release>8</maven.compiler.release></properties><dependencies>"
    "<dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.12</version></dependency>"
    "</dependencies></project>\n",
    "uv.lock": "version = 1\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("manifests"), FILES)


def rows(found: list[str]) -> list[str]:
    """Changed lines; those that were only moved by a separator don't count."""
    return [row.rstrip("\r") for row in found if row.rstrip("\r") not in ("+", "-")]


@pytest.mark.parametrize(
    ("name", "new", "places", "lines"),
    [
        ("click", "8.2", (), ['-"click>=8.0,<9",', '+"click>=8.2,<9",', "-click>=8.0,<9", "+click>=8.2,<9"]),
        ("click", ">=9", ("pyproject.toml",), ['-"click>=8.0,<9",', '+"click>=9",']),
        ("click", "8.2", ("requirements.txt",), ["-click==8.1.0", "+click==8.2"]),
        ("Requests", ">=2.31", ("pyproject.toml",), ["+\"requests[socks] >= 2.31; python_version > '3'\","]),
        ("ruff", "0.5", (), ['+dev = ["pytest>=7", "ruff>=0.5"]']),
        ("node", "20", (), ['+"engines": {"node": ">=20"},']),
        ("vite", "5.1.0", (), ['+"vite": "~5.1.0"']),
        ("rust", "1.70", (), ['+rust-version = "1.70"']),
        ("serde", "1.1", (), ['+serde = { version = "1.1", features = ["derive"] }']),
        ("tokio", "1.3", (), ['+version = "1.3"']),
        ("go", "1.21", (), ["+go 1.21"]),
        ("three", "1.3.0", (), ["+github.com/c/three v1.3.0"]),
        ("java", "17", (), None),
        ("junit", "4.13", (), None),
    ],
)
def test_a_version_follows_what_stands_there(
    repo: Workspace, name: str, new: str, places: tuple[str, ...], lines: list[str] | None
) -> None:
    outcome = carried_out(repo, "require_version", name, *places, new=new)
    found = rows(changed_lines(outcome))
    assert all(line in found for line in lines or ()), found
    assert lines is None or len(found) <= 2 * len([row for row in lines if row[0] == "+"])
    assert lines is not None or f">{new}<" in found[1]


def test_a_higher_minimum_drops_what_is_older(repo: Workspace) -> None:
    outcome = carried_out(repo, "require_version", "python", new="3.10")
    assert rows(changed_lines(outcome)) == [
        '-requires-python = ">=3.8"',
        '+requires-python = ">=3.10"',
        '-"Programming Language :: Python :: 3.8",',
        "-envlist = py{38,39,310}-x, py38, py310, py38-docs",
        "+envlist = py{310}-x, py310, py38-docs",
    ]
    assert "\r\n" in outcome.changes[0].content and "\r\r" not in outcome.changes[0].content
    assert any("target-version" in o.text for o in outcome.open_references)
    assert any("uv.lock" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("name", "new", "places", "group", "lines"),
    [
        ("rich", "13", (), "", ['+"rich>=13",']),
        ("coverage", "", (), "dev", ['+dev = ["coverage", "pytest>=7", "ruff"]']),
        ("mkdocs", "", (), "docs", ['+docs = ["mkdocs"]']),
        ("rich", "13.1", ("requirements.txt",), "", ["+rich==13.1"]),
        ("zzz", "", ("requirements.txt",), "", ["-zope==1.0", "+zope==1.0", "+zzz"]),
        ("jest", "29.0.0", ("package.json",), "dev", ['+"jest": "^29.0.0",']),
        ("react", "^18", ("package.json",), "", ['+"dependencies": {', '+"react": "^18"', "+},"]),
        ("anyhow", "1", ("Cargo.toml",), "", ['+anyhow = "1"']),
        ("proptest", "1", ("Cargo.toml",), "dev", ["+[dev-dependencies]", '+proptest = "1"']),
        ("github.com/b/two", "2.0.0", ("go.mod",), "", ["+github.com/b/two v2.0.0"]),
    ],
)
def test_a_dependency_is_added_in_order(
    repo: Workspace, name: str, new: str, places: tuple[str, ...], group: str, lines: list[str]
) -> None:
    found = rows(changed_lines(carried_out(repo, "add_dependency", name, *places, new=new, group=group)))
    assert [line for line in lines if line not in found] == [], found


@pytest.mark.parametrize(
    ("name", "places", "group", "lines"),
    [
        ("click", ("pyproject.toml",), "", ['-"click>=8.0,<9",']),
        ("ruff", (), "", ['-dev = ["pytest>=7", "ruff"]', '+dev = ["pytest>=7"]']),
        ("zope", (), "", ["-zope==1.0"]),
        ("vite", (), "", ['-"eslint": "^8.0.0",', '-"vite": "~5.0.0"', '+"eslint": "^8.0.0"']),
        ("tokio", (), "", ["-[dependencies.tokio]", '-version = "1.2"']),
        ("regex", (), "", ['-regex = "1"']),
        ("one", (), "", ["-github.com/a/one v1.0.0"]),
    ],
)
def test_a_dependency_is_removed(
    repo: Workspace, name: str, places: tuple[str, ...], group: str, lines: list[str]
) -> None:
    assert rows(changed_lines(carried_out(repo, "remove_dependency", name, *places, group=group))) == lines


@pytest.mark.parametrize(
    ("name", "new", "places", "lines"),
    [
        ("name", "other", ("pyproject.toml",), ['-name = "demo"', '+name = "other"']),
        ("description", "Say `it`", ("pyproject.toml",), ['+description = "Say `it`"']),
        ("author", "Jo <j@x.org>", (), ['+authors = [{ name = "Jo", email = "j@x.org" }]']),
        ("keywords", "one, two", (), ['+keywords = ["one", "two"]']),
        ("homepage", "https://x.org", ("pyproject.toml",), ["+[project.urls]", '+Homepage = "https://x.org"']),
        ("script", "demo = demo:main", (), ["+[project.scripts]", '+demo = "demo:main"']),
        ("script", "test: jest --ci", ("package.json",), ['+"scripts": {', '+"test": "jest --ci"', "+},"]),
        ("license", "MIT", ("Cargo.toml",), ['+license = "MIT"']),
    ],
)
def test_a_field_of_the_project_is_set(
    repo: Workspace, name: str, new: str, places: tuple[str, ...], lines: list[str]
) -> None:
    found = rows(changed_lines(carried_out(repo, "project_field", name, *places, new=new)))
    assert [line for line in lines if line not in found] == [], found


def test_what_still_imports_a_removed_dependency_is_left_open(repo: Workspace) -> None:
    outcome = carried_out(repo, "remove_dependency", "requests")
    assert [c.path for c in outcome.changes] == ["pyproject.toml", "requirements.txt"]
    assert ("src/demo.py", 1) in [(o.path, o.line) for o in outcome.open_references]


@pytest.mark.parametrize(
    ("kind", "name", "parts", "said"),
    [
        ("require_version", "click", {"new": "9.1"}, "<9"),
        ("require_version", "click", {"new": "8.0"}, "already"),
        ("require_version", "click", {"new": "8.2", "old": "7.0"}, "7.0"),
        ("add_dependency", "click", {"new": "8"}, "already"),
    ],
)
def test_what_can_not_be_required_is_said(repo: Workspace, kind: str, name: str, parts: dict, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        carried_out(repo, kind, name, **parts)


@pytest.mark.parametrize("version", ["4", "3.999999999", "4." + "9" * 5000])
def test_a_version_that_no_python_has_is_bounded_work(tmp_path: Path, version: str) -> None:
    pyproject = '[project]\nname = "a"\nrequires-python = ">=3.8"\n'
    workspace = workspace_of(tmp_path, {"pyproject.toml": pyproject, "tox.ini": "[tox]\nenvlist = py38\n"})
    carried_out(workspace, "require_version", "python", new=version)


@pytest.mark.parametrize(
    "task",
    [
        "Require Node.js 18 or newer",
        'set engines.node to ">=18"',
        "Require Node.js 18 or newer: set engines.node to `>=18`",
    ],
)
def test_alternatives_without_an_end_become_one_lower_bound(tmp_path: Path, task: str) -> None:
    text = '{\n\t"name": "demo",\n\t"engines": {\n\t\t"node": "^12.17.0 || ^14.13 || >=16.0.0"\n\t}\n}\n'
    found = texts(edited(workspace_of(tmp_path, {"package.json": text, "index.js": "module.exports = 1;\n"}), task))
    assert found == {"package.json": text.replace("^12.17.0 || ^14.13 || >=16.0.0", ">=18")}


def test_alternatives_that_all_end_have_to_be_said_whole(tmp_path: Path) -> None:
    text = '{"name": "demo", "engines": {"node": "^12.17.0 || ^14.13"}}\n'
    with pytest.raises(GenerationFailed, match="Say the whole requirement"):
        exact_edit("require Node.js 18 or newer", workspace_of(tmp_path, {"package.json": text}))
