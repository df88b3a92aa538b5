"""How a project is installed, built, started, tested and checked, from the files that say it. Sync."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import get_args

from repopilot.agents.overview.groups import folders_of
from repopilot.agents.overview.overview_values import EntryPoint
from repopilot.agents.overview.usual_commands import built_programs, is_built_whole, usual_commands
from repopilot.code.languages import is_doc_path, is_example_path, is_test_path
from repopilot.index.manifests import is_imported, manifests, project_name
from repopilot.index.store import Index
from repopilot.project import project_commands
from repopilot.project.manifest import is_manifest
from repopilot.project.project_commands import COMMANDS, NAMES, ProjectCommand, Purpose, is_possible
from repopilot.retrieval.query import learnt

MOST_COMMANDS = 6
"""Commands in one answer."""
MOST_OPTIONS = 1
"""A command with more options is for a part of the project, or for one machine."""
_WEAK = 5
"""The rank from which on a command is hardly evidence for the whole project."""
_DOCUMENT_DEPTH = 2
_FOR_USERS = re.compile(r"(?:^|/)(?:readme|install|installation|getting[-_]started|quick[-_]?start)\b", re.I)
_OF_USERS: frozenset[Purpose] = frozenset(("install", "start"))
_NOT_WHOLE = re.compile(
    r"[$]|[{<]\w|^#|\\$|^\S+\.(?:ya?ml|toml|ini|cfg|json|md|rst|txt)$|^(?:go|npm|docker) run$"
    r"|^(?:git|curl|wget|echo|export|chmod)\s|^cd \S+$|\s--(?:help|version)(?!\S)"
)
"""Not a whole command: one with a variable or placeholder, a comment, one that goes on, a file name, a preparation."""
_SURE = 0.5
"""The least chance that a heading tells of a purpose."""
_OF_FOLDER = re.compile(r"(?:install|sync)(?:\s+-\S+)*$|\s\.(?:\[|\s|$)|\brequirements\b|\bcmake --install\b")
"""A command that installs the contents of the folder."""
_BY_DEFAULT = frozenset(("make", "rake", "ninja"))
"""Commands whose names don't say what they do."""
_WRAPPED = re.compile(r"^(?:mvn|gradle)\b")
"""Tools for which a script of the project (`mvnw`) may bring the version that it wants."""
_MANAGER_OF = {
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "pnpm-lock.yaml": "pnpm",
    "pnpm-workspace.yaml": "pnpm",
    "yarn.lock": "yarn",
}
"""The package managers of JavaScript by the files that only they have."""


def commands_of(index: Index) -> tuple[ProjectCommand, ...]:
    """Every command that the project's files offer."""
    paths = [p for p in index.files if project_commands.is_read(p) and p.count("/") <= _DOCUMENT_DEPTH]
    usable = (p for p in paths if not is_test_path(p) and not is_example_path(p) and not index.is_foreign(p))
    found = (command for path in usable for command in project_commands.commands_in(path, index.text(path) or ""))
    folders = {folder for path in index.files for folder in folders_of(path)}
    names = {posixpath.basename(path).lower() for path in index.files}
    possible = (c for c in found if c.origin == "script" or is_possible(c.command, folders, names))
    manager = _node_manager(index)
    return tuple(_run_by(manager, each) if each.path.endswith("package.json") else each for each in possible)


def _node_manager(index: Index) -> str:
    """The package manager of the `package.json` at the root: the one it names, else that of the lock file, else npm."""
    declared = re.search(r'"packageManager"\s*:\s*"(\w+)@', index.text("package.json") or "")
    return declared[1] if declared else next((name for lock, name in _MANAGER_OF.items() if lock in index.files), "npm")


def _run_by(manager: str, command: ProjectCommand) -> ProjectCommand:
    """The command as the package manager runs scripts; npm and bun have commands of their own with the same names."""
    by_name = manager if manager in ("pnpm", "yarn") else f"{manager} run"
    return (
        command
        if manager == "npm"
        else replace(command, command=re.sub(r"(?:^|(?<=&& ))npm(?: run)?", by_name, command.command))
    )


def chosen(commands: Iterable[ProjectCommand], purpose: Purpose) -> list[ProjectCommand]:
    """The commands of a purpose, each once, the best first."""
    fitting = [c for c in commands if _fits(c, purpose)]
    fitting.sort(
        key=lambda c: (
            _rank(c, purpose),
            c.path.count("/"),
            not _last_name(c).startswith(purpose),
            not NAMES[purpose].fullmatch(_last_name(c)),
            _last_name(c) != purpose,
            not _about(c, purpose),
        )
    )
    found: dict[str, ProjectCommand] = {}
    for command in fitting:
        found.setdefault(" ".join(command.command.removeprefix("./").split()), command)
    return list(found.values())[:MOST_COMMANDS]


