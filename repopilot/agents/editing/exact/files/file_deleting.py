"""Deletes a file; who imports or names it is left to the user."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.containers import SCRIPTS
from repopilot.agents.editing.exact.braces.imported_names import line_span
from repopilot.agents.editing.exact.braces.script_modules import module_file, module_names
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.exports.python_packages import is_package_path
from repopilot.agents.editing.exact.exports.script_indexes import is_index_path
from repopilot.agents.editing.exact.files.path_mentions import path_mentions
from repopilot.agents.editing.exact.files.rust_module_paths import module_declaration, module_uses
from repopilot.agents.editing.exact.locate import check_editable, path_named, task_paths
from repopilot.agents.editing.exact.polyglot import is_identifier
from repopilot.agents.editing.exact.python.import_lines import remove_names
from repopilot.agents.editing.exact.python.modules import Modules, imported_names, modules_of
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, word_pattern
from repopilot.types import Edit

_TOP_KINDS = ("function", "class", "struct", "enum", "interface", "type", "variable", "trait", "constant")


def delete_file(task: ExactTask, sources: Sources) -> Patch | None:
    """Delete a file.

    Args:
        task: the path, or the name of a Python module, in `name`.
        sources: the files.

    Returns:
        The change, with the re-exports of exactly that file removed and all others that name it left open; None where
        the task may mean something else.

    Raises:
        GenerationFailed: there is no such file.
    """
    path = _path(task, sources)
    source = sources.get(path) if path is not None else None
    if path is None or source is None:
        return None
    check_editable(path, ExactTask(task.kind, task.name, places=(NamedPlace(path, "file"),)), sources)
    patch = Patch(deleted=[path])
    patch.edits.append(Edit("delete_file", path, posixpath.basename(path)))
    if source.language == "python":
        _python_importers(path, sources, patch)
    elif source.language in SCRIPTS:
        _script_importers(path, sources, patch)
    elif source.language == "rust":
        _rust_declaration(path, sources, patch)
    elif source.language in ("go", "java"):
        _users_of_names(source, sources, patch)
    for mention in path_mentions(path, sources):
        patch.leave_open(mention.source, mention.start, i18n.message("exact.open.names_path"))
    return patch


def _path(task: ExactTask, sources: Sources) -> str | None:
    index = sources.workspace.index
    found = path_named(task.name, index)
    if found is not None:
        return found
    plain = task.name.removeprefix("./")
    if re.fullmatch(r"[\w.]+", plain) and task.what == "module":
        paths = modules_of(index).by_name.get(plain, ())
        return paths[0] if len(paths) == 1 else None
    if sources.get(plain) is not None:
        return plain
    if task.what not in ("file", "module") and not posixpath.splitext(plain)[1]:
        return None  # `drop owner/library`: perhaps a dependency
    named = ExactTask(task.kind, "", places=(NamedPlace(plain, "file"),))
    return next(iter(task_paths(named, sources)), None)


# Python


def _python_importers(path: str, sources: Sources, patch: Patch) -> None:
    modules = modules_of(sources.workspace.index)
    stem = posixpath.basename(posixpath.dirname(path) if is_package_path(path) else path).removesuffix(".py")
    for other in sources.mentioning(stem):
        source = sources.get(other)
        if source is None or other == path:
            continue
        if source.language != "python" or source.root is None:
            _dotted_mentions(source, modules.name_of(path), patch)
            continue
        for statement in _statements(source.root):
            if _imports(modules, source, statement, path) and not _drop_reexport(source, statement, patch):
                patch.leave_open(source, statement.start_byte, i18n.message("exact.open.deleted", name=path))


def _dotted_mentions(source: SourceText, name: str, patch: Patch) -> None:
    """List where a text names a module: an entry point, a page of the documentation."""
    pattern = re.compile(rb"(?<![\w.])" + re.escape(name.encode("utf-8")) + rb"(?!\w)")
    for match in pattern.finditer(source.data) if "." in name else ():
        patch.leave_open(source, match.start(), i18n.message("exact.open.deleted", name=name))


def _statements(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in ("import_statement", "import_from_statement"):
            yield node
        else:
            pending.extend(node.named_children)


def _imports(modules: Modules, source: SourceText, statement: Node, path: str) -> bool:
    """Whether a statement imports a module, or something from it."""
    if statement.type == "import_statement":
        names = [source.slice(n) for n in statement.children_by_field_name("name")]
        return any(modules.find(source.path, n.split(" as ")[0].strip()) == path for n in names)
    for item in imported_names(source, statement):
        dot = "." if item.module.strip(".") else ""
        if modules.find(source.path, item.module) == path or (
            item.name != "*" and modules.find(source.path, f"{item.module}{dot}{item.name}") == path
        ):
            return True
    return False


def _drop_reexport(source: SourceText, statement: Node, patch: Patch) -> bool:
    """Remove the import of a package's `__init__` that only hands names on; a name in `__all__` stays for the user."""
    if not is_package_path(source.path) or statement.parent is None or statement.parent.type != "module":
        return False
    items = imported_names(source, statement)
    for item in items:
        uses = name_table(source, item.local).uses if item.local != "*" else []
        if any(u.role in ("load", "string") for u in uses):
            return False
    return remove_names(source, statement, {i.local for i in items}, patch)


