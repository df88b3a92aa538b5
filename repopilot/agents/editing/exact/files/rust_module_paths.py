"""Where a crate of Rust declares the module of a file, and which paths lead through it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import Sources, SourceText, word_pattern

_ROOTS = ("lib.rs", "main.rs")
_PATHS = frozenset(
    "scoped_identifier scoped_use_list scoped_type_identifier use_wildcard use_as_clause use_list".split()
)


def crate_root(path: str, sources: Sources) -> str | None:
    """The folder of the crate's source that a file belongs to: the one with `lib.rs` or `main.rs`."""
    folder = posixpath.dirname(path)
    while True:
        if any(posixpath.join(folder, name) in sources.workspace.index.files for name in _ROOTS):
            return folder
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def module_parts(path: str, root: str) -> list[str]:
    """The names of the modules that lead to a file from the top of its crate."""
    inside = posixpath.relpath(path, root or ".").removesuffix(".rs")
    parts = [p for p in inside.split("/") if p not in (".", "")]
    if parts and (parts[-1] == "mod" or (len(parts) == 1 and parts[0] in ("lib", "main"))):
        parts.pop()
    return parts


def module_declaration(path: str, sources: Sources) -> tuple[SourceText, Node, Node] | None:
    """The `mod name;` of a file: the file it is in, its node and the node of the name.

    Args:
        path: of the module's file.
        sources: the files.
    """
    root = crate_root(path, sources)
    parts = module_parts(path, root) if root is not None else []
    if root is None or not parts:
        return None
    above = posixpath.join(root, *parts[:-1])
    owners = [posixpath.join(root, n) for n in _ROOTS] if len(parts) == 1 else [f"{above}.rs", f"{above}/mod.rs"]
    for owner in owners:
        source = sources.get(owner) if owner in sources.workspace.index.files else None
        for node in source.root.named_children if source is not None and source.root is not None else ():
            label = node.child_by_field_name("name") if node.type == "mod_item" else None
            plain = node.child_by_field_name("body") is None
            if source is not None and label is not None and plain and source.slice(label) == parts[-1]:
                before = node.prev_named_sibling
                if before is not None and before.type == "attribute_item" and "path" in source.slice(before):
                    return None
                return source, node, label
    return None


def module_uses(path: str, sources: Sources) -> Iterator[tuple[SourceText, Node, bool]]:
    """The names in paths that may mean the module of a file, and whether they certainly do.

    Args:
        path: of the module's file.
        sources: the files.
    """
    root = crate_root(path, sources)
    parts = module_parts(path, root) if root is not None else []
    if root is None or not parts:
        return
    for other in sources.mentioning(parts[-1], ("rust",)):
        source = sources.get(other)
        if source is None or source.root is None:
            continue
        for match in word_pattern(parts[-1]).finditer(source.data):
            node = source.root.descendant_for_byte_range(*match.span())
            if node is None or node.type != "identifier" or node.parent is None or node.parent.type not in _PATHS:
                continue
            if not _is_head(source, node):
                continue
            meant = _meant(source, node, other, root, sources)
            if meant is not None and meant != parts:
                continue
            yield source, node, meant == parts


def _is_head(source: SourceText, node: Node) -> bool:
    """Whether something follows a name in a path, or a `use` takes it in."""
    follows = source.data[node.end_byte : node.end_byte + 2] == b"::"
    current: Node | None = node
    while current is not None and current.type != "use_declaration":
        current = current.parent
    return follows or current is not None


def _meant(source: SourceText, node: Node, path: str, root: str, sources: Sources) -> list[str] | None:
    """The modules that a path names up to a node, from the top of the crate; None where that isn't certain."""
    before = _prefix(source, node)
    own_root = crate_root(path, sources)
    name = source.slice(node)
    if own_root != root:
        return [*before[1:], name] if before and before[0] not in ("crate", "self", "super") and len(before) else None
    here = module_parts(path, root)
    if not before:
        declared = re.search(rf"^[^\S\n]*(?:pub(?:\([^)]*\))?\s+)?mod\s+{name}\s*;", source.text, re.M)
        return [*here, name] if declared else None
    if before[0] == "crate":
        return [*before[1:], name]
    while before and before[0] in ("self", "super"):
        if _in_inline_module(node):
            return None
        here = here[:-1] if before[0] == "super" else here
        before = before[1:]
    return [*here, *before, name] if not before or before[0] not in ("crate",) else None


def _in_inline_module(node: Node) -> bool:
    current = node.parent
    while current is not None:
        if current.type == "mod_item":
            return True
        current = current.parent
    return False


def _prefix(source: SourceText, node: Node) -> list[str]:
    """The names before a name in its path, those before the braces of a `use` among them."""
    parts: list[str] = []
    child, parent = node, node.parent
    while parent is not None and parent.type in _PATHS:
        held = parent.child_by_field_name("path")
        if held is not None and held.id != child.id and parent.type in ("scoped_identifier", "scoped_use_list"):
            parts = [*re.split(r"\s*::\s*", source.slice(held)), *parts]
        child, parent = parent, parent.parent
    return parts
