"""Identifiers in syntax trees: a rename where no library knows the language."""

from __future__ import annotations

from typing import Any

from tree_sitter import Node

from repopilot.code.languages import grammar, language_of
from repopilot.code.syntax import identifiers
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.tools.definitions import LONGEST_LINE, DefinitionSite
from repopilot.tools.file_change import PARSE_S
from repopilot.tools.working_copy import WorkingCopy

_MEMBERS = ("property_identifier", "field_identifier", "private_property_identifier")
_SHORTHAND = ("shorthand_property_identifier", "shorthand_property_identifier_pattern")


def renamed(copy: WorkingCopy, place: DefinitionSite, new: str) -> tuple[dict[str, str | None], list[dict[str, Any]]]:
    """The new texts of the files that name a definition, and the places that aren't sure. Blocking.

    Args:
        copy: the working copy.
        place: the definition.
        new: its new name.

    Raises:
        UsageError: the language has no grammar, or several definitions have the name.
    """
    language, index = language_of(place.path), copy.workspace.index
    if language is None or grammar(language) is None:
        raise UsageError(message("refactor_tools.no_grammar", path=place.path))
    old = place.symbol.name
    others = [s for s in index.symbols(old) if (s.path, s.qualified) != (place.path, place.symbol.qualified)]
    if others:
        there = ", ".join(f"{s.path}:{s.qualified}" for s in others[:20])
        problem = message("refactor_tools.not_sure", name=old)
        raise UsageError(problem, message("refactor_tools.also", names=there))
    texts: dict[str, str | None] = {}
    unsure: list[dict[str, Any]] = []
    for path in dict.fromkeys((place.path, *index.may_use(old))):
        text = copy.text(path)
        if text is None or not _same_family(language_of(path), language):
            continue
        data = text.encode()
        named = [n for n in identifiers(data, language_of(path) or "", PARSE_S, old.encode()) if n.text == old.encode()]
        sure = [n for n in named if _is_sure(n, place)]
        unsure += [_row(path, data, node) for node in named if node not in sure]
        if sure:
            texts[path] = _replaced(data, sure, new)
    return texts, unsure


def _same_family(one: str | None, other: str) -> bool:
    scripts = ("javascript", "typescript", "tsx", "vue", "svelte")
    return one == other or (one in scripts and other in scripts)


def _is_sure(node: Node, place: DefinitionSite) -> bool:
    """Whether an identifier can only mean the definition: a member of some object for a method, a plain name else."""
    if node.type in _SHORTHAND:
        return False
    is_method = "." in place.symbol.qualified
    return node.type not in _MEMBERS or is_method or language_of(place.path) == "go"


def _row(path: str, data: bytes, node: Node) -> dict[str, Any]:
    line = data.split(b"\n")[node.start_point[0]].decode("utf-8", "replace").strip()
    return {"path": path, "line": node.start_point[0] + 1, "text": line[:LONGEST_LINE]}


def _replaced(data: bytes, nodes: list[Node], new: str) -> str:
    for node in sorted(nodes, key=lambda each: -each.start_byte):
        data = data[: node.start_byte] + new.encode() + data[node.end_byte :]
    return data.decode()
