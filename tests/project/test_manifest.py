"""Dependencies, versions and licences of manifests, each with the line that declares it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.project.manifest import is_manifest, read_manifest
from repopilot.project.package_declarations import read_packages
from repopilot.project.project_commands import COMMANDS, commands_in, is_possible

MANIFESTS = {
    "pyproject.toml": (
        '[project]\nname = "shop"\nversion = "1.2"\nrequires-python = ">=3.11"\nlicense = "MIT"\n'
        'dependencies = [\n  "numpy>=2",\n  "httpx[http2]>=0.27; python_version > \'3\'",\n]\n'
        '[project.optional-dependencies]\ntests = ["pytest"]\nfast = ["orjson>=3"]\n',
        [
            ("numpy", ">=2", "runtime", 7),
            ("httpx", ">=0.27", "runtime", 8),
            ("pytest", "", "dev", 11),
            ("orjson", ">=3", "optional", 12),
        ],
        [("name", "shop", 2), ("version", "1.2", 3), ("licence", "MIT", 5), ("language", ">=3.11", 4)],
    ),
    "package.json": (
        '{\n  "name": "shop",\n  "version": "2.0.0",\n  "license": "ISC",\n  "engines": {\n    "node": ">=22"\n  },\n'
        '  "dependencies": {\n    "left-pad": "^1.0.0"\n  },\n  "devDependencies": {\n    "ava": "^6"\n  }\n}\n',
        [("left-pad", "^1.0.0", "runtime", 9), ("ava", "^6", "dev", 12)],
        [("name", "shop", 2), ("version", "2.0.0", 3), ("licence", "ISC", 4), ("language", ">=22", 6)],
    ),
    "Cargo.toml": (
        '[package]\nname = "shop"\nversion = "0.1.0"\nrust-version = "1.80"\n\n[dependencies]\nregex = "1"\n'
        'serde = { version = "1.0", optional = true }\n\n[dev-dependencies]\ntempfile = "3"\n\n'
        "[target.'cfg(unix)'.dependencies]\nnix = \"0.29\"\n",
        [
            ("regex", "1", "runtime", 7),
            ("serde", "1.0", "optional", 8),
            ("tempfile", "3", "dev", 11),
            ("nix", "0.29", "runtime", 14),
        ],
        [("name", "shop", 2), ("version", "0.1.0", 3), ("language", "1.80", 4)],
    ),
    "go.mod": (
        "module example.org/shop\n\ngo 1.23\n\nrequire (\n\tgithub.com/a/b v1.2.3\n"
        "\tgithub.com/c/d v0.1.0 // indirect\n)\n",
        [("github.com/a/b", "v1.2.3", "runtime", 6), ("github.com/c/d", "v0.1.0", "indirect", 7)],
        [("name", "example.org/shop", 1), ("language", "1.23", 3)],
    ),
    "shop.gemspec": (
        "Gem::Specification.new do |s|\n  s.name = 'shop'\n  s.licenses = ['MIT']\n"
        "  s.required_ruby_version = '>= 3.1'\n"
        "  s.add_dependency 'rack', '~> 3.0', '< 4'\n  s.add_development_dependency 'minitest'\nend\n",
        [("rack", "~> 3.0, < 4", "runtime", 5), ("minitest", "", "dev", 6)],
        [("name", "shop", 2), ("licence", "MIT", 3), ("language", ">= 3.1", 4)],
    ),
    "Gemfile": (
        "source 'x'\ngem 'rake'\ngroup :test do\n  gem 'rspec', '~> 3'\nend\ngem 'pry', group: :development\n",
        [("rake", "", "runtime", 2), ("rspec", "~> 3", "dev", 4), ("pry", "", "dev", 6)],
        [],
    ),
    "composer.json": (
        '{\n  "name": "a/shop",\n  "require": {\n    "php": ">=8.1",\n    "psr/log": "^3"\n  },\n'
        '  "require-dev": {\n    "phpunit/phpunit": "^11"\n  }\n}\n',
        [("psr/log", "^3", "runtime", 5), ("phpunit/phpunit", "^11", "dev", 8)],
        [("name", "a/shop", 2), ("language", ">=8.1", 4)],
    ),
    "pom.xml": (
        "<project>\n <parent><artifactId>up</artifactId><version>9</version></parent>\n <artifactId>shop</artifactId>\n"
        " <version>1.0</version>\n <properties><java.version>17</java.version></properties>\n <dependencies>\n"
        "  <dependency>\n"
        "   <groupId>org.x</groupId>\n   <artifactId>y</artifactId>\n   <version>2</version>\n  </dependency>\n"
        "  <dependency>\n"
        "   <groupId>junit</groupId>\n   <artifactId>junit</artifactId>\n   <scope>test</scope>\n"
        "  </dependency>\n </dependencies>\n</project>\n",
        [("org.x:y", "2", "runtime", 9), ("junit:junit", "", "dev", 14)],
        [("name", "shop", 3), ("version", "1.0", 4), ("language", "17", 5)],
    ),
    "setup.py": (
        "from setuptools import setup\nsetup(\n    name='shop',\n    version='3',\n    python_requires='>=3.9',\n"
        "    install_requires=[\n        'click>=8',\n    ],\n    extras_require={'dev': ['tox']},\n)\n",
        [("click", ">=8", "runtime", 7), ("tox", "", "dev", 9)],
        [("name", "shop", 3), ("version", "3", 4), ("language", ">=3.9", 5)],
    ),
    "setup.cfg": (
        "[metadata]\nname = shop\nlicense = BSD\n[options]\npython_requires = >=3.8\ninstall_requires =\n"
        "    attrs>=20\n    six\n",
        [("attrs", ">=20", "runtime", 7), ("six", "", "runtime", 8)],
        [("name", "shop", 2), ("licence", "BSD", 3), ("language", ">=3.8", 5)],
    ),
    "dev-requirements.txt": ("# tools\n-r base.txt\nruff==0.12\n", [("ruff", "==0.12", "dev", 3)], []),
}


@pytest.mark.parametrize("path", MANIFESTS)
def test_each_manifest_is_read_with_the_lines_that_declare(path: str) -> None:
    text, needs, facts = MANIFESTS[path]
    found = read_manifest(path, text)
    assert found is not None
    assert [(d.name, d.constraint, d.group, d.line) for d in found.dependencies] == needs
    assert [(f.kind, f.value, f.line) for f in found.facts] == facts


@pytest.mark.slow
@given(st.sampled_from(sorted(MANIFESTS)), st.text(max_size=200), st.integers(0, 400), st.integers(0, 400))
def test_a_damaged_manifest_is_read_or_left_alone(path: str, inserted: str, start: int, length: int) -> None:
    text = MANIFESTS[path][0]
    damaged = text[:start] + inserted + text[start + length :]
    found = read_manifest(path, damaged)
    lines = damaged.split("\n")
    if found is not None:
        assert all(1 <= entry.line <= len(lines) for entry in (*found.dependencies, *found.facts))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"engines": ["node >= 0.4"], "dependencies": {"b": "1"}}'),
        ("package.json", '{"require": "./setup.js", "devDependencies": [], "dependencies": {"b": "1"}}'),
        ("composer.json", '{"engines": "any", "require-dev": 3, "require": {"b": "1"}}'),
        ("pyproject.toml", 'tool = 3\n[project]\ndependencies = ["b==1", 3]\noptional-dependencies = {x = 3}\n'),
        ("pyproject.toml", 'project = 3\n[tool.poetry]\ngroup = {a = 3}\ndependencies = {b = "1"}\n'),
        ("Cargo.toml", 'workspace = 3\ntarget = {x = 3}\npackage = 3\n[dependencies]\nb = "1"\n'),
    ],
)
def test_a_value_of_another_type_loses_only_itself(path: str, text: str) -> None:
    manifest = read_manifest(path, text)
    assert manifest is not None
    assert [(each.name, each.constraint.lstrip("=")) for each in manifest.dependencies] == [("b", "1")]


def test_other_files_are_not_read() -> None:
    assert not is_manifest("src/main.py")
    assert read_manifest("src/main.py", "x = 1") is None


@pytest.mark.parametrize(
    "name",
    sorted({*MANIFESTS, "CMakeLists.txt", "Gemfile", "go.mod", "pom.xml", "build.gradle", "noxfile.py", "tox.ini"}),
)
@pytest.mark.parametrize("piece", ["\n", "\n ", "<parent>", "<dependency>", "<license>", "commands ="])
def test_a_manifest_of_one_thing_repeated_is_read_in_time(name: str, piece: str) -> None:
    """A pattern that begins with white space at the start of any line tries each of them from every one before it."""
    text = piece * (100_000 // len(piece))
    read_manifest(name, text)
    commands_in(name, text)


def test_a_link_in_restructured_text_is_no_command():
    text = "It uses `black formatter <https://black.example/>`_. Run `black .` before you commit, or ``tox``.\n"
    assert {each.command for each in commands_in("docs/development.rst", text)} == {"black .", "tox"}


def test_a_role_in_restructured_text_is_no_command():
    assert not commands_in("docs/development.rst", "See :doc:`tox <tox:index>`.\n")


def test_only_a_directive_that_shows_commands_has_some():
    text = """
