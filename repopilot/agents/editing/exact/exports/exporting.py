"""Carries out tasks that export a definition from a package, or no longer do."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.exports.export_lists import export_list
from repopilot.agents.editing.exact.exports.python_packages import (
    export_from_package,
    is_package_path,
    package_named,
    top_package,
    unexport_from_package,
)
from repopilot.agents.editing.exact.exports.rust_crates import export_from_crate, top_crate, unexport_from_crate
from repopilot.agents.editing.exact.exports.script_indexes import (
    export_from_index,
    index_named,
    is_index_path,
    top_index,
    unexport_from_index,
)
from repopilot.agents.editing.exact.locate import (
    ambiguous,
    candidates,
    dotted,
    is_code_name,
    is_name,
    not_found,
    path_named,
)
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.sources import Patch, Sources
from repopilot.errors import GenerationFailed
from repopilot.types import Symbol

_SCRIPTS = ("javascript", "typescript", "tsx")


def export(task: ExactTask, sources: Sources) -> Patch | None:
    """Make a definition importable from the top of its package, or from the package that the task names.

    Args:
        task: of kind export, with the definition in `name` and perhaps the package in `places`; with `module` in
            `extra` that is the module itself, whose `__all__` is to list it.
        sources: the files.

    Returns:
        The change; None where the name isn't that of a definition, or its language has no such exports.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it is exported already, or there is no such definition or package.
    """
    if not is_name(task.name):
        return None
    target, narrowed = _target(task, sources)
    symbol = _definition(narrowed, target, sources)
    source = sources.get(symbol.path) if symbol is not None else None
    if symbol is None or source is None:
        return None
    patch = Patch()
    place = target or _top(symbol, source.language, sources)
    if source.language == "python":
        export_from_package(_project(sources), symbol, place, patch, begin="module" in task.extra)
    elif source.language in _SCRIPTS:
        export_from_index(symbol, source, place, sources, patch)
    elif source.language == "rust":
        export_from_crate(symbol, source, place, sources, patch)
    else:
        return None
    return patch


def unexport(task: ExactTask, sources: Sources) -> Patch | None:
    """No longer offer a definition from its package; who still imports it from there is left open.

    Args:
        task: of kind unexport, with the name and perhaps the package.
        sources: the files.

    Returns:
        The change; None where the name isn't that of a definition.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: the package doesn't offer it.
    """
    if not is_name(task.name):
        return None
    target, narrowed = _target(task, sources)
    symbol = _definition(narrowed, target, sources)
    source = sources.get(symbol.path) if symbol is not None else None
    if symbol is None or source is None:
        return None
    patch = Patch()
    place = target or _top(symbol, source.language, sources)
    if source.language == "python":
        done = unexport_from_package(_project(sources), symbol.name, place, patch)
    elif source.language in _SCRIPTS:
        done = unexport_from_index(symbol, place, sources, patch)
    elif source.language == "rust":
        done = unexport_from_crate(symbol, place, sources, patch)
    else:
        return None
    if not done:
        raise GenerationFailed(i18n.message("exact.not_exported", name=symbol.name, path=place))
    return patch


def _top(symbol: Symbol, language: str, sources: Sources) -> str:
    """The file that offers what the definition's package offers; its own where there is no package."""
    if language == "python":
        return top_package(symbol.path, sources) or symbol.path
    return (
        top_crate(symbol.path, sources.workspace.index) if language == "rust" else top_index(symbol.path, sources)
    ) or symbol.path


def _project(sources: Sources) -> PythonProject:
    return PythonProject(sources, modules_of(sources.workspace.index))


def _target(task: ExactTask, sources: Sources) -> tuple[str | None, ExactTask]:
    """The file that a task names as the place of the export, and the task with its other places only."""
    index = sources.workspace.index
    target, rest = None, []
    for place in task.places:
        path = path_named(place.name, index)
        if path is not None and (
            is_package_path(path) or is_index_path(path) or path.endswith("lib.rs") or "module" in task.extra
        ):
            target = path
        elif found := (_package(place.name, sources) if path is None else None) or _passing_on(
            path or f"{place.name.replace('.', '/')}.py", task.name, sources
        ):
            target = found
        else:
            rest.append(place)
    return target, replace(task, places=tuple(rest))


def _package(name: str, sources: Sources) -> str | None:
    return package_named(name, sources) or index_named(name, sources.workspace.index)


def _passing_on(path: str, name: str, sources: Sources) -> str | None:
    """The module of a path that lists what it exports and doesn't define a name itself."""
    index = sources.workspace.index
    found = [p for p in index.files if p == path or p.endswith(f"/{path}")]
    source = sources.get(found[0]) if len(found) == 1 else None
    if source is None or source.language != "python" or export_list(source) is None:
        return None
    return None if any(symbol.qualified == name for symbol in index.outline(source.path)) else source.path


def _definition(task: ExactTask, target: str | None, sources: Sources) -> Symbol | None:
    """The definition at the top level of a file that a name means: one in the package, where one is there."""
    found = [s for s in candidates(task.name, task, sources) if "." not in s.qualified]
    folder = posixpath.dirname(target) if target is not None else ""
    inside = [s for s in found if s.path.startswith(f"{folder}/")] if folder else found
    found = _without_exports(inside or found)
    if len(found) > 1:
        raise ambiguous(task.name, found)
    if not found and (is_code_name(task.name) or task.what) and not candidates(task.name, task, sources):
        raise not_found(dotted(task.name), task, sources.workspace.index)
    return found[0] if found else None


def _without_exports(found: Sequence[Symbol]) -> list[Symbol]:
    """Definitions only: the name that a package gives to an import is none."""
    own = [s for s in found if not is_package_path(s.path) and not is_index_path(s.path)]
    return own or list(found)
