"""The list of all chats: grouped by repository, searched, renamed, pinned, deleted."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from repopilot.database.chat_database import CHAT_COLUMNS, Connection, Database, digest_of, is_intact
from repopilot.errors import StorageError

log = logging.getLogger(__name__)
TITLE_LENGTH = 120
MOST = 500
"""Most chats in a list; the others are found by searching."""
_FACTS = ("name", "address", "title", "pinned")
_LIST = """
SELECT ends.thread, ends.repository, first.question, ends.turns, last.asked FROM
    (SELECT thread, repository, count(*) AS turns, min(number) AS first, max(number) AS last FROM turns
     WHERE owner = :owner GROUP BY thread, repository) AS ends
JOIN turns AS first ON first.number = ends.first JOIN turns AS last ON last.number = ends.last
WHERE :thread IN ('', ends.thread) ORDER BY ends.last DESC LIMIT :most
"""
_SAID = """
SELECT thread, said FROM turns WHERE owner = :owner AND lower(said) LIKE :like ESCAPE '!'
UNION ALL SELECT thread, title || ' ' || name FROM chats
    WHERE owner = :owner AND lower(title || ' ' || name) LIKE :like ESCAPE '!'
"""
_ALL = (1 << 31) - 1
"""More chats than a user has."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class ListedChat:
    """A chat in the list.

    Attributes:
        id: of its thread.
        repository: its `repository_id`.
        title: as the user named it, else its first question.
        turns: how many questions were asked.
        asked: when the last question was asked, in seconds since 1970.
        name: of the repository, '' if it wasn't stored.
        address: to open the repository by, '' if it wasn't stored.
        pinned: whether it comes first.
    """

    id: str
    repository: str
    title: str
    turns: int
    asked: float
    name: str = ""
    address: str = ""
    pinned: bool = False


def listed(database: Database, owner: str = "", search: str = "", thread: str = "") -> list[ListedChat]:
    """The chats of a user: pinned ones first, then by the last question, newest first.

    Args:
        database: the conversations.
        owner: the user's name, '' where the program has one user.
        search: a text that the title, a question or an answer contains; '' for all chats.
        thread: the id of the only chat to list, '' for all.

    Raises:
        StorageError: the database can't be read.
    """
    values = {"owner": owner, "thread": thread, "most": _ALL if search else MOST}

    def read(connection: Connection) -> list[ListedChat]:
        known = _facts(connection, owner, thread)
        rows = connection.execute(_LIST, values).fetchall()
        if search:
            threads = _that_say(connection, owner, search)
            rows = [row for row in rows if row[0] in threads][:MOST]
        return [_listed(row, known.get(row[0], {})) for row in rows]

    return sorted(database.run(read), key=lambda chat: not chat.pinned)


def chat_counts(database: Database, owner: str = "") -> Counter[str]:
    """How many chats a user has, by the address of the repository; none if the database can't be read."""
    try:
        return Counter(chat.address for chat in listed(database, owner))
    except StorageError as error:
        log.warning("the chats can't be counted: %s", error)
        return Counter()


def change(database: Database, thread: str, owner: str, **facts: object) -> None:
    """Give a chat another `title`, or pin it (`pinned`). Raises StorageError."""
    database.run(lambda connection: describe(connection, thread, owner, **facts))


def remove(database: Database, thread: str, owner: str) -> None:
    """Delete a chat with all its questions and answers. Raises StorageError."""

    def delete(connection: Connection) -> None:
        for table in ("turns", "chats"):
            connection.execute(f"DELETE FROM {table} WHERE thread = ? AND owner = ?", (thread, owner))

    database.run(delete)


def describe(connection: Connection, thread: str, owner: str, **facts: object) -> None:
    """Store facts that a list shows of a chat, within a transaction; the others stay. Raises the driver's error."""
    known = _facts(connection, owner, thread).get(thread, {})
    said = {"name": "", "address": "", "title": "", "pinned": 0} | known | facts
    row = (
        thread,
        owner,
        said["name"],
        said["address"],
        str(said["title"]).replace("\0", "")[:TITLE_LENGTH],
        int(bool(said["pinned"])),
    )
    marks = ", ".join("?" * len(CHAT_COLUMNS))
    connection.execute("DELETE FROM chats WHERE thread = ? AND owner = ?", (thread, owner))
    statement = f"INSERT INTO chats({', '.join(CHAT_COLUMNS)}) VALUES({marks})"
    connection.execute(statement, (*row, digest_of(row)))


def is_described(connection: Connection, thread: str, owner: str) -> bool:
    """Whether facts of a chat are stored, within a transaction. Raises the driver's error."""
    return thread in _facts(connection, owner, thread)


def _facts(connection: Connection, owner: str, thread: str = "") -> dict[str, dict[str, object]]:
    """The stored facts of a user's chats, all or one, by id."""
    select = f"SELECT {', '.join(CHAT_COLUMNS)} FROM chats WHERE owner = ? AND thread LIKE ?"
    rows = connection.execute(select, (owner, thread or "%"))
    return {row[0]: dict(zip(_FACTS, row[2:-1], strict=True)) for row in rows if is_intact(row)}


def _that_say(connection: Connection, owner: str, search: str) -> set[str]:
    """The threads of a user's chats that contain a text, whatever the case of its letters.

    SQLite knows the case of ASCII letters only, and PostgreSQL that of its locale: the statement finds the texts that
    have the ASCII parts of what is searched, and the rest is compared here. Only what folds to ASCII (`ß` to `ss`)
    isn't found by it.
    """
    like = _composed(search).lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    values = {"owner": owner, "like": f"%{_NOT_ASCII.sub('%', like)}%"}
    wanted = _folded(search)
    return {thread for thread, said in connection.execute(_SAID, values) if wanted in _folded(said)}


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _folded(text: str) -> str:
    """A text for comparison: an accented letter is one character, and its case doesn't matter."""
    return _composed(_composed(text).casefold())


def _listed(row: tuple, facts: Mapping[str, object]) -> ListedChat:
    thread, repository, question, turns, asked = row
    title = str(facts.get("title") or "") or " ".join(question.split())[:TITLE_LENGTH] or "…"
    name = str(facts.get("name", ""))
    address = str(facts.get("address", ""))
    return ListedChat(thread, repository, title, turns, asked, name, address, bool(facts.get("pinned")))
