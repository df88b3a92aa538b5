"""Runs a repository's formatters on changed files in the sandbox; they only report, and write nothing back.

A result means something only compared with the result for the old version: not every file is kept formatted.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot import i18n
from repopilot.errors import SandboxError
from repopilot.redaction.redact import redacted
from repopilot.sandbox.job_spec import MB, SandboxLimits, SandboxProgram
from repopilot.sandbox.levels import level
from repopilot.sandbox.run_program import CopiedRun, node_program, run_in_copy, why_failed
from repopilot.sandbox.runners.runner_table import installed_program
from repopilot.settings import Settings
from repopilot.types import Environment, InstalledPackages

_LIMITS = SandboxLimits(memory=2048 * MB)
_WEB = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".json", ".css")
_SHOWN = 2
"""Lines shown of a diff."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of formatter: suffixes of its files, and its configuration files, each with a text that it must
    contain."""

    suffixes: tuple[str, ...]
    configs: Mapping[str, str]
    arguments: tuple[str, ...]
    script: str = ""


_PRETTIER = (".prettierrc", *(f".prettierrc.{each}" for each in ("json", "yaml", "yml", "toml", "js", "cjs", "mjs")))
_KINDS = {
    "gofmt": _Kind((".go",), {"go.mod": ""}, ("-d",)),
    "ruff format": _Kind(
        (".py", ".pyi"),
        {"ruff.toml": "", ".ruff.toml": "", "pyproject.toml": "[tool.ruff"},
        ("-s", "-P", "-B", "-m", "ruff", "format", "--diff", "--no-cache", "--"),
    ),
    "black": _Kind(
        (".py", ".pyi"), {"pyproject.toml": "[tool.black"}, ("-s", "-P", "-B", "-m", "black", "-q", "--diff", "--")
    ),
    "prettier": _Kind(
        (*_WEB, ".scss", ".less", ".html", ".vue", ".md", ".yaml", ".yml"),
        {**dict.fromkeys((*_PRETTIER, "prettier.config.js", "prettier.config.mjs"), ""), "package.json": '"prettier"'},
        ("--list-different",),
        "prettier/bin/prettier.cjs",
    ),
    "biome": _Kind(_WEB, {"biome.json": "", "biome.jsonc": ""}, ("format",), "@biomejs/biome/bin/biome"),
}
_BESIDE = (".prettierignore", ".editorconfig", ".gitignore")


@dataclass(frozen=True, slots=True)
class Formatter:
    """A formatter that a repository configures.

    Attributes:
        name: its usual name.
        paths: the changed files that it formats.
        configs: texts by path of the files that configure it.
        run: how to run it, without file names; None where it isn't installed.
    """

    name: str
    paths: tuple[str, ...]
    configs: Mapping[str, str]
    run: CopiedRun | None


def formatters_for(
    paths: Sequence[str],
    read: Callable[[str], str | None],
    environment: Environment | None,
    packages: Callable[[], InstalledPackages | None],
) -> list[Formatter]:
    """The formatters that a repository configures for some files.

    Args:
        paths: the files.
        read: the text of a file of the repository, None for none.
        environment: the Python packages that the repository needs, None for none.
        packages: gives the repository's Node packages, None for none; called only for formatters that run on Node.
    """
    found = []
    for name, kind in _KINDS.items():
        wanted = tuple(path for path in paths if path.endswith(kind.suffixes))
        names = dict.fromkeys(
            posixpath.join(folder, each) for folder in _folders(wanted) for each in (*kind.configs, *_BESIDE)
        )
        texts = {each: text for each in names if (text := read(each)) is not None}
        needed = kind.configs
        if any(needed.get(posixpath.basename(each), "\0") in text for each, text in texts.items()):
            found.append(Formatter(name, wanted, texts, _run(name, kind, environment, packages)))
    return found


def unformatted(
    formatter: Formatter, files: Mapping[str, str], settings: Settings, cancel: threading.Event
) -> dict[str, str]:
    """Files that a formatter would change, each with the first changed lines if the formatter prints them. Blocking.

    Args:
        formatter: one that is installed.
        files: texts by path.
        settings: sandbox level and time limit.
        cancel: ends the run once set.

    Raises:
        SandboxError: no level works, or the formatter failed.
        StorageError: the files can't be written.
        Cancelled: `cancel` was set.
    """
    assert formatter.run is not None
    program = formatter.run.program
    limits = replace(_LIMITS, seconds=settings.test_timeout_s)
    asked = replace(program, arguments=(*program.arguments, *files))
    outcome, _ = run_in_copy(
        {**formatter.configs, **files}, replace(formatter.run, program=asked, limits=limits), level(settings), cancel
    )
    said = redacted(outcome.report.decode("utf-8", "replace"))
    if outcome.ended != "finished" or outcome.status not in (0, 1):
        why = why_failed(outcome, limits, said)
        raise SandboxError(i18n.message("sandbox.format_unchecked", name=formatter.name, why=why))
    places = ((path, re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w.-])", said)) for path in files)
    return {path: _difference(said[place.end() :]) for path, place in places if place}


def _difference(said: str) -> str:
    """The first changed lines of a unified diff."""
    rows = (row for row in said.split("\n") if re.match(r"[+-](?![+-]{2} )", row))
    return " ".join(f"`{row}`" for row, _ in zip(rows, range(_SHOWN), strict=False))


def _folders(paths: Iterable[str]) -> list[str]:
    """All folders above some files, including the repository's top folder."""
    found: dict[str, None] = {}
    for path in paths:
        while path:
            path = posixpath.dirname(path)
            found[path] = None
    return list(found)


def _run(
    name: str, kind: _Kind, environment: Environment | None, packages: Callable[[], InstalledPackages | None]
) -> CopiedRun | None:
    """How to run a formatter; None where it isn't installed."""
    if kind.script:
        installed = packages()
        program = node_program(installed, kind.script, kind.arguments)
        return CopiedRun(program, _LIMITS, node_modules=installed.folder) if installed and program else None
    if name == "gofmt":
        return _go_run(kind)
    folders = [os.path.realpath(folder) for folder in environment.packages] if environment else []
    if name == "black" and not any(os.path.isdir(f"{folder}/black") for folder in folders):
        return None
    variables = {"PYTHONPATH": os.pathsep.join(folders)} if name == "black" else {}
    readable = tuple(map(Path, folders)) if name == "black" else ()
    return CopiedRun(SandboxProgram((sys.executable, *kind.arguments), variables, readable=readable), _LIMITS)


def _go_run(kind: _Kind) -> CopiedRun | None:
    found = installed_program("go")
    if found is None or not (program := found[0].with_name("gofmt")).is_file():
        return None
    return CopiedRun(SandboxProgram((str(program), *kind.arguments), readable=found[1]), _LIMITS)
