"""Deletes definitions, with their imports and exports; what else refers to them is left to the user."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.deleting import delete_braced
from repopilot.agents.editing.exact.entries import removed_spans, with_blank_lines
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.import_editing import is_imported_elsewhere
from repopilot.agents.editing.exact.locate import is_code_name, is_name, not_found, one_definition
from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject
from repopilot.agents.editing.exact.python.import_lines import remove_names, top_imports
from repopilot.agents.editing.exact.python.import_order import is_for_types
from repopilot.agents.editing.exact.python.modules import imported_names, modules_of, statement_around
from repopilot.agents.editing.exact.python.name_uses import NameUse, name_table, scope_of
from repopilot.agents.editing.exact.python.references import (
    References,
    in_all,
    local_references,
    member_references,
    module_references,
)
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.value_places import qualified_name
from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, OpenReference, Symbol


def delete(task: ExactTask, sources: Sources) -> Patch | None:
    """Delete a definition.

    Args:
        task: of kind delete; with `unused` in `extra` only where nothing refers to it.
        sources: the files.

    Returns:
        The change; None where the task may mean something else.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: there is no such definition, or an unused one is used.
    """
    if not is_name(task.name):
        return None
    symbol = one_definition(task.name, task, sources)
    if symbol is None:
        if is_code_name(task.name) and task.what not in ("parameter", "key", "member"):
            raise not_found(task.name, task, sources.workspace.index)
        return None
    source = sources.get(symbol.path)
    if source is None or source.root is None:
        return None
    if source.language != "python":
        return delete_braced(symbol, task, sources)
    nodes = definitions_of(source, symbol)
    if not nodes:
        return None
    project = PythonProject(sources, modules_of(sources.workspace.index))
    found = _references(project, symbol, source, nodes)
    nodes += _attribute_statements(source, symbol)
    patch = Patch()
    spans = [statement_span(source, node) for node in nodes]
    for node, (start, end) in zip(nodes, spans, strict=True):
        filler = _filler(source, node, nodes)
        patch.replace(source.path, start, end, filler)
    patch.edits.append(Edit("delete", source.path, symbol.qualified))
    gone = {source.path: spans, **_delete_stub(symbol, sources, patch)}
    _remove_references(project, found, gone, symbol, sources, patch)
    _check_unused(patch, symbol, task)
    _check_few_left(patch, symbol)
    remove_imports_of(project, source, spans, patch)
    return patch


def _delete_stub(symbol: Symbol, sources: Sources, patch: Patch) -> dict[str, list[tuple[int, int]]]:
    """Delete the declaration in the stub beside a module; the bytes that are deleted, by file."""
    stub = sources.get(f"{symbol.path}i") if symbol.path.endswith(".py") else None
    if stub is None or stub.root is None:
        return {}
    nodes = definitions_of(stub, symbol)
    spans = [statement_span(stub, node) for node in nodes]
    for node, (start, end) in zip(nodes, spans, strict=True):
        patch.replace(stub.path, start, end, _filler(stub, node, nodes))
        patch.edits.append(Edit("delete", stub.path, symbol.qualified))
    return {stub.path: spans}


def definitions_of(source: SourceText, symbol: Symbol) -> list[Node]:
    """The statements that define a symbol: several for overloads, properties with setters, alternatives."""
    found = []
    for use in name_table(source, symbol.name).uses:
        parent = use.node.parent
        if not use.binds or parent is None or parent.type not in _DEFINING:
            continue
        if qualified_name(source, parent, symbol.name) == symbol.qualified:
            found.append(statement_of(parent))
    return found


def _attribute_statements(source: SourceText, symbol: Symbol) -> list[Node]:
    """The statements of a module that only set an attribute of what it defines: `f.__doc__ = g.__doc__`."""
    found = []
    for use in name_table(source, symbol.name).uses if "." not in symbol.qualified else ():
        attribute = use.node.parent
        assignment = attribute.parent if attribute is not None and attribute.type == "attribute" else None
        if assignment is None or assignment.type != "assignment" or scope_of(use.node).type != "module":
            continue
        left, held = assignment.child_by_field_name("left"), attribute.child_by_field_name("object")  # type: ignore[union-attr]
        if left == attribute and held == use.node:
            found.append(statement_of(assignment))
    return found


_DEFINING = ("function_definition", "class_definition", "assignment", "type_alias_statement")


def statement_of(node: Node) -> Node:
    """The statement that a definition is, with its decorators."""
    parent = node.parent
    if parent is not None and parent.type in ("decorated_definition", "expression_statement"):
        return parent
    return node


def _references(project: PythonProject, symbol: Symbol, source: SourceText, nodes: list[Node]) -> References:
    table = project.table(source.path, symbol.name)
    assert table is not None
    scope = next((table.binding_scope(u) for u in table.uses if u.binds and _inside(u.start, nodes)), None)
    if scope is None or scope.type == "module":
        return module_references(project, source.path, symbol.name)
    if scope.type == "class_definition":
        try:
            return member_references(project, ClassPlace(source.path, scope.start_byte), symbol.name)
        except GenerationFailed:  # a special method: nothing calls it by its name
            return References()
    return local_references(table, scope)


def _inside(offset: int, nodes: list[Node]) -> bool:
    return any(n.start_byte <= offset < n.end_byte for n in nodes)


def statement_span(source: SourceText, node: Node) -> tuple[int, int]:
    """A statement with the comments that stand directly on it, and the blank lines that only it needs."""
    data = source.data
    start = data.rfind(b"\n", 0, node.start_byte) + 1
    if data[start : node.start_byte].strip():
        return node.start_byte, node.end_byte
    comment = node.prev_named_sibling
    while comment is not None and comment.type == "comment" and _directly_above(source, comment, start, node):
        start = data.rfind(b"\n", 0, comment.start_byte) + 1
        comment = comment.prev_named_sibling
    rest = re.compile(rb"[ \t]*(?:#[^\n]*)?(?:\n|$)").match(data, node.end_byte)
    end = rest.end() if rest else node.end_byte
    return with_blank_lines(data, start, end)


def _directly_above(source: SourceText, comment: Node, start: int, node: Node) -> bool:
    """Whether a comment belongs to the statement below it: it stands on it, alone on its line, and heads no section."""
    data = source.data
    own = not data[data.rfind(b"\n", 0, comment.start_byte) + 1 : comment.start_byte].strip()
    section = re.match(rb"#\s*[-=*#]{3,}", data[comment.start_byte : comment.end_byte])
    touching = data[comment.end_byte : start].strip(b" \t") in (b"", b"\n")
    return own and touching and section is None and comment.start_point[1] == node.start_point[1]


def _filler(source: SourceText, node: Node, nodes: list[Node]) -> str:
    """What must stand in place of the only statement of a block."""
    block = node.parent
    if block is None or block.type != "block":
        return ""
    left = [c for c in block.named_children if c.type != "comment" and c not in nodes]
    if left or node != next(n for n in nodes if n.parent == block):
        return ""
    line = source.line_text(node.start_point[0] + 1)
    return f"{line[: len(line) - len(line.lstrip())]}pass\n"


def uses_in_code(references: Iterable[OpenReference]) -> Iterator[OpenReference]:
    """The references to what is deleted that code would miss, tests apart.

    Args:
        references: those that were left to the user.
    """
    return (o for o in references if file_kind(o.path) == "code" and not is_test_path(o.path))


def _check_unused(patch: Patch, symbol: Symbol, task: ExactTask) -> None:
    """Refuse to remove what is used as unused. Imports and exports go along, and tests may use it.

    Raises:
        GenerationFailed: code refers to it.
    """
    used = next(uses_in_code(patch.open_references), None) if "unused" in task.extra else None
    if used is not None:
        raise GenerationFailed(i18n.message("exact.still_used", name=symbol.qualified, path=used.path, line=used.line))


def _check_few_left(patch: Patch, symbol: Symbol) -> None:
    """Refuse a deletion that code in many places would not survive: more is meant than to delete it.

    Raises:
        GenerationFailed: the code still refers to it in more places than a user decides one by one.
    """
    unsure = i18n.message("exact.open.receiver")
    left = [o for o in uses_in_code(patch.open_references) if o.reason != unsure]
    if len(left) > _MOST_LEFT:
        raise GenerationFailed(
            i18n.message("exact.still_used", name=symbol.qualified, path=left[0].path, line=left[0].line)
        )


_MOST_LEFT = 3


def _remove_references(
    project: PythonProject,
    found: References,
    gone: dict[str, list[tuple[int, int]]],
    symbol: Symbol,
    sources: Sources,
    patch: Patch,
) -> None:
    """Remove imports that nothing else uses and exports; list all other references."""
    for reference in found.sure:
        if any(a <= reference.start < b for a, b in gone.get(reference.path, ())):
            continue
        table = project.table(reference.path, symbol.name)
        use = next((u for u in table.uses if u.start == reference.start), None) if table is not None else None
        source = sources.get(reference.path)
        if use is None or source is None:
            continue
        if not (remove_export(source, use, patch) or _remove_import(project, source, use, found, patch)):
            _check_importable(use, source, symbol)
            patch.leave_open(source, reference.start, i18n.message("exact.open.deleted", name=symbol.qualified))
    for use_ in found.open:
        source = sources.get(use_.path)
        if source is not None:
            patch.leave_open(source, use_.start, use_.reason)


def _check_importable(use: NameUse, source: SourceText, symbol: Symbol) -> None:
    """Refuse a deletion after which its own module can't be imported.

    Raises:
        GenerationFailed: code outside of functions uses it there.
    """
    runs = use.role == "load" and scope_of(use.node).type != "function_definition"
    if runs and source.path == symbol.path and "." not in symbol.qualified:
        line = source.line_of(use.start)
        raise GenerationFailed(i18n.message("exact.still_used", name=symbol.qualified, path=source.path, line=line))


def remove_export(source: SourceText, use: NameUse, patch: Patch) -> bool:
    """Remove a name from `__all__`; False for another use."""
    if use.role != "string" or not in_all(source, use.node) or use.node.parent is None:
        return False
    entries = [c for c in use.node.parent.named_children if c.type != "comment"]
    at = next((n for n, e in enumerate(entries) if e.id == use.node.id), None)
    if at is None:
        return False
    for start, end in removed_spans(source.data, entries, {at}):
        patch.replace(source.path, start, end, "")
    return True


def _remove_import(project: PythonProject, source: SourceText, use: NameUse, found: References, patch: Patch) -> bool:
    """Remove the import of what is deleted, where the file uses it for nothing but an export."""
    statement = statement_around(use.node)
    if statement is None or use.role != "imported":
        return False
    name = source.data[use.start : use.end].decode("utf-8")
    item = next((i for i in imported_names(source, statement) if i.name == name), None)
    if item is None:
        return False
    table = project.table(source.path, item.local)
    others = [u for u in table.uses if u.role == "load"] if table is not None else []
    if others:
        return False
    return remove_names(source, statement, {item.local}, patch)


def remove_imports_of(project: PythonProject, source: SourceText, spans: list[tuple[int, int]], patch: Patch) -> None:
    """Remove the imports that only the deleted lines used, those for type checkers with their block."""
    blocks = [n for n in source.root.named_children if n.type == "if_statement"] if source.root is not None else []
    for block in [b for b in blocks if is_for_types(source, b)]:
        body = block.child_by_field_name("consequence")
        statements = [s for s in body.named_children if s.type != "comment"] if body is not None else []
        unused = [_unused_items(project, source, s, spans) for s in statements]
        whole = [u and len(u) == len(s.children_by_field_name("name")) for s, u in zip(statements, unused, strict=True)]
        if whole and all(whole) and block.child_by_field_name("alternative") is None:
            start, end = statement_span(source, block)
            patch.replace(source.path, start, end, "")
            continue
        for statement, names in zip(statements, unused, strict=True):
            if names:
                remove_names(source, statement, names, patch)
    for statement in top_imports(source):
        names = _unused_items(project, source, statement, spans)
        if names and item_is_plain(source, statement):
            remove_names(source, statement, names, patch)


def _unused_items(
    project: PythonProject, source: SourceText, statement: Node, spans: list[tuple[int, int]]
) -> set[str]:
    """What an import binds that only some lines use."""
    unused: set[str] = set()
    if statement.type not in ("import_statement", "import_from_statement"):
        return unused
    for item in imported_names(source, statement):
        table = project.table(source.path, item.local) if item.local != "*" else None
        uses = [u for u in table.uses if u.role == "load" or _is_exported(source, u)] if table is not None else []
        inside = [u for u in uses if any(a <= u.start < b for a, b in spans)]
        if inside and len(inside) == len(uses) and not is_imported_elsewhere(project, source.path, item.local):
            unused.add(item.local)
    return unused


def _is_exported(source: SourceText, use: NameUse) -> bool:
    return use.role == "string" and in_all(source, use.node)


def item_is_plain(source: SourceText, statement: Node) -> bool:
    """Whether an import is no re-export: neither in a package's `__init__` nor marked as wanted. Nobody imports
    Python's own modules from a package."""
    if "noqa" in source.line_text(statement.end_point[0] + 1):
        return False
    module = statement.child_by_field_name("module_name") or statement.child_by_field_name("name")
    top = source.slice(module).partition(".")[0] if module is not None else ""
    return not source.path.endswith("__init__.py") or top in sys.stdlib_module_names