def _rank(command: ProjectCommand, purpose: Purpose) -> int:
    """The rank of a command, 0 for the best: documents for developers first, then scripts run by name, then CI, then
    documents for users. A README shows what users do with the project, so it comes first only for their purposes."""
    if command.command in _BY_DEFAULT:
        return _WEAK + 1
    is_mention = re.fullmatch(r"[\w-]+", command.command) and f"`{command.command}`" in command.heading
    is_for_types = purpose == "lint" and re.search(r"\b(?:mypy|pyright|tsc)\b", command.command)
    is_elsewhere = re.match(r"\w+=|make -C |cd ", command.command) and not is_manifest(command.path)
    if is_mention or is_elsewhere:
        return _WEAK
    if is_for_types or len(re.findall(r"\s--?\w", command.command)) > MOST_OPTIONS:
        return _WEAK - 1
    if command.command == "make all":  # less specific than a target named after what it does
        return 1
    if command.origin == "documentation":
        is_for_users = _FOR_USERS.search(command.path) is not None
        is_one_of_several = purpose == "lint" and not _is_named(command, purpose)
        return int(is_one_of_several) if is_for_users == (purpose in _OF_USERS) else 3
    if _lints(command, purpose):
        return _WEAK - 1 if any(_is_named(command, other) for other in NAMES) else 3
    if _is_of_part(command, purpose):
        return 3
    return 1 if command.origin == "script" else 2


def _is_of_part(command: ProjectCommand, purpose: Purpose) -> bool:
    """Whether a command is for a part only: its script or target is named after more than the purpose (`speed-test`),
    or it tests one file."""
    if purpose == "test" and re.match(r"(?!python|node|ruby|bash|sh)\S.*\s\S*tests?/\S+\.\w+", command.command):
        return True
    is_qualified = purpose in ("test", "build", "start") and _is_named(command, purpose)
    return is_qualified and not NAMES[purpose].fullmatch(_last_name(command))


def _lints(command: ProjectCommand, purpose: Purpose) -> bool:
    """Whether a script for something else, such as the tests, runs a linter, too."""
    return purpose == "lint" and not _is_named(command, "lint") and bool(COMMANDS["lint"].search(command.runs))


def _is_named(command: ProjectCommand, purpose: Purpose) -> bool:
    return NAMES[purpose].search(re.split(r"[ /]", command.command)[-1]) is not None


def _last_name(command: ProjectCommand) -> str:
    return re.split(r"[ /]", command.command)[-1].partition(".")[0]


def _fits(command: ProjectCommand, purpose: Purpose) -> bool:
    if command.origin == "script":
        by_default = purpose == "test" and (
            command.command == "tox" or (command.command == "rake" and bool(re.search(r"test|spec", command.runs)))
        )
        tests = command.command == "make check" or COMMANDS["test"].search(command.runs)
        if purpose == "lint" and tests and not COMMANDS["lint"].search(command.runs):
            return False
        return _is_named(command, purpose) or by_default or _lints(command, purpose)
    if purpose != "install" and COMMANDS["install"].search(command.command):
        return False
    if purpose == "start" and COMMANDS["test"].search(command.command):
        return False
    is_whole = not _NOT_WHOLE.search(command.command) and len(command.command.split()) <= 14
    return is_whole and bool(COMMANDS[purpose].search(command.command))


def _about(command: ProjectCommand, purpose: Purpose) -> bool:
    return bool(NAMES[purpose].search(command.heading) or re.search(rf"\b{purpose}", command.heading, re.I))


def by_convention(index: Index, purpose: Purpose, found: Sequence[ProjectCommand]) -> list[ProjectCommand]:
    """The conventional command of the project, else those of the packages for which no command was found."""
    covered = {posixpath.dirname(command.path) for command in found}
    usual: dict[str, ProjectCommand] = {}
    for each in usual_commands(index, purpose, only_packages=bool(found)):
        if not covered & {"", posixpath.dirname(each.path)}:
            usual.setdefault(posixpath.dirname(each.path), each)
    if index.derived(is_built_whole):
        usual = {folder: each for folder, each in usual.items() if not folder}
    best = [usual[""]] if "" in usual else list(usual.values())
    return [
        replace(
            each,
            command=_WRAPPED.sub(
                lambda tool: f"./{tool[0]}w" if f"{tool[0]}w" in index.files else tool[0], each.command
            ),
        )
        for each in best
    ]


