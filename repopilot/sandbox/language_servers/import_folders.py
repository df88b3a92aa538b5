"""Import locations that a server doesn't find by itself: the folders of several Python projects, and project settings
that TypeScript 7 no longer supports."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from repopilot.code.formats.data_formats import from_jsonc, parsed_table, table
from repopilot.code.languages import language_of
from repopilot.sandbox.environments.package_install import NODE_MODULES, PACKAGE_NAME
from repopilot.sandbox.isolation.bwrap import MOUNTS
from repopilot.sandbox.job_spec import MANIFESTS
from repopilot.types import ImportedPackages

_NO_PROJECTS = frozenset({NODE_MODULES, "venv", "site-packages", "__pycache__", "build", "dist"})
_SETTINGS = ("tsconfig.json", "jsconfig.json")
_CHECKED = {"allowJs": True, "checkJs": True}
_JAVASCRIPT = {"maxNodeModuleJsDepth": 0, "module": "preserve", "target": "esnext", "strict": False, "noEmit": True}
"""Settings for a JavaScript project without any."""
_DEEPEST = 4
_MOST_FOLDERS = 2000
_LONGEST = 200_000
"""Most bytes of a settings file."""


def import_folders(root: Path) -> list[str]:
    """Folders to import modules from where a repository holds several Python projects, relative to its top, outermost
    first; none for a single project, or where the repository configures ty itself."""
    if (root / "ty.toml").exists():
        return []
    found = [path for path in _folders(root) if any((path / name).is_file() for name in MANIFESTS)]
    inner = [project for project in found if project != root]
    places = [place for project in (root, *inner) for place in (project, project / "src") if place.is_dir()]
    named = [os.path.relpath(place, root) for place in places]
    return list(dict.fromkeys(named)) if inner else []


def import_settings(root: Path) -> dict[str, str]:
    """Project settings that the server must see changed, as texts by file: `baseUrl`, unknown to TypeScript 7, becomes
    `paths`; JavaScript is checked if most of the code is JavaScript."""
    folders = list(_folders(root))
    files = [file for folder in folders for file in sorted(folder.glob("[jt]sconfig*.json")) if _is_readable(file)]
    read = {file: parsed_table(from_jsonc, file.read_text("utf-8-sig", "replace")) for file in files}
    found = {}
    for file, settings in read.items():
        options = dict(table(settings.get("compilerOptions")))
        base = options.pop("baseUrl", None)
        if isinstance(base, str) and not base.startswith(("/", "$")):
            paths = {"*": ["*"], **table(options.get("paths"))}
            lists = {name: to for name, to in paths.items() if isinstance(to, list)}
            options["paths"] = {name: [f"./{base}/{each}" for each in to] for name, to in lists.items()}
            found[file] = {**settings, "compilerOptions": options}
    if _is_javascript(folders):
        own = next((root / name for name in _SETTINGS if root / name in read), root / _SETTINGS[-1])
        settings = found.get(own, read.get(own, {"compilerOptions": _JAVASCRIPT}))
        found[own] = {**settings, "compilerOptions": {**table(settings.get("compilerOptions")), **_CHECKED}}
    return {file.relative_to(root).as_posix(): json.dumps(settings) for file, settings in found.items()}


def _is_readable(file: Path) -> bool:
    return not file.is_symlink() and file.is_file() and file.stat().st_size <= _LONGEST


def _is_javascript(folders: Iterable[Path]) -> bool:
    """Whether folders contain more JavaScript files than TypeScript files."""
    names = [entry.name for folder in folders for entry in _entries(folder) if not entry.name.endswith(".d.ts")]
    kinds = Counter(language_of(name) for name in names)
    return kinds["javascript"] > kinds["typescript"] + kinds["tsx"]


def module_links(imported: ImportedPackages) -> dict[str, str]:
    """Links beside a server's folder to JavaScript packages that the folder lacks, targets by path.

    Args:
        imported: the packages, and the members of a workspace.
    """
    found = {}
    for folder in imported.folders:
        for entry in _entries(folder):
            inner = _entries(Path(entry.path)) if entry.name.startswith("@") else [entry]
            found.update({os.path.relpath(each.path, folder): os.path.realpath(each.path) for each in inner})
    found.update({name: f"{MOUNTS.root}/{place}" for name, place in imported.members.items()})
    beside = Path(MOUNTS.root).parent / NODE_MODULES
    return {str(beside / name): target for name, target in found.items() if PACKAGE_NAME.fullmatch(name)}


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
