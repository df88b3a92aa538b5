"""What one chat remembers, and what all chats of the process share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import chainlit as cl

from repopilot.results import Answer, Turn
from repopilot.settings import Settings, settings
from repopilot.types import FileChange
from repopilot.ui.available_models import Models
from repopilot.ui.chat_store import Exchange
from repopilot.ui.repository.registry import Opening, Openings

if TYPE_CHECKING:
    from repopilot.index.store import Index

TURNS_KEPT = 12


@dataclass(slots=True)
class Shown:
    """An answer on the page: what its buttons need. `root` is the local folder accepted files are written to, None
    for a clone; `decided` says accepted or rejected by path."""

    answer: Answer
    index: Index
    root: Path | None = None
    decided: dict[str, str] = field(default_factory=dict)
    element: cl.CustomElement | None = None

    @property
    def files(self) -> dict[str, FileChange]:
        return {file.path: file for file in self.answer.files}


@dataclass(slots=True)
class Chat:
    """`waiting` is a question asked before there was a repository to ask; `narrowed` the user's own settings; `shown`
    and `plans` are what stands on the page, by the id of its message."""

    opening: Opening | None = None
    waiting: tuple[str, str] | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    shown: dict[str, Shown] = field(default_factory=dict)
    plans: dict[str, cl.CustomElement] = field(default_factory=dict)
    narrowed: dict[str, object] = field(default_factory=dict)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The conversation as the agents want it."""
        return tuple(
            Turn(
                each.question,
                each.answer.text,
                each.answer.route.intent if each.answer.route else "EXPLAIN",
                each.answer.files,
            )
            for each in self.exchanges[-TURNS_KEPT:]
        )

    @property
    def settings(self) -> Settings:
        return settings().model_copy(update={name: value for name, value in self.narrowed.items() if name != "ref"})


@dataclass(slots=True)
class Process:
    """Shared by every chat: the models, and the repositories that are open."""

    models: Models
    openings: Openings
    tasks: set[asyncio.Task] = field(default_factory=set)

    def keep(self, work: Coroutine) -> None:
        """Run it to its end: the event loop itself holds tasks weakly."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


_process: list[Process] = []


def process() -> Process:
    """The one of this process, made at first use."""
    if not _process:
        models = Models(settings())
        openings = Openings(models.find_embedder)
        models.on_embedder = openings.fill_vectors
        _process.append(Process(models, openings))
    return _process[0]


def chat() -> Chat:
    """The chat of the current session."""
    found = cl.user_session.get("chat")
    if found is None:
        found = Chat()
        cl.user_session.set("chat", found)
    return found
