"""The list of chats as the side bar shows it: by repository, each with its address. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from repopilot import i18n
from repopilot.agents.coding.typed_commands import FORMS
from repopilot.errors import RepoPilotError
from repopilot.repo.source import parse_source
from repopilot.settings import Settings
from repopilot.ui.chats.chat_list import ListedChat
from repopilot.ui.chats.chat_store import repository_id
from repopilot.ui.repository.registry import opening_key

LATEST = 4e9
"""Latest time shown, in seconds since 1970. A wrong clock may have stored a number that is no valid date."""


def sidebar_props(chats: Sequence[ListedChat], known: Sequence[Mapping], settings: Settings, language: str) -> dict:
    """What the side bar shows.

    Args:
        chats: in their order.
        known: the repositories opened last, {name, address}: for chats stored by earlier versions, without an address.
        settings: how repositories are opened.
        language: of the interface.

    Returns:
        {groups: [{name, chats: [{id, title, href, facts, pinned}]}], words, completed: {command: number of words}}.
    """
    places = _places(known, settings)
    groups: dict[str, dict] = {}
    for chat in chats:
        name, place = (chat.name, chat.address) if chat.address else places.get(chat.repository, ("", ""))
        group = groups.setdefault(place or chat.repository, {"name": name or "?", "chats": []})
        group["chats"].append(
            {
                "id": chat.id,
                "title": chat.title,
                "href": "/?" + urlencode({"repo": place, "chat": chat.id}) if place else "",
                "facts": time.strftime("%Y-%m-%d %H:%M", time.localtime(min(max(chat.asked, 0), LATEST))),
                "pinned": chat.pinned,
            }
        )
    completed = {name: form.completed for name, form in FORMS.items()}
    return {"groups": list(groups.values()), "words": i18n.section("ui.sidebar", language), "completed": completed}


def _places(known: Sequence[Mapping], settings: Settings) -> dict[str, tuple[str, str]]:
    """(name, address) of repositories by their ids."""
    found = {}
    for entry in known:
        try:
            key = opening_key(parse_source(entry["address"]), settings)
        except RepoPilotError:
            continue  # moved or deleted since
        found[repository_id(key)] = (entry["name"], entry["address"])
    return found
