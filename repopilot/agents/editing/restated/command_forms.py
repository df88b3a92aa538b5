"""The commands that a task can be restated as. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repopilot.agents.editing.restated.pieces import quoted
from repopilot.code.data_formats import from_json

Slots = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it was read: its form and its slots."""

    form: str
    slots: Slots

    @property
    def text(self) -> str:
        """The command as it was written."""
        return _written(self.form, self.slots)


OTHER = "other"
FORMS: tuple[str, ...] = (
    "rename {name} to {new}[ in {place}]",
    "set {name} to {new}[ in {place}]",
    "replace {old} with {new}[ in {place}]",
    "add {new} to {name}[ in {place}]",
    "remove {old} from {name}[ in {place}]",
    "delete {name}[ in {place}]",
    "move {name} to {place}",
    "put {name} before {new} in {place}",
    "type {name} as {new}[ in {place}]",
    "derive {name} from {new}",
    "import {new} in {place}",
    "import {new} from {old} in {place}",
    "export {name} from {place}",
    "document {name} as {new}",
    "make {name} required in {place}",
    "make {name} keyword-only in {place}",
    "require {name} {new}",
    "sort {name}[ in {place}]",
)
_SLOTS = ("name", "new", "old", "place")
_SLOT = re.compile(r"\{(\w+)\}")


def _written(form: str, slots: Slots) -> str:
    optional = re.search(r"\[(.*)\]", form)
    if optional:
        keep = "place" in slots
        form = form.replace(optional[0], optional[1] if keep else "")
    return _SLOT.sub(lambda m: f"`{slots[m[1]]}`", form)


def command_rules() -> list[str]:
    """Rules in GBNF for `root`: one of the commands, with `span` for its slots."""
    forms = [_rule(form) for form in FORMS]
    return ["root ::= " + " | ".join([*forms, quoted(OTHER)]), 'slot ::= "`" span "`"']


def _rule(form: str) -> str:
    parts = []
    for part in re.split(r"(\{\w+\}|\[|\])", form):
        if part in ("[", "]"):
            parts.append("(" if part == "[" else ")?")
        elif part.startswith("{"):
            parts.append("slot")
        elif part:
            parts.append(quoted(part))
    return " ".join(parts)


def command_schema(spans: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a command: its form with the slots as letters, and a span for each slot.

    Args:
        spans: what may stand in a slot.
    """
    slot = {"type": "string", "enum": ["", *spans]}
    properties = {"command": {"type": "string", "enum": [*FORMS, OTHER]}}
    properties |= {name: {"$ref": "#/$defs/slot"} for name in _SLOTS}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": {"slot": slot},
    }


def command_of_choice(reply: str) -> str:
    """The command that a reply by `command_schema` stands for, '' for none.

    Args:
        reply: JSON.
    """
    try:
        choice = from_json(reply)
        form = choice["command"]
        slots = {name: choice[name] for name in _SLOTS if choice.get(name)}
        return _written(form, slots) if form in FORMS else ""
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


def _pattern(form: str) -> re.Pattern[str]:
    text = re.escape(form).replace(r"\[", "(?:").replace(r"\]", ")?").replace(r"\ ", " ")
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"`(?P<\1>[^`]+)`", text))


_PATTERNS = {form: _pattern(form) for form in FORMS}


def read_command(reply: str) -> Command | None:
    """The command that a reply is.

    Args:
        reply: the model's.

    Returns:
        The command, None for any other text.
    """
    for form, pattern in _PATTERNS.items():
        match = pattern.fullmatch(reply.strip())
        if match:
            return Command(form, {name: text for name, text in match.groupdict().items() if text})
    return None
