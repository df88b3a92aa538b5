"""The repositories opened last, stored across restarts. Addresses carry no credentials."""

from __future__ import annotations

import logging

from repopilot.errors import StorageError
from repopilot.ui.chats.chat_database import Connection, Database, digest_of, is_intact

SHOWN = 6
log = logging.getLogger(__name__)


def recent(database: Database, owner: str = "") -> list[dict]:
    """[{name, address}] of the repositories a user opened, newest first; [] where it can't be read."""
    select = "SELECT owner, address, name, digest FROM opened WHERE owner = ? ORDER BY number DESC LIMIT ?"
    try:
        rows = database.run(lambda connection: connection.execute(select, (owner, SHOWN)).fetchall())
    except StorageError as error:
        log.warning("recently opened repositories can't be read: %s", error)
        return []
    return [{"name": row[2], "address": row[1]} for row in rows if is_intact(row)]


def forget(database: Database, address: str, owner: str = "") -> None:
    """Take a repository off the list. Raises StorageError."""
    statement = "DELETE FROM opened WHERE owner = ? AND address = ?"
    database.run(lambda connection: connection.execute(statement, (owner, address)))


def remember(database: Database, name: str, address: str, owner: str = "") -> None:
    """Put a repository first in the list of recent ones. A full or read-only disk is logged, not raised.

    Args:
        database: the data directory's.
        name: of the repository.
        address: to open it by.
        owner: who opened it, '' where the program has one user.
    """
    row = (owner, address, name)

    def put_first(connection: Connection) -> None:
        connection.execute("DELETE FROM opened WHERE owner = ? AND address = ?", (owner, address))
        statement = "INSERT INTO opened(owner, address, name, digest) VALUES(?, ?, ?, ?)"
        connection.execute(statement, (*row, digest_of(row)))

    try:
        database.run(put_first)
    except StorageError as error:
        log.warning("recently opened repositories can't be stored: %s", error)
