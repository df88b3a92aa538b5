"""Adds and removes imports that a task names, and removes those that nothing uses."""

from __future__ import annotations

import json
import posixpath
import re
import subprocess
import sys
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, task_paths
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.import_lines import (
    WantedImport,
    add_import,
    remove_names,
    top_imports,
    wanted_import,
)
from repopilot.agents.editing.exact.python.modules import imported_names, modules_of, statement_around
from repopilot.agents.editing.exact.python.name_uses import NameUse, name_table
from repopilot.agents.editing.exact.python.references import receiver_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_RUFF_S = 20.0


def change_import(task: ExactTask, sources: Sources) -> Patch | None:
    """Add or remove an import.

    Args:
        task: of kind add_import, remove_import or remove_unused_imports, with the statement or name in `name`.
        sources: the files.

    Returns:
        The change; None where the task names no single Python file.

    Raises:
        GenerationFailed: the import is there already, isn't there, or is used.
    """
    paths = task_paths(task, sources) or [p for place in task.places for p in _files_of(place.name, sources)]
    source = sources.get(paths[0]) if len(paths) == 1 else None
    if source is None or source.language != "python" or source.root is None:
        return None
    check_editable(source.path, task, sources)
    project = PythonProject(sources, modules_of(sources.workspace.index))
    if task.kind == "add_import":
        return _add(project, source, task)
    if task.kind == "remove_import":
        return _remove(source, task)
    return _remove_unused(project, source)


def _add(project: PythonProject, source: SourceText, task: ExactTask) -> Patch | None:
    text = task.name if re.match(r"(?:import|from)\b", task.name) else f"import {task.name}"
    wanted = wanted_import(text)
    if wanted is None:
        return None
    wanted = _in_full(project, source, wanted)
    patch = Patch()
    if not add_import(project, source, wanted, patch):
        raise GenerationFailed(i18n.message("exact.already_there", name=wanted.statement, path=source.path))
    patch.edits.append(Edit("add_import", source.path, "imports", wanted.statement))
    return patch


def _files_of(module: str, sources: Sources) -> list[str]:
    """The files that a module's name may mean, in full or its end: `utils`, `pkg.utils`."""
    path = f"{module.strip('`').replace('.', '/')}.py"
    return [p for p in sources.workspace.index.files if (p == path or p.endswith(f"/{path}")) and not is_test_path(p)]


def _in_full(project: PythonProject, source: SourceText, wanted: WantedImport) -> WantedImport:
    """An import of a module of the repository that is named by its end, as the file imports its neighbours."""
    known = wanted.module.startswith(".") or wanted.module.partition(".")[0] in sys.stdlib_module_names
    if known or project.modules.find(source.path, wanted.module) is not None:
        return wanted
    files = _files_of(wanted.module, project.sources)
    if len(files) != 1:
        return wanted
    beside = posixpath.dirname(files[0]) == posixpath.dirname(source.path)
    relative = any(item.module.startswith(".") for st in top_imports(source) for item in imported_names(source, st))
    module = f".{wanted.module}" if beside and relative else project.modules.name_of(files[0])
    return replace(wanted, module=module) if wanted.name else wanted


def _remove(source: SourceText, task: ExactTask) -> Patch | None:
    wanted = wanted_import(task.name)
    local = wanted.bound if wanted is not None else task.name
    if not re.fullmatch(r"[\w.]+", local):
        return None
    patch = Patch()
    for statement in top_imports(source):
        items = imported_names(source, statement)
        bound = next((i.local for i in items if local in (i.local, i.name, i.module)), None)
        if bound is not None and remove_names(source, statement, {bound}, patch):
            _check_unused(source, bound)
            place = i18n.message("exact.line", line=statement.start_point[0] + 1)
            patch.edits.append(Edit("remove_import", source.path, place))
            return patch
    raise GenerationFailed(i18n.message("exact.no_import", name=local, path=source.path))


def _check_unused(source: SourceText, local: str) -> None:
    table = name_table(source, local)
    used = [u for u in table.uses if u.role == "load" and _root_id(source) == _scope_id(table.binding_scope(u))]
    if used:
        line = source.line_of(used[0].start)
        raise GenerationFailed(i18n.message("exact.import_used", name=local, path=source.path, line=line))


