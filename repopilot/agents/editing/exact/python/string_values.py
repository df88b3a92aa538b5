"""Strings of Python code as their values. Pure."""

from __future__ import annotations

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import SourceText


def string_content(source: SourceText, node: Node) -> str:
    """The text of a string literal without its quotes; '' for one that is put together."""
    parts = [c for c in node.children if c.type == "string_content"]
    return source.slice(parts[0]) if len(parts) == 1 and node.named_child_count <= 3 else ""