.. image:: https://badges.example/ruff.svg
    :target: https://ruff.example/
    :alt: Ruff

.. code-block:: python

    ruff = run()

.. code-block:: console
    :caption: Checks

    $ ruff check

Then::

    pytest
"""
    assert [each.command for each in commands_in("README.rst", text)] == ["ruff check", "pytest"]


@pytest.mark.parametrize(
    ("path", "text", "commands"),
    [
        ("tox.ini", "[testenv]\ncommands = pytest\n\n[testenv:lint]\ncommands = ruff\n", ["tox", "tox -e lint"]),
        ("pyproject.toml", '[tool.tox]\n[tool.tox.env.style]\ncommands = [["ruff"]]\n', ["tox", "tox -e style"]),
        ("pyproject.toml", '[tool.poe.tasks]\ntest = "pytest"\n', ["poe test"]),
        ("pyproject.toml", '[tool.pdm.scripts]\nlint = "ruff"\n', ["pdm run lint"]),
        ("pyproject.toml", '[tool.hatch.envs.default.scripts]\ntest = "pytest"\n', ["hatch run test"]),
        ("pyproject.toml", "[tool.poe.tasks", []),
        (".cargo/config.toml", '[alias]\nxtask = "run --package xtask --"\n', ["cargo xtask"]),
        (
            "Taskfile.yaml",
            "vars:\n  name:\n    sh: x\n\ntasks:\n  lint:\n    cmds:\n      - x\n  test:\n",
            ["task lint", "task test"],
        ),
        (
            "Rakefile",
            'require "bundler/gem_tasks"\nRuboCop::RakeTask.new\n',
            ["rake build", "rake install", "rake rubocop"],
        ),
        ("Rakefile", "RSpec::Core::RakeTask.new(:spec)\n", ["rake spec"]),
        ("Rakefile", "Rake::TestTask.new do |t|\n", ["rake test"]),
        ("Rakefile", "Minitest::TestTask.create(:units) do |t|\n", ["rake units"]),
        ("tox.toml", '[env.fix]\ncommands = [["ruff", "check"]]\n', ["tox", "tox -e fix"]),
        (".cargo/config.toml", '[env]\nCOLOUR = "never"\n', []),
    ],
)
def test_names_of_what_can_be_run(path, text, commands):
    assert [each.command for each in commands_in(path, text)] == commands


@pytest.mark.parametrize(
    ("task", "runs"),
    [
        ('[["ruff", "check"], ["mypy"]]', "ruff check"),
        ('["ruff", "check"]', "ruff check"),
        ('{cmd = "ruff check"}', "ruff check"),
        ("{shell = 1}", ""),
        ("[]", ""),
    ],
)
def test_a_task_of_a_table_runs_its_first_command(task, runs):
    assert [each.runs for each in commands_in("pyproject.toml", f"[tool.poe.tasks]\nlint = {task}\n")] == [runs]


@pytest.mark.parametrize(
    ("command", "possible"),
    [
        ("make install", False),
        ("sudo make install", False),
        ("cargo test", True),
        ("uv run --locked cargo test", True),
        ("./scripts/test", True),
        (".tox/dev", False),
        ("/opt/till/test", True),
        (".venv/bin/pytest", True),
        ("pytest tests", True),
        ("", True),
    ],
)
def test_a_command_is_possible_where_its_program_has_what_it_reads(command, possible):
    assert is_possible(command, {"scripts", "src"}, {"cargo.toml", "main.rs", "test"}) is possible


CI = """jobs:
  a:
    steps:
      - run: npm test
        env: {X: 1}
      - name: of a folder of its own
        working-directory: website
        run: yarn start
      - run: yarn lint
        working-directory: ./
      - run: >
          ./gradlew
          check --scan
      - run: |
          cmake -B build \\
            -DX=1

          find . |
            xargs clang-format
          make test
