"""The commands that a project has because of the tools it is built with: facts of those tools, not of one project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from repopilot.code.source_positions import line_at
from repopilot.index.manifests import manifests
from repopilot.index.store import Index
from repopilot.project.project_commands import ProjectCommand, Purpose


class _Usual(NamedTuple):
    """A command that is usual where a certain file exists; `{file}` in it is that file. `of` is the pattern of the
    file's name, `inside` of what it must contain. With `other`, a file of that path in its folder must contain this
    instead. The file is at the root of the repository; with `of_package`, it is the manifest of any package.
    """

    command: str
    of: str
    inside: str = ""
    other: str = ""
    of_package: bool = False


_GRADLE = r"(?:build|settings)\.gradle(?:\.kts)?"
_GRADLE_SCRIPT = r".+\.gradle(?:\.kts)?"
_DOTNET = r".+\.[cf]sproj|Directory\.Build\.props|global\.json"
_AUTOMAKE = r"Makefile\.am"
_CARGO = r"Cargo\.toml"
_GEMS = r"Gemfile|.+\.gemspec"
_PYTHON = r"pyproject\.toml|setup\.(?:py|cfg)"
_PYTHON_NAME = r"^\[(?:project|tool\.poetry|metadata)\]|\bsetup\("
_PYTHON_TESTS = r"(?:.+/)?(?:tests?/.+|test_[^/]*|[^/]*_tests?)\.py"
_USUAL: dict[Purpose, tuple[_Usual, ...]] = {
    "build": (
        _Usual("cargo build --release", _CARGO, of_package=True),
        _Usual("go build ./...", r"go\.mod", of_package=True),
        _Usual("mvn package", r"pom\.xml", of_package=True),
        _Usual(
            "./{file} && ./configure && make",
            r"(?:autogen|bootstrap|buildconf)(?:\.sh)?",
            other=rf"(?:.+/)?{_AUTOMAKE}",
        ),
        _Usual("autoreconf -i && ./configure && make", _AUTOMAKE),
        _Usual("./configure && make", r"configure"),
        _Usual("meson setup build && meson compile -C build", r"meson\.build"),
        _Usual("cmake -B build && cmake --build build", r"CMakeLists\.txt"),
        _Usual("gradle build", _GRADLE),
        _Usual("dotnet build", _DOTNET, other=r".+\.[cf]sproj"),
        _Usual("mix compile", r"mix\.exs"),
        _Usual("swift build", r"Package\.swift"),
        _Usual("sbt compile", r"build\.sbt"),
        _Usual("stack build", r"stack\.yaml"),
        _Usual("zig build", r"build\.zig"),
        _Usual("gem build {file}", r".+\.gemspec"),
        _Usual("make", r"(?:GNU)?[Mm]akefile", r"\$[({](?:CC|CXX|MAKE)[)}]|(?<!\w)(?:g?cc|clang|[cg]\+\+)(?!\w)"),
    ),
    "test": (
        _Usual("cargo test", _CARGO, of_package=True),
        _Usual("go test ./...", r"go\.mod", of_package=True),
        _Usual("mvn test", r"pom\.xml", of_package=True),
        _Usual("pytest", _PYTHON, other=_PYTHON_TESTS, of_package=True),
        _Usual("vendor/bin/phpunit", r"composer\.json", of_package=True),
        _Usual("make check", _AUTOMAKE, r"^(?:TESTS|check_\w+)\s*\+?=|^check(?:-local)?\s*:", rf"(?:.+/)?{_AUTOMAKE}"),
        _Usual("meson test -C build", r"meson\.build", r"^\s*test\s*\(", r"(?:.+/)?meson\.build"),
        _Usual(
            "ctest --test-dir build",
            r"CMakeLists\.txt",
            r"(?i)\b(?:enable_testing|add_test)\s*\(|\binclude\s*\(\s*CTest",
            r"(?:.+/)?CMakeLists\.txt",
        ),
        _Usual("gradle test", _GRADLE),
        _Usual("dotnet test", _DOTNET, r"Microsoft\.NET\.Test\.Sdk", r".+\.(?:[cf]sproj|props)"),
        _Usual("mix test", r"mix\.exs", other=r".+_test\.exs"),
        _Usual("swift test", r"Package\.swift", r"\.testTarget\("),
        _Usual("sbt test", r"build\.sbt"),
        _Usual("stack test", r"stack\.yaml"),
        _Usual("zig build test", r"build\.zig", r"\.step\(\"test\""),
        _Usual("bundle exec rspec", r"Gemfile", other=r".+_spec\.rb"),
        _Usual("python manage.py test", r"manage\.py", "django"),
    ),
    "start": (
        _Usual("cargo run", _CARGO, other=r"src/(?:main\.rs|bin/.+)", of_package=True),
        _Usual("python manage.py runserver", r"manage\.py", "django"),
    ),
    "bench": (
        _Usual("cargo bench", _CARGO, other=r"benches/.+", of_package=True),
        _Usual("go test -bench=. ./...", r"go\.mod", r"^func Benchmark", r".+_test\.go", of_package=True),
    ),
    "install": (
        _Usual("pip install -e .", _PYTHON, _PYTHON_NAME, of_package=True),
        _Usual("npm install", r"package\.json", of_package=True),
        _Usual("bundle install", _GEMS, of_package=True),
        _Usual("composer install", r"composer\.json", of_package=True),
        _Usual("make install", _AUTOMAKE),
        _Usual("meson install -C build", r"meson\.build"),
        _Usual("mix deps.get", r"mix\.exs"),
    ),
    "lint": (
        _Usual("pre-commit run --all-files", r"\.pre-commit-config\.yaml"),
        _Usual("ruff check", r"ruff\.toml"),
        _Usual("ruff check", r"pyproject\.toml", r"^\[tool\.ruff"),
        _Usual("flake8", r"\.flake8|setup\.cfg|tox\.ini", r"^\[flake8\]"),
        _Usual("golangci-lint run", r"\.golangci\.(?:ya?ml|toml|json)"),
        _Usual("bundle exec rubocop", r"\.rubocop\.yml"),
        _Usual("bundle exec standardrb", r"\.standard\.yml"),
        _Usual("npx biome check", r"biome\.jsonc?"),
        _Usual("npx oxlint", r"\.oxlintrc\.json"),
        _Usual("npx eslint .", r"eslint\.config\.\w+|\.eslintrc(?:\.\w+)?"),
        _Usual("npx prettier --check .", r"\.prettierrc(?:\.\w+)?"),
        _Usual("mvn spotless:check", r"pom\.xml", "<artifactId>spotless-maven-plugin<"),
        _Usual("mvn checkstyle:check", r"pom\.xml", "<artifactId>maven-checkstyle-plugin<"),
        _Usual("gradle spotlessCheck", _GRADLE, r"^\s*spotless\b", _GRADLE_SCRIPT),
        _Usual("gradle detekt", _GRADLE, r"^\s*detekt\b", _GRADLE_SCRIPT),
        _Usual("gradle checkstyleMain", _GRADLE, r"^\s*(?:checkstyle\b|id\s*\(?\s*[\"']checkstyle\b)", _GRADLE_SCRIPT),
        _Usual("vendor/bin/phpstan analyse", r"composer\.json", r'"phpstan/phpstan"'),
        _Usual("vendor/bin/phpcs", r"\.?phpcs\.xml(?:\.dist)?"),
        _Usual("vendor/bin/php-cs-fixer fix --dry-run", r"\.php-cs-fixer(?:\.dist)?\.php"),
        _Usual("mix credo", r"\.credo\.exs"),
        _Usual("mix format --check-formatted", r"\.formatter\.exs"),
        _Usual("swiftlint", r"\.swiftlint\.yml"),
        _Usual("cargo clippy", _CARGO, of_package=True),
        _Usual("go vet ./...", r"go\.mod", of_package=True),
    ),
}
"""By purpose, the best first: what runs all linters comes before each."""


_BUILD_FILE = re.compile(r"(?:src/)?(?:[Mm]akefile(?:\.am)?|CMakeLists\.txt|meson\.build)")


def usual_commands(index: Index, purpose: Purpose, only_packages: bool = False) -> Iterator[ProjectCommand]:
    """The usual commands of the tools for which the repository has files, the best first.

    Args:
        index: the repository.
        purpose: what they are for.
        only_packages: whether to leave out those of tools that only have a file at the root.
    """
    for usual in _USUAL.get(purpose, ()):
        if usual.of_package or not only_packages:
            for path in _files_of(index, usual):
                folder, file = posixpath.split(path)
                command = usual.command.format(file=file)
                yield ProjectCommand(f"cd {folder} && {command}" if folder else command, "convention", path, 1)


def is_built_whole(index: Index) -> bool:
    """Whether a build file at the root builds the whole, so that packages below it are only parts."""
    return any(_files_of(index, usual) for usual in _USUAL["build"] if not usual.of_package)


def _files_of(index: Index, usual: _Usual) -> list[str]:
    """The files that make a command usual, and that contain, or have beside or below them a file that contains, what it
    works on."""
    of_packages = (manifest.path for manifest in manifests(index))
    paths = of_packages if usual.of_package else index.derived(_at_root)
    return [
        path for path in paths if re.fullmatch(usual.of, posixpath.basename(path)) and _is_borne_out(index, usual, path)
    ]


def _at_root(index: Index) -> list[str]:
    return sorted(path for path in index.files if "/" not in path)


def _is_borne_out(index: Index, usual: _Usual, path: str) -> bool:
    inside = posixpath.join(posixpath.dirname(path), "")
    below = (each for each in index.files if each.startswith(inside))
    others = (each for each in below if re.fullmatch(usual.other, each.removeprefix(inside)))
    return any(re.search(usual.inside, index.text(each) or "", re.M) for each in (others if usual.other else [path]))


def built_programs(index: Index, program: str) -> Iterator[ProjectCommand]:
    """A program, where a build file says that it builds it.

    Args:
        index: the repository.
        program: its name.
    """
    name = re.escape(program)
    builds = (
        rf"^(?:s?bin_PROGRAMS\s*\+?=.*\b{name}\b|\w+\s*[:?]?=\s*{name}[^\S\n]*$|{name}\s*:(?!=)"
        rf"|\s*(?i:add_executable)\s*\(\s*{name}\b|.*\bexecutable\(\s*'{name}')"
    )
    for path in index.files:
        if _BUILD_FILE.fullmatch(path) and (found := re.search(builds, index.text(path) or "", re.M)):
            yield ProjectCommand(program, "script", path, line_at(index.text(path) or "", found.start()))
