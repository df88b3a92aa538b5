"""Writes a new Python module that only re-exports what others define."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from repopilot.agents.editing.outcome import EditOutcome
from repopilot.agents.editing.places import named_paths
from repopilot.code.languages import is_test_path
from repopilot.index.store import Index
from repopilot.tools import file_change
from repopilot.types import Edit
from repopilot.workspace import Workspace

_REEXPORT = re.compile(r"\bre-?\s?export\w*|\br[ée]-?export\w*", re.I)
_NEW = re.compile(r"\b(?:new|create|add|write|nouveau|cr[ée]e\w*|ajoute\w*)\b", re.I)
_NAME = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?![\w/-]|\.\w)")
_SOURCES = ("src/", "lib/")


def reexport(task: str, workspace: Workspace) -> EditOutcome | None:
    """Write a module that re-exports names.

    Args:
        task: "create errors.py that re-exports ParseError from the exceptions module".
        workspace: the repository.

    Returns:
        The new file; None where the task is another one, or where one name has several definitions.
    """
    index = workspace.index
    if not _REEXPORT.search(task):
        return None
    new = [p for p in named_paths(task, index) if p not in index.files and p.endswith(".py")]
    if len(new) != 1 or (any(p.endswith(f"/{new[0]}") for p in index.files) and not _NEW.search(task)):
        return None
    defined = {name: path for name in _NAME.findall(task) if (path := _module_defining(name, task, index)) is not None}
    if not defined:
        return None
    text = _module_text(new[0], defined, index)
    change = file_change.change(new[0], text, None)
    return EditOutcome((change,), (Edit("add_file", new[0], "", text),), by_code=True)


def _module_defining(name: str, task: str, index: Index) -> str | None:
    """The file that defines a name at its top; of several that whose module the task names."""
    if not re.search(r"[A-Z_]", name) and f"`{name}`" not in task:
        return None
    found = {s.path for s in index.symbols(name) if s.qualified == name and s.path.endswith(".py")}
    code = sorted(path for path in found if not is_test_path(path))
    named = [path for path in code if re.search(rf"\b{re.escape(PurePosixPath(path).stem)}\b", task)]
    chosen = named if len(code) > 1 else code
    return chosen[0] if len(chosen) == 1 else None


def _module_text(path: str, defined: dict[str, str], index: Index) -> str:
    """The imports in the style of the folder's other modules, and `__all__`."""
    folder = str(PurePosixPath(path).parent)
    written = Counter(
        (each.module.startswith("."), len(each.names) > 1)
        for other in index.files
        if str(PurePosixPath(other).parent) == folder and other.endswith(".py")
        for each in index.imports(other)
        if each.names and (each.module.startswith(".") or _is_own(each.module, path))
    )
    relative = sum(n for (dotted, _), n in written.items() if dotted) >= sum(
        n for (dotted, _), n in written.items() if not dotted
    )
    apart = bool(written) and not any(several for _, several in written)
    lines: list[str] = []
    for source in sorted(set(defined.values())):
        names = sorted(name for name, where in defined.items() if where == source)
        module = _module_name(source, path, relative)
        lines += (
            [f"from {module} import {name}" for name in names]
            if apart
            else [f"from {module} import {', '.join(names)}"]
        )
    quoted = ", ".join(f'"{name}"' for name in sorted(defined))
    return "\n".join([*lines, "", f"__all__ = [{quoted}]", ""])


def _is_own(module: str, path: str) -> bool:
    return module.partition(".")[0] in PurePosixPath(path).parts


def _module_name(source: str, path: str, relative: bool) -> str:
    """A module as another one imports it: relative where both lie in one folder and the project writes so."""
    place = PurePosixPath(source)
    if relative and place.parent == PurePosixPath(path).parent:
        return f".{place.stem}" if place.stem != "__init__" else "."
    plain = source
    for folder in _SOURCES:
        plain = plain.removeprefix(folder)
    return re.sub(r"(?:/__init__)?\.py$", "", plain).replace("/", ".")
