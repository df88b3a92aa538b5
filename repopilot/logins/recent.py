"""The repositories opened last, stored across restarts. Addresses carry no credentials."""

from __future__ import annotations

import logging

from repopilot.database.chat_database import Connection, Database, digest_of, is_intact
from repopilot.errors import StorageError

SHOWN = 6
EVERYBODY = " everybody"
"""The owner of what is shared with every login; no login's name begins with a space."""
log = logging.getLogger(__name__)


def recent(database: Database, owner: str = "") -> list[dict]:
    """[{name, address, own, shared}] of the repositories a user opened, newest first, then of those that others share
    with every login; [] where it can't be read."""
    select = "SELECT owner, address, name, digest FROM opened WHERE owner IN (?, ?) ORDER BY number DESC"
    rows = _rows(database, select, owner, EVERYBODY if owner else owner)
    own = {row[1]: row[2] for row in rows if row[0] == owner}
    shared = {row[1]: row[2] for row in rows if row[0] == EVERYBODY}
    shown = [*list(own.items())[:SHOWN], *[each for each in shared.items() if each[0] not in own][:SHOWN]]
    return [{"name": name, "address": at, "own": at in own, "shared": at in shared} for at, name in shown]


def all_opened(database: Database) -> list[tuple[str, str]]:
    """(owner, address) of every repository that anybody opened or shares; [] where it can't be read."""
    select = "SELECT owner, address, name, digest FROM opened ORDER BY number DESC"
    return [(row[0], row[1]) for row in _rows(database, select)]


def _rows(database: Database, select: str, *values: str) -> list[tuple]:
    try:
        rows = database.run(lambda connection: connection.execute(select, values).fetchall())
    except StorageError as error:
        log.warning("opened repositories can't be read: %s", error)
        return []
    return [row for row in rows if is_intact(row)]


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
