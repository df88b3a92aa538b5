"""Conversations kept on disk by repository, so that a reload, a crash or a closed tab loses nothing.

One JSON file per repository below `home/chats`; deleting it forgets the conversation.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from repopilot.results import Answer
from repopilot.settings import Settings

KEPT = 12
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer; `command` is the route that was forced, '' for none, `footer` the answer's, `commit`
    the state of the repository that was asked."""

    question: str
    command: str
    answer: Answer
    footer: str = ""
    commit: str = ""


_EXCHANGES = TypeAdapter(list[Exchange])


def load(settings: Settings, key: str) -> list[Exchange]:
    """The conversation about the repository `key`, oldest first; [] where nothing readable is kept."""
    try:
        return _EXCHANGES.validate_json(_file(settings, key).read_text("utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        log.warning("a kept conversation can't be read: %s", error)
        return []


def save(settings: Settings, key: str, exchanges: Iterable[Exchange]) -> None:
    """Keep the last exchanges. A full disk loses nothing that is on the page, and is logged."""
    file = _file(settings, key)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_bytes(_EXCHANGES.dump_json(list(exchanges)[-KEPT:]))
        draft.replace(file)
    except (OSError, TypeError, ValueError) as error:
        log.warning("the conversation is not kept: %s", error)


def forget(settings: Settings, key: str) -> None:
    _file(settings, key).unlink(missing_ok=True)


def _file(settings: Settings, key: str) -> Path:
    return settings.home / "chats" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
