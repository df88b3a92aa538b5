"""Which linters, formatters and type checkers the files of a project ask for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from repopilot.code.formats.data_formats import parsed_table, tables
from repopilot.code.formats.yaml_document import from_yaml
from repopilot.project.manifest import is_manifest, read_manifest
from repopilot.project.project_commands import LINTERS, commands_in, is_read

_TOOL = re.compile(rf"(?<![\w./@-])(?:{LINTERS}|tsc)(?![\w./@])")
_NEXT_COMMAND = re.compile(r"&&|\|\||[;|\n]")
_LOOKS = re.compile(r"(?:^|[:._-])(?:lint|fmt|format|style|typecheck|types?|check)", re.I)
"""Names of scripts and targets that look at code without running it."""
_STARTERS = frozenset("npx bunx npm pnpm yarn bun exec dlx run uv uvx poetry pipenv python python3 -m".split())
_SHELL = frozenset("cd echo set if for export rm mkdir find xargs git cat exit true test make".split())
_LANGUAGES = frozenset("go cargo node deno bash sh ruby php dotnet".split())
_LONGEST = 60
_HOOKS = ".pre-commit-config.yaml"


def may_ask(path: str) -> bool:
    """Whether a file of this path may ask for tools: a manifest, scripts, CI or hooks; documentation doesn't."""
    return is_read(path) or is_manifest(path) or path.rpartition("/")[2] == _HOOKS


def asked_tools(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The tools that files ask for, each with the path of the first one that does.

    Args:
        files: path and text of each file that `may_ask`.
    """
    found: dict[str, str] = {}
    for path, text in files:
        for name in _tools_in(path, text):
            found.setdefault(name, path)
    return found


def _tools_in(path: str, text: str) -> Iterator[str]:
    commands = [each for each in commands_in(path, text) if each.origin in ("script", "ci")]
    named = {each.command.rpartition(" ")[2] for each in commands if each.origin == "script"}
    for each in commands:
        is_for_looking = each.origin == "script" and _LOOKS.search(each.command.rpartition(" ")[2])
        for run in _NEXT_COMMAND.split(each.runs or each.command):
            if tool := _TOOL.search(run):
                yield tool[0]
            elif is_for_looking and (program := _program(run)) and program not in named:
                yield program
    manifest = read_manifest(path, text)
    yield from (each.name for each in (manifest.dependencies if manifest else ()) if _TOOL.fullmatch(each.name))
    if path.rpartition("/")[2] == _HOOKS:
        yield from (tool[0] for hook in _hooks(text) if (tool := _TOOL.match(hook)))


def _program(run: str) -> str:
    """The program that a command runs, without launchers such as npx, and with its arguments where it is a language's
    own program; '' for a shell command."""
    words = run.strip().lstrip("@-").split()
    while words and (words[0] in _STARTERS or "=" in words[0]):
        words.pop(0)
    if not words or not re.fullmatch(r"[A-Za-z][\w.-]*", words[0]) or words[0] in _SHELL:
        return ""
    return " ".join(words)[:_LONGEST] if words[0] in _LANGUAGES else words[0]


def _hooks(text: str) -> Iterator[str]:
    """The names of the hooks that pre-commit runs."""
    for repository in tables(parsed_table(from_yaml, text).get("repos")):
        yield from (str(hook.get("id", "")) for hook in tables(repository.get("hooks")))
