"""Exports of JavaScript and TypeScript: the index file of a package or folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.script_modules import module_file
from repopilot.agents.editing.exact.entries import added_entry, removed_spans, sorted_position
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.types import Edit, Symbol

_SUFFIXES = (".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx", ".cjs")
_INDEX = re.compile(r"(?:^|/)index\.(?:[mc]?[jt]s|[jt]sx)$")
_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*|['\"]use strict['\"];?", re.S)
_PASSED_ON = re.compile(r"module\.exports\s*=\s*require\(['\"](?P<path>\.[^'\"]*)['\"]\);?")
_TYPES = ("interface_declaration", "type_alias_declaration")


def is_index_path(path: str) -> bool:
    """Whether a file is the index of its folder."""
    return _INDEX.search(path) is not None


def index_named(name: str, index: Index) -> str | None:
    """The index file of the folder that a text names; None for none or several."""
    folder = name.strip("/").removeprefix("./")
    found = [p for p in index.files if is_index_path(p) and f"/{posixpath.dirname(p)}".endswith(f"/{folder}")]
    return found[0] if len(found) == 1 and folder else None


def top_index(path: str, sources: Sources) -> str | None:
    """The outermost index file above a file, up to the folder of its `package.json`."""
    found, folder = None, posixpath.dirname(path)
    while True:
        paths = (posixpath.join(folder, f"index{suffix}") for suffix in _SUFFIXES)
        here = next((p for p in paths if p in sources.workspace.index.files and p != path), None)
        found = here or found
        if not folder or sources.get(posixpath.join(folder, "package.json")) is not None:
            return _passed_on(found, sources) if found is not None else None
        folder = posixpath.dirname(folder)


def _passed_on(path: str, sources: Sources) -> str:
    """The file whose exports an index has, where it does no more than `module.exports = require(…)`; else itself."""
    source = sources.get(path)
    only = _PASSED_ON.fullmatch(_COMMENTS.sub("", source.text[:4000]).strip()) if source is not None else None
    return (module_file(path, only["path"], sources.workspace.index.files) or path) if only is not None else path


def export_from_index(symbol: Symbol, source: SourceText, target: str, sources: Sources, patch: Patch) -> None:
    """Export a definition from an index file, and from its own file where that doesn't yet.

    Args:
        symbol: the definition.
        source: its file.
        target: the index.
        sources: the files.
        patch: receives the change.

    Raises:
        GenerationFailed: it is exported from there already, or the name means something else there.
    """
    index = sources.get(target)
    if index is None or index.root is None or source.root is None:
        raise GenerationFailed(i18n.message("exact.no_index", path=symbol.path))
    declaration, how = _declaration(source, symbol)
    if declaration is None:
        raise GenerationFailed(i18n.message("exact.no_index", path=symbol.path))
    common = _is_commonjs(index)
    opened = False
    if not how and not common and _uses_commonjs(source):
        raise GenerationFailed(i18n.message("exact.no_index", path=symbol.path))
    if not how and not common:
        patch.replace(source.path, declaration.start_byte, declaration.start_byte, "export ")
        patch.edits.append(Edit("export", source.path, symbol.name))
        opened = True
    if target == symbol.path or any(_is_star(s) and _leads_to(index, s, symbol.path) for s in _exports(index)):
        if not opened:
            raise GenerationFailed(i18n.message("exact.already_exported", name=symbol.name, path=target))
        return
    _check_free(index, symbol.name)
    if common:
        offered = _commonjs_access(source, symbol.name)
        if offered is None:
            raise GenerationFailed(i18n.message("exact.not_exported", name=symbol.name, path=symbol.path))
        _add_commonjs(index, symbol, offered, patch)
    else:
        _add_module_export(index, symbol, declaration, how, patch)
    patch.edits.append(Edit("export", target, symbol.name))


def _declaration(source: SourceText, symbol: Symbol) -> tuple[Node | None, str]:
    """The declaration of a definition, and how its file exports it: `name`, `default` or ''."""
    assert source.root is not None
    found, how = None, ""
    for statement in source.root.named_children:
        text = source.slice(statement)
        inner = statement.child_by_field_name("declaration") if statement.type == "export_statement" else None
        if symbol.name in _declared(source, inner or statement):
            found = inner or statement
            if inner is not None:
                how = "default" if re.match(r"export\s+default\b", text) else "name"
        elif statement.type == "export_statement":
            if symbol.name in (name for name, _ in _specifiers(source, statement)):
                how = "name"
            elif re.fullmatch(rf"export\s+default\s+{re.escape(symbol.name)};?", text):
                how = how or "default"
        elif re.match(rf"(?:module\.)?exports(?:\.\w+)?\s*=[^;]*\b{re.escape(symbol.name)}\b", text):
            how = how or "name"
    return found, how


def _declared(source: SourceText, node: Node) -> list[str]:
    """The names that a declaration at the top level declares."""
    if node.type in ("lexical_declaration", "variable_declaration"):
        labels = [d.child_by_field_name("name") for d in node.named_children]
    else:
        labels = [node.child_by_field_name("name")] if "declaration" in node.type else []
    return [source.slice(label) for label in labels if label is not None]


def _exports(index: SourceText) -> Iterator[Node]:
    """The statements of an index that export from other files."""
    for statement in index.root.named_children if index.root is not None else ():
        if statement.type == "export_statement" and statement.child_by_field_name("source") is not None:
            yield statement


def _is_star(statement: Node) -> bool:
    clauses = ("export_clause", "namespace_export")
    return not any(c.type in clauses for c in statement.named_children)


def _specifiers(source: SourceText, statement: Node) -> list[tuple[str, str]]:
    """The names in braces: as the other file calls them, and as they are exported."""
    found = []
    for item in (s for c in statement.named_children if c.type == "export_clause" for s in c.named_children):
        name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
        if name is not None:
            found.append((source.slice(name), source.slice(alias or name)))
    return found


def _module(index: SourceText, statement: Node) -> str:
    node = statement.child_by_field_name("source")
    return index.slice(node)[1:-1] if node is not None else ""


def _leads_to(index: SourceText, statement: Node, path: str) -> bool:
    """Whether a statement exports from a file."""
    return _same_module(_module(index, statement), _relative(index, path))


def _same_module(one: str, other: str) -> bool:
    return _bare(one) == _bare(other)


def _bare(module: str) -> str:
    return re.sub(r"(?:/index)?(?:\.[mc]?[jt]sx?)?$", "", module)


def _relative(index: SourceText, path: str) -> str:
    """How an index names another file, without its suffix."""
    relative = posixpath.relpath(path, posixpath.dirname(index.path) or ".")
    bare = re.sub(r"\.[mc]?[jt]sx?$", "", relative)
    bare = bare.removesuffix("/index") or "."
    return bare if bare.startswith(".") else f"./{bare}"


def _check_free(index: SourceText, name: str) -> None:
    assert index.root is not None
    for statement in index.root.named_children:
        inner = statement.child_by_field_name("declaration") if statement.type == "export_statement" else None
        exported = [e for _, e in _specifiers(index, statement)] if statement.type == "export_statement" else []
        exported += _declared(index, inner) if inner is not None else []
        text = index.slice(statement)
        common = re.match(r"(?:module\.)?exports", text) and re.search(
            rf"exports\.{re.escape(name)}\s*=|[{{,]\s*{re.escape(name)}\s*[,:}}]", text
        )
        if name in exported or common:
            raise GenerationFailed(i18n.message("exact.already_exported", name=name, path=index.path))


def _add_module_export(index: SourceText, symbol: Symbol, declaration: Node, how: str, patch: Patch) -> None:
    """Add to the statement that exports from the definition's file, or add one."""
    written = f"default as {symbol.name}" if how == "default" else symbol.name
    others = list(_exports(index))
    only_type = declaration.type in _TYPES
    typed = [s for s in others if _is_typed(index, s)]
    for statement in others:
        if _is_star(statement) or not _leads_to(index, statement, symbol.path):
            continue
        clause = next((c for c in statement.named_children if c.type == "export_clause"), None)
        if clause is None or _is_typed(index, statement) != (only_type and bool(typed)):
            continue
        _add_to_clause(index, clause, written, patch)
        return
    local = None if others else _local_clause(index)
    if local is not None:
        _add_import(index, symbol, how, patch)
        _add_to_clause(index, local, symbol.name, patch)
        return
    word = "export type" if only_type and typed else "export"
    model = others[-1] if others else None
    module = _relative(index, symbol.path) + _suffix(index, others)
    quote, end = ("'", ";") if model is None else _punctuation(index, model)
    text = f"{word} {{ {written} }} from {quote}{module}{quote}{end}"
    _insert_statement(index, others, module, text, patch)


