"""The list of chats as the side bar shows it: by repository, each with its address. Pure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from urllib.parse import urlencode

from repopilot import i18n
from repopilot.agents.coding.typed_commands import FORMS
from repopilot.ui.chats.chat_list import ListedChat

LATEST = 4e9
"""Latest time shown, in seconds since 1970. A wrong clock may have stored a number that is no valid date."""


def sidebar_props(chats: Sequence[ListedChat], language: str) -> dict:
    """What the side bar shows.

    Args:
        chats: in their order.
        language: of the interface.

    Returns:
        {groups: [{name, chats: [{id, title, href, facts, pinned}]}], words, completed: {command: number of words}}.
    """
    groups: dict[str, dict] = {}
    for chat in chats:
        group = groups.setdefault(chat.address or chat.repository, {"name": chat.name or "?", "chats": []})
        group["chats"].append(
            {
                "id": chat.id,
                "title": chat.title,
                "href": "/?" + urlencode({"repo": chat.address, "chat": chat.id}) if chat.address else "",
                "facts": time.strftime("%Y-%m-%d %H:%M", time.localtime(min(max(chat.asked, 0), LATEST))),
                "pinned": chat.pinned,
            }
        )
    completed = {name: form.completed for name, form in FORMS.items()}
    return {"groups": list(groups.values()), "words": i18n.section("ui.sidebar", language), "completed": completed}
