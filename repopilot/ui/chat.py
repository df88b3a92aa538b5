"""What one chat remembers, and what all chats of the process share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import chainlit as cl
from chainlit.session import WebsocketSession

from repopilot.forge.contents import HostIssue, Pull
from repopilot.forge.items import ForgeItem
from repopilot.i18n import Language, supported
from repopilot.logins.ownership import visible
from repopilot.results import Answer, FollowUpEdit, Generation, Turn, turn_of
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.trace import Event
from repopilot.types import FileChange
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, new_id, repository_id
from repopilot.ui.file_ids import follow_up_id
from repopilot.ui.models.available_models import Models
from repopilot.ui.repository.known import Sizes
from repopilot.ui.repository.registry import Opening, Openings

if TYPE_CHECKING:
    from repopilot.index.store import Index, IndexStore

TURNS_KEPT = 12
EXCHANGES_KEPT = 50


@dataclass(slots=True)
class ShownAnswer:
    """An answer on the page, with what its buttons need.

    Attributes:
        answer: the answer.
        index: the index it came from; any index for an answer about all repositories.
        root: the local folder that accepted files are written to, None for a clone.
        decisions: `accepted` or `rejected` by the id of a file, or of a hunk (`hunk_id`), for those decided on.
        element: the diff view or the search below it, None where it has neither.
        request: the id of the question, as in the logs.
        steps: the steps that led to it, as JSON; () while it is not complete.
        question: the question that was asked.
        command: the command of the intent the user forced, '' for none.
        written: by path, the text that accepting the file wrote last; None if it deleted the file.
    """

    answer: Answer
    index: Index
    root: Path | None = None
    decisions: dict[str, str] = field(default_factory=dict)
    element: cl.CustomElement | None = None
    request: str = ""
    steps: Sequence[dict] = ()
    question: str = ""
    command: str = ""
    written: dict[str, str | None] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, FileChange]:
        """The answer's files by path, followed by the follow-up edits that code can write, by id."""
        found = {file.path: file for file in self.answer.files}
        return found | {id: each.change for id, each in self.follow_ups.items() if each.change is not None}

    @property
    def follow_ups(self) -> dict[str, FollowUpEdit]:
        """The follow-up edits of the answer that code can write, by id."""
        result = self.answer.result
        found = result.follow_ups if isinstance(result, Generation) else ()
        return {follow_up_id(each.path): each for each in found if each.change is not None}


