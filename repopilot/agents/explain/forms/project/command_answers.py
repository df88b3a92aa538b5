"""Answers how the project is installed, built, started, tested and checked, from the files that say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.project.cited_places import CitedPlaces
from repopilot.agents.explain.forms.project.project_manifests import facts, manifests
from repopilot.code import project_commands
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.code.project_commands import COMMANDS, NAMES, ProjectCommand, Purpose
from repopilot.index.store import Index

MOST_COMMANDS = 6
"""Commands in one answer."""
_ASKS = (
    r"(?:how (?:do|can|should|could|would|must|might) (?:i|we|you|one|contributors?|developers?|people|users?)|how to|"
    r"how (?:is|are)|(?:what|which)(?: \w+){0,3}? (?:command|target|script|task|recipe)s?|"
    r"what (?:do|should|must|can) (?:i|we|you|one|contributors?|developers?|people) (?:run|type|execute|call|"
    r"use|do|enter)|"
    r"comment (?:puis-je|peut-on|dois-je|faut-il|faire pour|on|est-ce qu['’]on|je)?|quelles? (?:commande|cible|"
    r"tâche)s?|"
    r"que (?:faut-il|dois-je|doit-on) (?:lancer|exécuter|taper|faire))"
)
_IT = (
    r"(?:it|this|everything|(?:this|the|my own|a) (?:\w+ )?(?:project|library|package|program|tool|"
    r"app(?:lication)?|code|binary|"
    r"server|source|sources|service|cli|crate|gem|module|repo(?:sitory)?|workspace)|from source|locally)"
)
_LE = (
    r"(?:(?:le|la|l['’]|ce|cet|cette|les) ?(?:projet|bibliothèque|programme|outil|application|appli|paquet|code|"
    r"serveur|"
    r"binaire|sources?|service|dépôt)|depuis les sources)"
)
_TESTS = r"(?:tests|test suite|testsuite|specs|(?:unit|integration|whole|full) tests?|suite de tests)"
_PURPOSES: dict[Purpose, str] = {
    "bench": r"\bbenchmarks?\b",
    "docs": r"\b(?:build|generate|serve|render|preview)\b[^.?]{0,20}\b(?:docs?|documentation)\b|\b(?:construire|"
    "générer)\b[^.?]{0,20}\bdocumentation\b",
    "test": (
        rf"\b(?:run\w*|start\w*|execut\w*|launch\w*|kick\w* off|trigger\w*)\b[^.?]{{0,40}}\b{_TESTS}\b|"
        rf"\b{_TESTS}\b[^.?]{{0,30}}\b(?:run|started|executed|launched)\b|"
        rf"\b(?:lance|exécut|démarr|pass|fai[rt]\w* tourner)\w*\b[^.?]{{0,30}}\btests?\b|"
        rf"\b{_TESTS}\b[^.?]{{0,30}}\b(?:lancés|exécutés)\b|"
        rf"\btest (?:it|this project|the project|my changes)\b"
    ),
    "lint": r"\b(?:run|check|start|lancer|vérifier)\b[^.?]{0,30}\b(?:lint\w*|code style|formatting|"
    "type[- ]?check\w*|types?|style)\b|\blint (?:it|this|the)\b|"
    r"\b(?:format|reformat) the (?:code|sources?)\b",
    "build": rf"\b(?:build|compile|built|compiled)\b {_IT}|\b{_IT}\b[^.?]{{0,20}}\b(?:built|compiled)\b|"
    "\b(?:compile[rz]?|construi\w+) {_LE}",
    "install": rf"\binstall\b (?:{_IT}|NAME)|\b(?:{_IT}|NAME) (?:be )?installed\b|\binstalle[rz]? (?:{_LE}|NAME)",
    "start": rf"\b(?:run|start|launch|execute)\b (?:{_IT}|NAME)\b|\b(?:lance[rz]?|démarre[rz]?|"
    "exécute[rz]?) (?:{_LE}|NAME)",
}
_DOCUMENT_DEPTH = 2
_RANK = {"documentation": 0, "script": 1, "ci": 2, "convention": 3}
_SINGLE = re.compile(
    r"\b(?:single|one|individual|specific|particular|certain) (?:\w+ )?(?:tests?|file|benchmark)\b|\bun seul\b|"
    r"\bonly (?:one|a|some)\b",
    re.I,
)
_CONDITION = re.compile(r"\b(?:without|unless|offline|sans|hors ligne)\b", re.I)
"""What the commands may not heed."""
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


def asked_purpose(question: str, name: str = "") -> Purpose | None:
    """Read what a question wants to do with the project.

    Args:
        question: as the user asked it.
        name: the repository's name, which may stand for "the project".

    Returns:
        The purpose; None for a question that doesn't ask for a command.
    """
    if not re.search(rf"(?:^|[,;:.]\s*|\W){_ASKS}\b", question, re.I):
        return None
    for purpose, pattern in _PURPOSES.items():
        if re.search(pattern.replace("NAME", re.escape(name) if name else r"(?!)"), question, re.I):
            return purpose
    return None


def answer_command(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer how to install, build, start, test or check the project.

    Args:
        inquiry: the question.

    Returns:
        The commands, those of the documentation first; None for other questions, and where nothing tells a command.
    """
    purpose = asked_purpose(inquiry.question, inquiry.workspace.snapshot.name)
    if purpose is None or _SINGLE.search(inquiry.question):
        return None
    found = _chosen(inquiry.index.derived(_commands), purpose)
    if purpose == "install":
        found = _of_project(found, inquiry)
    sure = bool(found)
    found = found or _by_convention(inquiry.index, purpose)
    if not found:
        return None
    answer = _told(inquiry, purpose, found, sure)
    return replace(answer, sure=False) if _CONDITION.search(inquiry.question) else answer


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


def _by_convention(index: Index, purpose: Purpose) -> list[ProjectCommand]:
    for manifest in manifests(index):
        usual = _CONVENTIONS.get(manifest.ecosystem, {}).get(purpose)
        if usual and manifest.path.count("/") == 0:
            return [ProjectCommand(usual, "convention", manifest.path, 1)]
    return []


def _told(inquiry: Inquiry, purpose: Purpose, commands: Sequence[ProjectCommand], sure: bool) -> CodeAnswer:
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    rows = []
    for command in commands:
        runs = f" (`{command.runs[:120].replace('`', '')}`)" if command.runs else ""
        rows.append(f"`{command.command}`{runs} {cited.cite(command.path, command.line)}")
    key = f"project_forms.commands.{purpose}" if sure else "project_forms.commands.convention"
    text = i18n.text(key, language, command=rows[0], path=commands[0].path)
    if len(rows) > 1:
        others = [f"- {row}: `{c.path}`" for row, c in zip(rows[1:], commands[1:], strict=True)]
        text = "\n".join([text, "", i18n.text("project_forms.commands.others", language), *others])
    return CodeAnswer("run", text, cited.places, sure)
