"""Finds interpreters other than our own: one that the user named, and those on this machine."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from packaging.specifiers import SpecifierSet

from repopilot import i18n
from repopilot.errors import EnvironmentFailed
from repopilot.sandbox.environments.distribution_metadata import installed_plugins
from repopilot.types import Environment

_TIMEOUT_S = 20.0
_ASK = """
import json, platform, site, sys, sysconfig
folders = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, sysconfig.get_path("stdlib"), *folders]
print(json.dumps({"folders": folders, "paths": paths, "version": platform.python_version()}))
"""
_HAS_PYTEST = "import pytest\n"
_PLACES = (".pyenv/versions", ".local/share/uv/python", ".asdf/installs/python", ".local/share/mise/installs/python")
"""Where version managers keep interpreters that aren't on the path."""
_NUMBERED = re.compile(r"python3\.(?:1[1-9]|[2-9]\d)")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter.

    Attributes:
        program: the path of its executable.
        version: as in `3.12.1`.
        folders: folders of its packages.
        readable: the folders that it reads.
    """

    program: Path
    version: str
    folders: tuple[Path, ...]
    readable: tuple[Path, ...]


def interpreter_for(bounds: str) -> Interpreter | None:
    """The interpreter on this machine that suits a project, with the version nearest to ours.

    Args:
        bounds: bounds on the version, '' for none.

    Returns:
        The interpreter; None where ours or none fits.
    """
    if fits(bounds, platform.python_version()):
        return None
    found = (_known(str(program)) for program in _programs())
    fitting = [each for each in found if each and fits(bounds, each.version)]
    return min(fitting, key=lambda each: (_distance(each.version), each.version), default=None)


def fits(bounds: str, version: str) -> bool:
    """Whether bounds admit a version of Python; also true for bounds that can't be read."""
    try:
        return not bounds or SpecifierSet(bounds).contains(version, prereleases=True)
    except ValueError:  # InvalidSpecifier, and numbers too long to be read
        return True


def _distance(version: str) -> int:
    return abs(int(version.split(".")[1]) - sys.version_info.minor)


def _programs() -> Iterator[Path]:
    for folder in os.get_exec_path():
        yield from (path for path in sorted(Path(folder).glob("python3.*")) if _NUMBERED.fullmatch(path.name))
    for place in (os.environ.get("PYENV_ROOT", "/") + "/versions", *(f"{Path.home()}/{each}" for each in _PLACES)):
        yield from sorted(Path(place).glob("*/bin/python3"))


@lru_cache(maxsize=64)
def _known(program: str) -> Interpreter | None:
    """The facts about an interpreter; None where it can't be started."""
    try:
        return _ask(program, "")
    except EnvironmentFailed:
        return None


def named_environment(program: str, files: Mapping[str, str] | None = None) -> Environment:
    """The environment of an interpreter that has the repository's dependencies and pytest.

    Args:
        program: its path or name.
        files: texts of files that the project's build would write.

    Raises:
        EnvironmentFailed: it can't be started, or has no pytest.
    """
    named = _ask(program, _HAS_PYTEST)
    plugins = installed_plugins(named.folders)
    return Environment("", named.program, (), named.readable, plugins, files or {})


@lru_cache(maxsize=32)
def _ask(program: str, first: str) -> Interpreter:
    try:
        command = [program, "-s", "-P", "-B", "-c", first + _ASK]  # runs need -P, too: Python 3.11 or newer
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        problem = str(error)
        found = None
    else:
        problem = (done.stderr.strip().splitlines() or [str(done.returncode)])[-1]
    if found is None:
        raise EnvironmentFailed(
            i18n.message("environments.interpreter_unusable", program=program, problem=problem),
            i18n.message("environments.interpreter_hint"),
        )
    # Links aren't resolved: an interpreter recognises its virtual environment by the folder of its program.
    readable = [*found["paths"], os.path.dirname(program), os.path.dirname(os.path.realpath(program))]
    readable += [os.path.realpath(path) for path in readable]
    outside = tuple(Path(path) for path in dict.fromkeys(readable) if path != "/" and os.path.exists(path))
    folders = tuple(map(Path, found["folders"]))
    return Interpreter(Path(os.path.abspath(program)), found["version"], folders, outside)
