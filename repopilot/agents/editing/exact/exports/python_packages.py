"""Exports of Python packages: the import in `__init__.py`, its `__all__` and its stub."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import constants_first
from repopilot.agents.editing.exact.exports.export_lists import add_export, export_list, exported_names, remove_export
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.import_lines import WantedImport, add_import, remove_names, top_imports
from repopilot.agents.editing.exact.python.modules import imported_names, statement_around
from repopilot.agents.editing.exact.python.name_uses import NameUse
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_INIT = "__init__.py"


def package_named(name: str, sources: Sources) -> str | None:
    """The `__init__.py` of the package that a dotted name or a folder names; None for none or several."""
    folder = name.removesuffix(_INIT).strip("/")
    if not re.fullmatch(r"\w+(?:[./]\w+)*", folder):
        return None
    tail = posixpath.join(folder if "/" in folder else folder.replace(".", "/"), _INIT)
    found = [p for p in sources.workspace.index.files if p == tail or p.endswith(f"/{tail}")]
    found = found or [p for p in (tail, f"src/{tail}") if sources.get(p) is not None]  # empty files aren't indexed
    code = [p for p in found if posixpath.dirname(posixpath.dirname(p)) in ("", "src")]
    chosen = found if len(found) == 1 else code
    return chosen[0] if len(chosen) == 1 else None


def top_package(path: str, sources: Sources) -> str | None:
    """The `__init__.py` of the outermost package that a file is in."""
    found, folder = None, posixpath.dirname(path)
    while sources.get(inside := posixpath.join(folder, _INIT)) is not None:
        found = inside
        if not folder:
            break
        folder = posixpath.dirname(folder)
    return found


def export_from_package(
    project: PythonProject, symbol: Symbol, target: str, patch: Patch, *, begin: bool = False
) -> None:
    """Make a definition importable from a package.

    Args:
        project: the repository.
        symbol: the definition, at the top level of a module.
        target: the package's `__init__.py`, or the module itself.
        patch: receives the change.
        begin: whether a module without a list of exports gets one.

    Raises:
        GenerationFailed: it can be imported from there already, or the name means something else there.
    """
    name = symbol.name
    added = False
    for path in (target, f"{target}i"):
        source = project.sources.get(path)
        if source is None or source.root is None:
            continue
        changed = path != symbol.path and _add_import(project, source, symbol, patch)
        own = begin and path == symbol.path and export_list(source) is None
        changed = (_add_list(source, name, patch) if own else add_export(source, name, patch)) or changed
        if changed:
            patch.edits.append(Edit("export", path, name))
        added = added or changed
    if not added:
        raise GenerationFailed(i18n.message("exact.already_exported", name=name, path=target))


def _add_list(source: SourceText, name: str, patch: Patch) -> bool:
    """Begin a module's `__all__` behind its imports, or its docstring."""
    assert source.root is not None
    behind = [*top_imports(source), *(n for n in source.root.named_children[:1] if _is_text(n))]
    end = max((n.end_byte for n in behind), default=0)
    line = f'__all__ = ["{name}"]'
    patch.replace(source.path, end, end, f"\n\n{line}" if end else f"{line}\n\n\n")
    return True


def _is_text(node: Node) -> bool:
    """Whether a statement is a docstring."""
    return node.type == "expression_statement" and [c.type for c in node.named_children] == ["string"]


def _add_import(project: PythonProject, source: SourceText, symbol: Symbol, patch: Patch) -> bool:
    """Import a definition where nothing does it yet."""
    own = _own_imports(project, source)
    star = next((p for s, p in own if _is_star(source, s) and p == symbol.path), None)
    if star is not None:
        starred = project.sources.get(star)
        assert starred is not None
        if add_export(starred, symbol.name, patch):
            patch.edits.append(Edit("export", star, symbol.name))
            return True
        if not symbol.name.startswith("_"):
            return False
    bound = [(s, i) for s, _ in own for i in imported_names(source, s) if i.local == symbol.name]
    if bound:
        _check_same(project, source, symbol, bound[0][0])
        return False
    through = _subpackage(project, source, symbol, own, patch)
    if any(_is_star(source, s) and path == through for s, path in own):
        return bool(patch.edits)
    _insert(project, source, symbol, own, through, patch)
    return True