def _root_id(source: SourceText) -> int:
    assert source.root is not None
    return source.root.id


def _scope_id(scope: object) -> int:
    return getattr(scope, "id", -1)


def _remove_unused(project: PythonProject, source: SourceText) -> Patch | None:
    """Remove the imports that ruff finds unused, except those that other files import from this one."""
    patch = Patch()
    for statement, locals_ in _unused_names(source).items():
        for local in sorted(locals_):
            if is_imported_elsewhere(project, source.path, local):
                patch.notes.append(i18n.message("exact.import_exported", name=local))
                locals_.discard(local)
        if locals_ and remove_names(source, statement, locals_, patch):
            place = i18n.message("exact.line", line=statement.start_point[0] + 1)
            patch.edits.append(Edit("remove_import", source.path, place))
    if not patch.edits:
        raise GenerationFailed(i18n.message("exact.no_unused_import", path=source.path))
    return patch


def _unused_names(source: SourceText) -> dict[Node, set[str]]:
    """The names that each import statement binds and nothing uses, as ruff says."""
    found: dict[Node, set[str]] = {}
    for finding in _unused(source):
        written = finding["message"].partition("`")[2].partition("`")[0]
        full, _, alias = written.partition(" as ")
        for statement in _statements_at(source, finding["location"]["row"]):
            for item in imported_names(source, statement):
                whole = f"{item.module}.{item.name}" if item.name else item.module
                same = whole == full or full.startswith(f"{item.module}.") if not item.name else whole.endswith(full)
                if same and (item.local == alias if alias else item.local in (item.name, item.module)):
                    found.setdefault(statement, set()).add(item.local)
    return found


def _statements_at(source: SourceText, row: int) -> list[Node]:
    assert source.root is not None
    found, pending = [], [source.root]
    while pending:
        node = pending.pop()
        if node.type in ("import_statement", "import_from_statement"):
            if node.start_point[0] + 1 <= row <= node.end_point[0] + 1:
                found.append(node)
        elif node.start_point[0] + 1 <= row <= node.end_point[0] + 1:
            pending.extend(node.named_children)
    return found


def _unused(source: SourceText) -> list[dict]:
    """What ruff says about unused imports."""
    options = ["check", "--isolated", "--select", "F401", "--output-format", "json", "--no-cache"]
    command = [sys.executable, "-I", "-m", "ruff", *options, "--stdin-filename", source.path, "-"]
    try:
        done = subprocess.run(command, input=source.data, capture_output=True, timeout=_RUFF_S, check=False)
        found = json.loads(done.stdout or b"[]")
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise GenerationFailed(i18n.message("exact.no_ruff", error=str(error))) from error
    return [f for f in found if f.get("code") == "F401" and f.get("fix") is not None]


def is_imported_elsewhere(project: PythonProject, path: str, name: str) -> bool:
    """Whether another file imports a name from this one, or looks it up in it."""
    for other in project.sources.mentioning(name, ("python",)):
        table = project.table(other, name) if other != path else None
        for use in table.uses if table is not None else ():
            if table is not None and _is_of_module(project, table.source, use, path):
                return True
    return False


def _is_of_module(project: PythonProject, source: SourceText, use: NameUse, path: str) -> bool:
    """Whether a use imports a name from a module, looks it up there, or replaces it there."""
    if use.role == "imported":
        statement = statement_around(use.node)
        items = imported_names(source, statement) if statement is not None else []
        name = source.data[use.start : use.end].decode("utf-8")
        return any(i.name == name and project.modules.find(source.path, i.module) == path for i in items)
    if use.role == "attribute" or (use.role == "string" and use.node.type == "string"):
        receiver = receiver_of(source, use.node)
        known = project.known(source.path, receiver) if receiver is not None else None
        if known is not None:
            return known.kind == "module" and known.path == path
    before = source.data[max(0, use.start - 200) : use.start].decode("utf-8", "replace")
    return any(before.endswith(f"{module}.") for module in project.modules.names_of(path) if "." in module)
