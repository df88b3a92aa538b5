"""Conversations on disk: a row for each question with its answer, so that no conversation replaces another.

The rows of one conversation share a thread. A row is written when the question is asked, and again as the answer grows,
so an interruption loses nothing said before.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from dataclasses import dataclass, field, replace
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from repopilot.database.chat_database import TURN_COLUMNS, Connection, Database, digest_of, is_intact
from repopilot.intents import lookups
from repopilot.redaction.redact import redacted, redacted_values
from repopilot.results import Answer
from repopilot.ui.chats.chat_list import describe, is_described

QUESTION_SHOWN = 200
_COLUMNS = ", ".join(TURN_COLUMNS)
log = logging.getLogger(__name__)


def new_id() -> str:
    """An id for a thread or a turn."""
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer.

    Attributes:
        question: as asked, without its command.
        command: the command of the intent the user forced, '' for none.
        answer: the answer; its `degraded` is in the language it was shown in.
        footer: the line below the answer, as shown.
        commit: the state of the repository the answer is about.
        interrupted: whether the answer is incomplete or there is only an error, and a retry is offered.
        id: of its row.
        decisions: what the user accepted or rejected, by the id of a file or hunk.
        rating: the user's rating of the answer, 1 or -1; 0 for none.
        remark: the user's reason for the rating.
        steps: the steps that led to the answer, as `trace.tree` gives them.
    """

    question: str
    command: str
    answer: Answer
    footer: str = ""
    commit: str = ""
    interrupted: bool = False
    id: str = field(default_factory=new_id, compare=False)
    decisions: dict[str, str] = field(default_factory=dict)
    rating: int = 0
    remark: str = ""
    steps: list[dict] = field(default_factory=list, compare=False)

    @property
    def is_lookup(self) -> bool:
        """Whether it only looked something up, so that it is no turn of the conversation."""
        return self.command in lookups()

    @property
    def is_turn(self) -> bool:
        """Whether later questions may refer to it: it has an answer about this repository and is no look-up."""
        said = self.answer.text or self.answer.evidence or self.answer.files or self.answer.result
        return bool(said) and not self.is_lookup and not self.answer.of_all


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """Where a conversation belongs: `thread` is its id, `repository` a `repository_id`, `owner` the user's name, ''
    where the program has one user. `name` and `address` of the repository are only for lists."""

    thread: str
    repository: str
    owner: str = ""
    name: str = field(default="", compare=False)
    address: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The exchanges of a thread, oldest first, and how many more are damaged or of an unknown form."""

    exchanges: tuple[Exchange, ...] = ()
    unreadable: int = 0


_EXCHANGE = TypeAdapter(Exchange)


def repository_id(key: str) -> str:
    """The id of the repository `key` in the database."""
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def save(database: Database, key: ThreadKey, exchange: Exchange) -> None:
    """Store an exchange, in place of its earlier state. Raises StorageError.

    Args:
        database: the conversations.
        key: of the conversation.
        exchange: complete or unfinished.
    """
    database.run(lambda connection: insert(connection, key, exchange))


def insert(connection: Connection, key: ThreadKey, exchange: Exchange, asked: float | None = None) -> None:
    """As `save`, within a transaction; `asked` in seconds since 1970, None for now. Raises the driver's error."""
    kept = redacted_values(_EXCHANGE.dump_python(exchange, mode="json"))
    content = json.dumps(kept, ensure_ascii=False)
    said = f"{kept['question']} {kept['answer']['text']}"
    question = redacted(exchange.question).replace("\0", "")[:QUESTION_SHOWN]
    before = connection.execute("SELECT asked FROM turns WHERE id = ?", (exchange.id,)).fetchone()
    moment = before[0] if before else time.time() if asked is None else asked
    row = (exchange.id, key.thread, key.repository, key.owner, moment, question, content)
    update = ", ".join(f"{name} = excluded.{name}" for name in ("question", "content", "digest", "said"))
    connection.execute(
        f"INSERT INTO turns({_COLUMNS}, said) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET {update}",
        (*row, digest_of(row), said),
    )
    if not before and key.address:
        facts = {"name": key.name, "address": key.address}
        if exchange.command and not is_described(connection, key.thread, key.owner):
            facts["title"] = f"/{exchange.command} {question}".strip()
        describe(connection, key.thread, key.owner, **facts)


def load(database: Database, key: ThreadKey) -> Conversation:
    """The conversation with a key, empty if none is stored. Raises StorageError."""
    select = f"SELECT {_COLUMNS} FROM turns WHERE thread = ? AND repository = ? AND owner = ? ORDER BY number"
    values = (key.thread, key.repository, key.owner)
    rows = database.run(lambda connection: connection.execute(select, values).fetchall())
    read = [_exchange(row) for row in rows]
    exchanges = tuple(exchange for exchange in read if exchange is not None)
    return Conversation(exchanges, len(read) - len(exchanges))


def _exchange(row: tuple) -> Exchange | None:
    """The exchange of a row; None if it is damaged or was stored by an incompatible version."""
    if not is_intact(row):
        log.warning("a stored answer is damaged")
        return None
    try:
        return replace(_EXCHANGE.validate_json(row[TURN_COLUMNS.index("content")]), id=row[0])
    except ValidationError as error:
        log.warning("a stored answer has another form: %s", error)
        return None