def _check_same(project: PythonProject, source: SourceText, symbol: Symbol, statement: Node) -> None:
    """Refuse a name that the package imports from another module.

    Raises:
        GenerationFailed: it does.
    """
    item = next(i for i in imported_names(source, statement) if i.local == symbol.name)
    path = project.modules.find(source.path, item.module)
    other = project.sources.get(path) if path is not None and path != symbol.path else None
    table = project.table(other.path, symbol.name) if other is not None else None
    if table is None or other is None or other.root is None:
        return
    uses = table.bound.get(other.root.id, [])
    if uses and all(u.role != "imported" for u in uses):
        line = statement.start_point[0] + 1
        raise GenerationFailed(i18n.message("exact.name_taken", name=symbol.name, path=source.path, line=line))


def _own_imports(project: PythonProject, source: SourceText) -> list[tuple[Node, str]]:
    """The `from` imports out of the package itself, with the files that they import from."""
    folder = posixpath.dirname(source.path)
    found = []
    for statement in top_imports(source):
        module = statement.child_by_field_name("module_name")
        written = source.slice(module).replace(" ", "") if module is not None else ""
        path = project.modules.find(source.path, written) if written else None
        if path is not None and posixpath.join(folder, "") in posixpath.join(posixpath.dirname(path), ""):
            found.append((statement, path))
    return found


def _is_star(source: SourceText, statement: Node) -> bool:
    return any(c.type == "wildcard_import" for c in statement.children)


def _subpackage(
    project: PythonProject, source: SourceText, symbol: Symbol, own: Sequence[tuple[Node, str]], patch: Patch
) -> str:
    """The file to import from: the module, or the subpackage that offers the names beside this one."""
    paths = [path for _, path in own]
    folder = posixpath.dirname(symbol.path)
    between = posixpath.join(folder, _INIT)
    if symbol.path in paths or folder == posixpath.dirname(source.path):
        return symbol.path
    inner = project.sources.get(between)
    if inner is None or inner.root is None:
        return symbol.path
    table = project.table(between, symbol.name)
    if table is not None and table.bound.get(inner.root.id):
        return between
    if between in paths and any(path == symbol.path for _, path in _own_imports(project, inner)):
        export_from_package(project, symbol, between, patch)
        return between
    return symbol.path


def _insert(
    project: PythonProject,
    source: SourceText,
    symbol: Symbol,
    own: Sequence[tuple[Node, str]],
    through: str,
    patch: Patch,
) -> None:
    """Insert the import in the style of the others."""
    plain = [(s, p) for s, p in own if not _is_star(source, s)]
    items = [i for s, _ in plain for i in imported_names(source, s)]
    twice = [i for i in items if f"{i.name} as {i.name}" in source.slice(i.statement)]
    local = symbol.name if len(twice) * 2 > len(items) else ""
    module = _module_text(project, source, plain, through)
    wanted = WantedImport(module, symbol.name, local)
    lines = [s for s, _ in plain]
    comment = _common_comment(source, lines)
    table = project.table(source.path, symbol.name)
    taken = table.bound.get(source.root.id) if table is not None and source.root is not None else None
    if not taken and lines and (comment or _one_name_each(source, lines)):
        _insert_line(source, lines, wanted, comment, patch)
    else:
        add_import(project, source, wanted, patch)


def _module_text(project: PythonProject, source: SourceText, own: Sequence[tuple[Node, str]], target: str) -> str:
    """How the package names a module of its own."""
    written = {path: _module_of(source, s) for s, path in own}
    if target in written:
        return written[target]
    if not target.startswith(posixpath.join(posixpath.dirname(source.path), "")):
        return project.modules.name_of(target)
    inside = posixpath.relpath(target, posixpath.dirname(source.path) or ".")
    dotted = inside.removesuffix(f"/{_INIT}").removesuffix(".py").replace("/", ".")
    absolute = bool(own) and not any(text.startswith(".") for text in written.values())
    return f"{project.modules.name_of(source.path)}.{dotted}" if absolute else f".{dotted}"


def _module_of(source: SourceText, statement: Node) -> str:
    module = statement.child_by_field_name("module_name")
    return source.slice(module).replace(" ", "") if module is not None else ""


def _one_name_each(source: SourceText, statements: Sequence[Node]) -> bool:
    """Whether each name has a line of its own, so that modules have several."""
    single = all(len(s.children_by_field_name("name")) == 1 for s in statements)
    modules = [_module_of(source, s) for s in statements]
    return single and len(set(modules)) < len(modules)


def _common_comment(source: SourceText, statements: Sequence[Node]) -> str:
    """The comment that all imports have, such as one for a linter; '' for none."""
    found = {_rest_of_line(source, s) for s in statements}
    comment = found.pop() if len(found) == 1 else ""
    return comment if comment.lstrip().startswith("#") else ""


