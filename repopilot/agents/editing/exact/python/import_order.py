"""Whether Python modules can still be imported: runs their import statements in order, without running anything."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from repopilot.agents.editing.exact.python.modules import ImportedName, Modules, imported_names
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import SourceText

_IMPORTS = ("import_statement", "import_from_statement")
_LATER = ("function_definition", "lambda")
_TYPING = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING", "te.TYPE_CHECKING")


@dataclass(slots=True)
class _Run:
    """One process that imports modules: those begun, and at which byte the unfinished ones are."""

    read: Callable[[str], SourceText | None]
    modules: Modules
    done: set[str] = field(default_factory=set)
    at: dict[str, int] = field(default_factory=dict)


def import_failure(
    path: str, read: Callable[[str], SourceText | None], modules: Modules
) -> tuple[str, str, str] | None:
    """What goes wrong when a module is imported first.

    Args:
        path: its file.
        read: gives the text of a file.
        modules: of the repository.

    Returns:
        The importing file, the name and the file that hasn't got it yet; None where all goes well.
    """
    run = _Run(read, modules)
    for package in _packages(path, modules):
        found = _execute(run, package)
        if found is not None:
            return found
    return _execute(run, path)


def _packages(path: str, modules: Modules) -> list[str]:
    """The `__init__` files that are run before a module."""
    found = []
    folder = posixpath.dirname(path)
    while folder:
        found.append(f"{folder}/__init__.py")
        folder = posixpath.dirname(folder)
    return [p for p in reversed(found) if p in modules.paths and p != path]


def _execute(run: _Run, path: str) -> tuple[str, str, str] | None:
    if path in run.done or path in run.at:
        return None
    source = run.read(path)
    run.at[path] = 0
    for statement in imports_at_import(source) if source is not None else ():
        run.at[path] = statement.start_byte
        assert source is not None
        found = _import(run, source, statement)
        if found is not None:
            return found
    del run.at[path]
    run.done.add(path)
    return None


def _import(run: _Run, source: SourceText, statement: Node) -> tuple[str, str, str] | None:
    for item in imported_names(source, statement):
        module = run.modules.find(source.path, _whole_module(source, statement) if not item.name else item.module)
        if module is None:
            continue
        for path in (*_packages(module, run.modules), module):
            found = _execute(run, path)
            if found is not None:
                return found
        missing = _missing_attribute(run, source, item, module) if not item.name else None
        if missing is not None:
            return missing
        dot = "." if item.module.strip(".") else ""
        inner = run.modules.find(source.path, f"{item.module}{dot}{item.name}") if item.name else None
        if inner is not None and not _has(run, module, item.name):
            found = _execute(run, inner)
            found = found or _missing_attribute(run, source, item, inner)
            if found is not None:
                return found
        elif item.name not in ("", "*") and not _has(run, module, item.name):
            return source.path, item.name, module
    return None


def _missing_attribute(run: _Run, source: SourceText, item: ImportedName, module: str) -> tuple[str, str, str] | None:
    """What a file looks up, while it is imported, in a module that isn't finished and hasn't got it yet."""
    if module not in run.at or module == source.path:
        return None
    for use in name_table(source, item.local).uses:
        attribute = use.node.parent
        label = attribute.child_by_field_name("attribute") if attribute is not None else None
        if use.role != "load" or label is None or not runs_at_import(use.scope) or _is_annotation(use.node):
            continue
        if not _has(run, module, source.slice(label)):
            return source.path, source.slice(label), module
    return None


def runs_at_import(scope: Node) -> bool:
    """Whether the code of a scope runs while its module is imported."""
    current: Node | None = scope
    while current is not None and current.type != "module":
        if current.type in _LATER:
            return False
        current = current.parent
    return True


def _is_annotation(node: Node) -> bool:
    current: Node | None = node
    while current is not None and current.type not in ("block", "module"):
        if current.type == "type":
            return True
        current = current.parent
    return False


def _whole_module(source: SourceText, statement: Node) -> str:
    name = statement.children_by_field_name("name")[0]
    inner = name.child_by_field_name("name") if name.type == "aliased_import" else name
    return source.slice(inner) if inner is not None else ""


def _has(run: _Run, path: str, name: str) -> bool:
    """Whether a module has a name by now; one that is finished has all."""
    if path not in run.at:
        return True
    source = run.read(path)
    if source is None or source.root is None:
        return True
    return any(node.start_byte < run.at[path] for node in _binding(source, source.root, name))


def _binding(source: SourceText, root: Node, name: str) -> Iterator[Node]:
    """The statements at the top level that give a name a value; a star import may."""
    for node in _run_at_import(source, root):
        if node.type in _IMPORTS:
            if any(i.local in (name, "*") for i in imported_names(source, node)):
                yield node
        elif node.type in ("function_definition", "class_definition"):
            label = node.child_by_field_name("name")
            if label is not None and source.slice(label) == name:
                yield node
        elif node.type in ("assignment", "augmented_assignment"):
            left = node.child_by_field_name("left")
            if left is not None and name in source.slice(left):
                yield node


def imports_at_import(source: SourceText) -> list[Node]:
    """The import statements that run when a module is imported, in order."""
    found = _run_at_import(source, source.root) if source.root is not None else ()
    return sorted((n for n in found if n.type in _IMPORTS), key=lambda n: n.start_byte)


def _run_at_import(source: SourceText, root: Node) -> Iterator[Node]:
    """The statements outside of functions and of blocks for type checkers."""
    pending = list(root.named_children)
    while pending:
        node = pending.pop()
        yield node
        if node.type in _LATER or node.type == "class_definition":
            continue
        if node.type == "if_statement" and is_for_types(source, node):
            alternatives = node.children_by_field_name("alternative")
            pending.extend(alternatives)
        else:
            pending.extend(node.named_children)


def is_for_types(source: SourceText, node: Node) -> bool:
    """Whether an `if` is for type checkers only."""
    condition = node.child_by_field_name("condition")
    return condition is not None and source.slice(condition) in _TYPING
