"""Searches of chats that every database must answer alike."""

from dataclasses import replace

from repopilot.results import Answer
from repopilot.ui.chats.chat_list import change, listed
from repopilot.ui.chats.chat_store import Exchange, save

FOLDED = ["Étude", "Привет", "ΟΔΟΣ", "Übung", "E\u0301tude", "100% Éa_b!", "Plain"]
"""Texts with letters that have a case: in ASCII, beyond, composed of two characters, among LIKE's own characters."""


def found_in_any_case(database, key, text):
    """Check that a text is found in a question, an answer, a title and a name, in any case, and nothing else is.

    Args:
        database: empty.
        key: of a conversation.
        text: one of `FOLDED`.
    """
    chats = {name: replace(key, thread=name, name=name, address="/a") for name in ("asked", "said", "titled", "other")}
    save(database, chats["asked"], Exchange(f"why {text}?", "", Answer("because")))
    save(database, chats["said"], Exchange("why?", "", Answer(f"because of {text}.")))
    save(database, replace(key, thread="named", name=f"a {text}", address="/a"), Exchange("how?", "", Answer("so")))
    save(database, chats["titled"], Exchange("who?", "", Answer("me")))
    change(database, "titled", key.owner, title=f"on {text}")
    save(database, chats["other"], Exchange("étud plai 100x Éaxb! Привe strase", "", Answer("nothing")))
    for search in (text, text.lower(), text.upper()):
        assert {chat.id for chat in listed(database, key.owner, search)} == {"asked", "said", "named", "titled"}
        assert [chat.id for chat in listed(database, key.owner, search, "said")] == ["said"]
