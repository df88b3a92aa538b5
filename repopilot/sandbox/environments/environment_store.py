"""Environments on disk: found by a project's declarations, listed, removed.

Each is a folder named by a key of the declared content and the interpreter; `site` has the packages and
`environment.json` the facts. It is published by one rename, once complete.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from repopilot import i18n
from repopilot.errors import StorageError
from repopilot.project.python_project import ProjectDeclaration
from repopilot.sandbox.environments.distribution_metadata import installed_plugins, write_metadata
from repopilot.sandbox.environments.named_interpreter import interpreter_for
from repopilot.sandbox.environments.uv import CACHE
from repopilot.sandbox.job_spec import MB
from repopilot.sandbox.usage.processes import disk_use
from repopilot.settings import Settings
from repopilot.types import Environment, LeftOut

FACTS = "environment.json"
SITE = "site"
METADATA = "metadata"
_FORM = 2
_FAILED = ".failed.json"
_AGAIN_S = 3600.0
_MOST_COUNTED = 1 << 42


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """Facts about a built environment.

    Attributes:
        project: the name of the project that it was built for.
        requirements: what was asked for.
        packages: what was installed, `name==version`.
        left_out: requirements that could not be installed, with the reasons.
        megabytes: size on disk.
        seconds: duration of the build.
        unlocked: whether the versions of the project's lock files could not be kept.
    """

    project: str = ""
    requirements: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    megabytes: float = 0.0
    seconds: float = 0.0
    unlocked: bool = False


def environment_key(project: ProjectDeclaration) -> str:
    """The key of a project's environment: a hash of its declarations and the interpreter."""
    other = interpreter_for(project.python)
    tag = other.version if other else sys.implementation.cache_tag
    content = [_FORM, sorted(project.requirements), sorted(project.constraints), tag]
    content += [platform.system(), platform.machine()]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


def load_environment(project: ProjectDeclaration, settings: Settings) -> Environment | None:
    """The environment built for a project's current declarations; None where there is none.

    Args:
        project: the project's declarations.
        settings: the data directory.

    Raises:
        StorageError: the data directory can't be used.
    """
    key = environment_key(project)
    folder = settings.environments_folder / key
    facts = read_facts(folder)
    if facts is None:
        return None
    try:
        metadata = write_metadata(project, folder / METADATA)
    except OSError as error:
        raise StorageError(i18n.message("environments.not_stored", error=error)) from error
    packages = tuple(path for path in (metadata, folder / SITE) if path is not None)
    other = interpreter_for(project.python)
    return Environment(
        key,
        other.program if other else None,
        packages,
        other.readable if other else (),
        installed_plugins(packages),
        project.built,
        facts.left_out,
    )


def read_facts(folder: Path) -> EnvironmentFacts | None:
    """The facts of a built environment; None where the folder has none."""
    try:
        data = json.loads((folder / FACTS).read_text("utf-8"))
        data["left_out"] = tuple(LeftOut(name, i18n.from_json(reason)) for name, reason in data["left_out"])
        data |= {name: tuple(data[name]) for name in ("requirements", "packages")}
        return EnvironmentFacts(
            **{each.name: data[each.name] for each in fields(EnvironmentFacts) if each.name in data}
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def note_failure(key: str, reason: str, settings: Settings) -> None:
    """Remember why an environment could not be built."""
    with suppress(OSError):  # then the build is tried again, and reports the disk's problem
        settings.environments_folder.mkdir(parents=True, exist_ok=True)
        (settings.environments_folder / f"{key}{_FAILED}").write_text(json.dumps(i18n.to_json(reason)), "utf-8")


def failed_lately(key: str, settings: Settings) -> str:
    """Why an environment could not be built within the last hour; '' where no build failed."""
    note = settings.environments_folder / f"{key}{_FAILED}"
    try:
        is_recent = time.time() - note.stat().st_mtime < _AGAIN_S
        return i18n.from_json(json.loads(note.read_text("utf-8"))) if is_recent else ""
    except (OSError, ValueError, LookupError):
        return ""


def write_facts(facts: EnvironmentFacts, folder: Path) -> None:
    """Write the facts of an environment into its folder. Raises OSError."""
    left_out = [(entry.requirement, i18n.to_json(entry.reason)) for entry in facts.left_out]
    (folder / FACTS).write_text(json.dumps(asdict(facts) | {"left_out": left_out}, indent=1), "utf-8")


def list_environments(settings: Settings) -> dict[str, EnvironmentFacts]:
    """The built environments by key."""
    folder = settings.environments_folder
    found = {path.name: read_facts(path) for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    return {key: facts for key, facts in found.items() if facts is not None}


def remove_environment(key: str, settings: Settings) -> bool:
    """Remove an environment, and uv's cache with the last one.

    Args:
        key: of the environment.
        settings: the data directory.

    Returns:
        Whether the environment existed.

    Raises:
        StorageError: it can't be removed.
    """
    folder = settings.environments_folder / key
    existed = folder.is_dir()
    try:
        if existed:
            (folder / FACTS).unlink(missing_ok=True)  # no longer an environment, even if the removal is interrupted
            shutil.rmtree(folder)
        if not list_environments(settings):
            shutil.rmtree(settings.environments_folder / CACHE, ignore_errors=True)
    except OSError as error:
        raise StorageError(i18n.message("environments.not_removed", error=error)) from error
    return existed


def allow(repository: str, settings: Settings, what: str = "allowed") -> None:
    """Remember the user's permanent permission to do something with a repository.

    Args:
        repository: its key.
        settings: the data directory.
        what: `allowed` for fetching the packages of its tests, `commands` for running its commands.

    Raises:
        StorageError: the data directory can't be used.
    """
    try:
        settings.environments_folder.mkdir(parents=True, exist_ok=True)
        _allowed_file(repository, settings, what).touch()
    except OSError as error:
        raise StorageError(i18n.message("environments.not_stored", error=error)) from error


def is_allowed(repository: str, settings: Settings, what: str = "allowed") -> bool:
    """Whether the user has given this permission; arguments as in `allow`."""
    return _allowed_file(repository, settings, what).is_file()


def _allowed_file(repository: str, settings: Settings, what: str) -> Path:
    return settings.environments_folder / f"{hashlib.sha256(repository.encode()).hexdigest()[:20]}.{what}"


def megabytes_of(folder: Path) -> float:
    """The size of a folder on disk."""
    return round(disk_use(folder, _MOST_COUNTED) / MB, 1)
