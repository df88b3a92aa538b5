"""Conversations of the earlier format, a JSON file for each repository in `home/chats`, taken into the database."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path

from pydantic import TypeAdapter

from repopilot.ui.chats.chat_database import Connection, Work
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, insert

_EXCHANGE = TypeAdapter(Exchange)
_EXCHANGES = TypeAdapter(list[Exchange])
log = logging.getLogger(__name__)


def earlier_files(home: Path) -> Iterator[tuple[Path, Work]]:
    """The files of the earlier format that can be read, each with the work that takes it into the database."""
    for file in sorted((home / "chats").glob("*.json")):
        try:
            exchanges, asked = _EXCHANGES.validate_json(file.read_bytes()), file.stat().st_mtime
        except (OSError, ValueError) as error:
            log.warning("the conversation in %s can't be read: %s", file, error)
            continue
        yield file, partial(_take, ThreadKey(f"imported-{file.stem}", repository=file.stem), exchanges, asked)


def _take(key: ThreadKey, exchanges: list[Exchange], asked: float, connection: Connection) -> None:
    for exchange in exchanges:
        # The same id at a second try, after a kill.
        content = _EXCHANGE.dump_json(exchange, exclude={"id"})
        id = blake2b(key.repository.encode() + content, digest_size=16).hexdigest()
        insert(connection, key, replace(exchange, id=id), asked)
