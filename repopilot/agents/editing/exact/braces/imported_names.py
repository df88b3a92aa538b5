"""The names that imports bind in languages with braces, and how to remove some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.braces.containers import SCRIPTS
from repopilot.agents.editing.exact.entries import removed_spans
from repopilot.agents.editing.exact.sources import Patch, SourceText


@dataclass(frozen=True, slots=True)
class BoundImport:
    """A name that an import binds.

    Attributes:
        name: as the file uses it; in Go the likely names of a package, separated by spaces.
        original: as its module calls it; '' for all of the module.
        module: as written.
        item: the node that binds it.
        statement: the import.
        public: whether the statement hands it on to others.
    """

    name: str
    original: str
    module: str
    item: Node
    statement: Node
    public: bool = False


def bound_imports(source: SourceText) -> list[BoundImport]:
    """The names that the imports at the top level of a file bind, wildcards and side effects apart."""
    children = source.root.named_children if source.root is not None else []
    if source.language in SCRIPTS:
        return [b for c in children for b in _script(source, c)]
    if source.language == "go":
        return [b for c in children if c.type == "import_declaration" for b in _go(source, c)]
    if source.language == "rust":
        return [b for c in children if c.type == "use_declaration" for b in _rust(source, c)]
    return [b for c in children if c.type == "import_declaration" for b in _java(source, c)]


def _script(source: SourceText, statement: Node) -> Iterator[BoundImport]:
    if statement.type == "import_statement":
        where = statement.child_by_field_name("source")
        module = source.slice(where)[1:-1] if where is not None else ""
        clause = next((c for c in statement.named_children if c.type == "import_clause"), None)
        for child in clause.named_children if clause is not None else ():
            if child.type == "named_imports":
                for item in child.named_children:
                    yield from _specifier(source, item, module, statement)
            else:
                label = child if child.type == "identifier" else child.named_child(0)
                original = "default" if child.type == "identifier" else ""
                yield BoundImport(source.slice(label or child), original, module, child, statement)
    elif statement.type in ("lexical_declaration", "variable_declaration"):
        for declarator in statement.named_children:
            yield from _required(source, declarator, statement)


def _specifier(source: SourceText, item: Node, module: str, statement: Node) -> Iterator[BoundImport]:
    name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
    if item.type in ("import_specifier", "export_specifier") and name is not None:
        yield BoundImport(source.slice(alias or name), source.slice(name), module, item, statement)


def _required(source: SourceText, declarator: Node, statement: Node) -> Iterator[BoundImport]:
    label, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
    written = re.fullmatch(r"require\(\s*['\"]([^'\"]+)['\"]\s*\)(?:\.(\w+))?", source.slice(value) if value else "")
    if label is None or written is None:
        return
    if label.type == "identifier":
        yield BoundImport(source.slice(label), written[2] or "", written[1], declarator, statement)
    elif label.type == "object_pattern" and not written[2]:
        for item in label.named_children:
            if item.type == "shorthand_property_identifier_pattern":
                yield BoundImport(source.slice(item), source.slice(item), written[1], item, statement)
            elif item.type == "pair_pattern":
                key, bound = item.child_by_field_name("key"), item.child_by_field_name("value")
                if key is not None and bound is not None and bound.type == "identifier":
                    yield BoundImport(source.slice(bound), source.slice(key), written[1], item, statement)


def _go(source: SourceText, statement: Node) -> Iterator[BoundImport]:
    specs = [statement, *statement.named_children]
    for spec in (c for s in specs for c in s.named_children if c.type == "import_spec"):
        alias, path = spec.child_by_field_name("name"), spec.child_by_field_name("path")
        module = source.slice(path).strip('"`') if path is not None else ""
        if alias is not None and source.slice(alias) in ("_", "."):
            continue
        names = source.slice(alias) if alias is not None else " ".join(_go_names(module))
        yield BoundImport(names, "", module, spec, statement)


def _go_names(module: str) -> list[str]:
    """The names that a package with a path may have."""
    parts = module.split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    last = re.sub(r"\.v\d+$", "", parts[-1])
    names = [last, *last.split("-"), last.replace("-", "_"), last.replace("-", ""), last.removesuffix(".go")]
    return list(dict.fromkeys(n for n in names if re.fullmatch(r"[A-Za-z_]\w*", n)))


def _rust(source: SourceText, statement: Node) -> Iterator[BoundImport]:
    argument = statement.child_by_field_name("argument")
    public = any(c.type == "visibility_modifier" for c in statement.named_children)
    listed = argument.child_by_field_name("list") if argument is not None else None
    items = listed.named_children if listed is not None else [argument] if argument is not None else []
    prefix = argument.child_by_field_name("path") if argument is not None and listed is not None else None
    before = f"{source.slice(prefix)}::" if prefix is not None else ""
    for item in items:
        if item.type not in ("identifier", "scoped_identifier", "use_as_clause"):
            continue
        path, _, alias = source.slice(item).partition(" as ")
        module, _, original = f"{before}{path.strip()}".rpartition("::")
        yield BoundImport(alias.strip() or original, original, module, item, statement, public)


def _java(source: SourceText, statement: Node) -> Iterator[BoundImport]:
    text = re.fullmatch(r"import\s+(?:static\s+)?([\w.]+)\.(\w+)\s*;", source.slice(statement))
    if text is not None:
        yield BoundImport(text[2], text[2], text[1], statement, statement)


def drop_imports(source: SourceText, gone: list[BoundImport], patch: Patch) -> None:
    """Remove names from imports, and the imports that then bind none.

    Args:
        source: the file.
        gone: the names.
        patch: receives the changes.
    """
    everything = bound_imports(source)
    for statement in {b.statement.id: b.statement for b in gone}.values():
        items = [b.item for b in everything if b.statement.id == statement.id]
        removed = {b.item.id for b in gone if b.statement.id == statement.id}
        if {i.id for i in items} <= removed and not _binds_more(source, statement, items):
            start, end = line_span(source, statement)
            patch.replace(source.path, start, end, "")
            continue
        for holder in {i.parent.id: i.parent for i in items if i.parent is not None}.values():
            entries = [c for c in holder.named_children if "comment" not in c.type]
            at = {n for n, e in enumerate(entries) if e.id in removed}
            if source.language == "go" and at:
                for number in sorted(at):
                    patch.replace(source.path, *line_span(source, entries[number]), "")
            elif at and len(at) == len(entries) - 1 and _one_stays(source, entries, at) and holder.type == "use_list":
                kept = next(e for n, e in enumerate(entries) if n not in at)
                patch.replace(source.path, holder.start_byte, holder.end_byte, source.slice(kept))
            elif at and len(at) < len(entries) and holder.type in ("named_imports", "object_pattern", "use_list"):
                for start, end in removed_spans(source.data, entries, at):
                    patch.replace(source.path, start, end, "")


def _one_stays(source: SourceText, entries: list[Node], gone: set[int]) -> bool:
    """Whether what stays in the list of a `use` can stand without the list."""
    return all(n in gone or (e.type == "identifier" and source.slice(e) != "self") for n, e in enumerate(entries))


def _binds_more(source: SourceText, statement: Node, items: list[Node]) -> bool:
    """Whether a statement has parts that bind no plain name: wildcards, nested lists, other variables."""
    if source.language == "rust":
        listed = next((i.parent for i in items if i.parent is not None and i.parent.type == "use_list"), None)
        return listed is not None and listed.named_child_count > len(items)
    if source.language == "go":
        specs = [c for c in statement.named_children if c.type == "import_spec_list"]
        return any(s.named_child_count > len(items) for s in specs)
    declarators = {i.id for i in items if i.type == "variable_declarator"} | {
        i.parent.parent.id for i in items if i.parent is not None and i.parent.parent is not None
    }
    return any(c.type == "variable_declarator" and c.id not in declarators for c in statement.named_children)


def line_span(source: SourceText, node: Node) -> tuple[int, int]:
    """The lines of a statement, where nothing else is on them; with the blank line that only it needs."""
    data = source.data
    start = data.rfind(b"\n", 0, node.start_byte) + 1
    rest = re.compile(rb"[ \t]*;?[ \t]*(?://[^\n]*)?(?:\n|$)").match(data, node.end_byte)
    if data[start : node.start_byte].strip() or rest is None:
        return node.start_byte, node.end_byte
    end = rest.end()
    alone = (start == 0 or data[:start].endswith(b"\n\n")) and data[end : end + 1] == b"\n"
    return start, end + 1 if alone else end
