"""The conversations in a PostgreSQL server, for several servers of RepoPilot that share them.

It has the tables of `chat_database.py` and takes the same statements. The server is trusted with what is stored: rows
keep their digests, but nothing is salvaged here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from repopilot import i18n
from repopilot.database.chat_database import VERSION, Connection, Rows, other_version
from repopilot.errors import StorageError, UsageError

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS repopilot(version INTEGER NOT NULL);
INSERT INTO repopilot SELECT {VERSION} WHERE NOT EXISTS (SELECT 1 FROM repopilot);
CREATE TABLE IF NOT EXISTS turns(
    number BIGSERIAL PRIMARY KEY, id TEXT NOT NULL UNIQUE, thread TEXT NOT NULL, repository TEXT NOT NULL,
    owner TEXT NOT NULL, asked DOUBLE PRECISION NOT NULL, question TEXT NOT NULL, content TEXT NOT NULL,
    digest BYTEA NOT NULL, said TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS threads ON turns(repository, owner, thread);
CREATE TABLE IF NOT EXISTS opened(
    number BIGSERIAL PRIMARY KEY, owner TEXT NOT NULL, address TEXT NOT NULL, name TEXT NOT NULL,
    digest BYTEA NOT NULL, UNIQUE(owner, address));
CREATE TABLE IF NOT EXISTS chats(
    number BIGSERIAL PRIMARY KEY, thread TEXT NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL,
    address TEXT NOT NULL, title TEXT NOT NULL, pinned INTEGER NOT NULL, digest BYTEA NOT NULL, UNIQUE(thread, owner));
"""
LOCK = 0x5250_6368
"""The advisory lock held while the tables are created: two servers may start at once."""
CONNECT_S = 10
_NAMED = re.compile(r"(?<!:):(\w+)")
T = TypeVar("T")


class PostgresChats:
    """The conversations in a PostgreSQL server. Thread-safe: each transaction has a connection of its own.

    Args:
        url: `postgresql://user:password@host:port/name`.
        home: the data directory.

    Raises:
        UsageError: the driver isn't installed.
    """

    def __init__(self, url: str, home: Path) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise UsageError(
                i18n.message("ui.errors.no_postgres"), i18n.message("ui.errors.no_postgres_hint")
            ) from error
        self.home = home
        self._url = url
        self._driver = psycopg
        self._made = False

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in one transaction. Raises StorageError where the server can't be reached, or refuses it."""
        try:
            with self._driver.connect(self._url, connect_timeout=CONNECT_S) as connection:
                if not self._made:
                    self._make(connection)
                return work(_Statements(connection))
        except self._driver.Error as error:
            place = urlsplit(self._url)
            server = f"{place.hostname or ''}{place.path}"
            raise StorageError(
                i18n.message("ui.errors.chats", file=server, error=str(error).strip() or type(error).__name__),
                i18n.message("ui.errors.chats_server_hint"),
            ) from error

    def set_aside(self) -> list[Path]:
        """No file is ever set aside."""
        return []

    def _make(self, connection: Any) -> None:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(SCHEMA)
        (version,) = connection.execute("SELECT version FROM repopilot").fetchone()
        if version != VERSION:
            raise other_version("PostgreSQL", version)
        self._made = True


class _Statements:
    """A connection that takes SQLite's placeholders (`?`, `:name`)."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence | Mapping = ()) -> Rows:
        text = statement.replace("%", "%%").replace("?", "%s")
        if isinstance(values, Mapping):
            text = _NAMED.sub(r"%(\1)s", text)
            return self._connection.execute(text, {name: _storable(value) for name, value in values.items()})
        return self._connection.execute(text, tuple(_storable(value) for value in values))


def _storable(value: object) -> object:
    """A value for PostgreSQL, which can't store NUL in a text."""
    return value.replace("\0", "") if isinstance(value, str) else value
