"""What a package.json declares: packages, and how the tests are run. Pure; nothing in it is executed."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

from packaging.version import Version

from repopilot.code.formats.data_formats import strings
from repopilot.project.declaration_parts import shell_words
from repopilot.project.workspaces import EntrySource, NodeWorkspace

LOCK_FILES = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml")
"""The lock files that are used: the first one that exists."""
INSTALLED = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_KEPT = ("name", "version", "type", *INSTALLED, "peerDependenciesMeta", "overrides", "pnpm")
_FROM_REGISTRY = re.compile(
    r"^(?!(?:file|link|workspace|catalog|portal|git|https?|github|gitlab|bitbucket)\b.*:)[^/]*$|^npm:"
)
_RUNNERS = ("vitest", "jest", "mocha", "ava", "tap", "jasmine", "karma", "playwright", "cypress", "uvu", "tape", "bun")
_ALIASES = {"_mocha": "mocha", "react-scripts": "jest", "qunit": "qunit"}
_VARIABLE = re.compile(r"(?!PATH=)[A-Za-z_]\w*=")
_SETTING = re.compile(rf"{_VARIABLE.pattern}|(?:cross-env|env)$")
_SCRIPT = re.compile(r"^(?:npm|yarn|pnpm)$")
_DEPTH = 3
_LOWER = re.compile(r"(?<![<.\d])(?<!<=)(?<!< )(?<!<= )(?<!\.)\bv?(\d{1,4}(?:\.\d{1,4}){0,2})")
_RUNS_TYPESCRIPT = re.compile(r"(?:^|[&|;]\s*)node (?![^&|;]*(?:--import|--loader|--require|-r ))[^&|;]*\.[cm]?tsx?\b")
_READS_TYPESCRIPT = "22.18.0"
"""The first version of Node that runs TypeScript without a loader."""
_TAKES_PATHS = ("mocha", "ava", "node")
_WITH_VALUE = (
    *("--require", "-r", "--import", "--loader", "--experimental-loader", "--conditions", "-C", "--file", "--config"),
    *("--ui", "-u", "--timeout", "-t", "--slow", "-s", "--retries", "--extension", "--ignore", "--exclude", "--grep"),
    *("-g", "--fgrep", "-f", "--reporter", "-R", "--reporter-option", "--reporter-options", "-O", "--jobs", "-j"),
    *("--test-reporter", "--test-reporter-destination", "--test-concurrency", "--test-name-pattern", "--concurrency"),
    *("--match", "-m", "-c", "-T"),
)
"""Options of these runners, and of Node itself, whose value is the next word."""
_WILDCARD = re.compile(r"[*?{(\[]")
_TYPESCRIPT = re.compile(r"\.[cm]?tsx?$")
_LOADERS = ("--import", "--require", "-r", "--loader", "--experimental-loader")
_TYPES = re.compile(r"\.d\.[cm]?ts$")
_MOST_COMMANDS = 60


@dataclass(frozen=True, slots=True)
class NodeProject:
    """A package of JavaScript or TypeScript.

    Attributes:
        name: of the package.
        requirements: what it asks for from the registry, `name@range`.
        elsewhere: what it asks for from anywhere else: folders, git, addresses.
        scripts: commands by name.
        manifest: the parts of package.json that matter for an installation, as JSON; '' without one.
        links: the folders of the members of its workspace, by the names of their packages.
        projects: the settings files of test runners in the members' folders, where the top folder has none for them.
        node_version: the oldest version of Node that it is for, '' for any.
        built: by path, stand-ins for the entry files that a build would write: each re-exports the source behind it.
    """

    name: str = ""
    requirements: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    scripts: Mapping[str, str] = field(default_factory=dict)
    manifest: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    projects: tuple[str, ...] = ()
    node_version: str = ""
    built: Mapping[str, str] = field(default_factory=dict)

    @property
    def runner(self) -> str:
        """The test runner: the first that the test scripts start, else the one that is required, else `node`."""
        if started := next(filter(None, map(_runner_of, self._commands())), ""):
            return started
        required = {requirement.rpartition("@")[0] for requirement in self.requirements}
        return next((name for name in _RUNNERS if name in required), "node")

    @property
    def test_folders(self) -> tuple[str, ...]:
        """The beginnings of the paths that test scripts give the runner; () for none, or a runner that takes none."""
        found: list[str] = []
        for command in self._commands() if self.runner in _TAKES_PATHS else ():
            if _runner_of(command) != self.runner:
                continue
            words = command[[_program(word) for word in command].index(self.runner) + 1 :]
            starts = [_WILDCARD.split(word.removeprefix("./"))[0] for word in _operands(words, _WITH_VALUE)]
            if not all(starts) or not starts:
                return ()
            found += starts
        return tuple(dict.fromkeys(found))

    def reading_typescript(self) -> NodeProject:
        """The project for a Node that reads TypeScript, if Node itself runs the tests and the scripts set no loader."""
        return self if self.runner != "node" or self.options("node", _LOADERS) else self.on_native_typescript()

    def on_native_typescript(self) -> NodeProject:
        """The project for a Node that reads TypeScript."""
        version = max(self.node_version or _READS_TYPESCRIPT, _READS_TYPESCRIPT, key=Version)
        return replace(self, node_version=version)

    def options(self, program: str, taken: Sequence[str], switches: Sequence[str] = ()) -> tuple[str, ...]:
        """The options that the test scripts give a program, of those in `taken` and `switches`.

        Args:
            program: its name.
            taken: options with a value, as `--name value` or `--name=value`.
            switches: the beginnings of options without one.
        """
        _, words = self._started(program)
        found: list[str] = []
        for number, word in enumerate(words):
            if word in taken and number + 1 < len(words):
                found += [word, words[number + 1]]
            elif ("=" in word and word.partition("=")[0] in taken) or any(word.startswith(start) for start in switches):
                found.append(word)
        return tuple(found)

    def operands(self, program: str, taken: Sequence[str]) -> tuple[str, ...]:
        """The arguments without options that the test scripts give a program; the options in `taken` have a value."""
        _, words = self._started(program)
        return tuple(_operands(words, taken))

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that the test scripts set for the runner, except PATH."""
        words = [word for word in self._started(self.runner)[0] if _VARIABLE.match(word)]
        return dict(word.split("=", 1) for word in words)

    def _started(self, program: str) -> tuple[list[str], list[str]]:
        """The words before and after the name of a program in the first command that starts it.

        Of Node, which also runs builds and servers, one of the commands that run tests, where there are any.
        """
        commands = self._commands()
        if program == "node":
            runner = self.runner
            commands = [command for command in commands if _runner_of(command) == runner] or commands
        for command in commands:
            for number, word in enumerate(command):
                if _program(word) == program:
                    return command[:number], command[number + 1 :]
        return [], []

    def _commands(self) -> list[list[str]]:
        """The words of the commands of the test scripts, `test` before all others."""
        names = sorted((name for name in self.scripts if "test" in name), key=lambda name: name != "test")
        found: list[list[str]] = []
        for name in names:
            found += self._expanded(name, _DEPTH)
        return found[:_MOST_COMMANDS]

    def _expanded(self, script: str, depth: int) -> Iterator[list[str]]:
        for part in re.split(r"&&|\|\||[;|&\n]", self.scripts.get(script, ""))[:_MOST_COMMANDS]:
            words = shell_words(part)
            set_before = list(takewhile(_SETTING.match, words))
            command = words[len(set_before) :]
            called = [word for word in command[1:] if word in self.scripts and _SCRIPT.match(command[0])]
            if called and depth:
                yield from ([*set_before, *each] for each in self._expanded(called[0], depth - 1))
            elif words:
                yield words


