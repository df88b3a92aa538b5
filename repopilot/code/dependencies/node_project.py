"""What a package.json declares: packages, and how the tests are run. Pure; nothing in it is executed."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repopilot.code.data_formats import strings
from repopilot.code.dependencies.declaration_parts import shell_words
from repopilot.code.dependencies.workspaces import NodeWorkspace

LOCK_FILES = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml")
"""Those that are respected; the first one there is."""
INSTALLED = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_KEPT = ("name", "version", "type", *INSTALLED, "peerDependenciesMeta", "overrides", "pnpm")
_FROM_REGISTRY = re.compile(
    r"^(?!(?:file|link|workspace|catalog|portal|git|https?|github|gitlab|bitbucket)\b.*:)[^/]*$|^npm:"
)
_RUNNERS = ("vitest", "jest", "mocha", "ava", "tap", "jasmine", "karma", "playwright", "cypress", "uvu", "tape", "bun")
_ALIASES = {"_mocha": "mocha", "react-scripts": "jest", "qunit": "qunit"}
_SCRIPT = re.compile(r"^(?:npm|yarn|pnpm)$")
_DEPTH = 3
_MOST_COMMANDS = 60


@dataclass(frozen=True, slots=True)
class NodeProject:
    """A package of JavaScript or TypeScript.

    Attributes:
        name: of the package.
        requirements: what it asks for from the registry, `name@range`.
        elsewhere: what it asks for from anywhere else: folders, git, addresses.
        scripts: commands by name.
        manifest: what of package.json bears on an installation, as JSON; '' without one.
        links: the folders of the members of its workspace, by the names of their packages.
        projects: the settings of test runners in the folders of members, where the top has none.
    """

    name: str = ""
    requirements: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    scripts: Mapping[str, str] = field(default_factory=dict)
    manifest: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    projects: tuple[str, ...] = ()

    @property
    def runner(self) -> str:
        """The test runner: the first that the test scripts start, else the one that is required, else `node`."""
        for command in self._commands():
            for word in command:
                if (name := _program(word)) in _RUNNERS:
                    return name
                if name == "node" and "--test" in command:
                    return name
        required = {requirement.rpartition("@")[0] for requirement in self.requirements}
        return next((name for name in _RUNNERS if name in required), "node")

    def options(self, program: str, taken: Sequence[str], switches: Sequence[str] = ()) -> tuple[str, ...]:
        """The options that the test scripts give a program, as far as they are wanted.

        Args:
            program: its name.
            taken: options with a value, as `--name value` or `--name=value`.
            switches: the beginnings of options without one.
        """
        return _options(self._arguments(program), taken, switches)

    def operands(self, program: str, taken: Sequence[str]) -> tuple[str, ...]:
        """What the test scripts give a program beside options; `taken` have a value."""
        words = self._arguments(program)
        found = []
        for number, word in enumerate(words):
            if not word.startswith("-") and (number == 0 or words[number - 1] not in taken):
                found.append(word)
        return tuple(found)

    def _arguments(self, program: str) -> list[str]:
        """The arguments of the first command that starts a program; for node also those in NODE_OPTIONS."""
        for command in self._commands():
            variable = next((word for word in command if word.startswith("NODE_OPTIONS=")), "")
            if program == "node" and variable:
                return shell_words(variable.partition("=")[2])
            for number, word in enumerate(command):
                if _program(word) == program:
                    return command[number + 1 :]
        return []

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
            called = [word for word in words[1:] if word in self.scripts] if words and _SCRIPT.match(words[0]) else []
            if called and depth:
                yield from self._expanded(called[0], depth - 1)
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
    return NodeProject(
        str(data.get("name") or ""),
        tuple(f"{name}@{version}" for name, version in wanted.items() if name not in elsewhere),
        tuple(f"{name}@{wanted[name]}" for name in wanted if name in elsewhere),
        strings(data.get("scripts")),
        json.dumps(kept, indent=1, sort_keys=True) if data else "",
        workspace.links,
        workspace.projects,
    )


def _options(words: Sequence[str], taken: Sequence[str], switches: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for number, word in enumerate(words):
        if word in taken and number + 1 < len(words):
            found += [word, words[number + 1]]
        elif ("=" in word and word.partition("=")[0] in taken) or any(word.startswith(start) for start in switches):
            found.append(word)
    return tuple(found)


def _program(word: str) -> str:
    name = posixpath.basename(word)
    name = name.removesuffix(".js").removesuffix(".mjs")
    return _ALIASES.get(name, name)
