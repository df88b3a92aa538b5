"""The SQLite file of a generation: its schema, and the draft a build writes before it becomes final.

A draft is written with a write-ahead log, so that a killed build loses nothing that it committed; readers never
see it. A published database is immutable and opened as such.
"""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from repopilot import disk, i18n
from repopilot.errors import StorageError
from repopilot.index.storage import layout
from repopilot.index.storage.codec import Row
from repopilot.types import Skip, SourceFile

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT UNIQUE, hash TEXT, language TEXT, kind TEXT, size INTEGER,
                   lines INTEGER, parsed INTEGER, chunk_count INTEGER, redactions INTEGER, position INTEGER DEFAULT 0);
CREATE INDEX places ON files(position);
CREATE TABLE skipped(path TEXT PRIMARY KEY, hash TEXT, reason TEXT) WITHOUT ROWID;
CREATE TABLE contents(id INTEGER PRIMARY KEY, text BLOB, chunks TEXT, symbols TEXT, uses TEXT);
CREATE TABLE terms(id INTEGER PRIMARY KEY, terms TEXT, digests BLOB, defined BLOB, used BLOB);
"""
_FILES = "path, hash, language, kind, size, lines, parsed, chunk_count, redactions"
_FILE_COLUMNS = 9
_CONTENT_COLUMNS_END = 13


class BrokenDatabase(StorageError):
    """The file is damaged: its contents have to be rebuilt."""


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turn errors of the disk and of SQLite into StorageError; a full disk has its own message."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if _disk_full(error):
            raise StorageError(i18n.message("index.disk_full"), i18n.message("index.disk_full_hint")) from error
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            raise BrokenDatabase(
                i18n.message("index.draft_damaged", error=str(error)), i18n.message("index.draft_damaged_hint")
            ) from error
        raise StorageError(
            i18n.message("index.not_written", error=str(error)), i18n.message("index.not_written_hint")
        ) from error


class Draft:
    """The database under construction in `building`. Used by one thread. Every method raises StorageError."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._next_id = 1 + connection.execute("SELECT coalesce(max(id), 0) FROM files").fetchone()[0]

    @storage_errors()
    def hashes(self) -> dict[str, str]:
        """The content hash of every file, indexed or skipped for its content, by path."""
        return hashes(self._connection)

    @storage_errors()
    def skipped(self) -> list[Skip]:
        """The files skipped for their content, by path."""
        return skipped(self._connection)

    @storage_errors()
    def redactions(self) -> list[tuple[str, int]]:
        """The files with redacted secrets and how many they have, most first."""
        select = "SELECT path, redactions FROM files WHERE redactions > 0 ORDER BY redactions DESC, path"
        return self._connection.execute(select).fetchall()

    @storage_errors()
    def counts(self) -> tuple[int, int, int, int]:
        """Files, chunks, lines, and how many of the files are code."""
        select = "SELECT count(*), total(chunk_count), total(lines), total(kind = 'code') FROM files"
        files, chunks, lines, code = self._connection.execute(select).fetchone()
        return files, int(chunks), int(lines), int(code)

    @storage_errors()
    def put(self, rows: Sequence[Row]) -> None:
        """Add files, or replace them."""
        self.drop([row.path for row in rows])
        first = self._next_id
        self._next_id += len(rows)
        self._insert(f"files(id, {_FILES})", [(first + n, *row[:_FILE_COLUMNS]) for n, row in enumerate(rows)])
        self._insert("contents", [(first + n, *row[_FILE_COLUMNS:_CONTENT_COLUMNS_END]) for n, row in enumerate(rows)])
        self._insert("terms", [(first + n, *row[_CONTENT_COLUMNS_END:]) for n, row in enumerate(rows)])

    @storage_errors()
    def skip(self, file: SourceFile, reason: str) -> None:
        """Record that this content of a file is not indexed, and why."""
        self.drop([file.path])
        self._insert("skipped", [(file.path, file.hash, json.dumps(i18n.to_json(reason)))])

    @storage_errors()
    def drop(self, paths: Iterable[str]) -> None:
        """Remove files; unknown ones are ignored."""
        rows = [(path,) for path in paths]
        self._connection.executemany("DELETE FROM skipped WHERE path = ?", rows)
        select = "SELECT id FROM files WHERE path = ?"
        ids = [found for row in rows if (found := self._connection.execute(select, row).fetchone())]
        for table in ("files", "contents", "terms"):
            self._connection.executemany(f"DELETE FROM {table} WHERE id = ?", ids)

    @storage_errors()
    def set_order(self, paths: Iterable[str]) -> None:
        """Give every file its position in the order of the index."""
        known = dict(self._connection.execute("SELECT path, position FROM files"))
        wanted = enumerate(path for path in paths if path in known)
        moved = [(position, path) for position, path in wanted if known[path] != position]
        self._connection.executemany("UPDATE files SET position = ? WHERE path = ?", moved)

    @storage_errors()
    def set_meta(self, meta: Mapping[str, str]) -> None:
        """Set entries of the meta table."""
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES(?, ?)", list(meta.items()))

    @storage_errors()
    def commit(self) -> None:
        """Commit: what was written so far outlives the process."""
        self._connection.commit()

    @storage_errors()
    def finish(self) -> None:
        """Commit, merge the log into the one file, close."""
        self._connection.commit()
        self._connection.execute("PRAGMA journal_mode=DELETE")
        self._connection.close()

    def save(self) -> None:
        """Commit and close without finishing; the next build resumes here."""
        self.commit()
        self.close()

    def close(self) -> None:
        """Close without finishing; what was written since the last commit is lost."""
        self._connection.close()

    def _insert(self, table: str, values: list[tuple]) -> None:
        if values:
            marks = ",".join("?" * len(values[0]))
            self._connection.executemany(f"INSERT INTO {table} VALUES({marks})", values)


