"""The tool that changes the parameters of a Python function."""

from __future__ import annotations

import keyword
import re
from typing import Any

from pydantic import Field, model_validator

from repopilot.code.languages import language_of
from repopilot.errors import UsageError
from repopilot.i18n import joined, message
from repopilot.resolve.python_scopes import decorators
from repopilot.resolve.values import NameSpan
from repopilot.tools import result_types
from repopilot.tools.definitions import IN_FILE, find_definition, name_at
from repopilot.tools.refactoring.python_source import PythonSource, definition_of
from repopilot.tools.refactoring.refactored import edited, finished
from repopilot.tools.refactoring.signature import AddedParameter, Signature, SignatureChange, signature_of
from repopilot.tools.refactoring.signature_edit import SignatureEdit
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

_PARAMETER = re.compile(r"(?P<name>\w+)(?:\s*:\s*(?P<annotation>[^=]+?))?(?:\s*=\s*(?P<default>.+))?")
"""A parameter as it is written in Python."""
_MOST_LINES = 200
"""Most lines of the diff that are shown."""
_MADE = ("dataclass", "define", "frozen", "mutable", "attrs", "attr.s", "pydantic")
"""Decorators that give a class a constructor from its fields."""


class NewParameter(Arguments):
    """A parameter to add."""

    name: str = Field(description="its name; `name: type = default` is understood, too")
    default: str = Field("", description="its default, as code; empty for a required one")
    annotation: str = Field("", description="its type, as code; empty for none")
    keyword_only: bool = Field(False, description="whether calls have to name it")

    @model_validator(mode="before")
    @classmethod
    def _as_written(cls, given: Any) -> Any:
        """Accept a parameter that is written as in Python, and a default that is a value instead of code."""
        parts = {"name": given} if isinstance(given, str) else given
        written = _PARAMETER.fullmatch(str(parts.get("name", ""))) if isinstance(parts, dict) else None
        if written is None:
            return parts
        parts = {
            **{key: value for key, value in written.groupdict().items() if value is not None},
            **{key: value for key, value in parts.items() if key != "name" and value != ""},
        }
        if "default" in parts and not isinstance(parts["default"], str):
            parts["default"] = repr(parts["default"])
        return parts


class ChangedSignature(Arguments):
    """What changes in the parameters of a function."""

    name: str = Field(description="the function, plain or Class.method")
    add: list[NewParameter] = Field(default_factory=list, description="parameters to add behind the others")
    remove: list[str] = Field(default_factory=list, description="parameters to remove")
    rename: dict[str, str] = Field(default_factory=dict, description="new names of parameters by their old ones")
    order: list[str] = Field(default_factory=list, description="parameters that change places, in their new order")
    path: str = Field("", description=IN_FILE)


@in_thread
def change_signature(arguments: ChangedSignature, context: ToolContext) -> ToolResult:
    """Add, remove, rename or reorder parameters of a Python function, when its callers have to follow: they do, as do
    its overloads, stubs and overriding methods. Shows the difference, and lists calls that aren't certain."""
    copy = context.working_copy
    symbol = find_definition(copy, arguments.name, arguments.path)
    if language_of(symbol.path) != "python":
        raise UsageError(message("refactor_tools.only_python", tool="change_signature"))
    text = copy.resolver.text(symbol.path) or ""
    source = PythonSource(symbol.path, text)
    if source.root.has_error:
        raise UsageError(message("refactor_tools.no_parse", path=symbol.path))
    if symbol.kind == "class":
        symbol = _constructor(copy, source, symbol)
    span = name_at(text, symbol)
    node = source.at(span.start, span.end)
    function = definition_of(node) if node is not None else None
    if function is None or function.type != "function_definition":
        raise UsageError(message("refactor_tools.no_function", name=symbol.qualified))
    signature = signature_of(source, function)
    change = _asked(arguments, signature, symbol)
    found = SignatureEdit(copy.resolver, span, symbol.name, signature, change)
    names = {symbol.name, *change.rename, *change.rename.values(), *change.remove, *(a.name for a in change.add)}
    edits = ((NameSpan(path, *place), text) for path, each in found.edits.items() for *place, text in each)
    done = finished(copy, edited(copy, edits), found.left, names)
    lines = done.data["diff"].split("\n")
    more = [message("tools.more_rows", count=len(lines) - _MOST_LINES)] if len(lines) > _MOST_LINES else []
    return ToolResult(joined(["\n".join(lines[:_MOST_LINES]), *more, done.text], "\n"), done.data)


def _constructor(copy: WorkingCopy, source: PythonSource, symbol: Symbol) -> Symbol:
    """The constructor of a class.

    Raises:
        UsageError: it defines none; the hint says what it has.
    """
    name = f"{symbol.qualified}.__init__"
    if any(each.qualified == name for each in copy.workspace.index.outline(symbol.path)):
        return find_definition(copy, name, symbol.path)
    span = name_at(source.text, symbol)
    node = source.at(span.start, span.end)
    owner = definition_of(node) if node is not None else None
    texts = [source.of(each) for each in decorators(owner)] if owner is not None else []
    bases = source.of(owner.child_by_field_name("superclasses")) if owner is not None else ""
    by_fields = any(word in text for text in texts for word in _MADE) or "NamedTuple" in bases or "BaseModel" in bases
    hint = "signature.fields_hint" if by_fields else "signature.inherited_hint"
    raise UsageError(message("signature.no_constructor", name=symbol.qualified), message(hint, bases=bases))


def _asked(arguments: ChangedSignature, function: Signature, symbol: Symbol) -> SignatureChange:
    """The requested change, checked against the function's parameters.

    Raises:
        UsageError: it changes nothing, names an unknown or invalid parameter, or Python itself calls the function.
    """
    name = symbol.qualified
    known = function.names
    changed = [*arguments.remove, *arguments.rename, *arguments.order]
    if not (arguments.add or changed):
        raise UsageError(message("refactor_tools.nothing_to_change"))
    for each in changed:
        if changed.count(each) > 1:
            raise UsageError(message("refactor_tools.named_twice", name=each))
    wrong = [e for e in changed if e not in known or (e in arguments.order and e not in function.positional)]
    if wrong:
        there = message("tools.there_are", names=", ".join(known) or "-")
        raise UsageError(message("refactor_tools.no_parameter", name=wrong[0], function=name), there)
    added = [AddedParameter(a.name, a.default, a.annotation, a.keyword_only) for a in arguments.add]
    new = [*(each.name for each in added), *arguments.rename.values()]
    for each in new:
        if each in known or not each.isidentifier() or keyword.iskeyword(each) or new.count(each) > 1:
            raise UsageError(message("refactor_tools.bad_parameter", name=each))
    change = SignatureChange(added, arguments.remove, arguments.rename, arguments.order)
    special = symbol.name.startswith("__") and symbol.name.endswith("__")
    if special and symbol.name != "__init__" and change.moves_arguments:
        raise UsageError(message("signature.special", name=name))
    return change


TOOLS = (Tool("change_signature", ChangedSignature, "edit", change_signature, result_types.Refactored),)