def _local_clause(index: SourceText) -> Node | None:
    """The last list of names that an index exports after having imported them."""
    found = None
    for statement in index.root.named_children if index.root is not None else ():
        if statement.type == "export_statement" and statement.child_by_field_name("source") is None:
            clauses = [c for c in statement.named_children if c.type == "export_clause"]
            named = [c for c in clauses if any(e.child_by_field_name("alias") is None for e in c.named_children)]
            found = named[0] if named else found
    return found


def _add_import(index: SourceText, symbol: Symbol, how: str, patch: Patch) -> None:
    """Import a definition into an index: with the other names of its file, or in a statement of its own."""
    children = index.root.named_children if index.root is not None else []
    imports = [s for s in children if s.type == "import_statement" and s.child_by_field_name("source") is not None]
    for statement in imports if how != "default" else ():
        clauses = [c for s in statement.named_children if s.type == "import_clause" for c in s.named_children]
        named = next((c for c in clauses if c.type == "named_imports"), None)
        if named is not None and _leads_to(index, statement, symbol.path):
            entries = [c for c in named.named_children if c.type == "import_specifier"]
            at = sorted_position([index.slice(e) for e in entries], symbol.name, fewest=2)
            start, end, new = added_entry(index.data, named, entries, at, symbol.name)
            patch.replace(index.path, start, end, new)
            return
    quote, end_mark = _punctuation(index, imports[-1]) if imports else ("'", ";")
    module = _relative(index, symbol.path) + _suffix(index, imports)
    written = symbol.name if how == "default" else f"{{ {symbol.name} }}"
    text = f"import {written} from {quote}{module}{quote}{end_mark}"
    at = _line_end(index, imports[-1].end_byte) if imports else 0
    patch.replace(index.path, at, at, f"\n{text}" if imports else f"{text}\n")


