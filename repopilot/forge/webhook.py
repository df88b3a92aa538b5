"""A webhook server: changed pull requests are reviewed and issues worked on, one after the other.

A call is stored on disk before it is answered, so a restart loses nothing; a call that comes twice is worked on once.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import re
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from repopilot import i18n, trace
from repopilot.errors import ForgeUnreachable, RepoPilotError, SourceUnreachable, StorageError, UsageError
from repopilot.foreign_text import visible
from repopilot.forge.contents import Outcome, Pull
from repopilot.forge.github_app import as_app
from repopilot.forge.hosts import Forge, forge_of
from repopilot.forge.issue_calls import is_comment, issue_call, solve_asked
from repopilot.forge.items import ForgeItem, parse_item, required_item
from repopilot.forge.review import post, posted_before, review_pull, say_outcome
from repopilot.repo.remote.network import bracketed
from repopilot.runtime import Runtime

PATH = "/webhook"
MOST_WAITING = 200
LARGEST_BODY = 8 << 20
"""Far more than a pull request needs, as its host limits its texts."""
READ_AT_ONCE = 8
READ_S = 10
"""How long a body may take, waiting for its turn included; GitHub waits no longer either."""
KEPT_S = 30 * 86_400
"""How long a delivery is known, so that it isn't worked on again."""
AGAIN_AFTER_S = (60, 600, 3600)
"""The delays after which work that failed because of the network is tried again."""
LOOK_S = 5
_LONGEST_NAME = 64
"""Characters of each header of a call that are logged."""
_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_SIGNATURE = re.compile("sha256=[0-9a-f]{64}")
_ACTIONS = frozenset({"opened", "reopened", "synchronize", "ready_for_review", "open", "reopen", "update"})
_SCHEMA = """CREATE TABLE IF NOT EXISTS deliveries(
    id TEXT PRIMARY KEY, url TEXT NOT NULL, received REAL NOT NULL, state TEXT NOT NULL) STRICT"""
_DUE = "state = 'waiting' AND received <= ?"
"""The calls that are due. To retry a call, its time of receipt is set into the future."""
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
            # The newest state of a pull request is reviewed, so this call replaces those that wait for an older one.
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
        """Store the outcome of a call; `again` schedules the next retry, or counts as failed after the last one."""
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
                with suppress(sqlite3.OperationalError):  # the column exists, except in a table of an older version
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
    language = settings.language or "en"
    all_of = "forge.webhook_installed" if settings.github_app else "forge.webhook_all"
    served = ", ".join(settings.webhook_repositories) or i18n.text(all_of, language)
    logging.getLogger("repopilot.forge").setLevel(logging.INFO)
    print(i18n.text("forge.webhook_waits", language, address=address, served=served), file=sys.stderr, flush=True)
    application = webhook_application(runtime)
    uvicorn.run(application, host=settings.host, port=settings.port, log_level="warning", timeout_graceful_shutdown=5)


def webhook_application(runtime: Runtime) -> Starlette:
    """The ASGI application, with its worker.

    Args:
        runtime: the state of the process; its settings have the secret.
    """
    deliveries = Deliveries(runtime.settings.home)
    called = asyncio.Event()
    reading = asyncio.Semaphore(READ_AT_ONCE)
    secret = runtime.settings.webhook_secret

    async def receive(request: Request) -> JSONResponse:
        reply = await answer(request)
        names = ("x-github-event", "x-gitlab-event", "x-github-delivery", "x-gitlab-event-uuid")
        call = " ".join(visible(request.headers.get(name, ""))[:_LONGEST_NAME] for name in names)
        level = logging.WARNING if reply.status_code >= 400 else logging.INFO
        log.log(level, "call %s: %d %s", " ".join(call.split()), reply.status_code, bytes(reply.body).decode())
        return reply

    async def answer(request: Request) -> JSONResponse:
        body = await _read(request, secret, reading)
        if isinstance(body, JSONResponse):
            return body
        payload = payload_of(body, request.headers.get("content-type", ""))
        drafts = runtime.settings.webhook_drafts
        if not (url := pull_of(payload, drafts=drafts) or issue_call(payload, runtime.settings.webhook_label)):
            return JSONResponse({"ignored": True})
        if not served(url, runtime.settings.webhook_repositories):
            log.warning("%s was refused: it is not among REPOPILOT_WEBHOOK_REPOSITORIES", url)
            return _error(403, "not one of the repositories that are served")
        try:
            # The signature covers the body, not the id: the same body with another id is a replay, too.
            about = url.encode() if is_comment(url) else body
            fresh = await asyncio.to_thread(deliveries.add, hashlib.sha256(about).hexdigest(), url)
        except RepoPilotError as error:
            return JSONResponse({"error": str(error)}, 503, {"Retry-After": "60"})
        called.set()
        return JSONResponse({"queued": fresh}, 202 if fresh else 200)

    async def work() -> None:
        while True:
            called.clear()
            try:
                while (waiting := await asyncio.to_thread(deliveries.next)) is not None:
                    state = await _worked_on(waiting[1], runtime)
                    log.info("%s: %s", waiting[1], state)
                    await asyncio.to_thread(deliveries.end, waiting[0], state)
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


def _error(status: int, what: str) -> JSONResponse:
    return JSONResponse({"error": what}, status)


