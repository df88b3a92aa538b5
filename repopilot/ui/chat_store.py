"""Conversations on disk, so that a reload, a crash or a closed tab loses nothing.

There is one JSON file per repository in `home/chats`; deleting it deletes the conversation.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from repopilot.intents import lookups
from repopilot.results import Answer
from repopilot.settings import Settings

STORED = 12
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer.

    Attributes:
        question: as asked, without its command.
        command: that of the intent the user forced, '' for none.
        answer: the answer; its `degraded` is in the language it was shown in.
        footer: the line below the answer, as shown.
        commit: the state of the repository the answer is about.
        interrupted: whether the answer is incomplete or there is only an error, and another try is offered.
    """

    question: str
    command: str
    answer: Answer
    footer: str = ""
    commit: str = ""
    interrupted: bool = False

    @property
    def is_lookup(self) -> bool:
        """Whether it only looked something up: no turn of the conversation."""
        return self.command in lookups()


_EXCHANGES = TypeAdapter(list[Exchange])


def load(settings: Settings, key: str) -> list[Exchange]:
    """The conversation about the repository `key`, oldest first; [] where none is stored or it can't be read."""
    try:
        return _EXCHANGES.validate_json(_file(settings, key).read_text("utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        log.warning("a stored conversation can't be read: %s", error)
        return []


def save(settings: Settings, key: str, exchanges: Iterable[Exchange]) -> None:
    """Store the last exchanges of a chat. A full disk is logged, and the page keeps what it shows.

    Args:
        settings: the data directory.
        key: of the chat.
        exchanges: all of them; at most STORED are stored.
    """
    file = _file(settings, key)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_bytes(_EXCHANGES.dump_json(list(exchanges)[-STORED:]))
        draft.replace(file)
    except (OSError, TypeError, ValueError) as error:
        log.warning("the conversation can't be stored: %s", error)


def delete(settings: Settings, key: str) -> None:
    """Delete the conversation about the repository `key`."""
    _file(settings, key).unlink(missing_ok=True)


def _file(settings: Settings, key: str) -> Path:
    return settings.home / "chats" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
