"""The test runners of languages other than Python, and the programs and limits of each language."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.code.languages import is_test_path
from repopilot.errors import NoRunner, SandboxError
from repopilot.project.node_project import NodeProject
from repopilot.sandbox.job_spec import MB, SandboxLimits
from repopilot.sandbox.runners import ava, cargo_test, go_test, jest_json, junit, mocha, node_test, ruby_tests
from repopilot.sandbox.runners.runner_form import Runner

_OF_PROGRAMS = ("tap", "tape", "uvu")
"""Libraries whose test files are programs that Node runs one by one."""
RUNNERS = (
    Runner(
        "vitest",
        "javascript",
        lambda p: p.runner == "vitest",
        jest_json.vitest_command,
        jest_json.read,
        jest_json.vitest_settings,
    ),
    Runner("jest", "javascript", lambda p: p.runner == "jest", jest_json.jest_command, jest_json.read),
    Runner("mocha", "javascript", lambda p: p.runner == "mocha", mocha.command, node_test.read),
    Runner("ava", "javascript", lambda p: p.runner == "ava", ava.command, node_test.read),
    Runner("node --test", "javascript", lambda p: p.runner == "node", node_test.command, node_test.read),
    Runner("node alone", "javascript", lambda p: p.runner in _OF_PROGRAMS, node_test.program_command, node_test.read),
    Runner("cargo test", "rust", lambda p: True, cargo_test.command, cargo_test.read),
    Runner("go test", "go", lambda p: True, go_test.command, go_test.read),
    Runner("ruby tests", "ruby", lambda p: True, ruby_tests.command, node_test.read),
    Runner("gradle test", "java", junit.by_gradle, junit.gradle_command, node_test.read),
    Runner("mvn test", "java", lambda p: True, junit.maven_command, node_test.read),
)
_ASK_S = 20.0
_TEST_OF_RUBY = re.compile(r"_(?:spec|test)\.rb$|(?:^|/)(?:spec|test)_(?!helper)\w+\.rb$")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What a language's tests need to run.

    Attributes:
        program: the name of the program.
        suffixes: of its source files.
        limits: limits of a run. Reserved but unwritten memory, of which Node has much, doesn't count. The programs have
            many threads.
        home: a command that prints its installation folder; () where the program lies in that.
        patience: factor on the time limit of tests, since they are compiled first.
    """

    program: str
    suffixes: tuple[str, ...]
    limits: SandboxLimits
    home: tuple[str, ...] = ()
    patience: float = 1.0


LANGUAGES = {
    "javascript": Toolchain(
        "node",
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
        SandboxLimits(memory=2048 * MB, disk=512 * MB, processes=384, descriptors=1024),  # each Node has ten or so
        patience=3.0,
    ),
    "rust": Toolchain(
        "cargo",
        (".rs",),
        SandboxLimits(memory=2048 * MB, file=256 * MB, disk=1024 * MB, processes=128, descriptors=1024),
        ("rustc", "--print", "sysroot"),
        8.0,
    ),
    "go": Toolchain(
        "go",
        (".go",),
        SandboxLimits(memory=2048 * MB, file=256 * MB, disk=1024 * MB, processes=128, descriptors=1024),
        ("go", "env", "GOROOT"),
        4.0,
    ),
    "ruby": Toolchain("ruby", (".rb",), SandboxLimits(disk=512 * MB, descriptors=1024), patience=2.0),
    "java": Toolchain(
        "javac",
        (".java", ".kt"),
        SandboxLimits(memory=3072 * MB, file=256 * MB, disk=1024 * MB, processes=256, descriptors=4096),
        patience=8.0,
    ),
}


def language_of_tests(path: str) -> str | None:
    """The language of a file among `LANGUAGES`; None for any other."""
    suffix = PurePosixPath(path).suffix
    return next((name for name, toolchain in LANGUAGES.items() if suffix in toolchain.suffixes), None)


def is_run_as_test(path: str) -> bool:
    """Whether a file contains tests that one of these runners runs by path."""
    language = language_of_tests(path)
    helps = path.endswith(".d.ts") or (language == "ruby" and not _TEST_OF_RUBY.search(path))
    return language is not None and is_test_path(path) and not helps


def runner_of(language: str, project: NodeProject) -> Runner:
    """The runner that a repository uses.

    Args:
        language: a key of LANGUAGES.
        project: what its package.json declares.

    Raises:
        NoRunner: it uses an unknown runner.
    """
    for runner in RUNNERS:
        if runner.language == language and runner.used_by(project):
            return runner
    known = ", ".join(runner.name for runner in RUNNERS if runner.language == language)
    raise NoRunner(
        i18n.message("sandbox.unknown_runner", name=project.runner), i18n.message("sandbox.known_runners", names=known)
    )


def installed_program(language: str) -> tuple[Path, tuple[Path, ...]] | None:
    """The program of a language, and the folders that it reads; None where it isn't installed."""
    toolchain = LANGUAGES[language]
    return _located(toolchain.program, toolchain.home, os.environ.get("PATH", ""))


def find_program(language: str) -> tuple[Path, tuple[Path, ...]]:
    """As `installed_program`. Raises SandboxError where the program isn't installed."""
    found = installed_program(language)
    if found is None:
        program = LANGUAGES[language].program
        raise SandboxError(
            i18n.message("sandbox.no_program", program=program),
            i18n.message("sandbox.install_program", program=program),
        )
    return found


def missing_programs(languages: Iterable[str]) -> tuple[str, ...]:
    """The programs of some languages that aren't installed here."""
    return tuple(LANGUAGES[each].program for each in languages if installed_program(each) is None)


@lru_cache(maxsize=8)
def _located(program: str, home: tuple[str, ...], _path: str) -> tuple[Path, tuple[Path, ...]] | None:
    found = shutil.which(program)
    if found is None:
        return None
    if not home:
        real = Path(os.path.realpath(found))
        folder = real.parent.parent
        return real, () if folder in (Path("/"), Path("/usr"), Path("/usr/local")) else (folder,)
    try:
        said = subprocess.run(home, capture_output=True, text=True, timeout=_ASK_S, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired):
        return None
    folder = Path(said.stdout.strip() or "/")
    inside = folder / "bin" / program
    return (inside, (folder,)) if said.returncode == 0 and inside.is_file() else None
