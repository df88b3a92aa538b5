"""Adds an optional parameter to a Python function so that no call of it means anything else than before."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.definitions.named_definition import indent_of
from repopilot.agents.editing.exact.entries import added_entry
from repopilot.agents.editing.exact.python.calls import is_variadic, parameter_name, parameters_of
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import Patch, SourceText
from repopilot.code.python_ast import parse_expression

_USUAL_LENGTH = 88
_CERTAIN = ("bool", "int", "float", "str")


@dataclass(frozen=True, slots=True)
class OptionalParameter:
    """A parameter to add: its name, its default as written, its annotation ('' for none is known), and whether it is
    only given by keyword."""

    name: str
    default: str
    annotation: str = ""
    keyword: bool = False

    def text(self, *, annotated: bool) -> str:
        """The parameter as it stands in a signature."""
        if not annotated:
            return f"{self.name}={self.default}"
        return f"{self.name}: {self.annotation} = {self.default}"


def type_of(default: str) -> str:
    """The type of a constant where it says it all: that of a default None is unknown."""
    name = type(ast.literal_eval(parse_expression(default))).__name__
    return name if name in _CERTAIN else ""


def with_none(source: SourceText, annotation: str) -> str:
    """A type or None, as a file writes that; '' where it isn't known how."""
    if re.search(r"\bOptional\b", source.text) and not re.search(r"\| None\b", source.text):
        module = re.search(r"\b(\w+)\.Optional\[", source.text)
        return f"{module[1]}.Optional[{annotation}]" if module else f"Optional[{annotation}]"
    known = re.search(r"\| None\b|^from __future__ import annotations", source.text, re.M)
    return f"{annotation} | None" if known else ""


def is_annotated(source: SourceText, function: Node) -> bool | None:
    """Whether the parameters of a function have types; None where only some have, or it has none to tell."""
    parameters = [p for p in parameters_of(function) if parameter_name(source, p) not in ("", "self", "cls")]
    typed = [p for p in parameters if p.child_by_field_name("type") is not None]
    if not parameters:
        return True if function.child_by_field_name("return_type") is not None else annotates(source)
    return len(typed) == len(parameters) if len(typed) in (0, len(parameters)) else None


def annotates(source: SourceText) -> bool | None:
    """Whether the functions of a file have types; None where it has no functions or only some of them have."""
    functions = len(re.findall(r"^[ \t]*(?:async )?def \w+\(", source.text, re.M))
    typed = len(re.findall(r"\) ?-> ?[^\n]+:[ \t]*(?:#[^\n]*)?$", source.text, re.M))
    return None if not functions or 0 < typed * 2 < functions else typed > 0


def add_optional(source: SourceText, function: Node, parameter: OptionalParameter, patch: Patch) -> bool:
    """Add a parameter with a default.

    Args:
        source: the file.
        function: the definition.
        parameter: what to add.
        patch: receives the change.

    Returns:
        Whether it could be added: not where only some parameters have types, or its type isn't known among typed ones.
    """
    container = function.child_by_field_name("parameters")
    annotated = is_annotated(source, function)
    if container is None or annotated is None or (annotated and not parameter.annotation):
        return False
    listed = parameters_of(function)
    # Behind `*args`, which before it would lose what callers give them.
    at = next((n for n, p in enumerate(listed) if is_variadic(p) == "**"), len(listed))
    text = parameter.text(annotated=annotated)
    added = ["*", text] if parameter.keyword and not _takes_keywords_only(listed) else [text]
    start, end, new = added_entry(source.data, container, listed, at, text)
    gap = re.search(r"\n[ \t]*", new)
    new = new.replace(text, f",{gap[0] if gap else ' '}".join(added), 1)
    if "\n" not in new and not fits(source, start, new) and all(c.type != "comment" for c in container.children):
        rows = [*map(source.slice, listed[:at]), *added, *map(source.slice, listed[at:])]
        indent = indent_of(source, function)
        lines = ",\n".join(f"{indent}    {row}" for row in rows)
        start, end, new = container.start_byte, container.end_byte, f"(\n{lines},\n{indent})"
    patch.replace(source.path, start, end, new)
    return True


def _takes_keywords_only(parameters: list[Node]) -> bool:
    """Whether parameters stand behind `*` or `*args`, or may."""
    return any(p.type == "keyword_separator" or is_variadic(p) == "*" for p in parameters)


def uses_name(source: SourceText, function: Node, name: str) -> bool:
    """Whether a function already uses a name, or gives it another meaning."""
    inside = (u for u in name_table(source, name).uses if function.start_byte <= u.start < function.end_byte)
    return any(u.role in ("bind", "load", "parameter", "imported", "declared", "keyword") for u in inside)


def fits(source: SourceText, at: int, new: str) -> bool:
    """Whether a line with something new stays as short as signatures of its file are."""
    longest = max((len(row) for row in re.findall(r"^ *(?:async )?def .*:$", source.text, re.M)), default=0)
    return len(source.line_text(source.line_of(at))) + len(new) <= max(_USUAL_LENGTH, longest)