def read_node_project(workspace: NodeWorkspace) -> NodeProject:
    """What a package and the members of its workspace declare together; an empty project without a package.json."""
    data = workspace.manifest
    tables = {key: workspace.wanted(key) for key in INSTALLED}
    wanted: dict[str, str] = {}
    for key in INSTALLED[:3]:
        wanted |= tables[key]
    elsewhere = {name for name, version in wanted.items() if not _FROM_REGISTRY.match(version)}
    kept: dict[str, object] = {key: data[key] for key in _KEPT if key in data}
    for key, versions in tables.items():
        if versions or key in kept:
            kept[key] = {name: version for name, version in versions.items() if name not in elsewhere}
    project = NodeProject(
        str(data.get("name") or ""),
        tuple(f"{name}@{version}" for name, version in wanted.items() if name not in elsewhere),
        tuple(f"{name}@{wanted[name]}" for name in wanted if name in elsewhere),
        strings(data.get("scripts")),
        json.dumps(kept, indent=1, sort_keys=True) if data else "",
        workspace.links,
        workspace.projects,
        _wanted_node(data, workspace),
    )
    modules = project.runner == "vitest"
    if any(_TYPESCRIPT.search(source.path) for source in workspace.unbuilt.values()):
        project = project.reading_typescript()
    return replace(project, built={path: _entry(path, to, modules) for path, to in workspace.unbuilt.items()})


def _wanted_node(manifest: Mapping[str, object], workspace: NodeWorkspace) -> str:
    """The oldest version of Node that tests can run with, '' for any."""
    stated = oldest_version(strings(manifest.get("engines")).get("node", "")) or _major(oldest_version(workspace.node))
    if not any(map(_RUNS_TYPESCRIPT.search, strings(manifest.get("scripts")).values())):
        return stated
    return max(stated or _READS_TYPESCRIPT, _READS_TYPESCRIPT, key=Version)


def oldest_version(bounds: str) -> str:
    """The oldest version that npm's version bounds admit, such as `22.12.0`; '' where they name none."""
    found = [f"{each}.0.0".split(".")[:3] for each in _LOWER.findall(bounds)]
    return ".".join(min(found, key=lambda parts: [*map(int, parts)], default=()))


def _major(version: str) -> str:
    return f"{version.partition('.')[0]}.0.0" if version else ""


def _entry(path: str, source: EntrySource, modules: bool) -> str:
    """A module that re-exports another one.

    Args:
        path: of the module.
        source: the other one.
        modules: whether the runner reads ES modules whatever the file is called.
    """
    there = posixpath.relpath(source.path, posixpath.dirname(path) or ".")
    place = there if there.startswith(".") else f"./{there}"
    if not modules and not source.module and path.endswith((".js", ".cjs")):
        return f'module.exports = require("{place}");\n'
    place = re.sub(r"\.[cm]?tsx?$", "", place) if _TYPES.search(path) else place
    default = f'export {{ default }} from "{place}";\n' if source.has_default else ""
    return f'export * from "{place}";\n{default}'


def _operands(words: Sequence[str], taken: Sequence[str]) -> list[str]:
    """The arguments that are neither options nor the values of the options in `taken`."""
    return [word for before, word in pairwise(["", *words]) if not word.startswith("-") and before not in taken]


def _runner_of(command: Sequence[str]) -> str:
    """The test runner that a command starts, '' for none; Node is one only with `--test`."""
    names = map(_program, command)
    return next((name for name in names if name in _RUNNERS or (name == "node" and "--test" in command)), "")


def _program(word: str) -> str:
    name = posixpath.basename(word)
    name = name.removesuffix(".js").removesuffix(".mjs")
    return _ALIASES.get(name, name)