def _rest_of_line(source: SourceText, statement: Node) -> str:
    end = source.data.find(b"\n", statement.end_byte)
    return source.data[statement.end_byte : end if end >= 0 else len(source.data)].decode("utf-8").rstrip()


_ORDERS: tuple[Callable[[tuple[str, str]], tuple], ...] = (
    lambda line: (line[0], line[1]),
    lambda line: (line[0].lower(), line[1].lower()),
    lambda line: (line[0].lower(), constants_first(line[1])),
    lambda line: (line[0],),
)


def _insert_line(
    source: SourceText, statements: Sequence[Node], wanted: WantedImport, comment: str, patch: Patch
) -> None:
    """Insert a line of its own, in the order of the others where they have one, else behind those of its module."""
    lines = [(_module_of(source, s), source.slice(s.children_by_field_name("name")[0])) for s in statements]
    new = (wanted.module, wanted.item)
    order = next((key for key in _ORDERS if sorted(lines, key=key) == lines), None)
    same = [n for n, line in enumerate(lines) if line[0] == wanted.module]
    if order is None and same:
        inside = [lines[n] for n in same]
        order = next((key for key in _ORDERS if sorted(inside, key=key) == inside), None)
        before = next((n for n in same if order is not None and order(lines[n]) > order(new)), None)
    else:
        before = next((n for n, line in enumerate(lines) if order is not None and order(line) > order(new)), None)
    text = f"{wanted.statement}{comment}"
    if before is not None:
        at = statements[before].start_byte
        patch.replace(source.path, at, at, f"{text}\n")
        return
    after = statements[same[-1] if same else -1]
    end = source.data.find(b"\n", after.end_byte)
    end = end if end >= 0 else len(source.data)
    patch.replace(source.path, end, end, f"\n{text}")


def unexport_from_package(project: PythonProject, name: str, target: str, patch: Patch) -> bool:
    """No longer offer a name from a package; who imports it from there is left open.

    Args:
        project: the repository.
        name: the name.
        target: the package's `__init__.py`, or a module with `__all__`.
        patch: receives the change.

    Returns:
        Whether the package offered it.
    """
    removed = gone = False
    for path in (target, f"{target}i"):
        source = project.sources.get(path)
        if source is None or source.root is None:
            continue
        imported = _remove_import(project, source, name, patch)
        changed = remove_export(source, name, patch) or imported
        if changed:
            patch.edits.append(Edit("unexport", path, name))
        removed, gone = removed or changed, gone or imported
    if gone:
        _leave_importers_open(project, name, target, patch)
    return removed


def _remove_import(project: PythonProject, source: SourceText, name: str, patch: Patch) -> bool:
    table = project.table(source.path, name)
    loaded = any(u.role == "load" for u in table.uses) if table is not None else False
    for statement, path in _own_imports(project, source):
        if _is_star(source, statement):
            starred = project.sources.get(path)
            listed = export_list(starred) if starred is not None else None
            if starred is not None and listed is not None and name in exported_names(starred, listed):
                remove_export(starred, name, patch)
                patch.edits.append(Edit("unexport", path, name))
                return True
        elif any(i.local == name for i in imported_names(source, statement)):
            return not loaded and remove_names(source, statement, {name}, patch)
    return False


def _leave_importers_open(project: PythonProject, name: str, target: str, patch: Patch) -> None:
    """List the imports of a name from a package, and its uses as an attribute of it."""
    reason = i18n.message("exact.open.unexported", name=name, path=target)
    for path in project.sources.mentioning(name, ("python",)):
        table = project.table(path, name) if path != target else None
        for use in table.uses if table is not None else ():
            statement = statement_around(use.node) if use.role == "imported" else None
            if table is None:
                continue
            if statement is not None:
                items = imported_names(table.source, statement)
                found = any(i.name == name and project.modules.find(path, i.module) == target for i in items)
            else:
                found = _is_attribute_of(project, path, use, target)
            if found:
                patch.leave_open(table.source, use.start, reason)


def _is_attribute_of(project: PythonProject, path: str, use: NameUse, target: str) -> bool:
    """Whether a name is looked up in a module: `package.name`."""
    attribute = use.node.parent if use.role == "attribute" else None
    receiver = attribute.child_by_field_name("object") if attribute is not None else None
    known = project.known(path, receiver) if receiver is not None else None
    return known is not None and known.kind == "module" and known.path == target


def is_package_path(path: str) -> bool:
    """Whether a file is the top of a Python package."""
    return re.search(r"(?:^|/)__init__\.pyi?$", path) is not None