@dataclass(slots=True)
class Chat:
    """One chat.

    Attributes:
        process: what all chats share.
        browser_language: the tag the browser asks for, for example `fr-CA`.
        opening: the repository open in it, None before the first.
        pending: question and command that were sent before a repository could answer, or None.
        owner: the name the user signed in with, '' where nobody signs in.
        thread: the id of the conversation about the open repository; what is asked is stored under it.
        exchanges: the latest exchanges of that conversation, oldest first.
        unstored: whether the user was told that the conversation can't be stored.
        answers: the answers on the page, by the id of their message.
        plans: the plans on the page, by the id of their message.
        overrides: the settings the user has changed in this chat, by name; `ref` is no setting, but a branch, tag or
            commit to open.
        subject: a mention of the lines that the repository's address named; the first question is about them.
        next_model: the name of the model that answers the next question, '' for the usual one.
        commands: by repository, whether the user let an agent model run commands.
        offers: by repository, whether the offer to fetch its test packages awaits an answer.
        asking: how many questions are being answered.
        deciding: held while files are accepted or rejected.
    """

    process: Process
    browser_language: str = "en"
    opening: Opening | None = None
    pending: tuple[str, str] | None = None
    owner: str = ""
    thread: str = field(default_factory=new_id)
    exchanges: list[Exchange] = field(default_factory=list)
    unstored: bool = False
    answers: dict[str, ShownAnswer] = field(default_factory=dict)
    plans: dict[str, cl.CustomElement] = field(default_factory=dict)
    overrides: dict[str, object] = field(default_factory=dict)
    subject: str = ""
    next_model: str = ""
    commands: dict[str, bool] = field(default_factory=dict)
    offers: dict[str, bool] = field(default_factory=dict)
    asking: int = 0
    deciding: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The latest turns of the conversation, for the agents: a question may refer to them."""
        said = [each for each in self.exchanges if each.is_turn]
        return tuple(turn_of(each.question, each.answer) for each in said[-TURNS_KEPT:])

    @property
    def thread_key(self) -> ThreadKey:
        """Where the conversation is stored."""
        assert self.opening is not None
        name = self.opening.source.name
        place = self.opening.address
        return ThreadKey(self.thread, repository_id(self.opening.key), self.owner, name, place)

    def begin_thread(self, thread: str = "", exchanges: Sequence[Exchange] = ()) -> None:
        """Switch to another conversation, or to a new one if none is given. The current one stays stored."""
        self.thread = thread or new_id()
        self.exchanges = list(exchanges)[-EXCHANGES_KEPT:]

    def leave_closed(self) -> None:
        """Leave a repository that was deleted or is no longer shared, with its answers and plans; use its new
        opening, if there is one."""
        opening = self.opening
        known = self.process.openings.get(opening.key, self.owner) if opening else None
        if known is not opening:
            self.opening = known
            self.answers.clear()
            self.plans.clear()

    def opening_of(self, index: Index) -> Opening | None:
        """The opening of the repository that an index is of, which needn't be the open one any more: what is shown of
        an answer is linked to, read from and written into the answer's own repository. None if it was closed.

        Args:
            index: the one that an answer came from.
        """
        mine = (each for each in self.process.openings.all() if each.owner == self.owner)
        known = [each for each in (self.opening, *mine) if each is not None]
        return next((each for each in known if _is_of(index, each)), None)

    @property
    def settings(self) -> Settings:
        """The process's settings with the user's changes."""
        update = {name: value for name, value in self.overrides.items() if name != "ref"}
        return self.process.runtime.settings.model_copy(update=update)

    @property
    def indexes(self) -> IndexStore:
        """The indexes that the user may search. Blocking."""
        process = self.process
        return visible(process.runtime.indexes, process.database, process.runtime.settings, self.owner)

    @property
    def chosen_language(self) -> str:
        """The language chosen in the chat's settings, '' where none was."""
        return str(self.overrides.get("language", ""))

    @property
    def language(self) -> Language:
        """The language of the interface: the one set or chosen, else the browser's."""
        return supported(self.settings.language or self.browser_language)


def _is_of(index: Index, opening: Opening) -> bool:
    key = index.origin.key
    if opening.index is not None and opening.index.origin.key == key:
        return True
    return opening.snapshot is not None and opening.snapshot.key == key


class Decisions(NamedTuple):
    """`decisions` and `written` of a `ShownAnswer`, shared by all pages that show the answer."""

    decided: dict[str, str]
    written: dict[str, str | None]


@dataclass(slots=True)
class Work:
    """A question being answered, which goes on when its page is closed.

    Attributes:
        task: the task that answers it.
        events: of its trace so far.
        done: set when the answer is stored.
    """

    task: asyncio.Task | None
    events: list[Event]
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Process:
    """What every chat shares: the models, and the repositories that are open.

    Args:
        runtime: the state of the process.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.database = runtime.database
        self.models = Models(runtime)
        self.sizes: Sizes = {}
        self.openings = Openings(runtime, self.models.find_embedder, self.sizes, self.database)
        self.models.on_embedder = self.openings.fill_vectors
        self.decisions: dict[str, Decisions] = {}
        self.about: dict[str, tuple[ForgeItem, HostIssue | Pull]] = {}
        self.working: dict[str, Work] = {}


def current_chat(process: Process) -> Chat:
    """The chat of the current session."""
    found = cl.user_session.get("chat")
    if found is None:
        session = cl.context.session
        language = session.language if isinstance(session, WebsocketSession) else "en"
        found = Chat(process, browser_language=language, owner=session.user.identifier if session.user else "")
        cl.user_session.set("chat", found)
    return found