@storage_errors()
def open_draft(folder: Path, version: str, base: Path | None) -> Draft:
    """Open the draft in `folder/building`: that of a killed build, else one from a generation, else a new one.

    Args:
        folder: the folder of the repository's index.
        version: the version to write; a draft of another version is deleted.
        base: the folder of the generation to start from.

    Returns:
        The draft.

    Raises:
        StorageError: it can't be written.
        BrokenDatabase: it is damaged.
    """
    building = folder / layout.BUILDING
    if not _usable(building / layout.DATABASE, version):
        disk.remove_tree(building)
        _create_draft(folder, building, version, base)
    connection = sqlite3.connect(building / layout.DATABASE, check_same_thread=False)
    try:
        return Draft(_for_writing(connection))
    except sqlite3.Error:
        connection.close()  # the error keeps it alive, which would lock the next draft
        raise


def connect(generation: Path) -> sqlite3.Connection:
    """A read-only connection to a published database, usable by any thread (one at a time).

    Raises sqlite3.Error. The open files outlive their deletion by the next publication.
    """
    address = f"{(generation / layout.DATABASE).absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    connection.execute("PRAGMA mmap_size=268435456")
    return connection


def hashes(connection: sqlite3.Connection) -> dict[str, str]:
    """The content hash of every file read, by path. Raises sqlite3.Error."""
    return dict(connection.execute("SELECT path, hash FROM files UNION ALL SELECT path, hash FROM skipped"))


def skipped(connection: sqlite3.Connection) -> list[Skip]:
    """The files skipped for their content. Raises sqlite3.Error."""
    rows = connection.execute("SELECT path, reason FROM skipped ORDER BY path")
    return [Skip(path, i18n.from_json(json.loads(reason))) for path, reason in rows]


def meta(connection: sqlite3.Connection) -> dict[str, str]:
    """The entries of the meta table. Raises sqlite3.Error."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def read_meta(generation: Path) -> dict[str, str] | None:
    """The meta table of a generation; None when it is broken."""
    try:
        with closing(connect(generation)) as connection:
            return meta(connection)
    except sqlite3.Error:
        return None


def _create_draft(folder: Path, building: Path, version: str, base: Path | None) -> None:
    """Create `building` from `base` or empty, atomically."""
    copy = folder / f"copy-{layout.BUILDING}"
    disk.remove_tree(copy)
    copy.mkdir(parents=True)
    if base is None:
        _create_database(copy, version)
    else:
        shutil.copyfile(base / layout.DATABASE, copy / layout.DATABASE)
    copy.rename(building)


def _disk_full(error: OSError | sqlite3.Error) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    # SQLite reports an exceeded quota (EDQUOT, EFBIG) as a failed write.
    return getattr(error, "sqlite_errorname", "") in ("SQLITE_FULL", "SQLITE_IOERR_WRITE")


def _create_database(folder: Path, version: str) -> None:
    with closing(sqlite3.connect(folder / layout.DATABASE)) as connection:
        connection.executescript(f"PRAGMA page_size=8192; BEGIN; {_SCHEMA}")
        connection.execute("INSERT INTO meta VALUES('version', ?)", (version,))
        connection.commit()


def _for_writing(connection: sqlite3.Connection) -> sqlite3.Connection:
    # Safe against a killed process; a power cut can lose the draft, but layout.publish flushes what readers see.
    for pragma in ("journal_mode=WAL", "synchronous=OFF", "cache_size=-65536", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _usable(path: Path, version: str) -> bool:
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(path)) as connection:
            return meta(connection).get("version") == version
    except sqlite3.Error:
        return False