"""


def test_a_command_of_ci_is_whole_and_for_the_whole_repository():
    found = [(each.line, each.command) for each in commands_in(".github/workflows/ci.yml", CI)]
    commands = ["npm test", "yarn lint", "./gradlew check --scan", "cmake -B build -DX=1"]
    commands += ["find . | xargs clang-format", "make test"]
    assert found == list(zip((4, 9, 12, 15, 18, 20), commands, strict=True))


def test_the_scripts_of_gitlab_are_lists():
    text = "test:\n  script:\n    - pytest\n    - |\n      tox -e lint\n  before_script: 'pip install .'\n"
    found = [(each.line, each.command) for each in commands_in(".gitlab-ci.yml", text)]
    assert found == [(3, "pytest"), (4, "tox -e lint"), (6, "pip install .")]


def test_a_line_below_a_heading_opens_no_block_of_code():
    text = "Browsers\n~~~~~~~~\n\nSome prose.\n\nFormatting\n~~~~~~~~~~\n\n"
    text += "Run this:\n\n.. code-block:: sh\n\n    black .\n"
    assert [(each.command, each.heading) for each in commands_in("docs/contributing.rst", text)] == [
        ("black .", "Formatting. Run this:")
    ]


def test_a_comment_behind_a_command_is_no_part_of_it():
    found = commands_in("README.md", "```\ncmake ..   # writes a Makefile\nmake '#1'\n```\n")
    assert [each.command for each in found] == ["cmake ..", "make '#1'"]


def test_the_targets_of_automake_are_those_that_one_asks_for():
    text = "test: till\n\t./run\ndist-hook:\n\tcp a b\ntill.h: till.in\n\tsed x\n"
    assert [each.command for each in commands_in("Makefile.am", text)] == ["make test"]


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("./configure", "build"),
        ("sh autogen.sh", "build"),
        ("autoreconf -i", "build"),
        ("meson setup build", "build"),
        ("meson test -C build", "test"),
        ("ninja -C build test", "test"),
        ("mix format --check-formatted", "lint"),
        ("./gradlew spotlessCheck", "lint"),
        ("./manage.py runserver", "start"),
    ],
)
def test_a_command_of_a_build_system_is_for_what_it_does(command, purpose):
    fits = {each for each in ("build", "test", "lint", "start") if COMMANDS[each].search(command)}
    assert fits == {purpose}


def test_a_name_that_begins_like_a_tool_is_no_command_of_it():
    assert not COMMANDS["test"].search("bundle add rspec-core") and COMMANDS["test"].search("bin/rspec")
    assert not COMMANDS["build"].search("sh install-cmake.sh") and not COMMANDS["lint"].search("src/black/main.py")


def test_a_script_that_runs_an_editor_with_a_linter_for_an_argument_is_no_linter():
    assert not COMMANDS["lint"].search("code --install-extension dbaeumer.vscode-eslint")
    assert COMMANDS["lint"].search("./node_modules/.bin/eslint .")


def test_what_is_named_like_documents_or_a_server_by_chance_is_neither():
    assert not COMMANDS["docs"].search("script/check_dockerfile.sh")
    assert COMMANDS["docs"].search("scripts/build_docs.sh") and COMMANDS["start"].search("bin/rails server")
    assert not COMMANDS["start"].search("rails secret")


def test_what_a_property_switches_off_is_not_what_a_command_is_for():
    assert not COMMANDS["docs"].search("mvn install -DskipTests=true -Dmaven.javadoc.skip=true")
    assert COMMANDS["docs"].search("mvn javadoc:javadoc")


@pytest.mark.parametrize(
    ("version", "constraint", "asked_for"),
    [
        ("${codec.version}", "1.22.1", "org.a:codec@1.22.1"),
        ("${codec.version}-jre", "1.22.1-jre", "org.a:codec@1.22.1-jre"),
        ("${of.parent}", "${of.parent}", "org.a:codec@*"),
        ("", "", "org.a:codec@*"),
    ],
)
def test_a_version_that_a_property_of_the_pom_holds_is_read(version, constraint, asked_for):
    pom = (
        "<project><properties><codec.version>1.22.1</codec.version></properties><dependencies><dependency>"
        f"<groupId>org.a</groupId><artifactId>codec</artifactId><version>{version}</version></dependency></dependencies>"
        "</project>"
    )
    manifest = read_manifest("pom.xml", pom)
    assert manifest is not None and [need.constraint for need in manifest.dependencies] == [constraint]
    declared = read_packages({"pom.xml": pom}.get, lambda folder: ["pom.xml"])
    assert [each.requirements for each in declared] == [(asked_for,)]
