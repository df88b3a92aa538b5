"""Deletes definitions in languages with braces, with their exports and the imports that only they used."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.containers import SCRIPTS
from repopilot.agents.editing.exact.braces.definition_spans import definition_nodes, definition_spans
from repopilot.agents.editing.exact.braces.imported_names import bound_imports, drop_imports, line_span
from repopilot.agents.editing.exact.braces.script_modules import module_file
from repopilot.agents.editing.exact.entries import removed_spans
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.polyglot import LANGUAGES, is_identifier, is_local
from repopilot.agents.editing.exact.sources import ByteEdit, Patch, Sources, SourceText, word_pattern
from repopilot.code.graph.import_resolver import family
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_TYPES = ("class", "struct", "enum", "interface", "trait", "type", "union")
_TRAITS = re.compile(r"\w*Ext|Write|Read|BufRead|Seek|FromStr|Hash|Hasher|Iterator|ToString|Borrow|Any|Error|Parser")
_SIMPLE = frozenset(
    "identifier type_identifier shorthand_property_identifier shorthand_property_identifier_pattern".split()
)


class NameSpot(NamedTuple):
    """A use of a name: its file, its node, and whether it certainly means what is deleted."""

    source: SourceText
    node: Node
    sure: bool


def delete_braced(symbol: Symbol, task: ExactTask, sources: Sources) -> Patch | None:
    """Delete a definition in a language with braces.

    Args:
        symbol: the definition.
        task: with `unused` in `extra` only where nothing refers to it.
        sources: the files.

    Returns:
        The change, with what still refers to the definition; None where it can't be removed as a whole.

    Raises:
        GenerationFailed: an unused definition is used.
    """
    source = sources.get(symbol.path)
    if source is None or source.language not in LANGUAGES or source.root is None:
        return None
    nodes = definition_nodes(source, symbol)
    if not nodes or not all(may_go(source, node, symbol) for node in nodes):
        return None
    nodes = [*nodes, *implementations(source, symbol)]
    spans = definition_spans(source, nodes)
    uses = [u for u in _uses(symbol, source, sources) if u.source.path != source.path or not _inside(u.node, spans)]
    patch = Patch()
    left = [u for u in uses if not _remove_export(u, symbol, sources, patch)]
    left = [u for u in left if not _is_lone_import(u, left, patch)]
    if "unused" in task.extra and not _check_unused(left, symbol):
        return None
    for start, end in spans:
        patch.replace(source.path, start, end, "")
    patch.edits.append(Edit("delete", source.path, symbol.qualified))
    for use in left:
        reason = "exact.open.deleted" if use.sure else "exact.open.receiver"
        patch.leave_open(use.source, use.node.start_byte, i18n.message(reason, name=symbol.qualified))
    drop_unused_imports(source, spans, patch)
    _join_removals(patch)
    return patch


def _join_removals(patch: Patch) -> None:
    """Make one of removals that share the blank lines between them."""
    for found in patch.replacements.values():
        joined: list[ByteEdit] = []
        for edit in sorted(found):
            last = joined[-1] if joined else None
            if last is not None and edit.start < last.end and not (edit.text or last.text):
                joined[-1] = ByteEdit(last.start, max(last.end, edit.end), "")
            else:
                joined.append(edit)
        found[:] = joined


def may_go(source: SourceText, node: Node, symbol: Symbol) -> bool:
    """Whether nothing but its uses needs a definition: no trait or interface that it carries out, no numbering.

    Args:
        source: the file.
        node: one of the definition's, of `definition_nodes`.
        symbol: the definition.
    """
    text = source.slice(node)
    if re.search(r"@Override\b", text.partition("{")[0]):
        return False
    around = node.parent
    while around is not None:
        if around.type == "impl_item" and around.child_by_field_name("trait") is not None:
            return False
        around = around.parent
    if node.type == "const_spec" and node.parent is not None:
        return "iota" not in source.slice(node.parent) and node.child_by_field_name("value") is not None
    if source.language == "java" and node.parent is not None and node.parent.type == "program":
        return len([c for c in node.parent.named_children if c.type.endswith("_declaration")
                    and c.type not in ("package_declaration", "import_declaration")]) > 1  # fmt: skip
    return symbol.kind != "module"


def implementations(source: SourceText, symbol: Symbol) -> list[Node]:
    """The methods of a type that stand outside of it: `impl` blocks, functions with a receiver of Go.

    Args:
        source: the file.
        symbol: of any kind; only types have such methods.
    """
    found = []
    for node in source.root.named_children if source.root is not None and symbol.kind in _TYPES else ():
        kind = node.child_by_field_name("type") if node.type == "impl_item" else None
        holder = kind or (node.child_by_field_name("receiver") if node.type == "method_declaration" else None)
        written = source.slice(holder) if holder is not None else ""
        plain = re.sub(r"<.*>|\[.*\]|[()*&]", "", written).split()
        if plain and plain[-1] == symbol.name:
            found.append(node)
    return found


def _inside(node: Node, spans: Sequence[tuple[int, int]]) -> bool:
    return any(a <= node.start_byte < b for a, b in spans)


def _uses(symbol: Symbol, source: SourceText, sources: Sources) -> Iterator[NameSpot]:
    """Where a name may mean a definition."""
    index = sources.workspace.index
    places = {(s.path, s.qualified) for s in index.symbols(symbol.name) if s.name == symbol.name and s.kind != "export"}
    unique = len(places) == 1
    is_member = symbol.kind in ("method", "field") or (
        "." in symbol.qualified and symbol.kind not in _TYPES and source.language in ("java", *SCRIPTS)
    )
    for path in sources.mentioning(symbol.name):
        other = sources.get(path)
        if other is None or other.root is None or family(index.files[path].language) != family(source.language):
            continue
        reachable = unique or path == source.path or _can_reach(other, symbol, source, sources)
        for match in word_pattern(symbol.name).finditer(other.data):
            node = other.root.descendant_for_byte_range(*match.span())
            if node is None or (node.start_byte, node.end_byte) != match.span() or not is_identifier(node):
                continue
            if _is_definition(node) or is_local(node):
                continue
            bare = node.type in _SIMPLE and not _is_behind_dot(node)
            if is_member and not _may_be_member(other, node, symbol, bare=bare, own=path == source.path):
                continue
            if not is_member and not reachable:
                continue
            if (
                not is_member
                and not bare
                and not (unique if other.language not in SCRIPTS else _of_module(other, node))
            ):
                continue
            own = is_member and path == source.path and (bare or _receiver(other, node) in ("this", "self"))
            yield NameSpot(other, node, unique or own or (not is_member and bare))


def _may_be_member(source: SourceText, node: Node, symbol: Symbol, *, bare: bool, own: bool) -> bool:
    """Whether a name may be that of a member: behind an object or its class, in its own file of Java also alone."""
    if source.language != "java":
        return not bare
    receiver = _receiver(source, node)
    if not receiver:
        return own
    owner = symbol.qualified.split(".")[-2:][0]
    return not re.fullmatch(r"[A-Z]\w*", receiver) or receiver == owner


def _receiver(source: SourceText, node: Node) -> str:
    """What stands before the dot before a name."""
    parent = node.parent
    fields = ("object", "operand", "value")
    held = next((h for f in fields if parent is not None and (h := parent.child_by_field_name(f)) is not None), None)
    return source.slice(held) if held is not None and held.end_byte <= node.start_byte else ""


def _is_behind_dot(node: Node) -> bool:
    parent = node.parent
    return (
        parent is not None
        and parent.type in ("member_expression", "field_expression", "selector_expression")
        and (parent.end_byte == node.end_byte)
    )


def _of_module(source: SourceText, node: Node) -> bool:
    """Whether a property is one of the file's exports, or of a module of the repository that it imports."""
    held = node.parent.child_by_field_name("object") if node.parent is not None else None
    written = source.slice(held) if held is not None else ""
    if written in ("exports", "module.exports") or re.match(r"require\(['\"]\.", written):
        return True
    return any(b.name == written and not b.original and b.module.startswith(".") for b in bound_imports(source))


