"""Adds keys, tables and objects to TOML and JSON files in the way of what is there."""

from __future__ import annotations

import re

from tree_sitter import Node

from repopilot.agents.editing.exact.entries import added_entry, sorted_position
from repopilot.agents.editing.exact.manifests.manifest_tree import TomlTable, config_root, tables_of
from repopilot.agents.editing.exact.sources import Patch, SourceText


def add_table(source: SourceText, text: str, beside: str, patch: Patch) -> None:
    """Add a table to a TOML file, behind the tables whose names begin with a name."""
    front = tuple(beside.split("."))
    last = [t for t in tables_of(source) if t.name[: len(front)] == front][-1]
    pairs = [c for c in last.node.named_children if c.type == "pair"]
    end = (pairs[-1] if pairs else last.node).end_byte
    line_end = source.data.find(b"\n", end)
    end = line_end if line_end >= 0 else len(source.data)
    patch.replace(source.path, end, end, f"\n\n{text}")


def add_pair(
    source: SourceText, table: TomlTable, key: str, value: str, patch: Patch, after: Node | None = None
) -> None:
    """Add a key to a table of a TOML file, in its order where it has one."""
    pairs = [c for c in table.node.named_children if c.type == "pair"]
    keys = [source.slice(p.named_children[0]) for p in pairs]
    first = 1 if keys[:1] == ["python"] else 0
    at = first + sorted_position([k.lower() for k in keys[first:]], key.lower(), fewest=2)
    if after is None and at < len(pairs):
        patch.replace(source.path, pairs[at].start_byte, pairs[at].start_byte, f"{key} = {value}\n")
        return
    last = after or (pairs[-1] if pairs else table.node.named_child(0))
    assert last is not None
    end = source.data.find(b"\n", last.end_byte)
    end = end if end >= 0 else len(source.data)
    patch.replace(source.path, end, end, f"\n{key} = {value}")


def insert_json(source: SourceText, holder: Node, entries: list[Node], at: int, text: str, patch: Patch) -> None:
    if entries:
        start, end, new = added_entry(source.data, holder, entries, at, text)
    else:
        indent = json_indent(source, holder)
        start, end, new = holder.start_byte, holder.end_byte, f"{{\n{indent}  {text}\n{indent}}}"
    patch.replace(source.path, start, end, new)


def json_indent(source: SourceText, node: Node) -> str:
    line = source.line_text(node.start_point[0] + 1)
    return line[: len(line) - len(line.lstrip())]


def add_json_object(source: SourceText, key: str, text: str, patch: Patch) -> bool:
    """Add an object with one entry: behind the other dependencies, else at the end."""
    root = config_root(source)
    top = next((c for c in root.named_children if c.type == "object"), None) if root is not None else None
    entries = [c for c in top.named_children if c.type == "pair"] if top is not None else []
    if top is None or not entries:
        return False
    indent = json_indent(source, entries[0]) or "  "
    written = f'"{key}": {{\n{indent * 2}{text}\n{indent}}}'
    beside = [n for n, e in enumerate(entries) if re.match(r'"\w*[dD]ependencies"', source.slice(e))]
    insert_json(source, top, entries, beside[-1] + 1 if beside else len(entries), written, patch)
    return True
