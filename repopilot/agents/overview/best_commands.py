"""How a project is installed, built, started, tested and checked, from the files that say it. Sync."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import get_args

from repopilot.agents.overview.manifests import manifests
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.code.project import project_commands
from repopilot.code.project.project_commands import COMMANDS, NAMES, ProjectCommand, Purpose
from repopilot.index.store import Index

MOST_COMMANDS = 6
"""Commands in one answer."""
_DOCUMENT_DEPTH = 2
_RANK = {"documentation": 0, "script": 1, "ci": 2, "convention": 3}
_CONVENTIONS: dict[str, dict[Purpose, str]] = {
    "cargo": {
        "test": "cargo test",
        "build": "cargo build --release",
        "start": "cargo run",
        "lint": "cargo clippy",
        "bench": "cargo bench",
    },
    "go": {
        "test": "go test ./...",
        "build": "go build ./...",
        "lint": "go vet ./...",
        "bench": "go test -bench=. ./...",
    },
    "maven": {"test": "mvn test", "build": "mvn package"},
    "gradle": {"test": "./gradlew test", "build": "./gradlew build"},
    "dotnet": {"test": "dotnet test", "build": "dotnet build"},
    "cmake": {"build": "cmake -B build && cmake --build build"},
    "python": {"test": "pytest", "install": "pip install -e ."},
    "npm": {"install": "npm install"},
    "ruby": {"install": "bundle install"},
    "composer": {"install": "composer install", "test": "vendor/bin/phpunit"},
}


def commands_of(index: Index) -> tuple[ProjectCommand, ...]:
    """Every command that the project's files offer."""
    paths = [p for p in index.files if project_commands.is_read(p) and p.count("/") <= _DOCUMENT_DEPTH]
    usable = (p for p in paths if not is_test_path(p) and not is_example_path(p) and not index.is_foreign(p))
    return tuple(command for path in usable for command in project_commands.commands_in(path, index.text(path) or ""))


def chosen(commands: Iterable[ProjectCommand], purpose: Purpose) -> list[ProjectCommand]:
    """The commands of a purpose, each once, the most telling first."""
    fitting = [c for c in commands if _fits(c, purpose)]
    fitting.sort(key=lambda c: (_RANK[c.origin], c.path.count("/"), not _about(c, purpose)))
    found: dict[str, ProjectCommand] = {}
    for command in fitting:
        found.setdefault(" ".join(command.command.removeprefix("./").split()), command)
    return list(found.values())[:MOST_COMMANDS]


def _fits(command: ProjectCommand, purpose: Purpose) -> bool:
    if command.origin == "script":
        name = re.split(r"[ /]", command.command)[-1]
        by_default = (
            command.command == "rake" and purpose == "test" and re.search(r"test|spec", command.runs) is not None
        )
        return bool(NAMES[purpose].search(name)) or by_default or command.command == "tox" == purpose
    if purpose != "install" and COMMANDS["install"].search(command.command):
        return False
    return bool(COMMANDS[purpose].search(command.command)) and len(command.command.split()) <= 14


def _about(command: ProjectCommand, purpose: Purpose) -> bool:
    return bool(NAMES[purpose].search(command.heading) or re.search(rf"\b{purpose}", command.heading, re.I))


def by_convention(index: Index, purpose: Purpose, found: Sequence[ProjectCommand]) -> list[ProjectCommand]:
    """What is usual for the project, or else for each of its packages that none of the commands found is for."""
    covered = {command.path.rpartition("/")[0] for command in found}
    usual: dict[str, ProjectCommand] = {}
    for manifest in manifests(index):
        folder = manifest.path.rpartition("/")[0]
        if (command := _CONVENTIONS.get(manifest.ecosystem, {}).get(purpose)) and not covered & {"", folder}:
            inside = f"cd {folder} && {command}" if folder else command
            usual.setdefault(folder, ProjectCommand(inside, "convention", manifest.path, 1))
    return [usual[""]] if "" in usual else list(usual.values())


def best_commands(index: Index) -> dict[Purpose, ProjectCommand]:
    """The best command for each purpose, where the project has one.

    Args:
        index: the repository.
    """
    every = index.derived(commands_of)
    best: dict[Purpose, ProjectCommand] = {}
    for purpose in get_args(Purpose):
        found = chosen(every, purpose)
        for command in [*found, *by_convention(index, purpose, found)][:1]:
            best[purpose] = command
    return best
