"""Caches replies to identical model calls for ten minutes, so that a repeated question costs nothing."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from repopilot import disk

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

CAPACITY = 200
LIFETIME_S = 600.0


class ReplyCache:
    """At most `capacity` replies, each for `lifetime_s` seconds; the least recently used is dropped first. Thread-safe.

    With a `folder`, replies are also files there (readable by the owner only) and outlive the process, under the
    same two limits. Where the folder can't be written to, replies are cached in memory only.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        capacity: int = CAPACITY,
        lifetime_s: float = LIFETIME_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._capacity = capacity
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        """The reply stored under `key`, None when there is none or it is too old."""
        with self._lock:
            entry = self._entries.get(key) or self._read(key)
            if entry is None or not self._is_fresh(entry[0]):
                self._entries.pop(key, None)
                return None
            self._remember(key, entry)
            return entry[1]

    def put(self, key: str, reply: str) -> None:
        """Store a reply."""
        with self._lock:
            entry = (self._clock(), reply)
            self._remember(key, entry)
            self._write(key, entry)

    def _remember(self, key: str, entry: tuple[float, str]) -> None:
        self._entries[key] = entry
        self._entries.move_to_end(key)
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def _read(self, key: str) -> tuple[float, str] | None:
        if self._folder is None:
            return None
        try:
            at, reply, checksum = json.loads((self._folder / f"{key}.json").read_text("utf-8"))
            entry = float(at), str(reply)
        except (OSError, ValueError, TypeError):
            return None  # missing, damaged, or truncated by a kill
        return entry if checksum == _checksum(entry) else None

    def _is_fresh(self, written_at: float) -> bool:
        # What seems to come from the future was written before the clock was set back: its age isn't known.
        return 0 <= self._clock() - written_at < self._lifetime_s

    def _write(self, key: str, entry: tuple[float, str]) -> None:
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            disk.replace_file(self._folder / f"{key}.json", json.dumps([*entry, _checksum(entry)]).encode())
            self._prune(self._folder)
        except OSError:
            self._folder = None  # from now on in memory only

    def _prune(self, folder: Path) -> None:
        files = sorted(((path.stat().st_mtime, path) for path in folder.glob("*.json")), reverse=True)
        now = self._clock()
        for rank, (written, path) in enumerate(files):
            if rank >= self._capacity or now - written >= self._lifetime_s:
                path.unlink(missing_ok=True)


def _checksum(entry: tuple[float, str]) -> int:
    return zlib.crc32(repr(entry).encode())


def call_key(model: str, messages: Sequence[ChatMessage], options: object) -> str:
    """A digest that is equal for identical calls.

    Args:
        model: identifies the model and its server.
        messages: the prompt.
        options: the options of the call, compared by their `repr`.

    Returns:
        The SHA-256 digest in hexadecimal.
    """
    contents = [(message.role.value, message.content or "") for message in messages]
    return hashlib.sha256(json.dumps([model, contents, repr(options)]).encode()).hexdigest()
