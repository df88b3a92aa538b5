"""A server that hosts call when a pull request changes: it is reviewed and commented on, one after the other.

What is called for is on disk before the call is answered, so a restart loses nothing; a call that comes twice is worked
on once.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from repopilot import i18n, trace
from repopilot.errors import RepoPilotError, StorageError, UsageError
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import required_item
from repopilot.forge.review import post, review_pull
from repopilot.repo.remote.network import bracketed
from repopilot.runtime import Runtime

PATH = "/webhook"
MOST_WAITING = 200
LARGEST_BODY = 25 << 20
KEPT_S = 30 * 86_400
"""How long a delivery is known, so that it isn't worked on again."""
AGAIN_AFTER_S = (60, 600, 3600)
"""When a review that the network kept from ending is tried again."""
LOOK_S = 5
_PASSING = frozenset(
    {f"repo.{name}" for name in ("unknown_host", "unreachable", "stopped_answering", "too_slow", "server_error")}
    | {"forge.status.5xx", "forge.status.429"}
)
"""What is said of failures that may pass by themselves."""
_ACTIONS = frozenset({"opened", "reopened", "synchronize", "ready_for_review", "open", "reopen", "update"})
_SCHEMA = """CREATE TABLE IF NOT EXISTS deliveries(
    id TEXT PRIMARY KEY, url TEXT NOT NULL, received REAL NOT NULL, state TEXT NOT NULL) STRICT"""
_DUE = "state = 'waiting' AND received <= ?"
"""What is tried again is received anew, later."""
log = logging.getLogger(__name__)


class Deliveries:
    """The calls, on disk. Thread-safe. Methods raise StorageError.

    Args:
        home: the data directory.
    """

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._file = home / "webhooks.db"

    def add(self, id: str, url: str) -> bool:
        """Keep a call; False for one that is known and hasn't failed. Raises UsageError where too many wait."""
        with self._connected() as connection:
            connection.execute(
                "DELETE FROM deliveries WHERE received < ? AND state <> 'waiting'", (time.time() - KEPT_S,)
            )
            known = "SELECT 1 FROM deliveries WHERE id = ? AND state <> 'failed'"
            if connection.execute(known, (id,)).fetchone():
                return False
            (waiting,) = connection.execute(f"SELECT count(*) FROM deliveries WHERE {_DUE}", (time.time(),)).fetchone()
            if waiting >= MOST_WAITING:
                raise UsageError(i18n.message("forge.webhook_full", count=waiting))
            # The newest state of a pull request is reviewed: what waits for an older one is done with it.
            connection.execute("UPDATE deliveries SET state = 'replaced' WHERE url = ? AND state = 'waiting'", (url,))
            row = (id, url, time.time())
            connection.execute("INSERT OR REPLACE INTO deliveries VALUES(?, ?, ?, 'waiting', 0)", row)
            return True

    def next(self) -> tuple[str, str] | None:
        """(id, address) of the call that waits longest, of those whose time has come."""
        with self._connected() as connection:
            select = f"SELECT id, url FROM deliveries WHERE {_DUE} ORDER BY received LIMIT 1"
            return connection.execute(select, (time.time(),)).fetchone()

    def end(self, id: str, state: str) -> None:
        """What became of a call; of `again`, that it waits for its next time, or has failed for the last."""
        with self._connected() as connection:
            row = connection.execute("SELECT failures FROM deliveries WHERE id = ?", (id,)).fetchone()
            later = AGAIN_AFTER_S[row[0] :][:1] if row and state == "again" else ()
            state = "waiting" if later else "failed" if state == "again" else state
            change = "UPDATE deliveries SET state = ?, received = ?, failures = failures + 1 WHERE id = ? AND state = ?"
            connection.execute(change, (state, time.time() + sum(later), id, "waiting"))  # unless it was replaced

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._file, timeout=10)) as connection, connection:
                connection.execute(_SCHEMA)
                with suppress(sqlite3.OperationalError):  # it is there, but where an older version made the table
                    connection.execute("ALTER TABLE deliveries ADD COLUMN failures INTEGER NOT NULL DEFAULT 0")
                yield connection
        except sqlite3.Error as error:
            raise StorageError(i18n.message("forge.webhook_file", file=self._file, error=error)) from error


