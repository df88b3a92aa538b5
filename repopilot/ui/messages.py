"""What a message is for: a repository to open, or a question. Pure, apart from asking whether a path exists."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from repopilot.intents import split_command
from repopilot.repo.source import looks_like_source

LONGEST = 20_000
"""Characters of a question. A message over 1 MB would drop the browser's connection."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`command` is `open`, the name of a route to force, or '' where the router decides."""

    kind: Literal["open", "question", "empty", "too long"]
    text: str
    command: str = ""


def wanted(text: str, command: str, commands: Collection[str], paths: Collection[str] = ()) -> Wanted:
    """Read a message. `command` is the one chosen in the message box; one typed (`/explain …`) counts as well.

    `paths` are the files of the open repository: `src/app` then asks about that folder and opens nothing.
    """
    text = text.strip()
    if not command:
        command, text = split_command(text, (*commands, "open"))
    if command == "open":
        return Wanted("open" if text else "empty", text, command)
    if not text:
        return Wanted("empty", text, command)
    if len(text) > LONGEST:
        return Wanted("too long", text, command)
    if not command and looks_like_source(text) and not _is_path(text, paths):
        return Wanted("open", text, "open")
    return Wanted("question", text, command)


def from_address(page: str, name: str) -> str:
    """The value of `?name=` in the page's address, '' without one."""
    try:
        return parse_qs(urlsplit(page).query).get(name, [""])[0].strip()
    except ValueError:
        return ""


def _is_path(text: str, paths: Collection[str]) -> bool:
    text = text.strip("/")
    return text in paths or any(path.startswith(text + "/") for path in paths)
