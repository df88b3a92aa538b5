"""Renames a Python module, with the imports of it."""

from __future__ import annotations

import posixpath
import re

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.files.file_renaming import rename_other_file
from repopilot.agents.editing.exact.files.path_mentions import mend_mentions
from repopilot.agents.editing.exact.locate import path_named
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.modules import imported_names, modules_of, statement_around
from repopilot.agents.editing.exact.python.name_uses import NameUse, name_table
from repopilot.agents.editing.exact.python.references import in_all
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.code.languages import file_kind, is_doc_path, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.tools import file_change
from repopilot.types import Edit


def rename_file(task: ExactTask, sources: Sources) -> Patch | None:
    """Rename a file; the imports of a Python module follow.

    Args:
        task: the file or module in `name`, its new name or path in `new`.
        sources: the files.

    Returns:
        The changes; None where the task means no file, or one that other files name in ways code doesn't follow.

    Raises:
        GenerationFailed: the new path exists.
    """
    old = _old_path(task, sources)
    if old is None:
        return None
    new = _new_path(old, task.name, task.new)
    if new in sources.workspace.index.files or sources.get(new) is not None:
        raise GenerationFailed(i18n.message("exact.file_exists", path=new))
    if not old.endswith(".py"):
        return rename_other_file(old, new, sources)
    if posixpath.dirname(new) != posixpath.dirname(old) or not new.endswith(".py"):
        return None
    if posixpath.basename(old) in ("__init__.py", "__main__.py", "conftest.py"):
        return None
    patch = Patch(moved={old: new})
    patch.edits.append(Edit("rename_file", old, posixpath.basename(old), new))
    said = task.name if f".{_dotted(old)}".endswith(f".{task.name}") else ""
    _rename_imports(old, new, said, sources, patch)
    mend_mentions(old, new, sources, patch)
    return patch


def _old_path(task: ExactTask, sources: Sources) -> str | None:
    index = sources.workspace.index
    path = path_named(task.name, index)
    if path is not None:
        return path
    if task.what not in ("module", "file"):
        return None
    modules = modules_of(index)
    found = [p for name, paths in modules.by_name.items() for p in paths if f".{name}".endswith(f".{task.name}")]
    if not found and "." in task.name:  # an empty `__init__.py` isn't indexed, so that its folder looks like no package
        python = (p for p in index.files if p.endswith(".py"))
        found = [p for p in python if f".{_dotted(p)}".endswith(f".{task.name}")]
    if not found:
        code = (p for p in index.files if file_kind(p) == "code" and not is_test_path(p))
        found = [p for p in code if posixpath.basename(posixpath.splitext(p)[0]) == task.name]
    return found[0] if len(found) == 1 else None


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _new_path(old: str, said: str, written: str) -> str:
    """The new path of a file, whose old one may have been written without its first folders."""
    folder, name = posixpath.split(old)
    if "/" in written:
        lead = old[: -len(said)] if old.endswith(f"/{said}") else ""
        missing = bool(lead) and said.partition("/")[0] == written.partition("/")[0]
        return file_change.safe_path(f"{lead}{written}" if missing else written)
    suffix = "." + name.rpartition(".")[2]
    return posixpath.join(folder, written if written.endswith(suffix) else written.rpartition(".")[2] + suffix)


def _rename_imports(old: str, new: str, said: str, sources: Sources, patch: Patch) -> None:
    project = PythonProject(sources, modules_of(sources.workspace.index))
    before, after = (posixpath.basename(p).removesuffix(".py") for p in (old, new))
    if not after.isidentifier():
        raise GenerationFailed(i18n.message("exact.no_identifier", name=after))
    full = max(project.modules.name_of(old), said, key=len)
    for path in sources.mentioning(before):
        source = sources.get(path)
        if source is None:
            continue
        if source.language == "python" and source.root is not None:
            _python_file(project, source, old, before, after, patch)
        else:
            _document(source, full, f"{full.rpartition('.')[0]}.{after}", patch)


def _document(source: SourceText, before: str, after: str, patch: Patch) -> None:
    """Rename a module by its full name in a document. What other files say, and a change log of the past, stays."""
    if "." not in before:
        return
    told = is_doc_path(source.path) and not _HISTORY.search(posixpath.basename(source.path))
    for match in re.finditer(rb"(?<![\w./])" + re.escape(before.encode()) + rb"(?!\w)", source.data):
        if told:
            patch.replace(source.path, match.start(), match.end(), after)
        else:
            patch.leave_open(source, match.start(), i18n.message("exact.open.string"))
    if source.path in patch.replacements:
        patch.edits.append(Edit("rename_file", source.path, i18n.message("exact.line", line=1), after))


_HISTORY = re.compile(r"chang|history|news|releas", re.I)


def _python_file(project: PythonProject, source: SourceText, old: str, before: str, after: str, patch: Patch) -> None:
    """Rename the module in one file's imports, and where it is used by that name."""
    full = project.modules.name_of(old)
    scopes: set[int] = set()
    for use in name_table(source, before).uses:
        statement = statement_around(use.node)
        if statement is None:
            continue
        if use.role == "imported" and _imports_module(project, source, statement, before, old):
            patch.replace(source.path, use.start, use.end, after)
            if not use.aliased:
                scopes.add(use.scope.id)
        elif use.role in ("module", "bind") and _is_path_to(project, source, use.start, use.end, old):
            patch.replace(source.path, use.start, use.end, after)
            if use.role == "bind":
                scopes.add(use.scope.id)
    table = name_table(source, before)
    for use in table.uses:
        if statement_around(use.node) is not None:
            continue
        scope = table.binding_scope(use) if use.role == "load" else None
        parent = use.node.parent
        receiver = parent.child_by_field_name("object") if use.role == "attribute" and parent is not None else None
        known = project.known(source.path, receiver) if receiver is not None else None
        inside = known is not None and known.kind == "module" and known.path == _package(old)
        if (scope is not None and scope.id in scopes) or inside or _is_named_in(source, use, full, bool(scopes)):
            patch.replace(source.path, use.start, use.end, after)
    if source.path in patch.replacements:
        patch.edits.append(Edit("rename_file", source.path, "imports", after))


def _is_named_in(source: SourceText, use: NameUse, full: str, imported: bool) -> bool:
    """Whether a string is the module's full name, or exports a module that the file imports."""
    if use.role != "string":
        return False
    whole = "." in full and source.data[use.end - len(full) : use.end] == full.encode()
    return whole or (imported and in_all(source, use.node))


def _package(path: str) -> str:
    return posixpath.join(posixpath.dirname(path), "__init__.py")


def _imports_module(project: PythonProject, source: SourceText, statement, name: str, old: str) -> bool:
    """Whether a `from` import of a name imports the module itself."""
    for item in imported_names(source, statement):
        if item.name == name:
            dot = "." if item.module.strip(".") else ""
            return project.modules.find(source.path, f"{item.module}{dot}{name}") == old
    return False


def _is_path_to(project: PythonProject, source: SourceText, start: int, end: int, old: str) -> bool:
    """Whether the dotted name of an import, up to a part of it, is the module."""
    match = re.compile(rb"[\w.]*\Z").search(source.data[:start])
    written = (match[0] if match else b"") + source.data[start:end]
    return project.modules.find(source.path, written.decode("utf-8")) == old