def refused_unread(headers: Mapping[str, str], secret: str) -> tuple[int, str] | None:
    """(status, why) of a call that is refused before its body is read: unsigned, or not readable. Pure."""
    signature = headers.get("x-hub-signature-256", "")
    length = headers.get("content-length", "")
    if not (_SIGNATURE.fullmatch(signature) if signature else signed(headers, b"", secret)):
        return 401, "no signature, or a wrong one"
    if headers.get("content-type", _JSON).partition(";")[0].strip().lower() not in (_JSON, _FORM):
        return 415, f"neither {_JSON} nor {_FORM}"
    if not (length.isascii() and length.isdigit()):
        return 411, "no length"
    return (413, "too large") if int(length) > LARGEST_BODY else None


async def _read(request: Request, secret: str, reading: asyncio.Semaphore) -> bytes | JSONResponse:
    """The body of a signed call; the refusal for any other call."""
    if refused := refused_unread(request.headers, secret):
        return _error(*refused)
    body = bytearray()
    try:
        async with asyncio.timeout(READ_S), reading:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BODY:  # whatever length it announces
                    return _error(413, "too large")
    except TimeoutError:
        return _error(408, "the body takes too long")
    except ClientDisconnect:
        return _error(400, "the body is incomplete")
    return bytes(body) if signed(request.headers, body, secret) else _error(401, "wrong signature")


def signed(headers: Mapping[str, str], body: bytes | bytearray, secret: str) -> bool:
    """Whether the caller has the secret: GitHub signs the body with it, GitLab sends the secret itself. Pure."""
    given = headers.get("x-hub-signature-256", "")
    if given:
        expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(given.encode(), expected.encode())
    return hmac.compare_digest(headers.get("x-gitlab-token", "").encode(), secret.encode())


def payload_of(body: bytes, content_type: str) -> bytes:
    """The event in a body: all of it, or the field `payload` of a form, as GitHub sends it by default. Pure."""
    if content_type.partition(";")[0].strip().lower() != _FORM:
        return body
    try:
        return dict(parse_qsl(body, max_num_fields=10)).get(b"payload", b"")
    except ValueError:  # more fields than that
        return b""


def served(url: str, repositories: Sequence[str]) -> bool:
    """Whether an issue or pull request is in one of the repositories, groups or hosts; True for an empty list. Pure."""
    item = parse_item(url)
    if item is None or not repositories:
        return True  # any other address is reported when it is worked on
    own = f"{item.host}/{item.project}/".casefold()
    named = (each.strip().rstrip("/").removesuffix(".git").casefold() for each in repositories)
    return any(own.startswith(f"{each if '://' in each else f'https://{each}'}/") for each in named if each)


def pull_of(body: bytes, *, drafts: bool = False) -> str:
    """The address of the pull request that a call is about, '' where it calls for no review. Pure.

    Args:
        body: of the call.
        drafts: whether drafts are reviewed.
    """
    try:
        event = json.loads(body)
        about = event.get("pull_request") or event.get("object_attributes") or {}
        action = event.get("action") or about.get("action")
        url = about.get("html_url") or about.get("url") or ""
        is_pull = event.get("object_kind", "merge_request") == "merge_request"
        is_wanted = drafts or not (about.get("draft") or about.get("work_in_progress"))
        return url if is_pull and is_wanted and action in _ACTIONS and url.isprintable() else ""
    except (ValueError, AttributeError, TypeError, RecursionError):
        return ""


async def _review(item: ForgeItem, forge: Forge, pull: Pull, runtime: Runtime, language: str) -> None:
    """Review a pull request, and post the review. Raises as `review_pull` and `post`."""
    before = await asyncio.to_thread(posted_before, forge)
    async with trace.root(lambda event: None, "review", input=item.url) as step:
        report, workspace = await review_pull(item, pull, runtime, step, lambda progress: None, before)
    fail_on = runtime.settings.webhook_fail_on
    await asyncio.to_thread(post, item, forge, pull, report, workspace.index.text, language, fail_on)


async def _worked_on(url: str, runtime: Runtime) -> str:
    """Do what a call asks for; returns the outcome for `Deliveries.end`."""
    try:
        found = parse_item(url)
        if found:
            runtime.settings = await asyncio.to_thread(as_app, runtime.settings, found)
        if found and found.kind == "issue":
            return await solve_asked(url, runtime)
        item = required_item(url, "pull")
        forge = forge_of(item, runtime.settings)
        pull = await asyncio.to_thread(forge.pull)
        language = runtime.settings.language or "en"
        running = Outcome("running", i18n.text("forge.outcome_running", language))
        await asyncio.to_thread(say_outcome, forge, pull, running)
        try:
            await _review(item, forge, pull, runtime, language)
        except (ForgeUnreachable, SourceUnreachable):
            raise
        except Exception:  # such as a push meanwhile, which gets a review on its own commit
            given_up = Outcome("given up", i18n.text("forge.outcome_given_up", language))
            await asyncio.to_thread(say_outcome, forge, pull, given_up)
            raise
    except (ForgeUnreachable, SourceUnreachable) as error:  # which may pass by itself
        log.warning("%s was not worked on: %s", url, error)
        return "again"
    except RepoPilotError as error:
        log.warning("%s was not worked on: %s", url, error)
        return "failed"
    except Exception:  # a fault in one call must not stop the others
        log.exception("%s was not worked on", url)
        return "failed"
    return "done"
