"""Moves definitions from one Python module to another, with the imports they need and those of everything that uses
them."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.deletion import definitions_of, remove_export, remove_imports_of, statement_span
from repopilot.agents.editing.exact.entries import added_entry, sorted_position, with_blank_lines
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import (
    candidates,
    check_editable,
    is_code_name,
    is_name,
    not_found,
    one_definition,
)
from repopilot.agents.editing.exact.locate import path_named as existing_path
from repopilot.agents.editing.exact.mentions import is_history
from repopilot.agents.editing.exact.moves.go_files import move_in_package
from repopilot.agents.editing.exact.moves.shown_imports import moved_imports
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.import_lines import (
    WantedImport,
    add_import,
    add_typing_import,
    remove_names,
    top_imports,
    typing_condition,
)
from repopilot.agents.editing.exact.python.import_order import import_failure, runs_at_import
from repopilot.agents.editing.exact.python.module_paths import dotted_module, module_written, retargeted
from repopilot.agents.editing.exact.python.module_tables import is_of_one_name, module_beside
from repopilot.agents.editing.exact.python.modules import (
    ImportedName,
    Modules,
    imported_names,
    modules_of,
    statement_around,
)
from repopilot.agents.editing.exact.python.name_uses import NameUse, name_table
from repopilot.agents.editing.exact.python.needed_names import NeededName, needed_names
from repopilot.agents.editing.exact.python.references import References, in_all, looked_up_by, module_references
from repopilot.agents.editing.exact.python.string_values import string_content
from repopilot.agents.editing.exact.sources import ByteEdit, Patch, Sources, SourceText, spliced
from repopilot.code.languages import file_kind, is_test_path
from repopilot.code.syntax import parse
from repopilot.errors import GenerationFailed
from repopilot.tools import file_change
from repopilot.tools.file_change import PARSE_S
from repopilot.types import Edit, Symbol

_NAMES = re.compile(r"\s*(?:,|\band\b|\bet\b|&)\s*")


@dataclass(slots=True)
class _Move:
    """A move while it is carried out: `texts` has the files as they become."""

    project: PythonProject
    source: SourceText
    target: str
    names: list[str]
    spans: list[tuple[int, int]]
    patch: Patch = field(default_factory=Patch)
    texts: dict[str, SourceText] = field(default_factory=dict)

    def text(self, path: str) -> SourceText | None:
        """A file as it is by now."""
        return self.texts.get(path) or self.project.sources.get(path)

    def apply(self, path: str, patch: Patch) -> None:
        """Change a file as a patch says."""
        before = self.text(path)
        found = patch.replacements.get(path)
        if before is not None and found:
            self.texts[path] = _parsed(path, spliced(before.data, found), before.language)

    def add_import(self, path: str, wanted: WantedImport) -> None:
        """Add an import to a file."""
        source, patch = self.text(path), Patch()
        if source is not None and add_import(self.project, source, wanted, patch):
            self.apply(path, patch)


def _parsed(path: str, data: bytes, language: str = "python") -> SourceText:
    tree = parse(data, language, PARSE_S) if language == "python" else None
    return SourceText(path, data, language, tree.root_node if tree is not None else None)


def move(task: ExactTask, sources: Sources) -> Patch | None:
    """Move definitions at the top level of a Python module to another, or of a Go file to another of its package.

    Args:
        task: of kind move, with the names in `name` (several with commas) and the path or module in `new`; with
            `create` in `extra` where that is a new one, with `reexport` where the old module keeps importing them.
        sources: the files.

    Returns:
        The changes; None where the task may mean something else.

    Raises:
        PlaceAmbiguous: several definitions have a name.
        GenerationFailed: there is no such definition or module, the new one has the name already, or the modules could
            no longer be imported.
    """
    names = [n.strip("`'\"() ") for n in _NAMES.split(task.name)]
    if not all(is_name(n) for n in names):
        return None
    symbols = [_symbol(name, task, sources) for name in names]
    if None in symbols or len({s.path for s in symbols if s is not None}) != 1:
        return None
    found = [s for s in symbols if s is not None]
    project = PythonProject(sources, modules_of(sources.workspace.index))
    source = sources.get(found[0].path)
    if source is not None and source.language == "go":
        return move_in_package(found, task, sources)
    if source is None or source.language != "python" or source.root is None or source.path.endswith(".pyi"):
        return None
    nodes = [node for s in found for node in definitions_of(source, s)]
    if not nodes or any(n.parent is None or n.parent.type != "module" for n in nodes):
        return None
    target = _target_path(task, source.path, sources)
    for path in (source.path, target):
        check_editable(path, task, sources)
    nodes.sort(key=lambda n: n.start_byte)
    moving = _Move(project, source, target, [s.name for s in found], [_extent(source, n) for n in nodes])
    if sources.get(target) is None:
        moving.texts[target] = _parsed(target, b"")
    _carry_out(moving, nodes, keep="reexport" in task.extra)
    return _as_patch(moving)


def _symbol(name: str, task: ExactTask, sources: Sources) -> Symbol | None:
    top = [s for s in candidates(name, task, sources) if "." not in s.qualified]
    symbol = top[0] if len(top) == 1 else one_definition(name, task, sources)
    if symbol is None and is_code_name(name):
        raise not_found(name, task, sources.workspace.index)
    return symbol


def _target_path(task: ExactTask, old: str, sources: Sources) -> str:
    """The file that a task moves something to.

    Raises:
        GenerationFailed: there is no such file and the task doesn't ask for a new one, or it is the old one.
    """
    index, written = sources.workspace.index, task.new.strip("`'\" ").lstrip("@")
    found = existing_path(written, index) or (written if sources.get(written) is not None else None)
    if found is None and not written.endswith(".py"):
        names = modules_of(index).by_name
        paths = [p for name, paths in names.items() for p in paths if f".{name}".endswith(f".{written}")]
        code = [p for p in paths if not is_test_path(p)] or paths
        found = code[0] if len(code) == 1 else None
    if found is None:
        if "create" not in task.extra:
            raise GenerationFailed(i18n.message("exact.no_file", path=written), i18n.message("exact.new_file_hint"))
        path = written if written.endswith(".py") else written.replace(".", "/") + ".py"
        found = file_change.safe_path(posixpath.join(_folder_of(path, old, sources), path))
    if found == old or not found.endswith(".py"):
        raise GenerationFailed(i18n.message("exact.already_there", name=task.name, path=found))
    return found


def _folder_of(path: str, old: str, sources: Sources) -> str:
    """The folder that a new path is meant from: that of the old file for a bare name, else the one above the folder of
    the old file that it begins with, where the top of the repository has none of that name."""
    folder = posixpath.dirname(old)
    first = path.partition("/")[0]
    if "/" not in path:
        return folder
    if any(p.startswith(f"{first}/") for p in sources.workspace.index.files):
        return ""
    parts = folder.split("/")
    return "/".join(parts[: parts.index(first)]) if first in parts else ""


def _extent(source: SourceText, node: Node) -> tuple[int, int]:
    """The bytes of a definition with the comments above it, up to the end of its last line."""
    start, _ = statement_span(source, node)
    while source.data[start : start + 1] in (b"\n", b" ") and start < node.start_byte:
        start += 1
    end = source.data.find(b"\n", node.end_byte)
    return start, end if end >= 0 else len(source.data)


def _carry_out(move_: _Move, nodes: list[Node], *, keep: bool) -> None:
    project, source, target = move_.project, move_.source, move_.target
    _check_guard(move_)
    _check_names(move_)
    needed = needed_names(source, move_.spans, move_.names)
    if any(n.kind == "file" for n in needed):
        name = next(n.name for n in needed if n.kind == "file")
        raise GenerationFailed(i18n.message("exact.file_name_used", name=name, path=source.path))
    if any(n.kind == "sometimes" for n in needed):
        name = next(n.name for n in needed if n.kind == "sometimes")
        raise GenerationFailed(i18n.message("exact.bound_sometimes", name=name, path=source.path))
    _check_replaced(move_, needed)
    found = {name: module_references(project, source.path, name) for name in move_.names}
    kept = {n for n in move_.names if keep or _is_used_still(move_, n)}
    for path in list(dict.fromkeys(r.path for f in found.values() for r in f.sure if r.path != source.path)):
        _mend(move_, path, found, kept)
    _mend_stars(move_, kept)
    if not keep:
        _mend_documents(move_)
    _take_out(move_, nodes, kept)
    _put_in(move_, needed)
    for name in move_.names:
        move_.patch.edits.append(Edit("move", source.path, name, target))
    _check_imports(move_)


def _check_guard(move_: _Move) -> None:
    """Refuse a module that asserts something before it can be imported: on which platform, with which package."""
    target = move_.text(move_.target)
    for node in target.root.named_children if target is not None and target.root is not None else ():
        if node.type in ("assert_statement", "raise_statement"):
            line = node.start_point[0] + 1
            raise GenerationFailed(i18n.message("exact.guarded_module", path=move_.target, line=line))


def _check_names(move_: _Move) -> None:
    """Refuse a name that the target gives another meaning, or that the source gives a value elsewhere, too."""
    target = move_.text(move_.target)
    assert target is not None and move_.source.root is not None
    for name in move_.names:
        for use in name_table(move_.source, name).uses:
            scope = name_table(move_.source, name).binding_scope(use)
            outside = use.binds and not any(a <= use.start < b for a, b in move_.spans)
            declared = use.role == "declared"
            if (outside or declared) and scope is not None and scope.id == move_.source.root.id:
                line = move_.source.line_of(use.start)
                raise GenerationFailed(i18n.message("exact.bound_again", name=name, path=move_.source.path, line=line))
        table = name_table(target, name)
        for use in table.bound.get(target.root.id, []) if target.root is not None else []:
            if use.role != "imported" or not _imports_from(move_, target, use):
                line = target.line_of(use.start)
                raise GenerationFailed(i18n.message("exact.name_taken", name=name, path=target.path, line=line))


def _imports_from(move_: _Move, source: SourceText, use: NameUse) -> bool:
    statement = statement_around(use.node)
    items = imported_names(source, statement) if statement is not None else []
    return any(
        i.name in move_.names and move_.project.modules.find(source.path, i.module) == move_.source.path for i in items
    )


def _is_used_still(move_: _Move, name: str) -> bool:
    """Whether the code that stays behind uses a name."""
    table = name_table(move_.source, name)
    root = move_.source.root
    for use in table.uses:
        scope = table.binding_scope(use) if use.role == "load" else None
        inside = any(a <= use.start < b for a, b in move_.spans)
        if scope is not None and root is not None and scope.id == root.id and not inside:
            return True
    return False


# The files that use what is moved


def _mend(move_: _Move, path: str, found: dict[str, References], kept: set[str]) -> None:
    """Make a file use the definitions where they are now."""
    source = move_.text(path)
    assert source is not None
    patch, wanted = Patch(), []
    for name, references in found.items():
        starts = {r.start for r in references.sure if r.path == path}
        if source.root is None or source.language != "python":
            for start in sorted(starts):
                _retarget_text(move_, source, start, patch)
            continue
        for use in name_table(source, name).uses:
            if use.start not in starts:
                continue
            if use.role == "attribute":
                wanted += _mend_attribute(move_, source, use, patch)
            elif use.role in ("string", "comment"):
                _mend_text(move_, source, use, kept, patch)
    if source.root is not None and source.language == "python":
        wanted += _mend_statements(move_, source, patch)
    move_.apply(path, patch)
    for item in dict.fromkeys(wanted):
        move_.add_import(path, item)
    _drop_module(move_, path)


def _drop_module(move_: _Move, path: str) -> None:
    """Remove the import of the old module from a file that has no use for it any more."""
    before, after, patch = move_.project.sources.get(path), move_.text(path), Patch()
    if before is None or after is None or after.root is None or after.language != "python":
        return
    for statement in top_imports(after):
        for item in imported_names(after, statement):
            dot = "." if item.module.strip(".") else ""
            written = item.module if not item.name else f"{item.module}{dot}{item.name}"
            if statement.type == "import_statement" and item.local == item.module:
                written = after.slice(statement.children_by_field_name("name")[0])
            if move_.project.modules.find(path, written) != move_.source.path or item.name in move_.names:
                continue
            word = written if "." in written and not item.name else item.local
            used = re.compile(rb"(?<![\w.])%b\b" % re.escape(word.encode("utf-8")))
            if len(used.findall(before.data)) > len(used.findall(after.data)) and not _is_used(after, word):
                remove_names(after, statement, {item.local}, patch)
    move_.apply(path, patch)


def _is_used(source: SourceText, module: str) -> bool:
    """Whether code, beside its imports, uses a module."""
    first = module.partition(".")[0]
    uses = [u for u in name_table(source, first).uses if u.role in ("load", "string")]
    return any(source.data.startswith(module.encode("utf-8"), u.start) for u in uses)


def _mend_statements(move_: _Move, source: SourceText, patch: Patch) -> list[WantedImport]:
    """Mend the `from` imports of a file; the imports that it needs besides."""
    assert source.root is not None
    wanted: list[WantedImport] = []
    for statement in _imports_below(source.root):
        items = [i for i in imported_names(source, statement) if i.name in move_.names]
        items = [i for i in items if move_.project.modules.find(source.path, i.module) == move_.source.path]
        if not items:
            continue
        if source.path == move_.target:
            _drop_import(source, statement, items, patch)
            continue
        module = module_written(source.path, move_.target, like=items[0].module, old=move_.source.path)
        node = statement.child_by_field_name("module_name")
        if len(items) == len(statement.children_by_field_name("name")) and node is not None:
            patch.replace(source.path, node.start_byte, node.end_byte, module)
            continue
        remove_names(source, statement, {i.local for i in items}, patch)
        if statement.parent is not None and statement.parent.type == "module":
            wanted += [WantedImport(module, i.name, _alias(i)) for i in items]
        else:
            line = source.line_text(statement.start_point[0] + 1)
            indent = line[: len(line) - len(line.lstrip())]
            names = ", ".join(WantedImport(module, i.name, _alias(i)).item for i in items)
            start = statement.start_byte
            patch.replace(source.path, start, start, f"from {module} import {names}\n{indent}")
    return wanted


def _alias(item: ImportedName) -> str:
    """The name after `as`; a name after itself is how a package exports it."""
    names = item.statement.children_by_field_name("name")
    same = any(
        n.type == "aliased_import" and (n.text or b"").split() == [item.name.encode(), b"as", item.local.encode()]
        for n in names
    )
    return item.local if item.local != item.name or same else ""


def _drop_import(source: SourceText, statement: Node, items: list[ImportedName], patch: Patch) -> None:
    """Remove what the target imports of what it gets, which it may know by other names."""
    remove_names(source, statement, {i.local for i in items}, patch)
    for item in items:
        if item.local == item.name:
            continue
        for use in name_table(source, item.local).uses:
            if use.role == "load":
                patch.replace(source.path, use.start, use.end, item.name)


def _imports_below(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "import_from_statement":
            yield node
        elif node.type not in ("expression_statement", "import_statement"):
            pending.extend(node.named_children)


def _mend_attribute(move_: _Move, source: SourceText, use: NameUse, patch: Patch) -> list[WantedImport]:
    """`module.name` where the module is the old one; the import it needs."""
    attribute = use.node.parent
    receiver = attribute.child_by_field_name("object") if attribute is not None else None
    known = move_.project.known(source.path, receiver) if receiver is not None else None
    if attribute is None or receiver is None or known is None or known.path != move_.source.path:
        return []
    if _is_assigned(attribute):
        line = source.line_of(use.start)
        raise GenerationFailed(
            i18n.message("exact.bound_again", name=source.slice(use.node), path=source.path, line=line)
        )
    if source.path == move_.target:
        patch.replace(source.path, receiver.start_byte, use.start, "")
        return []
    written = source.slice(receiver)
    stem = posixpath.basename(move_.target).removesuffix(".py")
    if "." in written:
        new = retargeted(written, move_.source.path, move_.target)
        if new is None:
            patch.leave_open(source, use.start, i18n.message("exact.open.module"))
            return []
        patch.replace(source.path, receiver.start_byte, receiver.end_byte, new)
        return [WantedImport(new)]
    item = _item_binding(source, written)
    folder = posixpath.dirname(move_.target)
    if item is None or stem == "__init__":
        raise GenerationFailed(
            i18n.message("exact.module_used", name=written, path=source.path, line=source.line_of(use.start))
        )
    patch.replace(source.path, receiver.start_byte, receiver.end_byte, stem)
    if item.name:
        package = module_written(
            source.path,
            f"{folder}/__init__.py",
            like=item.module,
            old=posixpath.dirname(move_.source.path) + "/__init__.py",
        )
        return [WantedImport(package, stem)]
    new = retargeted(item.module, move_.source.path, move_.target) or dotted_module(move_.target)
    return [WantedImport(new, "", stem if "." in new else "")]


def _check_replaced(move_: _Move, needed: list[NeededName]) -> None:
    """Refuse to take code away from a module in which others replace what it uses."""
    for need in needed:
        for path in move_.project.sources.mentioning(need.name, ("python",)):
            table = move_.project.table(path, need.name)
            for use in table.uses if table is not None else ():
                attribute = use.node.parent if use.role == "attribute" else None
                receiver = attribute.child_by_field_name("object") if attribute is not None else None
                if attribute is None or receiver is None or not _is_assigned(attribute):
                    continue
                known = move_.project.known(path, receiver)
                if known is not None and known.kind == "module" and known.path == move_.source.path:
                    line = attribute.start_point[0] + 1
                    raise GenerationFailed(i18n.message("exact.bound_again", name=need.name, path=path, line=line))


def _is_assigned(attribute: Node) -> bool:
    """Whether a module's attribute gets a value from outside, which modules that import it by name wouldn't see."""
    parent = attribute.parent
    assigned = parent is not None and parent.type in ("assignment", "augmented_assignment", "delete_statement")
    left = parent.child_by_field_name("left") if parent is not None else None
    return assigned and (left is None or left.id == attribute.id)


def _item_binding(source: SourceText, local: str) -> ImportedName | None:
    for statement in top_imports(source):
        for item in imported_names(source, statement):
            if item.local == local:
                return item
    return None


def _mend_text(move_: _Move, source: SourceText, use: NameUse, kept: set[str], patch: Patch) -> None:
    """A text that names the definition with its module; one that replaces it in tests means the module that looks it
    up."""
    name = source.data[use.start : use.end].decode("utf-8")
    beside = _module_beside(move_, source, use)
    if looked_up_by(source, use.node) is not None:
        move_.patch.leave_open(source, use.start, i18n.message("exact.open.string"))
    elif beside is not None and is_of_one_name(beside):
        module = module_written(source.path, move_.target, like=string_content(source, beside), old=move_.source.path)
        written = next(part for part in beside.children if part.type == "string_content")
        patch.replace(source.path, written.start_byte, written.end_byte, module)
    elif beside is not None:
        move_.patch.leave_open(source, use.start, i18n.message("exact.open.module"))
    elif use.role == "comment" or name not in kept or in_all(source, use.node):
        _retarget_text(move_, source, use.start, patch)
    else:
        move_.patch.leave_open(source, use.start, i18n.message("exact.open.string"))


def _module_beside(move_: _Move, source: SourceText, use: NameUse) -> Node | None:
    """The string in a table of modules that says that a name is of the old module."""
    if use.role != "string":
        return None
    return module_beside(source, use.node, {move_.source.path}, move_.project.modules)


def _retarget_text(move_: _Move, source: SourceText, start: int, patch: Patch) -> None:
    match = re.compile(rb"(?P<module>[\w.]*\w)[.:]\Z").search(source.data[max(0, start - 200) : start])
    new = retargeted(match["module"].decode("utf-8"), move_.source.path, move_.target) if match else None
    if match is not None and new is not None:
        first = start - len(match[0])
        patch.replace(source.path, first, first + len(match["module"]), new)


def _mend_stars(move_: _Move, kept: set[str]) -> None:
    """Files that import everything from the old module import the definitions by name."""
    index = move_.project.sources.workspace.index
    public = [n for n in move_.names if not n.startswith("_") and n not in kept]
    for path in [p for p, info in index.files.items() if info.language == "python"] if public else []:
        starred = list(move_.project.star_imports(path))
        if move_.source.path in starred and move_.target not in starred and path != move_.target:
            source = move_.project.sources.get(path)
            stars = [i for i in _star_items(source) if move_.project.modules.find(path, i.module) == move_.source.path]
            for name in public if stars else []:
                module = module_written(path, move_.target, like=stars[0].module, old=move_.source.path)
                move_.add_import(path, WantedImport(module, name, name))


def _mend_documents(move_: _Move) -> None:
    """Documents show the imports that work now."""
    sources = move_.project.sources
    paths = {path for name in move_.names for path in sources.mentioning(name)}
    for path in sorted(p for p in paths if file_kind(p) == "doc" and not is_history(p)):
        text, patch = move_.text(path), Patch()
        for change in moved_imports(text.data, move_.names, partial(_new_module, move_)) if text is not None else ():
            patch.replace(path, *change)
        move_.apply(path, patch)


def _new_module(move_: _Move, written: str) -> str | None:
    """The new module's name in the form of the old one's."""
    known = written in move_.project.modules.names_of(move_.source.path)
    return retargeted(written, move_.source.path, move_.target) if known else None


def _star_items(source: SourceText | None) -> list[ImportedName]:
    if source is None:
        return []
    return [i for s in top_imports(source) for i in imported_names(source, s) if i.name == "*"]


# The old and the new module


def _take_out(move_: _Move, nodes: Sequence[Node], kept: set[str]) -> None:
    """Remove the definitions from the old module, with the imports that only they used."""
    source, patch = move_.source, Patch()
    for start, end in _united(source.data, [statement_span(source, node) for node in nodes]):
        patch.replace(source.path, start, end, "")
    for name in move_.names:
        for use in name_table(source, name).uses if name not in kept else ():
            remove_export(source, use, patch)
    remove_imports_of(move_.project, source, move_.spans, patch)
    for name in move_.names:
        for use in name_table(source, name).uses:
            inside = any(a <= use.start < b for a, b in move_.spans)
            if use.role in ("string", "comment") and not inside:
                _retarget_text(move_, source, use.start, patch)
    move_.apply(source.path, patch)
    _drop_condition(move_)
    for name in [n for n in move_.names if n in kept]:
        module = module_written(source.path, move_.target, like=_style(source), old=source.path)
        used = _is_used_still(move_, name)
        move_.add_import(source.path, WantedImport(module, name, "" if used else name))


def _united(data: bytes, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of whole lines, those of neighbours as one: they share the blank lines between them."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or data[found[-1][1] : start].strip():
            found.append((start, end))
            continue
        first, last = found[-1][0], max(end, found[-1][1])
        lines = data[first:last].strip(b"\n") + b"\n"
        first = data.index(lines, first)
        found[-1] = with_blank_lines(data, first, first + len(lines))
    return found


def _drop_condition(move_: _Move) -> None:
    """Remove the import of `TYPE_CHECKING` where it served only what is gone."""
    before, after, patch = move_.source, move_.text(move_.source.path), Patch()
    had = any(u.role == "load" for u in name_table(before, "TYPE_CHECKING").uses)
    if after is None or not had or any(u.role == "load" for u in name_table(after, "TYPE_CHECKING").uses):
        return
    for statement in top_imports(after):
        if remove_names(after, statement, {"TYPE_CHECKING"}, patch):
            break
    move_.apply(after.path, patch)


def _style(source: SourceText) -> str:
    """The module of an import that shows how a file imports modules of its package: with dots where it does so."""
    modules = [i.module for s in top_imports(source) for i in imported_names(source, s)]
    return next((m for m in modules if m.startswith(".")), "")


def _put_in(move_: _Move, needed: list[NeededName]) -> None:
    """Add the definitions to the new module, with the imports that they need."""
    target = move_.text(move_.target)
    assert target is not None
    is_new = move_.project.sources.get(move_.target) is None
    inside = _inside_target(move_, needed)
    texts = [_moved_text(move_, span, inside) for span in move_.spans]
    needed = [n for n in needed if n.name not in inside]
    _add_definitions(move_, texts)
    future = any(i.module == "__future__" for s in top_imports(move_.source) for i in imported_names(move_.source, s))
    if future and (is_new or any(n.kind == "types" for n in needed)):
        move_.add_import(move_.target, WantedImport("__future__", "annotations"))
    relative = _style(target) or (_style(move_.source) if is_new else "")
    for need in sorted(needed, key=lambda n: n.kind == "types"):
        wanted = _needed_import(move_, need, relative)
        if wanted is None:
            continue
        current = move_.text(move_.target)
        assert current is not None
        if _has_same(move_, current, wanted):
            continue
        if need.kind == "types":
            if typing_condition(current) == "TYPE_CHECKING" and not _binds_condition(current):
                move_.add_import(move_.target, WantedImport("typing", "TYPE_CHECKING"))
            current, patch = move_.texts[move_.target], Patch()
            add_typing_import(move_.project, current, wanted, patch)
            move_.apply(move_.target, patch)
        else:
            move_.add_import(move_.target, wanted)
    _export(move_)


def _binds_condition(source: SourceText) -> bool:
    """Whether a file imports `TYPE_CHECKING`, or sets it itself."""
    return source.root is not None and source.root.id in name_table(source, "TYPE_CHECKING").bound


def _inside_target(move_: _Move, needed: list[NeededName]) -> dict[str, list[tuple[int, int]]]:
    """The names by which the definitions know the new module, with the bytes to drop: `module.` of `module.name`."""
    found = {}
    for item in [n.item for n in needed if n.item is not None]:
        dot = "." if item.module.strip(".") else ""
        whole = f"{item.module}{dot}{item.name}" if item.name else item.module
        if move_.project.modules.find(move_.source.path, whole) != move_.target or "." in item.local:
            continue
        uses = [u for u in name_table(move_.source, item.local).uses if u.role == "load"]
        inside = [u.node for u in uses if any(a <= u.start < b for a, b in move_.spans)]
        spans = [_receiver_span(n) for n in inside]
        if all(spans):
            found[item.local] = [s for s in spans if s is not None]
    return found


def _receiver_span(node: Node) -> tuple[int, int] | None:
    parent = node.parent
    attribute = parent.child_by_field_name("attribute") if parent is not None and parent.type == "attribute" else None
    return (node.start_byte, attribute.start_byte) if attribute is not None else None


def _moved_text(move_: _Move, span: tuple[int, int], inside: dict[str, list[tuple[int, int]]]) -> str:
    start, end = span
    dropped = [ByteEdit(a - start, b - start, "") for spans in inside.values() for a, b in spans if start <= a < end]
    return spliced(move_.source.data[start:end], dropped).decode("utf-8")


def _needed_import(move_: _Move, need: NeededName, relative: str) -> WantedImport | None:
    """The import by which the new module gets a name; None for one that it defines itself."""
    if need.item is None:  # the old module defines it
        module = module_written(move_.target, move_.source.path, like=relative, old=move_.target)
        return WantedImport(module, need.name)
    item = need.item
    local = item.local if item.local != (item.name or item.module.partition(".")[0]) else ""
    found = move_.project.modules.find(move_.source.path, item.module)
    if found == move_.target and item.name:
        if local:
            raise GenerationFailed(i18n.message("exact.name_taken", name=item.name, path=move_.target, line=1))
        return None
    if not item.module.startswith("."):
        return WantedImport(item.module, item.name, local)
    folder = posixpath.dirname(move_.source.path)
    bare = item.module.lstrip(".")
    for _ in range(len(item.module) - len(bare) - 1):
        folder = posixpath.dirname(folder)
    path = posixpath.join(folder, bare.replace(".", "/")) + ("/__init__.py" if not bare else ".py")
    return WantedImport(module_written(move_.target, path, like=relative or ".", old=move_.target), item.name, local)


def _has_same(move_: _Move, target: SourceText, wanted: WantedImport) -> bool:
    """Whether a module imports a name already, perhaps written in another way."""
    modules = move_.project.modules
    for statement in top_imports(target):
        for item in imported_names(target, statement):
            if item.local != wanted.bound or item.name != wanted.name:
                continue
            path, other = modules.find(target.path, item.module), modules.find(target.path, wanted.module)
            if path == other and (path is not None or item.module == wanted.module):
                return True
    return False


def _add_definitions(move_: _Move, texts: list[str]) -> None:
    """Insert the definitions: at the end, or before what uses them while the module is imported."""
    target, patch = move_.text(move_.target), Patch()
    assert target is not None and target.root is not None
    before = _first_use(move_, target) or _main_block(target)
    block = "\n\n\n".join(texts) if any("\n" in t for t in texts) else "\n".join(texts)
    if before is not None:
        start, _ = statement_span(target, before)
        start = target.data.rfind(b"\n", 0, before.start_byte) + 1 if start > before.start_byte else start
        while target.data[start : start + 1] == b"\n":
            start += 1
        patch.replace(target.path, start, start, f"{block}\n\n\n")
    else:
        end = len(target.data.rstrip())
        patch.replace(target.path, end, len(target.data), f"\n\n\n{block}\n" if end else f"{block}\n")
    move_.apply(target.path, patch)


def _first_use(move_: _Move, target: SourceText) -> Node | None:
    """The first statement of a module that uses a moved name while the module is imported."""
    assert target.root is not None
    found = []
    for name in move_.names:
        for use in name_table(target, name).uses:
            if use.role == "load" and runs_at_import(use.scope):
                found.append(use.start)
    for node in target.root.named_children:
        if found and node.start_byte <= min(found) < node.end_byte:
            return node
    return None


def _main_block(target: SourceText) -> Node | None:
    assert target.root is not None
    last = target.root.named_children[-1] if target.root.named_children else None
    is_main = last is not None and last.type == "if_statement" and "__name__" in target.slice(last).split("\n")[0]
    return last if is_main else None


def _export(move_: _Move) -> None:
    """Export from the new module, where it says what it exports, what the old one exported."""
    exported = [
        name
        for name in move_.names
        if any(u.role == "string" and in_all(move_.source, u.node) for u in name_table(move_.source, name).uses)
    ]
    for name in exported:
        target, patch = move_.text(move_.target), Patch()
        for node in target.root.named_children if target is not None and target.root is not None else ():
            inner = node.named_children[0] if node.type == "expression_statement" else node
            left = inner.child_by_field_name("left") if inner.type == "assignment" else None
            right = inner.child_by_field_name("right")
            if target is None or left is None or right is None or target.slice(left) != "__all__":
                continue
            entries = [c for c in right.named_children if c.type == "string"]
            at = sorted_position([target.slice(e).strip("\"'") for e in entries], name)
            quote = target.slice(entries[0])[0] if entries else '"'
            start, end, new = added_entry(target.data, right, entries, at, f"{quote}{name}{quote}")
            patch.replace(target.path, start, end, new)
        move_.apply(move_.target, patch)


# Whether it can be imported


def _check_imports(move_: _Move) -> None:
    """Refuse a move after which modules would import each other in a circle that fails.

    Raises:
        GenerationFailed: one of the changed modules can't be imported any more.
    """
    before = move_.project.modules
    index = move_.project.sources.workspace.index
    names = defaultdict(list, {k: list(v) for k, v in before.by_name.items()})
    if move_.target not in before.paths:
        names[dotted_module(move_.target)].append(move_.target)
    info = index.files[move_.source.path]
    after = Modules({**before.paths, move_.target: info}, names)
    for path in [p for p, text in move_.texts.items() if text.language == "python"]:
        failure = import_failure(path, move_.text, after)
        if failure is None:
            continue
        known = path in before.paths and import_failure(path, move_.project.sources.get, before) is not None
        if not known:
            importer, name, module = failure
            raise GenerationFailed(
                i18n.message("exact.circular_move", path=importer, name=name, module=module),
                i18n.message("exact.circular_move_hint"),
            )


def _as_patch(move_: _Move) -> Patch:
    """What became of all files."""
    patch = move_.patch
    for path, text in move_.texts.items():
        before = move_.project.sources.get(path)
        if before is None:
            patch.added[path] = text.data.decode("utf-8")
        elif before.data != text.data:
            edit = _difference(before.data, text.data)
            patch.replace(path, *edit)
    return patch


def _difference(old: bytes, new: bytes) -> ByteEdit:
    """The lines that differ, as one change."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    first = sum(map(len, before[:start]))
    last = sum(map(len, before[: len(before) - end]))
    return ByteEdit(first, last, b"".join(after[start : len(after) - end]).decode("utf-8"))