def _is_definition(node: Node) -> bool:
    """Whether a name is that of another definition, or a key of a literal."""
    parent = node.parent
    if parent is None or parent.type in ("import_specifier", "export_specifier", "import_spec"):
        return False
    if any(c.id == node.id for c in parent.children_by_field_name("name")):
        return not parent.type.endswith(("specifier", "invocation", "identifier", "expression", "_clause"))
    key = parent.child_by_field_name("key")
    return key is not None and key.id == node.id and parent.type == "pair"


def _can_reach(other: SourceText, symbol: Symbol, source: SourceText, sources: Sources) -> bool:
    """Whether a file can mean a definition by a name that others have, too."""
    folder = posixpath.dirname(source.path)
    if source.language in SCRIPTS:
        files = sources.workspace.index.files
        found = (b for b in bound_imports(other) if symbol.name in (b.name, b.original) or not b.original)
        return any(module_file(other.path, b.module, files) == source.path for b in found)
    if source.language in ("go", "java"):
        package = re.search(rb"^package\s+([\w.]+)", source.data, re.M)
        last = package[1].decode().rpartition(".")[2] if package else ""
        return posixpath.dirname(other.path) == folder or re.search(rf"\b{last}\b", other.text) is not None
    return True


def _check_unused(left: Sequence[NameSpot], symbol: Symbol) -> bool:
    """Whether nothing refers to a definition for all that code can tell; tests may use it.

    Raises:
        GenerationFailed: something certainly does.
    """
    left = [u for u in left if not is_test_path(u.source.path)]
    used = next((u for u in left if u.sure), None)
    if used is not None:
        path, line = used.source.path, used.source.line_of(used.node.start_byte)
        raise GenerationFailed(i18n.message("exact.still_used", name=symbol.qualified, path=path, line=line))
    return not left


