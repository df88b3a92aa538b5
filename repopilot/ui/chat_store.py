"""Conversations kept on disk by repository, so that a reload, a crash or a closed tab loses nothing.

One JSON file per repository below `home/chats`; deleting it forgets the conversation.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from repopilot.settings import Settings
from repopilot.types import Answer, Citation, FileChange, Route

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


def load(settings: Settings, key: str) -> list[Exchange]:
    """The conversation about the repository `key`, oldest first; [] where nothing readable is kept."""
    try:
        found = json.loads(_file(settings, key).read_text("utf-8"))
        return [_exchange(document) for document in found]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("a kept conversation can't be read: %s", error)
        return []


def save(settings: Settings, key: str, exchanges: Iterable[Exchange]) -> None:
    """Keep the last exchanges. A full disk loses nothing that is on the page, and is logged."""
    file = _file(settings, key)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps([asdict(each) for each in list(exchanges)[-KEPT:]], ensure_ascii=False), "utf-8")
        draft.replace(file)
    except (OSError, TypeError, ValueError) as error:
        log.warning("the conversation is not kept: %s", error)


def forget(settings: Settings, key: str) -> None:
    _file(settings, key).unlink(missing_ok=True)


def _file(settings: Settings, key: str) -> Path:
    return settings.home / "chats" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _exchange(document: dict) -> Exchange:
    answer = dict(document["answer"])
    route = answer.pop("route")
    whole = Answer(
        text=answer["text"],
        citations=tuple(Citation(**citation) for citation in answer["citations"]),
        files=tuple(FileChange(**file) for file in answer["files"]),
        route=Route(**{**route, "alternatives": tuple(map(tuple, route["alternatives"]))}) if route else None,
        degraded=tuple(answer["degraded"]),
        details=answer["details"],
    )
    return Exchange(document["question"], document["command"], whole, document["footer"], document["commit"])
