"""Reads the exact versions in lock files: uv.lock, poetry.lock, pdm.lock, pylock.toml. Pure."""

from __future__ import annotations

from collections import defaultdict

from repopilot.code.formats.data_formats import table, tables, toml_tables
from repopilot.project.declaration_parts import canonical

LOCK_FILES = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")


def locked_versions(text: str) -> dict[str, str]:
    """The version of each package in a lock file.

    Args:
        text: of the file.

    Returns:
        Versions by name. A package that is locked in several versions (for several systems) is not among them.
    """
    found: dict[str, set[str]] = defaultdict(set)
    data = toml_tables(text)
    for package in tables(data.get("package") or data.get("packages")):
        name = package.get("name")
        version = package.get("version")
        source = table(package.get("source"))
        elsewhere = source.keys() & {"editable", "virtual", "directory", "path", "git"} or source.get("type") in (
            "directory",
            "git",
            "file",
        )
        if isinstance(name, str) and isinstance(version, str) and not elsewhere:
            found[canonical(name)].add(version)
    return {name: next(iter(versions)) for name, versions in found.items() if len(versions) == 1}
