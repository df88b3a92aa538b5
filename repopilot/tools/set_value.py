"""Sets a value where it is defined: a constant, a parameter's default, an attribute, a key of TOML, YAML or JSON."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field
from tree_sitter import Node

from repopilot.code.languages import file_kind, language_of
from repopilot.code.syntax import parse, parse_data
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.tools.file_change import PARSE_S, syntax_error
from repopilot.tools.registry import Arguments, Desk, ToolResult
from repopilot.tools.working_copy import WorkingCopy

DATA: tuple[Literal["toml", "yaml", "json"], ...] = ("toml", "yaml", "json")
MOST_NAMED = 20
_KEYS = ("name", "left", "key", "property")
_VALUES = ("value", "right")
_FUNCTIONS = re.compile(r"function|method|lambda|arrow|closure|func_literal|constructor")
_PARAMETERS = re.compile(r"parameter|assignment_pattern")
_NO_SCOPE = re.compile(r"assignment|pair|declarator|spec|parameter")
_CONSTANTS = ("null", "none", "true", "false", "nil", "undefined")


class SetValue(Arguments):
    """What gets which value."""

    name: str = Field(description="a constant, Class.attribute, function.parameter, or a dotted key of a data file")
    value: str = Field(description="the new value, as code")
    path: str = Field("", description="the file, where several define the name")


@dataclass(frozen=True, slots=True)
class ValueSite:
    """A value in a file: the dotted name it has there, and its bytes [start, end)."""

    path: str
    name: str
    start: int
    end: int
    text: str
    is_text: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is a single text, number or name, rather than code."""
        return self.is_text or re.fullmatch(r"-?[\w.]+", self.text) is not None


async def set_value(arguments: SetValue, desk: Desk) -> ToolResult:
    """Set a constant, a parameter's default, an attribute or a key of a data file, where it is defined."""
    return await asyncio.to_thread(_set_value, arguments, desk.working_copy)


def _set_value(arguments: SetValue, copy: WorkingCopy) -> ToolResult:
    found = sites_of(copy, arguments)
    if not found:
        raise UsageError(message("value_tools.none", name=arguments.name), message("value_tools.none_hint"))
    if len(found) > 1:
        there = ", ".join(f"{s.path}:{s.name}" for s in found[:MOST_NAMED])
        raise UsageError(
            message("value_tools.several", name=arguments.name), message("refactor_tools.choose", names=there)
        )
    site = found[0]
    data = (copy.text(site.path) or "").encode()
    written = as_written(arguments.value, site)
    new = (data[: site.start] + written.encode() + data[site.end :]).decode()
    fault = syntax_error(site.path, new)
    if fault is not None:
        raise UsageError(message("edit_tools.syntax", path=site.path, problem=fault.message))
    made = copy.edit({site.path: new})
    diff = shown_diffs(made)
    line = data[: site.start].count(b"\n") + 1
    facts = {"path": site.path, "name": site.name, "line": line, "diff": diff}
    return ToolResult(diff or message("edit_tools.same"), facts)


def sites_of(copy: WorkingCopy, arguments: SetValue) -> list[ValueSite]:
    """The values that have the name. Blocking.

    Raises:
        UsageError: there is no file of that path.
    """
    return list(_sites(copy, arguments.name, arguments.path))


def as_written(value: str, site: ValueSite) -> str:
    """A value as it is written in place of another: in the quotes of a text, where it has none of its own."""
    bare = value.strip()
    if not site.is_text or bare.lower() in _CONSTANTS or (bare[:1] in "\"'`" and bare[-1:] == bare[:1]):
        return bare
    opening = re.match(r"\w{0,2}(\"\"\"|'''|\"|'|`)", site.text)
    if opening is None:
        return bare
    mark = opening[1]
    inner = bare.replace("\\", "\\\\").replace(mark, f"\\{mark}") if len(mark) == 1 else bare
    return f"{opening[0]}{inner}{mark}"


def _sites(copy: WorkingCopy, name: str, path: str) -> Iterator[ValueSite]:
    wanted = name.split(".")
    for file in [path] if path else copy.paths():
        if not path and file_kind(file) not in ("code", "config", "schema"):
            continue
        text = copy.text(file) if path else copy.workspace.index.text(file)
        if text is None:
            if path:
                raise UsageError(message("tools.unknown_file", path=path))
            continue
        if wanted[-1].strip("\"'") in text:
            whole = copy.text(file) or ""
            yield from (site for site in sites_in(file, whole) if _fits(site.name.split("."), wanted))


def _fits(named: list[str], wanted: list[str]) -> bool:
    return named[-len(wanted) :] == wanted


def sites_in(path: str, text: str) -> Iterator[ValueSite]:
    """The values that a file defines by name, those of local variables left out."""
    language = language_of(path) or ""
    data = text.encode()
    known = next((each for each in DATA if each == language), None)
    tree = parse_data(data, known, PARSE_S) if known else parse(data, language, PARSE_S)
    if tree is not None:
        yield from _walk(tree.root_node, path, language, (), False)


def _walk(node: Node, path: str, language: str, scope: tuple[str, ...], local: bool) -> Iterator[ValueSite]:
    if language == "toml" and node.type in ("table", "table_array_element"):
        scope = tuple(_keys(_text(node.named_children[0])))
    pair = _toml_pair(node) if language == "toml" and node.type == "pair" else _pair(node)
    if pair is not None:
        key, value = pair
        names = tuple(_keys(_text(key)))
        inside = local and not _PARAMETERS.search(node.type)
        if names and not inside and not (language in DATA and _holds_pairs(value)):
            text = _text(value)
            yield ValueSite(path, ".".join((*scope, *names)), value.start_byte, value.end_byte, text, _is_text(value))
        if language in DATA:
            yield from _walk(value, path, language, (*scope, *names), local)
            return
    named = node.child_by_field_name("name")
    opens = named is not None and not _NO_SCOPE.search(node.type)
    inner = (*scope, _text(named)) if opens and named is not None else scope
    for child in node.children:
        deeper = local or (bool(_FUNCTIONS.search(node.type)) and child.type not in ("parameters", "formal_parameters"))
        yield from _walk(child, path, language, inner, deeper)


def _pair(node: Node) -> tuple[Node, Node] | None:
    key = next((found for field in _KEYS if (found := node.child_by_field_name(field))), None)
    value = next((found for field in _VALUES if (found := node.child_by_field_name(field))), None)
    if key is None or value is None or key.id == value.id or _FUNCTIONS.search(node.type):
        return None
    if value.type == "expression_list" and value.named_child_count == 1:
        value = value.named_children[0]
    return key, value


def _toml_pair(node: Node) -> tuple[Node, Node]:
    return node.named_children[0], node.named_children[-1]


def _holds_pairs(value: Node) -> bool:
    return value.type in ("inline_table", "object") or (
        value.type in ("block_node", "flow_node") and any("mapping" in c.type for c in value.children)
    )


def _keys(text: str) -> list[str]:
    """The parts of a dotted key, without quotes."""
    quoted = re.fullmatch(r"\s*([\"'])(.*)\1\s*", text)
    if quoted:
        return [quoted[2]]
    parts = [part.strip().strip("\"'") for part in text.split(".")]
    return parts if all(re.fullmatch(r"[\w$@/-]+", part) for part in parts) else []


def _is_text(value: Node) -> bool:
    inner = value.named_children[0] if value.type == "flow_node" and value.named_children else value
    return "string" in inner.type or "quote" in inner.type


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