def _is_typed(index: SourceText, statement: Node) -> bool:
    return re.match(r"export\s+type\b", index.slice(statement)) is not None


def _suffix(index: SourceText, others: list[Node]) -> str:
    """The suffix that relative modules are written with, '' for none."""
    found = [re.search(r"\.[mc]?[jt]sx?$", _module(index, s)) for s in others if _module(index, s).startswith(".")]
    return found[-1][0] if found and all(found) and found[-1] is not None else ""


def _punctuation(index: SourceText, model: Node) -> tuple[str, str]:
    node = model.child_by_field_name("source")
    quote = index.slice(node)[0] if node is not None else "'"
    return quote, ";" if index.slice(model).endswith(";") else ""


def _add_to_clause(index: SourceText, clause: Node, written: str, patch: Patch) -> None:
    entries = [c for c in clause.named_children if c.type == "export_specifier"]
    texts = [index.slice(e) for e in entries]
    start, end, new = added_entry(index.data, clause, entries, sorted_position(texts, written, fewest=2), written)
    patch.replace(index.path, start, end, new)


def _insert_statement(index: SourceText, others: list[Node], module: str, text: str, patch: Patch) -> None:
    """Insert an export in the order of the others by their modules, at the end of the file where there is none."""
    modules = [_module(index, s) for s in others]
    at = sorted_position(modules, module)
    if at < len(others):
        patch.replace(index.path, others[at].start_byte, others[at].start_byte, f"{text}\n")
    elif others:
        end = _line_end(index, others[-1].end_byte)
        patch.replace(index.path, end, end, f"\n{text}")
    else:
        end = len(index.data)
        gap = "\n" if index.data and not index.data.endswith(b"\n") else ""
        patch.replace(index.path, end, end, f"{gap}{text}\n")


def _line_end(source: SourceText, offset: int) -> int:
    end = source.data.find(b"\n", offset)
    return end if end >= 0 else len(source.data)


# CommonJS


def _is_commonjs(index: SourceText) -> bool:
    exports = any(c.type == "export_statement" for c in index.root.named_children) if index.root is not None else False
    return bool(_assigned(index)) and not exports


def _uses_commonjs(source: SourceText) -> bool:
    """Whether a file exports by assignments, so that an `export` in it would be a syntax error."""
    modern = source.root is not None and any(
        c.type in ("export_statement", "import_statement") for c in source.root.named_children
    )
    return not modern and re.search(r"\bmodule\.exports\b|\bexports\.\w", source.text) is not None


