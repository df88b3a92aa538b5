"""The file of the conversations, `chats.db`: opening it, checking it, and recovering it from damage.

It is SQLite with a write-ahead log: a killed process loses nothing that was stored, and several processes may use it.
SQLite itself notices damage to the structure of the file, but not to the text of a row, which is why each row has a
digest.
"""

from __future__ import annotations

import itertools
import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, TypeVar

from filelock import FileLock, Timeout

from repopilot import i18n
from repopilot.errors import StorageError

NAME = "chats.db"
VERSION = 3
BUSY_S = 10.0
"""How long a write waits for those of other processes."""
SMALLEST_PAGE = 512
TURN_COLUMNS = ("id", "thread", "repository", "owner", "asked", "question", "content", "digest")
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS turns(
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, thread TEXT NOT NULL, repository TEXT NOT NULL,
    owner TEXT NOT NULL, asked REAL NOT NULL, question TEXT NOT NULL, content TEXT NOT NULL, digest BLOB NOT NULL,
    said TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX IF NOT EXISTS threads ON turns(repository, owner, thread);
CREATE TABLE IF NOT EXISTS opened(
    number INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, address TEXT NOT NULL, name TEXT NOT NULL,
    digest BLOB NOT NULL, UNIQUE(owner, address)) STRICT;
CREATE TABLE IF NOT EXISTS chats(
    number INTEGER PRIMARY KEY AUTOINCREMENT, thread TEXT NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL,
    address TEXT NOT NULL, title TEXT NOT NULL, pinned INTEGER NOT NULL, digest BLOB NOT NULL,
    UNIQUE(thread, owner)) STRICT;
PRAGMA user_version={VERSION};
COMMIT;
"""
CHAT_COLUMNS = ("thread", "owner", "name", "address", "title", "pinned", "digest")
_TABLES = {"turns": (*TURN_COLUMNS, "said"), "opened": ("owner", "address", "name", "digest"), "chats": CHAT_COLUMNS}
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_CIRCUMSTANCES = tuple(
    f"SQLITE_{name}"
    for name in ("BUSY", "LOCKED", "IOERR", "FULL", "CANTOPEN", "NOMEM", "PERM", "READONLY", "PROTOCOL")
)
_NO_WRITING = ("SQLITE_CANTOPEN", "SQLITE_READONLY")
_FULL_BYTES = 1 << 18
"""SQLite needs some space beside the file; with less than this it fails with various errors."""
T = TypeVar("T")


class Rows(Protocol):
    """What a statement found."""

    def fetchone(self) -> Any:
        """The first row, None without one."""

    def fetchall(self) -> list[Any]:
        """Every row."""

    def __iter__(self) -> Iterator[Any]:
        """The rows one by one."""


class Connection(Protocol):
    """The connection that `work` gets; it takes statements with SQLite's placeholders (`?`, `:name`)."""

    def execute(self, statement: str, values: Any = (), /) -> Rows:
        """Carry out one statement."""


class Database(Protocol):
    """Where the conversations are: a file, or a server."""

    home: Path

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in one transaction. Raises StorageError."""

    def set_aside(self) -> list[Path]:
        """The damaged files that were replaced, oldest first."""


log = logging.getLogger(__name__)


class ChatDatabase:
    """The conversations below a data directory. Thread-safe.

    Args:
        home: the data directory. Nothing is created before the first use.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._file = home / NAME
        self._checked = False
        self._lock = threading.Lock()

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in one transaction. A damaged file is set aside first, and what can be read of it is kept.

        Args:
            work: gets a connection; done again where the file proves to be damaged, or another process has set it aside
                meanwhile.

        Returns:
            What `work` returns.

        Raises:
            StorageError: the file can't be read or written.
        """
        try:
            while True:
                self._check()
                used = self._identity()
                result = self._checked_when_damaged(work)
                if self._identity() == used:
                    return result
        except (OSError, sqlite3.Error, Timeout) as error:
            reason = i18n.message("errors.disk_is_full") if _disk_is_full(self.home) else str(error)
            raise StorageError(
                i18n.message("ui.errors.chats", file=self._file, error=reason), i18n.message("ui.errors.chats_hint")
            ) from error

    def set_aside(self) -> list[Path]:
        """The damaged files that were replaced, oldest first."""
        found = self.home.glob(f"{NAME}.damaged-*")
        return sorted(path for path in found if not path.name.endswith(("-wal", "-shm")))

    def _checked_when_damaged(self, work: Callable[[Connection], T]) -> T:
        try:
            return self._transaction(work)
        except sqlite3.DatabaseError as error:
            if _name_of(error) not in _DAMAGE:
                raise
            self._checked = False
            self._check()
            return self._transaction(work)

    def _identity(self) -> int | None:
        """The inode of the file in use: what is stored into one that was set aside is lost."""
        return self._file.stat().st_ino if self._file.exists() else None

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        with closing(_connect(self._file)) as connection, connection:
            return work(connection)

    def _check(self) -> None:
        """Check the file once per process, and create it whenever it is missing."""
        with self._lock:
            if self._checked and self._file.exists():
                return
            self.home.mkdir(parents=True, exist_ok=True)
            if _can_write(self.home):
                with FileLock(self.home / "chats.lock", timeout=BUSY_S):
                    self._prepare()
            self._checked = True

    def _prepare(self) -> None:
        if self._file.exists() and not _is_sound(self._file):
            damaged = _set_aside(self._file)
            log.warning("%s was damaged: it is now %s", self._file, damaged.name)
            _create(self._file)
            _salvage(damaged, self._file)
        version = _version(self._file)
        if version not in (0, VERSION):
            raise other_version(str(self._file), version)
        if not version:
            _create(self._file)


def other_version(place: str, version: int) -> StorageError:
    """The error that the conversations have the form of another version of this program.

    Args:
        place: where they are.
        version: of their form, not `VERSION`.
    """
    if version > VERSION:
        message = i18n.message("ui.errors.chats_newer", file=place)
        return StorageError(message, i18n.message("ui.errors.chats_newer_hint"))
    return StorageError(i18n.message("ui.errors.chats_older", file=place), i18n.message("ui.errors.chats_older_hint"))


def digest_of(row: tuple[object, ...]) -> bytes:
    """The digest of a row's other columns."""
    return blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def is_intact(row: tuple) -> bool:
    """Whether a row, its digest last, is the one that was stored."""
    return row[-1] == digest_of(row[:-1])


def _connect(file: Path) -> sqlite3.Connection:
    """A connection; one that can only read where the folder can't be written to, or the disk is full.

    Raises sqlite3.Error.
    """
    try:
        return _configured(sqlite3.connect(file, timeout=BUSY_S), "PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        readable = file.exists() and (_name_of(error) in _NO_WRITING or _only_lacks_space(file))
        if not readable:
            raise
        return _configured(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True))


def _configured(connection: sqlite3.Connection, *pragmas: str) -> sqlite3.Connection:
    # A damaged text is found by its digest, not by an exception in the middle of a list.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        for pragma in (*pragmas, "PRAGMA synchronous=NORMAL", "SELECT count(*) FROM sqlite_master"):
            connection.execute(pragma).fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _version(file: Path) -> int:
    with closing(_connect(file)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def _create(file: Path) -> None:
    with closing(_connect(file)) as connection:
        connection.executescript(_SCHEMA)


def _is_sound(file: Path) -> bool:
    with file.open("rb") as opened:
        start = opened.read(SMALLEST_PAGE)
    # SQLite takes a shorter file for an empty database, and one of an unknown format for one that is read-only.
    if start and (len(start) < SMALLEST_PAGE or not set(start[18:20]) <= {1, 2}):
        return False
    try:
        with closing(_connect(file)) as connection:
            return connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
    except sqlite3.DatabaseError as error:
        if _name_of(error) in _CIRCUMSTANCES:
            raise
        return False


def _set_aside(file: Path) -> Path:
    """Rename a damaged database with its log."""
    names = (file.with_name(f"{NAME}.damaged-{number}") for number in itertools.count(1))
    target = next(path for path in names if not path.exists())
    for suffix in ("-wal", "-shm", ""):
        part = file.with_name(NAME + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
    return target


def _salvage(damaged: Path, file: Path) -> None:
    """Copy the rows that can be read and are intact."""
    try:
        source = _connect(damaged)
    except sqlite3.Error:
        return
    with closing(source), closing(_connect(file)) as connection, connection:
        for table, columns in _TABLES.items():
            names = ", ".join(columns)
            marks = ", ".join("?" * len(columns))
            end = columns.index("digest") + 2
            for row in sorted(_readable_rows(source, table, names)):
                if is_intact(row[1:end]):
                    connection.execute(f"INSERT OR IGNORE INTO {table}({names}) VALUES({marks})", row[1:])


def _readable_rows(source: sqlite3.Connection, table: str, names: str) -> Iterator[tuple]:
    """The rows from both ends up to the damage; those in between are lost."""
    seen = set()
    for order in ("ASC", "DESC"):
        try:
            for row in source.execute(f"SELECT number, {names} FROM {table} NOT INDEXED ORDER BY number {order}"):
                if row[0] not in seen:
                    seen.add(row[0])
                    yield row
        except sqlite3.Error as error:
            log.warning("%s can't be read to its end: %s", table, error)


def _can_write(folder: Path) -> bool:
    probe = folder / f"{NAME}.probe"
    try:
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _only_lacks_space(file: Path) -> bool:
    """Whether the disk is full and nothing is in the log, which would be left out."""
    log_file = file.with_name(f"{NAME}-wal")
    return _disk_is_full(file.parent) and not (log_file.exists() and log_file.stat().st_size)


def _disk_is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _FULL_BYTES
    except OSError:
        return False


def _name_of(error: sqlite3.Error) -> str:
    """SQLite's name of the error, without the more exact part: `SQLITE_CORRUPT_INDEX` is `SQLITE_CORRUPT`."""
    return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