# Exports and imports of what is deleted


def _remove_export(use: NameSpot, symbol: Symbol, sources: Sources, patch: Patch) -> bool:
    """Remove the export of a definition from its file, or its re-export from another; whether the use is one."""
    source, node, parent = use.source, use.node, use.node.parent
    if source.language == "rust":
        return _remove_public_use(use, patch)
    if source.language not in SCRIPTS or parent is None or not use.sure:
        return False
    if parent.type == "export_specifier":
        clause = parent.parent
        statement = clause.parent if clause is not None else None
        where = statement.child_by_field_name("source") if statement is not None else None
        origin = (
            module_file(source.path, source.slice(where)[1:-1], sources.workspace.index.files) if where else source.path
        )
        named = parent.child_by_field_name("name")
        if statement is None or origin != symbol.path or named is None or named.id != node.id:
            return False
        _remove_entry(source, parent, statement, patch)
        return True
    holder = parent if parent.type == "pair" else node
    held = holder.parent
    if held is not None and held.type == "object" and source.path == symbol.path and _is_exports(source, held.parent):
        _remove_entry(source, holder, None, patch)
        return True
    return _remove_assigned_export(source, node, symbol, sources, patch)


def _remove_assigned_export(source: SourceText, node: Node, symbol: Symbol, sources: Sources, patch: Patch) -> bool:
    """Remove `exports.name = name;` or `exports.name = require('./file').name;`."""
    statement: Node | None = node
    while statement is not None and statement.type != "expression_statement":
        statement = statement.parent
    if statement is None:
        return False
    name = re.escape(symbol.name)
    written = re.fullmatch(
        rf"(?:module\.)?exports\.{name}\s*=\s*(?:require\(['\"]([^'\"]+)['\"]\)\.)?{name};?", source.slice(statement)
    )
    if written is None:
        return False
    origin = module_file(source.path, written[1], sources.workspace.index.files) if written[1] else source.path
    if origin != symbol.path:
        return False
    patch.replace(source.path, *line_span(source, statement), "")
    return True


