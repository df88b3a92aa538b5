"""Reads the exact versions in lock files: uv.lock, poetry.lock, pdm.lock, pylock.toml, Pipfile.lock. Pure."""

from __future__ import annotations

from collections import defaultdict

from repopilot.code.data_formats import from_json, from_toml, table
from repopilot.code.dependencies.declaration_parts import canonical

LOCK_FILES = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock")


def locked_versions(path: str, text: str) -> dict[str, str]:
    """The version of each package in a lock file.

    Args:
        path: of the file.
        text: of the file.

    Returns:
        Versions by name. A package that is locked in several versions (for several systems) is not among them.
    """
    try:
        found = _pipfile_lock(text) if path.endswith("Pipfile.lock") else _toml_lock(text)
    except ValueError:
        return {}
    return {name: next(iter(versions)) for name, versions in found.items() if len(versions) == 1}


def _toml_lock(text: str) -> dict[str, set[str]]:
    data = from_toml(text)
    found: dict[str, set[str]] = defaultdict(set)
    packages = data.get("package") or data.get("packages")
    for entry in packages if isinstance(packages, list) else ():
        package = table(entry)
        name, version, source = package.get("name"), package.get("version"), table(package.get("source"))
        elsewhere = source.keys() & {"editable", "virtual", "directory", "path", "git"} or source.get("type") in (
            "directory",
            "git",
            "file",
        )
        if isinstance(name, str) and isinstance(version, str) and not elsewhere:
            found[canonical(name)].add(version)
    return found


def _pipfile_lock(text: str) -> dict[str, set[str]]:
    data = table(from_json(text))
    found: dict[str, set[str]] = defaultdict(set)
    for section in ("default", "develop"):
        for name, options in table(data.get(section)).items():
            version = table(options).get("version")
            if isinstance(version, str) and version.startswith("=="):
                found[canonical(name)].add(version[2:])
    return found
