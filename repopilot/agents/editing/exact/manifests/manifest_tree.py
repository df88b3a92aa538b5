"""The entries of TOML, JSON and INI files with the bytes that they stand on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import SourceText
from repopilot.code.syntax import parse_data
from repopilot.tools.file_change import PARSE_S

_INI_SECTION = re.compile(r"\[(?P<section>[^\]\n]+)\][^\n]*\n")
_INI_KEY = re.compile(
    r"^(?P<key>[A-Za-z_][^\s=:\[#;]*)[ \t]*[=:][ \t]*(?P<value>[^\n]*(?:\n(?:[ \t]+[^\n]*|[ \t]*(?=\n[ \t]+\S)))*)",
    re.M,
)


@dataclass(frozen=True, slots=True)
class ConfigPair:
    """A key of a TOML or JSON file: its full name, the nodes of the pair and of its value."""

    name: tuple[str, ...]
    node: Node
    value: Node


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of a TOML file: its name, and its node; for the keys before the first table the document."""

    name: tuple[str, ...]
    node: Node


@dataclass(frozen=True, slots=True)
class IniValue:
    """A value of an INI file: its section and key, and the bytes of the value, which may be several lines."""

    section: str
    key: str
    start: int
    end: int
    text: str


def config_root(source: SourceText) -> Node | None:
    """The syntax tree of a TOML or JSON file; None where it has errors."""
    if source.language not in ("toml", "json"):
        return None
    tree = parse_data(source.data, "toml" if source.language == "toml" else "json", PARSE_S)
    return tree.root_node if tree is not None and not tree.root_node.has_error else None


def pairs_of(source: SourceText) -> list[ConfigPair]:
    """The keys of a TOML or JSON file, also those in inline tables and objects."""
    root = config_root(source)
    if root is None:
        return []
    if source.language == "json":
        return list(_json_pairs(source, root, ()))
    found: list[ConfigPair] = []
    for table in _tables(source, root):
        found += _toml_pairs(source, table.node, table.name)
    return found


def tables_of(source: SourceText) -> list[TomlTable]:
    """The tables of a TOML file, in order."""
    root = config_root(source)
    return list(_tables(source, root)) if root is not None and source.language == "toml" else []


def _tables(source: SourceText, root: Node) -> Iterator[TomlTable]:
    yield TomlTable((), root)
    for node in root.named_children:
        if node.type in ("table", "table_array_element"):
            key = node.named_child(0)
            yield TomlTable(key_parts(source.slice(key)) if key is not None else (), node)


def key_parts(written: str) -> tuple[str, ...]:
    """The parts of a dotted key of TOML."""
    return tuple(p[1:-1] if p[0] in "\"'" else p for p in re.findall(r"\"[^\"]*\"|'[^']*'|[\w-]+", written))


def _toml_pairs(source: SourceText, holder: Node, name: tuple[str, ...]) -> Iterator[ConfigPair]:
    for node in holder.named_children:
        if node.type != "pair" or node.named_child_count < 2:
            continue
        key, value = node.named_children[0], node.named_children[-1]
        full = (*name, *key_parts(source.slice(key)))
        yield ConfigPair(full, node, value)
        if value.type == "inline_table":
            yield from _toml_pairs(source, value, full)


def _json_pairs(source: SourceText, node: Node, name: tuple[str, ...]) -> Iterator[ConfigPair]:
    for child in node.named_children:
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None:
                full = (*name, source.slice(key)[1:-1])
                yield ConfigPair(full, child, value)
                if value.type == "object":
                    yield from _json_pairs(source, value, full)
        elif child.type == "object" and not name:
            yield from _json_pairs(source, child, name)


def strings_in(array: Node) -> list[Node]:
    """The strings that are elements of an array."""
    return [c for c in array.named_children if c.type == "string"]


def inner_span(source: SourceText, string: Node) -> tuple[int, int]:
    """The bytes inside the quotes of a string on one line."""
    text = source.slice(string)
    width = 3 if text[:3] in ('"""', "'''") else 1
    return string.start_byte + width, string.end_byte - width


def ini_values(source: SourceText) -> list[IniValue]:
    """The values of an INI file, with the lines that continue them."""
    text = source.text
    sections = [(m.end(), m["section"].strip()) for m in re.finditer(r"^" + _INI_SECTION.pattern, text, re.M)]
    found = []
    for match in _INI_KEY.finditer(text):
        section = next((name for at, name in reversed(sections) if at <= match.start()), "")
        start = len(text[: match.start("value")].encode("utf-8"))
        value = match["value"]
        found.append(IniValue(section, match["key"], start, start + len(value.encode("utf-8")), value))
    return found
