"""Moves definitions of Go from one file of a package to another, with the imports they need; callers stay the same."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.definition_spans import definition_nodes, definition_spans
from repopilot.agents.editing.exact.braces.deleting import drop_unused_imports, implementations, may_go
from repopilot.agents.editing.exact.braces.imported_names import BoundImport, bound_imports
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, path_named
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.tools import file_change
from repopilot.types import Edit, Symbol

_BUILD = re.compile(rb"(?m)^//(?:go:build|\s*\+build)\b")
_PACKAGE = re.compile(rb"(?m)^package\s+(\w+)[^\n]*\n")
_KEYWORDS = {"const_spec": "const", "var_spec": "var", "type_spec": "type", "type_alias": "type"}


def move_in_package(symbols: Sequence[Symbol], task: ExactTask, sources: Sources) -> Patch | None:
    """Move definitions at the top level of a Go file, types with their methods, to the end of another file.

    Args:
        symbols: the definitions, all of one file.
        task: of kind move, with the path in `new`; with `create` in `extra` where that is a new one.
        sources: the files.

    Returns:
        The changes; None where the files are of different packages or built under conditions, or a constant is counted.

    Raises:
        GenerationFailed: there is no such file.
    """
    source = sources.get(symbols[0].path)
    path = _target(task, symbols[0].path, sources)
    if source is None or source.root is None or path is None or path == source.path:
        return None
    target = sources.get(path)
    nodes = [node for symbol in symbols for node in definition_nodes(source, symbol) if may_go(source, node, symbol)]
    if len(nodes) < len(symbols) or not _same_package(source, path, target):
        return None
    check_editable(path, task, sources)
    nodes += [node for symbol in symbols for node in implementations(source, symbol)]
    nodes = sorted({node.id: node for node in nodes}.values(), key=lambda node: node.start_byte)
    if any(node.parent != source.root and node.type not in _KEYWORDS for node in nodes):
        return None
    imports = _imports_of(source, nodes)
    own = bound_imports(target) if target is not None else []
    missing = [each for each in imports if each.module not in {bound.module for bound in own}]
    if any(each.name == bound.name for each in missing for bound in own):
        return None
    text = "\n\n".join(_text(source, node) for node in nodes) + "\n"
    patch = Patch()
    for start, end in definition_spans(source, nodes):
        patch.replace(source.path, start, end, "")
    drop_unused_imports(source, definition_spans(source, nodes), patch)
    patch.edits += [Edit("move", source.path, symbol.qualified, path) for symbol in symbols]
    if target is None:
        patch.added[path] = _new_file(source, missing, text)
    else:
        _add_imports(target, missing, patch)
        end = len(target.data.rstrip())
        patch.replace(path, end, len(target.data), f"\n\n{text}")
    return patch


def _target(task: ExactTask, old: str, sources: Sources) -> str | None:
    written = task.new.strip("`'\" ").lstrip("@")
    if not written.endswith(".go"):
        return None
    beside = posixpath.join(posixpath.dirname(old), written)
    found = beside if sources.get(beside) is not None else path_named(written, sources.workspace.index)
    if found is None and "create" not in task.extra:
        raise GenerationFailed(i18n.message("exact.no_file", path=written), i18n.message("exact.new_file_hint"))
    return found or file_change.safe_path(beside if "/" not in written else written)


def _same_package(source: SourceText, path: str, target: SourceText | None) -> bool:
    """Whether a file is of the package of another, and both are built always, as tests or not."""
    if posixpath.dirname(path) != posixpath.dirname(source.path):
        return False
    if path.endswith("_test.go") != source.path.endswith("_test.go") or _BUILD.search(source.data):
        return False
    if target is None:
        return True
    package, other = _PACKAGE.search(source.data), _PACKAGE.search(target.data)
    same = package is not None and other is not None and package[1] == other[1]
    return same and target.root is not None and not _BUILD.search(target.data)


def _imports_of(source: SourceText, nodes: Sequence[Node]) -> list[BoundImport]:
    """The imports that some definitions use."""
    code = "\n".join(source.slice(node) for node in nodes)
    return [b for b in bound_imports(source) if any(re.search(rf"\b{re.escape(n)}\.", code) for n in b.name.split())]


def _text(source: SourceText, node: Node) -> str:
    """A definition with the comments above it, as it stands alone."""
    (start, end) = definition_spans(source, [node])[0]
    text = source.data[start:end].decode("utf-8").strip("\n")
    if node.type not in _KEYWORDS:
        return text
    lines = [line.removeprefix("\t") for line in text.split("\n")]
    first = next(at for at, line in enumerate(lines) if not line.startswith(("//", "/*", " *")))
    lines[first] = f"{_KEYWORDS[node.type]} {lines[first]}"
    return "\n".join(lines)


def _new_file(source: SourceText, imports: Sequence[BoundImport], text: str) -> str:
    package = _PACKAGE.search(source.data)
    name = package[1].decode("utf-8") if package is not None else "main"
    lines = [f"\t{_spec(each)}\n" for each in imports]
    block = f"import (\n{''.join(lines)})\n\n" if lines else ""
    return f"package {name}\n\n{block}{text}"


def _add_imports(target: SourceText, imports: Sequence[BoundImport], patch: Patch) -> None:
    """Add imports to a file, each in front of the first of its list that sorts behind it."""
    children = target.root.named_children if target.root is not None else []
    declared = [child for child in children if child.type == "import_declaration"]
    listed = next((c for d in declared for c in d.named_children if c.type == "import_spec_list"), None)
    added: dict[int, str] = {}
    for each in sorted(imports, key=lambda bound: bound.module):
        if listed is not None:
            at, line = _place_in(target, listed, each.module), f"\t{_spec(each)}\n"
        elif declared:
            at, line = declared[-1].end_byte + 1, f"import {_spec(each)}\n"
        else:
            package = _PACKAGE.search(target.data)
            at, line = package.end() if package is not None else 0, f"\nimport {_spec(each)}\n"
        added[at] = added.get(at, "") + line
    for at, text in added.items():
        patch.replace(target.path, at, at, text)


def _place_in(target: SourceText, listed: Node, module: str) -> int:
    for spec in listed.named_children:
        path = spec.child_by_field_name("path")
        if path is not None and target.slice(path).strip('"`') > module:
            return target.data.rfind(b"\n", 0, spec.start_byte) + 1
    return listed.end_byte - 1


def _spec(bound: BoundImport) -> str:
    return bound.item.text.decode("utf-8") if bound.item.text is not None else f'"{bound.module}"'
