"""Writes a project's metadata, as an installed package has it, from its declarations, and lists pytest plugins.

The project isn't installed, since that would run its build; its tests may still ask for its version or entry points.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from configparser import ConfigParser, Error
from pathlib import Path

from repopilot.project.project_version import UNKNOWN_VERSION
from repopilot.project.python_project import ProjectDeclaration

_PLUGINS = "pytest11"
# Plugins that start other processes, repeat or reorder tests, or only report: each test must run once, in this process.
_NOT_LOADED = frozenset(
    "xdist xdist.looponfail pytest_cov randomly random_order rerunfailures flaky sugar html metadata pytest-forked "
    "instafail repeat testmon watch picked reportlog json_report retry parallel codspeed pretty clarity tap "
    "pytest_profiling memray split pytest-memray pytest_jsonreport pytest-rerunfailures pytest_randomly "
    "pytest_codspeed pytest-run-parallel run-parallel".split()
)


def write_metadata(project: ProjectDeclaration, folder: Path) -> Path | None:
    """Write the project's `.dist-info` folder.

    Args:
        project: the project's declarations.
        folder: the folder for all such metadata; the project gets a subfolder named by a hash of the content.

    Returns:
        The folder to search for it, None for a project without a name.

    Raises:
        OSError: it can't be written.
    """
    if not project.name:
        return None
    texts = _texts(project)
    digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:16]
    target = folder / digest
    if target.exists():
        return target
    version = project.version or UNKNOWN_VERSION
    building = folder / f"{digest}-{secrets.token_hex(4)}"
    info = building / f"{re.sub(r'[-_.]+', '_', project.name)}-{version}.dist-info"
    info.mkdir(parents=True)
    for name, text in texts.items():
        (info / name).write_text(text, "utf-8")
    try:
        os.rename(building, target)
    except OSError:  # written by another process meanwhile
        shutil.rmtree(building, ignore_errors=True)
        if not target.exists():
            raise
    return target


def installed_plugins(packages: tuple[Path, ...]) -> tuple[str, ...]:
    """The names of pytest plugins among installed packages, without those that don't suit a verified run."""
    found: dict[str, None] = {}
    for folder in packages:
        for path in sorted(folder.glob("*.dist-info/entry_points.txt")):
            found |= dict.fromkeys(_entry_points(path).get(_PLUGINS, {}))
    return tuple(name for name in found if name not in _NOT_LOADED)


def _texts(project: ProjectDeclaration) -> dict[str, str]:
    version = project.version or UNKNOWN_VERSION
    headers = ["Metadata-Version: 2.1", f"Name: {project.name}", f"Version: {version}"]
    headers += [f"Requires-Python: {project.python}"] if project.python else []
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {place}" for name, place in points.items()), ""])
        for group, points in project.entry_points.items()
    ]
    return {
        "METADATA": "\n".join(headers) + "\n",
        "INSTALLER": "repopilot\n",
        "RECORD": "",
        "entry_points.txt": "\n".join(groups),
    }


def _entry_points(path: Path) -> Mapping[str, Mapping[str, str]]:
    parser = ConfigParser(interpolation=None, strict=False, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(path.read_text("utf-8"))
    except (OSError, Error, ValueError):
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}
