"""Moves an import from a function's body to the top of its file."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, task_paths
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.import_lines import WantedImport, add_import, remove_names, top_imports
from repopilot.agents.editing.exact.python.modules import ImportedName, imported_names, modules_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.types import Edit

_STATEMENTS = ("import_statement", "import_from_statement")


def hoist_import(task: ExactTask, sources: Sources) -> Patch | None:
    """Move the imports of a name inside of functions to the top of the file.

    Args:
        task: with the name that is bound in `name`, and the file among its places.
        sources: the files.

    Returns:
        The change; None where the task names no single Python file, or no function in it imports the name.

    Raises:
        GenerationFailed: something else has the name at the top of the file.
    """
    paths = task_paths(task, sources)
    source = sources.get(paths[0]) if len(paths) == 1 else None
    if source is None or source.language != "python" or source.root is None:
        return None
    check_editable(source.path, task, sources)
    found = [(s, i) for s, i in imports_in_functions(source) if i.local == task.name]
    functions = {place.name.rpartition(".")[2] for place in task.places}
    found = [(s, i) for s, i in found if function_around(source, s) in functions] or found
    if not found or len({(item.module, item.name) for _, item in found}) > 1:
        return None
    patch = Patch()
    for statement, _ in found:
        remove_names(source, statement, {task.name}, patch)
    item = found[0][1]
    local = task.name if task.name != (item.name or item.module.partition(".")[0]) else ""
    wanted = WantedImport(item.module, item.name, local)
    if not any(
        top.local == task.name for statement in top_imports(source) for top in imported_names(source, statement)
    ):
        add_import(PythonProject(sources, modules_of(sources.workspace.index)), source, wanted, patch)
    patch.edits.append(Edit("add_import", source.path, i18n.message("exact.line", line=1), wanted.statement))
    return patch


def imports_in_functions(source: SourceText) -> Iterator[tuple[Node, ImportedName]]:
    """The import statements inside of functions, with each name that they bind."""
    pending = [source.root] if source.root is not None else []
    while pending:
        node = pending.pop()
        if node.type in _STATEMENTS and function_around(source, node):
            yield from ((node, item) for item in imported_names(source, node))
        else:
            pending.extend(node.named_children)


def function_around(source: SourceText, node: Node) -> str:
    """The name of the innermost function around a node, '' for none."""
    current = node.parent
    while current is not None and current.type != "function_definition":
        current = current.parent
    name = current.child_by_field_name("name") if current is not None else None
    return source.slice(name) if name is not None else ""