# JavaScript and TypeScript


def _script_importers(path: str, sources: Sources, patch: Patch) -> None:
    for source, name in script_imports(path, sources):
        statement = _exporting_statement(source, name)
        if statement is not None:
            patch.replace(source.path, *line_span(source, statement), "")
        else:
            patch.leave_open(source, name.start_byte, i18n.message("exact.open.deleted", name=path))


def script_imports(path: str, sources: Sources) -> Iterator[tuple[SourceText, Node]]:
    """The module names in imports of JavaScript and TypeScript that mean a file.

    Args:
        path: of the file.
        sources: the files.
    """
    files = sources.workspace.index.files
    stem = posixpath.basename(path).split(".")[0]
    paths = list(files) if stem == "index" else sources.mentioning(stem)
    for other in paths:
        source = sources.get(other) if files[other].language in SCRIPTS else None
        for name in module_names(source) if source is not None else ():
            if source is not None and module_file(other, source.slice(name)[1:-1], files) == path:
                yield source, name


def _exporting_statement(source: SourceText, name: Node) -> Node | None:
    """The statement of an index that does nothing but export from a module."""
    statement: Node | None = name
    while statement is not None and statement.parent is not None and statement.parent.type != "program":
        statement = statement.parent
    if statement is None or not is_index_path(source.path):
        return None
    if statement.type == "export_statement":
        return statement
    plain = r"(?:module\.)?exports\.\w+\s*=\s*require\([^()]*\)(?:\.\w+)?;?"
    return statement if re.fullmatch(plain, source.slice(statement)) else None


# Rust, Go, Java


def _rust_declaration(path: str, sources: Sources, patch: Patch) -> None:
    """Remove the `mod` of a file and what is made public from it."""
    declared = module_declaration(path, sources)
    if declared is None:
        return
    source, node, _ = declared
    start, end = line_span(source, node)
    above = node.prev_named_sibling
    while (
        above is not None
        and above.type == "attribute_item"
        and source.line_of(above.end_byte) >= source.line_of(start) - 1
    ):
        start, above = source.data.rfind(b"\n", 0, above.start_byte) + 1, above.prev_named_sibling
    patch.replace(source.path, start, end, "")
    removed = set()
    for other, name, _sure in module_uses(path, sources):
        statement: Node | None = name
        while statement is not None and statement.type != "use_declaration":
            statement = statement.parent
        public = statement is not None and other.slice(statement).startswith("pub ")
        if statement is not None and public and "{" not in other.slice(statement).partition(other.slice(name))[0]:
            if statement.start_byte not in removed:
                patch.replace(other.path, *line_span(other, statement), "")
            removed.add(statement.start_byte)
        else:
            patch.leave_open(other, name.start_byte, i18n.message("exact.open.deleted", name=path))


def _users_of_names(source: SourceText, sources: Sources, patch: Patch) -> None:
    """List the first use, in each other file, of a name that a file defines for others."""
    index = sources.workspace.index
    for symbol in sources.outline(source.path):
        places = {(s.path, s.qualified) for s in index.symbols(symbol.name) if s.name == symbol.name}
        if "." in symbol.qualified or symbol.kind not in _TOP_KINDS or len(places) > 1:
            continue
        for path in sources.mentioning(symbol.name, (source.language,)):
            other = sources.get(path) if path != source.path else None
            for match in word_pattern(symbol.name).finditer(other.data) if other is not None else ():
                node = other.root.descendant_for_byte_range(*match.span()) if other and other.root is not None else None
                if other is not None and node is not None and is_identifier(node):
                    patch.leave_open(other, match.start(), i18n.message("exact.open.deleted", name=symbol.name))
                    break
