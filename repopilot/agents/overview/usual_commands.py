"""The commands that a project has because of the tools it is built with: facts of those tools, not of one project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from repopilot.code.source_positions import line_at
from repopilot.index.store import Index
from repopilot.project.project_commands import ProjectCommand, Purpose


class _Usual(NamedTuple):
    """A command that a file at the root makes usual; `{file}` in it is that file.

    `root` is the pattern of its path, `inside` of what it must hold. Where `name` is given, it is a file of that name
    anywhere in the repository that must hold it instead.
    """

    command: str
    root: str
    inside: str = ""
    name: str = ""


_GRADLE = r"(?:build|settings)\.gradle(?:\.kts)?"
_GRADLE_SCRIPT = r".+\.gradle(?:\.kts)?"
_DOTNET = r".+\.[cf]sproj|Directory\.Build\.props|global\.json"
_AUTOMAKE = r"Makefile\.am"
_USUAL: dict[Purpose, tuple[_Usual, ...]] = {
    "build": (
        _Usual("./{file} && ./configure && make", r"(?:autogen|bootstrap|buildconf)(?:\.sh)?", name=_AUTOMAKE),
        _Usual("autoreconf -i && ./configure && make", _AUTOMAKE),
        _Usual("./configure && make", r"configure"),
        _Usual("meson setup build && meson compile -C build", r"meson\.build"),
        _Usual("cmake -B build && cmake --build build", r"CMakeLists\.txt"),
        _Usual("gradle build", _GRADLE),
        _Usual("dotnet build", _DOTNET, name=r".+\.[cf]sproj"),
        _Usual("mix compile", r"mix\.exs"),
        _Usual("swift build", r"Package\.swift"),
        _Usual("sbt compile", r"build\.sbt"),
        _Usual("stack build", r"stack\.yaml"),
        _Usual("zig build", r"build\.zig"),
        _Usual("gem build {file}", r".+\.gemspec"),
        _Usual("make", r"(?:GNU)?[Mm]akefile", r"\$[({](?:CC|CXX|MAKE)[)}]|(?<!\w)(?:g?cc|clang|[cg]\+\+)(?!\w)"),
    ),
    "test": (
        _Usual("make check", _AUTOMAKE, r"^(?:TESTS|check_\w+)\s*\+?=|^check(?:-local)?\s*:", _AUTOMAKE),
        _Usual("meson test -C build", r"meson\.build", r"^\s*test\s*\(", r"meson\.build"),
        _Usual(
            "ctest --test-dir build",
            r"CMakeLists\.txt",
            r"(?i)\b(?:enable_testing|add_test)\s*\(|\binclude\s*\(\s*CTest",
            r"CMakeLists\.txt",
        ),
        _Usual("gradle test", _GRADLE),
        _Usual("dotnet test", _DOTNET, r"Microsoft\.NET\.Test\.Sdk", r".+\.(?:[cf]sproj|props)"),
        _Usual("mix test", r"mix\.exs", name=r".+_test\.exs"),
        _Usual("swift test", r"Package\.swift", r"\.testTarget\("),
        _Usual("sbt test", r"build\.sbt"),
        _Usual("stack test", r"stack\.yaml"),
        _Usual("zig build test", r"build\.zig", r"\.step\(\"test\""),
        _Usual("bundle exec rspec", r"Gemfile", name=r".+_spec\.rb"),
        _Usual("python manage.py test", r"manage\.py", "django"),
    ),
    "start": (_Usual("python manage.py runserver", r"manage\.py", "django"),),
    "install": (
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
    ),
}
"""By purpose, the best first: what runs all linters comes before each."""


_BUILD_FILE = re.compile(r"(?:src/)?(?:[Mm]akefile(?:\.am)?|CMakeLists\.txt|meson\.build)")


def usual_commands(index: Index, purpose: Purpose) -> Iterator[ProjectCommand]:
    """The usual commands of the tools that the root has files of, the best first.

    Args:
        index: the repository.
        purpose: what they are for.
    """
    top = sorted(path for path in index.files if "/" not in path)
    for usual in _USUAL.get(purpose, ()):
        for path in top:
            if re.fullmatch(usual.root, path) and _is_borne_out(index, usual, path):
                yield ProjectCommand(usual.command.format(file=path), "convention", path, 1)


def _is_borne_out(index: Index, usual: _Usual, path: str) -> bool:
    """Whether the file at the root, or one of the name that is asked for, holds what the command works on."""
    named = (each for each in index.files if re.fullmatch(usual.name, posixpath.basename(each)))
    return any(re.search(usual.inside, index.text(each) or "", re.M) for each in (named if usual.name else [path]))


def built_programs(index: Index) -> Iterator[ProjectCommand]:
    """The program named like the project, where a build file says that it builds it."""
    name = re.escape(posixpath.basename(index.name))
    builds = (
        rf"^(?:s?bin_PROGRAMS\s*\+?=.*\b{name}\b|\w+\s*[:?]?=\s*{name}[^\S\n]*$|{name}\s*:(?!=)"
        rf"|\s*(?i:add_executable)\s*\(\s*{name}\b|.*\bexecutable\(\s*'{name}')"
    )
    for path in index.files:
        if _BUILD_FILE.fullmatch(path) and (found := re.search(builds, index.text(path) or "", re.M)):
            yield ProjectCommand(
                posixpath.basename(index.name), "script", path, line_at(index.text(path) or "", found.start())
            )