def _is_exports(source: SourceText, assignment: Node | None) -> bool:
    left = assignment.child_by_field_name("left") if assignment is not None else None
    return left is not None and source.slice(left) in ("module.exports", "exports")


def _remove_entry(source: SourceText, entry: Node, statement: Node | None, patch: Patch) -> None:
    entries = [c for c in entry.parent.named_children if "comment" not in c.type] if entry.parent is not None else []
    if len(entries) == 1 and statement is not None:
        patch.replace(source.path, *line_span(source, statement), "")
        return
    at = [e.id for e in entries].index(entry.id)
    for start, end in removed_spans(source.data, entries, {at}):
        patch.replace(source.path, start, end, "")


def _remove_public_use(use: NameSpot, patch: Patch) -> bool:
    """Remove a `pub use` of an item of Rust."""
    name = use.source.slice(use.node)
    found = [b for b in bound_imports(use.source) if b.public and b.original == name and _holds(b.item, use.node)]
    if found and use.sure:
        drop_imports(use.source, found, patch)
    return bool(found) and use.sure


def _holds(node: Node, inner: Node) -> bool:
    return node.start_byte <= inner.start_byte and inner.end_byte <= node.end_byte


def _is_lone_import(use: NameSpot, left: Sequence[NameSpot], patch: Patch) -> bool:
    """Remove the import of what is deleted, where its file doesn't use it."""
    if not use.sure:
        return False
    found = [b for b in bound_imports(use.source) if b.item.id != 0 and _holds(b.item, use.node)]
    if len(found) != 1 or use.source.language == "go" or found[0].item.type == "variable_declarator":
        return False
    alias = found[0].name
    name = use.source.slice(use.node)
    others = [u for u in left if u.source.path == use.source.path and not _holds(found[0].item, u.node)]
    if others or (alias != name and len(list(word_pattern(alias).finditer(use.source.data))) > 1):
        return False
    drop_imports(use.source, found, patch)
    return True


def drop_unused_imports(source: SourceText, spans: Sequence[tuple[int, int]], patch: Patch) -> None:
    """Remove the imports that only deleted lines used.

    Args:
        source: the file.
        spans: the bytes that are deleted.
        patch: receives the change.
    """
    gone = []
    for bound in bound_imports(source):
        if bound.public or _inside(bound.item, spans) or bound.name in ("default", "React"):
            continue
        uses = [n for name in bound.name.split() for n in _mentions(source, name) if not _holds(bound.statement, n)]
        inside = [n for n in uses if _inside(n, spans)]
        if inside and len(inside) == len(uses) and not _is_trait(source, bound.name, inside):
            gone.append(bound)
    if gone:
        drop_imports(source, gone, patch)


def _mentions(source: SourceText, name: str) -> Iterator[Node]:
    """The nodes of a name in a file that may mean what an import binds."""
    for match in word_pattern(name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span()) if source.root is not None else None
        if node is None or _is_behind_dot(node) or "comment" in node.type or "string" in node.type:
            continue
        if source.language == "go" and source.data[match.end() : match.end() + 1] != b".":
            continue
        yield node


def _is_trait(source: SourceText, name: str, uses: Sequence[Node]) -> bool:
    """Whether a name of Rust may be a trait, whose methods are used without naming it."""
    if source.language != "rust":
        return False
    if _TRAITS.fullmatch(name):
        return True
    before = (source.data[max(0, n.start_byte - 12) : n.start_byte] for n in uses)
    return any(re.search(rb"(?:\bdyn|\bimpl|[\w>'?]\s*:|\+|\bfor)\s*(?:\w+::)*$", text) for text in before)
