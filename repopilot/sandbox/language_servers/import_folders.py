"""From which folders of a repository Python imports modules, where it holds several projects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
_NO_PROJECTS = frozenset({"node_modules", "venv", "site-packages", "__pycache__", "build", "dist"})
_DEEPEST, _MOST_FOLDERS = 4, 2000


def import_folders(root: Path) -> list[str]:
    """The folders from which modules are imported where a repository holds several projects, from its top and the
    outermost first; none where it has one, or tells ty itself where they are."""
    if (root / "ty.toml").exists():
        return []
    found = [path for path in _folders(root) if any((path / name).is_file() for name in _MANIFESTS)]
    inner = [project for project in found if project != root]
    places = [place for project in (root, *inner) for place in (project, project / "src") if place.is_dir()]
    named = [os.path.relpath(place, root) for place in places]
    return list(dict.fromkeys(named)) if inner else []


def _folders(root: Path) -> Iterator[Path]:
    """The folders that may be projects, the outermost first."""
    level = [root]
    for _ in range(_DEEPEST):
        yield from level
        level = [Path(entry.path) for folder in level for entry in _entries(folder) if _may_hold_projects(entry)]
        level = sorted(level)[:_MOST_FOLDERS]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # not for this user, or gone
        return []


def _may_hold_projects(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name[0] != "." and entry.name not in _NO_PROJECTS