def serve_webhook(runtime: Runtime) -> None:
    """Serve until the process is stopped. Raises UsageError where no secret is set."""
    if not runtime.settings.webhook_secret:
        raise UsageError(i18n.message("forge.webhook_secret"), i18n.message("forge.webhook_secret_hint"))
    settings = runtime.settings
    address = f"http://{bracketed(settings.host)}:{settings.port}{PATH}"
    print(i18n.text("forge.webhook_waits", settings.language or "en", address=address), file=sys.stderr, flush=True)
    application, host, port = webhook_application(runtime), settings.host, settings.port
    uvicorn.run(application, host=host, port=port, log_level="warning", timeout_graceful_shutdown=5)


def webhook_application(runtime: Runtime) -> Starlette:
    """The ASGI application, with its worker.

    Args:
        runtime: the state of the process; its settings have the secret.
    """
    deliveries, called = Deliveries(runtime.settings.home), asyncio.Event()

    async def receive(request: Request) -> JSONResponse:
        body = await _body(request)
        if body is None:
            return JSONResponse({"error": "too large"}, 413)
        if not signed(request.headers, body, runtime.settings.webhook_secret):
            return JSONResponse({"error": "wrong signature"}, 401)
        if not (url := pull_of(body)):
            return JSONResponse({"ignored": True})
        try:
            # The signature covers the body, not the id: the same body with another id is a replay, too.
            fresh = await asyncio.to_thread(deliveries.add, hashlib.sha256(body).hexdigest(), url)
        except RepoPilotError as error:
            return JSONResponse({"error": str(error)}, 503, {"Retry-After": "60"})
        called.set()
        return JSONResponse({"queued": fresh}, 202 if fresh else 200)

    async def work() -> None:
        while True:
            called.clear()
            try:
                while (waiting := await asyncio.to_thread(deliveries.next)) is not None:
                    await asyncio.to_thread(deliveries.end, waiting[0], await _reviewed(waiting[1], runtime))
            except StorageError as error:  # such as a full disk, which may be freed
                log.warning("%s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(called.wait(), LOOK_S)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        worker = asyncio.create_task(work())
        yield
        worker.cancel()

    return Starlette(routes=[Route(PATH, receive, methods=["POST"])], lifespan=running)


async def _body(request: Request) -> bytes | None:
    """The body, None for one that is too large, whatever length it announces."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            return None
    return bytes(body)


def signed(headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Whether a call was made by who has the secret: GitHub signs the body, GitLab sends the secret itself. Pure."""
    given = headers.get("x-hub-signature-256", "")
    if given:
        expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(given.encode(), expected.encode())
    return hmac.compare_digest(headers.get("x-gitlab-token", "").encode(), secret.encode())


def pull_of(body: bytes) -> str:
    """The address of the pull request that a call is about, '' where it calls for no review. Pure."""
    try:
        event = json.loads(body)
        about = event.get("pull_request") or event.get("object_attributes") or {}
        action = event.get("action") or about.get("action")
        url = about.get("html_url") or about.get("url") or ""
        return url if action in _ACTIONS and url.isprintable() else ""
    except (ValueError, AttributeError, TypeError, RecursionError):
        return ""


async def _reviewed(url: str, runtime: Runtime) -> str:
    """Review a pull request and comment on it; what became of it."""
    try:
        item = required_item(url, "pull")
        forge = forge_of(item, runtime.settings)
        pull = await asyncio.to_thread(forge.pull)
        async with trace.root(lambda event: None, "review", input=url) as step:
            report, _ = await review_pull(item, pull, runtime, step, lambda progress: None)
        await asyncio.to_thread(post, item, forge, pull, report)
    except RepoPilotError as error:
        log.warning("%s was not reviewed: %s", url, error)
        return "again" if getattr(error.message, "key", "") in _PASSING else "failed"
    except Exception:  # a fault in one review must not end the others
        log.exception("%s was not reviewed", url)
        return "failed"
    return "done"
