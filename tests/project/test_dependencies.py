"""What Python projects declare, in each of the files that may say it."""

# ruff: noqa: E501

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.project.lock_files import locked_versions
from repopilot.project.project_version import built_files
from repopilot.project.pytest_options import read_pytest_options
from repopilot.project.python_project import read_project
from repopilot.project.tox import read_tox

READ_FILES = (
    "pyproject.toml setup.cfg setup.py tox.ini requirements.txt uv.lock "
    "requirements-dev.txt tests/requirements.txt pytest.ini"
).split()


def project(**files: str):
    return read_project({name.replace("__", "."): text for name, text in files.items()}.get)


def needs(files: dict[str, str]) -> set[str]:
    return set(read_project(files.get).requirements)


def test_pep_621_with_groups_that_include_each_other():
    found = read_project(
        {
            "pyproject.toml": """
[project]
name = "Shop-Keeper"
version = "1.2"
requires-python = ">=3.10"
dependencies = ["attrs>=20"]
[project.optional-dependencies]
web = ["httpx"]
tests = ["shop_keeper[web]", "pytest"]
[project.scripts]
shop = "shop.cli:main"
[project.entry-points.pytest11]
shop = "shop.plugin"
[dependency-groups]
test = ["pytest-mock", {include-group = "typing"}]
typing = ["typeguard", {include-group = "test"}]
docs = ["sphinx"]
"""
        }.get
    )
    assert (found.name, found.version, found.python) == ("Shop-Keeper", "1.2", ">=3.10")
    assert set(found.requirements) == {"attrs>=20", "httpx", "pytest", "pytest-mock", "typeguard"}
    assert found.entry_points == {"console_scripts": {"shop": "shop.cli:main"}, "pytest11": {"shop": "shop.plugin"}}


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("1.2.3", "==1.2.3"),
        (">=1,<3", ">=1,<3"),
        ("^1 || ^2", ""),
        ("*", ""),
    ],
)
def test_bounds_of_poetry(declared, expected):
    text = f'[tool.poetry]\nname = "a"\n[tool.poetry.dependencies]\npython = "^3.9"\nb = "{declared}"\n'
    found = read_project({"pyproject.toml": text}.get)
    assert found.requirements == (f"b{expected}",)
    assert found.python == ">=3.9,<4"


def test_the_table_of_flit_from_before_pep_621():
    text = """
[tool.flit.metadata]
module = "shop"
requires = ["click >=7"]
requires-python = ">=3.8"
[tool.flit.metadata.requires-extra]
test = ["pytest", "responses"]
"""
    project = read_project({"pyproject.toml": text}.get)
    assert (project.name, project.python) == ("shop", ">=3.8")
    assert set(project.requirements) == {"click >=7", "pytest", "responses"}


def test_groups_of_poetry_and_what_no_index_has():
    text = """
[tool.poetry]
name = "shop"
version = "3.1"
[tool.poetry.dependencies]
fork = {git = "https://example.org/fork.git"}
rich = {version = "^13", optional = true}
[tool.poetry.group.test.dependencies]
pytest = {version = "^8", extras = ["dev"]}
[tool.poetry.group.docs.dependencies]
sphinx = "*"
"""
    found = read_project({"pyproject.toml": text}.get)
    assert found.requirements == ("pytest[dev]>=8,<9",)
    assert len(found.elsewhere) == 1 and "fork" in found.elsewhere[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        ['test-all = ["pytest", {include-group = "Test_All"}]'],
        [*(f'test-{n} = [{{include-group = "Test.{n + 1}"}}]' for n in range(500)), 'test-500 = ["pytest"]'],
        [
            *(
                f'test-{n} = [{{include-group = "test-{n + 1}"}}, {{include-group = "test-{n + 1}"}}]'
                for n in range(60)
            ),
            'test-60 = ["pytest"]',
        ],
    ],
    ids=["of itself in another spelling", "deep", "each twice"],
)
def test_groups_include_groups_each_once(rows):
    assert needs({"pyproject.toml": "\n".join(["[dependency-groups]", *rows])}) == {"pytest"}


