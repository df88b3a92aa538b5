"""Answers how the project is installed, built, started, tested and checked, from the files that say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from repopilot import i18n
from repopilot.agents.explain.forms.cited_places import CitedPlaces
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.manifests import facts, manifests
from repopilot.agents.explain.forms.recognise import Form
from repopilot.code.languages import file_kind, is_example_path, is_test_path
from repopilot.code.project import project_commands
from repopilot.code.project.project_commands import COMMANDS, NAMES, ProjectCommand, Purpose
from repopilot.index.store import Index
from repopilot.types import Chunk

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


def answer_command(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer how to install, build, start, test or check the project: the commands of the documentation first.

    A question whose best match is the project's own code is about what that does.
    """
    if any(_is_product_code(hit.chunk) for hit in inquiry.results.hits[:1]):
        return None
    purpose = cast(Purpose, form.kind)
    found = _chosen(inquiry.index.derived(_commands), purpose)
    if purpose == "install":
        found = _of_project(found, inquiry)
    sure = bool(found)
    found = [*found, *_by_convention(inquiry.index, purpose, found)][:MOST_COMMANDS]
    return _told(inquiry, purpose, found, sure) if found else None


def _is_product_code(chunk: Chunk) -> bool:
    path = chunk.path
    if is_test_path(path) or is_example_path(path) or project_commands.is_read(path):
        return False
    return file_kind(path) == "code"


def _commands(index: Index) -> tuple[ProjectCommand, ...]:
    """Every command that the project's files offer."""
    paths = [p for p in index.files if project_commands.is_read(p) and p.count("/") <= _DOCUMENT_DEPTH]
    usable = (p for p in paths if not is_test_path(p) and not is_example_path(p))
    return tuple(command for path in usable for command in project_commands.commands_in(path, index.text(path) or ""))


def _chosen(commands: Iterable[ProjectCommand], purpose: Purpose) -> list[ProjectCommand]:
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


def _of_project(commands: Sequence[ProjectCommand], inquiry: Inquiry) -> list[ProjectCommand]:
    """The commands that install the project, where some name it; else all."""
    names = {fact.value.rpartition("/")[2].lower() for fact in facts(inquiry.index, "name")}
    names |= {inquiry.workspace.snapshot.name.rpartition("/")[2].lower(), ".", "-e"}
    own = [c for c in commands if c.origin == "script" or names & set(re.split(r"[\s/@:\[]+", c.command.lower()))]
    return own or list(commands)


def _by_convention(index: Index, purpose: Purpose, found: Sequence[ProjectCommand]) -> list[ProjectCommand]:
    """What is usual for the project, or else for each of its packages that none of the commands found is for."""
    covered = {command.path.rpartition("/")[0] for command in found}
    usual: dict[str, ProjectCommand] = {}
    for manifest in manifests(index):
        folder = manifest.path.rpartition("/")[0]
        if (command := _CONVENTIONS.get(manifest.ecosystem, {}).get(purpose)) and not covered & {"", folder}:
            inside = f"cd {folder} && {command}" if folder else command
            usual.setdefault(folder, ProjectCommand(inside, "convention", manifest.path, 1))
    return [usual[""]] if "" in usual else list(usual.values())


def _told(inquiry: Inquiry, purpose: Purpose, commands: Sequence[ProjectCommand], sure: bool) -> CodeAnswer:
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    rows = []
    for command in commands:
        runs = f" (`{command.runs[:120].replace('`', '')}`)" if command.runs else ""
        rows.append(f"`{command.command}`{runs} {cited.cite(command.path, command.line)}")
    key = f"forms.commands.{purpose}" if sure else "forms.commands.convention"
    text = i18n.text(key, language, command=rows[0], path=commands[0].path)
    if len(rows) > 1:
        others = [f"- {row}: `{c.path}`" for row, c in zip(rows[1:], commands[1:], strict=True)]
        text = "\n".join([text, "", i18n.text("forms.commands.others", language), *others])
    return CodeAnswer("run", text, cited.places, sure)