def _assigned(index: SourceText) -> list[tuple[Node, Node]]:
    """The statements that assign to `exports`, with their assignments."""
    found = []
    for statement in index.root.named_children if index.root is not None else ():
        inner = statement.named_child(0) if statement.type == "expression_statement" else None
        left = inner.child_by_field_name("left") if inner is not None else None
        if inner is not None and left is not None and re.match(r"(?:module\.)?exports\b", index.slice(left)):
            found.append((statement, inner))
    return found


def _commonjs_access(source: SourceText, name: str) -> str | None:
    """What follows the `require` of a file to get something it defines: `.name`, or nothing where it exports only that;
    None where it doesn't export it."""
    exported = re.escape(name)
    if re.search(
        rf"\bmodule\.exports\s*=\s*(?:exports\s*=\s*)?(?:(?:async\s+)?(?:function|class)\s+)?{exported}\b", source.text
    ):
        return ""
    listed = re.search(rf"\bmodule\.exports\s*=\s*\{{[^}}]*\b{exported}\b", source.text)
    return f".{name}" if listed or re.search(rf"\bexports\.{exported}\s*=", source.text) else None


def _add_commonjs(index: SourceText, symbol: Symbol, access: str, patch: Patch) -> None:
    """Add a property to the exported object, or an assignment behind the last."""
    assigned = _assigned(index)
    objects = [r for _, a in assigned if (r := a.child_by_field_name("right")) is not None and r.type == "object"]
    quote = '"' if index.data.count(b'"') > index.data.count(b"'") else "'"
    value = f"require({quote}{_relative(index, symbol.path)}{quote}){access}"
    if objects:
        entries = [c for c in objects[0].named_children if c.type != "comment"]
        keys = [re.split(r"\W", index.slice(e))[0] for e in entries]
        start, end, new = added_entry(
            index.data, objects[0], entries, sorted_position(keys, symbol.name), f"{symbol.name}: {value}"
        )
        patch.replace(index.path, start, end, new)
        return
    statement = assigned[-1][0]
    holder = "exports" if index.slice(statement).startswith("exports.") else "module.exports"
    semicolon = ";" if index.slice(statement).endswith(";") else ""
    end = _line_end(index, statement.end_byte)
    patch.replace(index.path, end, end, f"\n{holder}.{symbol.name} = {value}{semicolon}")


def unexport_from_index(symbol: Symbol, target: str, sources: Sources, patch: Patch) -> bool:
    """Remove an export from an index file; who imports the name from it is left open.

    Args:
        symbol: the definition.
        target: the index.
        sources: the files.
        patch: receives the change.

    Returns:
        Whether it was there.
    """
    index = sources.get(target)
    if index is None or index.root is None:
        return False
    for statement in index.root.named_children:
        exported = [e for _, e in _specifiers(index, statement)] if statement.type == "export_statement" else []
        if symbol.name not in exported:
            continue
        at = exported.index(symbol.name)
        entries = [s for c in statement.named_children if c.type == "export_clause" for s in c.named_children]
        if len(entries) == 1:
            patch.replace(target, statement.start_byte, _line_end(index, statement.end_byte) + 1, "")
        else:
            for start, end in removed_spans(index.data, entries, {at}):
                patch.replace(target, start, end, "")
        patch.edits.append(Edit("unexport", target, symbol.name))
        _leave_importers_open(symbol.name, target, sources, patch)
        return True
    return False


def _leave_importers_open(name: str, target: str, sources: Sources, patch: Patch) -> None:
    reason = i18n.message("exact.open.unexported", name=name, path=target)
    pattern = re.compile(rf"\b(?:import|require)\b[^;]*?\b{re.escape(name)}\b[^;]*?['\"](?P<module>[^'\"\n]+)['\"]")
    for path in sources.mentioning(name, ("javascript", "typescript", "tsx")):
        source = sources.get(path) if path != target else None
        for match in pattern.finditer(source.text) if source is not None else ():
            written = match["module"]
            resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
            if source is not None and written.startswith(".") and _bare(resolved) == _bare(target):
                offset = len(source.text[: match.start("module")].encode("utf-8"))
                patch.leave_open(source, offset, reason)