def test_what_an_environment_of_tox_takes_from_elsewhere_is_taken_once():
    sections = [f"[of-{n}]\ndeps =\n" + f"    {{[of-{n + 1}]deps}}\n" * 100 for n in range(9)]
    text = "[testenv]\ndeps =\n    {[of-0]deps}\n    {[testenv]deps}\n" + "".join(sections)
    assert read_tox(f"{text}[of-9]\ndeps = pytest\n").groups == {"tests-testenv": ("pytest",)}


def test_what_developers_tools_bring_along_may_be_imported_by_tests_too():
    groups = 'dev = ["pytest", "mypy", "Sphinx-autobuild"]\ndocs = ["furo"]\n'
    text = f'[project]\nname = "a"\n[dependency-groups]\n{groups}'
    assert needs({"pyproject.toml": text}) == {"pytest", "mypy", "Sphinx-autobuild"}
    assert needs({"pyproject.toml": text + 'test = ["pytest"]\n'}) == {"pytest"}


def test_requirements_files_include_each_other_and_name_the_project_itself():
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='a', extras_require={'fast': ['orjson']})",
        "requirements-dev.txt": "-r requirements/base.txt\n-e .[fast]\npytest==8.0 \\\n  --hash=sha256:0\nhttp://x/y.whl\n",
        "requirements/base.txt": "# base\nclick>=8  # cli\n-c bounds.txt\n-r ../requirements-dev.txt\n",
        "requirements/bounds.txt": "click==8.1\n",
    }
    found = read_project(files.get)
    assert set(found.requirements) == {"click>=8", "pytest==8.0", "orjson"}
    assert found.constraints == ("click==8.1",)
    assert found.elsewhere == ("http://x/y.whl",)


def test_setup_py_is_read_and_not_run():
    text = """
import os
from setuptools import setup
os.abort()
TESTS = ["pytest", "mock"]
extras = {"tests": TESTS + ["responses"]}
extras["docs"] = ["sphinx"]
setup(name="shop", version="1.0", python_requires=">=3.8", install_requires=open("requirements.txt").read().split("\\n"),
      extras_require=extras, entry_points={"console_scripts": ["shop = shop:main"]})
"""
    found = read_project({"setup.py": text, "requirements.txt": "idna\n"}.get)
    assert (found.name, found.version, found.python) == ("shop", "1.0", ">=3.8")
    assert set(found.requirements) == {"idna", "pytest", "mock", "responses"}
    assert found.entry_points == {"console_scripts": {"shop": "shop:main"}}


def test_setup_cfg():
    text = """
[metadata]
name = shop
version = attr: shop.__version__
[options]
install_requires =
    click
    idna; python_version < "3"
[options.extras_require]
testing = pytest
"""
    found = read_project({"setup.cfg": text, "src/shop/__init__.py": '__version__ = "2.5"\n'}.get)
    assert found.version == "2.5"
    assert set(found.requirements) == {"click", 'idna; python_version < "3"', "pytest"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tox.ini": "[testenv]\ndeps =\n    pytest\n    py27: mock\n    py3: trio\n[testenv:docs]\ndeps=x\n[testenv:docs-tests]\ndeps=y\n"}, {"pytest", "trio"}),
        ({"tox.ini": "[shared]\ndeps =\n    trio\n    {[shared]deps}\n[testenv]\ndeps =\n    pytest\n    {[shared]deps}\n"}, {"pytest", "trio"}),
        ({"requirements.txt": "flask\npytest\n"}, {"flask", "pytest"}),
        ({"tests/requirements.txt": "pytest\n", "requirements.txt": "flask"}, {"flask", "pytest"}),
        ({"pyproject.toml": '[tool.hatch.envs.test]\ndependencies = ["pytest"]\n'}, {"pytest"}),
        ({"pyproject.toml": '[tool.pdm.dev-dependencies]\ntest = ["pytest"]\n'}, {"pytest"}),
        ({}, set()),
    ],
)  # fmt: skip
def test_other_files(files, expected):
    assert needs(files) == expected


OURS = f"py3{sys.version_info.minor}"
OTHER = f"py3{sys.version_info.minor - 1}"