def _by_meaning(commands: Iterable[ProjectCommand], purpose: Purpose) -> list[ProjectCommand]:
    """Commands of no known tool, from documents whose heading, or the sentence above the command, names the purpose."""
    labels = ("test", "run tests") if purpose == "test" else (purpose,)
    told = (
        c for c in commands if c.origin == "documentation" and " " in c.command and not _NOT_WHOLE.search(c.command)
    )
    unknown = (c for c in told if not any(pattern.search(c.command) for pattern in COMMANDS.values()))
    return [
        command
        for command in unknown
        for chances in (learnt.chances(text, learnt.__package__) for text in command.heading.split(". ", 1))
        if sum(chances[label] for label in labels) > _SURE
    ]


def _started(index: Index, entries: Iterable[EntryPoint]) -> Iterator[ProjectCommand]:
    """The commands that start programs for which no file has one: by their language, or by the name that a build file
    gives them."""
    for entry in entries:
        builds = entry.path.endswith(".go") or any(built_programs(index, entry.name))
        if entry.kind in ("package", "script") or (entry.kind == "main" and builds):
            command = f"go run ./{posixpath.dirname(entry.path)}" if entry.path.endswith(".go") else entry.name
            yield ProjectCommand(command, "convention", entry.path, entry.line)


def _declared(index: Index) -> list[ProjectCommand]:
    """The programs that a manifest installs by name."""
    return [
        ProjectCommand(
            name if name != "bin" else manifest.name, "script", manifest.path, _line_of(index, manifest.path, name)
        )
        for manifest in manifests(index)
        for name in manifest.entry_points
        if not is_imported(manifest, name)
    ]


def _line_of(index: Index, path: str, name: str) -> int:
    """The last line of a manifest that gives something a name, as a key: a package often has the same name above."""
    named = re.compile(rf"^\W*{re.escape(name)}\b[\"']?\s*[=:]|^\[\[bin\]\]|[\"']{re.escape(name)}\s*=")
    rows = index.rows(path)
    return max((n for n, row in enumerate(rows, 1) if named.search(row)), default=1)


def _installs(command: str, names: Collection[str]) -> bool:
    """Whether a command that installs something installs the project, not a tool for it."""
    return _OF_FOLDER.search(command) is not None or any(name in command.casefold() for name in names)


def _starts(command: str, index: Index) -> bool:
    """Whether a module that Python is asked to run, if any, is one of the repository."""
    found = re.search(r"\bpython3? -m ([\w.]+)", command)
    path = found[1].replace(".", "/") if found else ""
    ends = (f"{path}.py", f"{path}/__main__.py")
    return not found or any(each.endswith(ends) and not is_test_path(each) for each in index.files)


def ranked_commands(index: Index, entries: Sequence[EntryPoint], purpose: Purpose) -> list[ProjectCommand]:
    """The commands of a purpose, the best first; not those of packages inside the project.

    The usual commands of the project's tools come after those that its files state, but before those that hardly
    concern the whole project.

    Args:
        index: the repository.
        entries: its entry points.
        purpose: what the commands are for.
    """
    folders = {posixpath.dirname(manifest.path) for manifest in manifests(index)}
    is_whole = "" in folders or index.derived(is_built_whole)
    packages = {each for each in folders if each and is_whole and not (purpose == "docs" and is_doc_path(f"{each}/"))}
    every = [each for each in index.derived(commands_of) if packages.isdisjoint(folders_of(each.path))]
    names = {name.casefold() for name in (project_name(index), *(each.name for each in manifests(index))) if name}
    fits = {"install": lambda command: _installs(command, names), "start": lambda command: _starts(command, index)}
    fitting = [each for each in every if purpose not in fits or fits[purpose](each.command)]
    declared = _declared(index) if purpose == "start" else []
    built = built_programs(index, index.name.rpartition("/")[2]) if purpose == "start" else ()
    said = [*declared, *built, *chosen(fitting, purpose)]
    said.sort(key=lambda each: each in declared and "/" in each.path)  # a program of a package inside is a part
    said = said or _by_meaning(every, purpose)
    sure = [each for each in said if _rank(each, purpose) < _WEAK]
    usual = [*by_convention(index, purpose, sure), *(_started(index, entries) if purpose == "start" else ())]
    return list({each.command: each for each in (*sure, *usual, *said)}.values())[:MOST_COMMANDS]


def best_commands(index: Index, entries: Sequence[EntryPoint]) -> dict[Purpose, ProjectCommand]:
    """The best command for each purpose, where the project has one.

    Args:
        index: the repository.
        entries: its entry points.
    """
    ranked = {purpose: ranked_commands(index, entries, purpose) for purpose in get_args(Purpose)}
    return {purpose: commands[0] for purpose, commands in ranked.items() if commands}
