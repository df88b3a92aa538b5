"""Exports of Rust crates: `pub use` in `lib.rs`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import added_entry, removed_spans, sorted_position
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.types import Edit, Symbol


class PublicUse(NamedTuple):
    """A `pub use`: its statement, the path before the names, the list of names if it has one, and the names."""

    statement: Node
    prefix: str
    listed: Node | None
    names: tuple[str, ...]


def top_crate(path: str, index: Index) -> str | None:
    """The `lib.rs` of the crate that a file belongs to."""
    folder = posixpath.dirname(path)
    while True:
        found = posixpath.join(folder, "lib.rs")
        if found in index.files:
            return found
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def export_from_crate(symbol: Symbol, source: SourceText, target: str, sources: Sources, patch: Patch) -> None:
    """Make an item usable from the top of its crate.

    Args:
        symbol: the item.
        source: its file.
        target: the crate's `lib.rs`.
        sources: the files.
        patch: receives the change.

    Raises:
        GenerationFailed: it is exported already.
    """
    crate = sources.get(target)
    item = _item(source, symbol)
    if crate is None or item is None:
        raise GenerationFailed(i18n.message("exact.no_index", path=symbol.path))
    uses = list(_public_uses(crate))
    module = _module_path(symbol.path, target)
    same = [u for u in uses if _plain(u.prefix) == module]
    opened = _make_public(source, item, patch)
    if any(symbol.name in u.names for u in uses) or any("*" in u.names for u in same) or target == symbol.path:
        if not opened:
            raise GenerationFailed(i18n.message("exact.already_exported", name=symbol.name, path=target))
        return
    listed = next((u for u in same if u.listed is not None), None)
    if listed is not None and listed.listed is not None:
        entries = [c for c in listed.listed.named_children if "comment" not in c.type]
        at = sorted_position([crate.slice(e) for e in entries], symbol.name, fewest=2)
        start, end, new = added_entry(crate.data, listed.listed, entries, at, symbol.name)
        patch.replace(target, start, end, new)
    elif same:
        use = same[0]
        names = sorted([use.names[0], symbol.name])
        text = f"pub use {use.prefix}::{{{', '.join(names)}}};"
        patch.replace(target, use.statement.start_byte, use.statement.end_byte, text)
    else:
        _insert(crate, uses, module, symbol.name, patch)
    patch.edits.append(Edit("export", target, symbol.name))


def _item(source: SourceText, symbol: Symbol) -> Node | None:
    for node in source.root.named_children if source.root is not None else ():
        label = node.child_by_field_name("name")
        inside = symbol.start_line <= node.end_point[0] + 1 and node.start_point[0] + 1 <= symbol.end_line
        if label is not None and inside and source.slice(label) == symbol.name and node.type.endswith("_item"):
            return node
    return None


def _make_public(source: SourceText, item: Node, patch: Patch) -> bool:
    """Make an item public; whether it wasn't."""
    modifier = next((c for c in item.children if c.type == "visibility_modifier"), None)
    if modifier is not None and source.slice(modifier) == "pub":
        return False
    start, end = (modifier.start_byte, modifier.end_byte) if modifier is not None else (item.start_byte,) * 2
    patch.replace(source.path, start, end, "pub" if modifier is not None else "pub ")
    patch.edits.append(Edit("export", source.path, "pub"))
    return True


def _module_path(path: str, target: str) -> str:
    inside = posixpath.relpath(path, posixpath.dirname(target) or ".").removesuffix(".rs")
    return inside.removesuffix("/mod").replace("/", "::")


def _plain(prefix: str) -> str:
    return re.sub(r"^(?:crate|self)::", "", prefix)


def _public_uses(crate: SourceText) -> Iterator[PublicUse]:
    for node in crate.root.named_children if crate.root is not None else ():
        match = re.fullmatch(r"pub\s+use\s+(.+?);", crate.slice(node), re.S)
        argument = node.child_by_field_name("argument") if node.type == "use_declaration" and match else None
        if argument is None:
            continue
        path = argument.child_by_field_name("path")
        prefix = crate.slice(path) if path is not None else ""
        listed = argument.child_by_field_name("list")
        if listed is not None:
            names = [re.split(r"\s+as\s+", crate.slice(c))[-1] for c in listed.named_children]
            yield PublicUse(node, prefix, listed, tuple(names))
        elif argument.type == "use_wildcard":
            yield PublicUse(node, crate.slice(argument).removesuffix("::*"), None, ("*",))
        elif argument.type == "use_as_clause":
            alias = argument.child_by_field_name("alias")
            yield PublicUse(node, "", None, (crate.slice(alias) if alias is not None else "",))
        else:
            prefix, _, name = crate.slice(argument).rpartition("::")
            yield PublicUse(node, prefix, None, (name,))


def _insert(crate: SourceText, uses: list[PublicUse], module: str, name: str, patch: Patch) -> None:
    """Insert a `pub use` among the others, else behind the modules of the crate."""
    front = next((m[0] for u in uses if (m := re.match(r"(?:crate|self)::", u.prefix))), "")
    path = f"{front}{module}::{name}"
    text = f"pub use {path};"
    at = sorted_position([f"{u.prefix}::{u.names[0] if u.listed is None else ''}" for u in uses], path, fewest=2)
    if at < len(uses):
        start = uses[at].statement.start_byte
        patch.replace(crate.path, start, start, f"{text}\n")
        return
    children = crate.root.named_children if crate.root is not None else []
    modules = [c for c in children if c.type == "mod_item" and c.child_by_field_name("body") is None]
    after = uses[-1].statement if uses else modules[-1] if modules else None
    if after is None:
        raise GenerationFailed(i18n.message("exact.no_index", path=crate.path))
    gap = "\n\n" if not uses else "\n"
    patch.replace(crate.path, after.end_byte, after.end_byte, f"{gap}{text}")


def unexport_from_crate(symbol: Symbol, target: str, sources: Sources, patch: Patch) -> bool:
    """Remove a name from the `pub use` of a crate; whether it was there.

    Args:
        symbol: the item.
        target: the crate's `lib.rs`.
        sources: the files.
        patch: receives the change.
    """
    crate = sources.get(target)
    for use in _public_uses(crate) if crate is not None else ():
        if crate is None or symbol.name not in use.names:
            continue
        if use.listed is None or len(use.names) == 1:
            end = crate.data.find(b"\n", use.statement.end_byte)
            patch.replace(target, use.statement.start_byte, (end if end >= 0 else len(crate.data) - 1) + 1, "")
        else:
            entries = list(use.listed.named_children)
            for start, end in removed_spans(crate.data, entries, {use.names.index(symbol.name)}):
                patch.replace(target, start, end, "")
        patch.edits.append(Edit("unexport", target, symbol.name))
        return True
    return False