@pytest.mark.parametrize(
    ("condition", "applies"),
    [
        (OURS, True),
        (f"py3.{sys.version_info.minor}", True),
        (OTHER, False),
        (f"{OTHER},{OURS}", True),
        (f"py3{{{sys.version_info.minor - 1},{sys.version_info.minor}}}", True),
        (f"{{{OTHER},pypy3}}-tests", False),
        (f"{OURS}-django42", True),
        (f"!{OTHER}", True),
        (f"!{OURS}", False),
        (f"!{OURS}-!{OTHER}", False),
        (f"!{OURS},{OURS}", True),
        (f"{OTHER}-!cov", False),
        ("!cov", True),
        ("!tests", False),
        ("{py", False),
        ("{a,b}" * 190, False),
    ],
)
def test_conditions_of_tox_are_those_of_the_python_that_runs(condition, applies):
    found = read_tox(f"[testenv]\ndeps =\n    {condition}: trio\n").groups["tests-testenv"]
    assert found == (("trio",) if applies else ())


def test_extras_that_tox_asks_for():
    files = {
        "tox.ini": "[testenv]\nextras = all\n",
        "pyproject.toml": '[project]\nname = "a"\n[project.optional-dependencies]\nall = ["rich"]\nother = ["x"]\n',
    }
    assert needs(files) == {"rich"}


def test_locked_versions():
    uv = """
[[package]]
name = "shop"
version = "1"
source = { editable = "." }
[[package]]
name = "Click"
version = "8.1.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "numpy"
version = "1.0"
[[package]]
name = "numpy"
version = "2.0"
"""
    assert locked_versions(uv) == {"click": "8.1.0"}
    assert locked_versions("[[package") == {}


def test_files_that_a_build_writes():
    hatch = '[tool.hatch.build.hooks.vcs]\nversion-file = "src/a/_version.py"\n'
    scm = '[tool.setuptools_scm]\nwrite_to = "a/_version.py"\nwrite_to_template = "V = {version!r}"\n'
    files = built_files("1.2.post1", {"pyproject.toml": hatch}.get)
    scope: dict[str, object] = {}
    exec(files["src/a/_version.py"], scope)
    assert (scope["version"], scope["__version_tuple__"]) == ("1.2.post1", (1, 2, 1))
    assert built_files("1.2", {"pyproject.toml": scm}.get) == {"a/_version.py": "V = '1.2'"}
    assert built_files("1.2", {}.get) == {}


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-W error -n 4 --cov=a -p shop.plugin"\nasyncio_mode = "auto"\npythonpath = ["lib", "a b"]\nxfail_strict = true\n'},
        {"pytest.ini": "[pytest]\naddopts = -W error -n 4 --cov=a -p shop.plugin\nasyncio_mode = auto\npythonpath = lib 'a b'\nxfail_strict = true\n", "tox.ini": "[pytest]\nasyncio_mode = strict\n"},
        {"setup.cfg": "[tool:pytest]\naddopts = -Werror --cov=a -pshop.plugin -p no:x\nasyncio_mode = auto\npythonpath = lib 'a b'\nxfail_strict = true\n"},
    ],
)  # fmt: skip
def test_options_of_pytest(files):
    options = read_pytest_options(files.get)
    assert options.python_path == ("lib", "a b")
    assert options.plugins == ("shop.plugin",)
    assert options.arguments(()) == ["-o", "asyncio_mode=auto", "-o", "xfail_strict=true", "-W", "error"]


def test_options_of_a_plugin_are_passed_only_where_it_is_loaded():
    options = read_pytest_options({"pytest.ini": "[pytest]\naddopts = --asyncio-mode=auto\n"}.get)
    assert options.arguments(()) == []
    assert options.arguments(("asyncio",)) == ["--asyncio-mode=auto"]


@pytest.mark.slow
@given(st.sampled_from(READ_FILES), st.text(max_size=200))
def test_no_text_breaks_the_reading(path, text):
    read_project({path: text}.get)
    read_pytest_options({path: text}.get)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(["[project]", "[tool.poetry]", "[dependency-groups]", "[tool.pytest.ini_options]"]), max_size=2),
    st.lists(st.sampled_from(['name = 3', 'dependencies = {a = 1}', 'test = [1, {include-group = "test"}]', "addopts = 5"]), max_size=4),
)  # fmt: skip
def test_values_of_another_type_are_passed_over(headings, values):
    text = "\n".join([*dict.fromkeys(headings), *dict.fromkeys(values)])
    read_project({"pyproject.toml": text}.get)
    read_pytest_options({"pyproject.toml": text}.get)
