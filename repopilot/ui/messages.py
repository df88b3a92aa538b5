"""What a message is for: a repository to open, or a question. Pure, apart from asking whether a path exists."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from repopilot.agents.coding.typed_commands import FORMS, is_command
from repopilot.forge.items import parse_item
from repopilot.intents import lookups, split_command
from repopilot.repo.source import looks_like_source

LONGEST = 20_000
"""Longest question, in characters. A message over 1 MB would drop the browser's connection."""


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """What a message asks for; an `item` is an issue or a pull request. `command` is `open`, the command of an intent,
    an unknown command, or '' if the router decides; `text` is '' for a command that needs none."""

    kind: Literal["open", "item", "question", "empty", "too_long", "help", "demo", "unknown"]
    text: str
    command: str = ""


def parse_message(text: str, command: str, commands: Collection[str], paths: Collection[str] = ()) -> ParsedMessage:
    """Tell a repository to open from a question.

    Args:
        text: as typed; a command at its start (`/explain …`) counts like one chosen.
        command: the one chosen in the message box, '' for none.
        commands: those of the intents.
        paths: the files of the open repository: `src/app` then asks about that folder and opens nothing.

    Returns:
        What to do, with the text stripped of its command.
    """
    text = text.strip()
    if not command:
        command, text = split_command(text, (*commands, "open"))
    elif command in FORMS:
        text = f"/{command} {text}".strip()
        command = ""
    item = parse_item(text) if command in ("", "open", "review", "generate") and " " not in text else None
    if item is not None and (item.kind == "pull" or command in ("", "open")):
        return ParsedMessage("item", text, command)
    if command == "open":
        return ParsedMessage("open" if text else "empty", text, command)
    if not text and command not in lookups():
        return ParsedMessage("empty", text, command)
    if len(text) > LONGEST:
        return ParsedMessage("too_long", text, command)
    first = text.partition(" ")[0]
    if (
        not command
        and first[1:].isalpha()
        and first.startswith("/")
        and not is_command(text)
        and not _is_path(first, paths)
    ):
        if first == "/help":
            return ParsedMessage("help", text)
        if first == "/demo":
            return ParsedMessage("demo", text)
        if not looks_like_source(text):
            return ParsedMessage("unknown", text, first)
    if not command and looks_like_source(text) and not _is_path(text, paths) and not is_command(text):
        return ParsedMessage("open", text, "open")
    return ParsedMessage("question", text, command)


def from_address(page: str, name: str) -> str:
    """The value of `?name=` in the page's address, '' where there is none."""
    try:
        return parse_qs(urlsplit(page).query).get(name, [""])[0].strip()
    except ValueError:
        return ""


def _is_path(text: str, paths: Collection[str]) -> bool:
    text = text.strip("/")
    return text in paths or any(path.startswith(text + "/") for path in paths)
