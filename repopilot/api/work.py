"""The work of a request: limited per client, cancellable by its id, streamed as events."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from repopilot import i18n, trace
from repopilot.errors import Cancelled, RepoPilotError, UsageError
from repopilot.trace import Event, Finished, Sink, Started, Step, Streamed
from repopilot.types import OnProgress, Progress

AT_ONCE = 4
"""Requests of one client that are worked on at the same time."""
KEEP_ALIVE_S = 15.0
"""Seconds of silence after which a stream sends a comment: a proxy may close a silent connection."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
log = logging.getLogger(__name__)
Work = Callable[[Step, OnProgress], Awaitable[dict]]


class Client(NamedTuple):
    """A client: its login, else its address. Each has its own limit; each login has its own request ids."""

    owner: str
    address: str


class TooMany(UsageError):
    """A client has its maximum of requests under way."""


@dataclass(frozen=True, slots=True)
class Running:
    """A request under way: its id, its task, and the queue of its events, which ends with None."""

    id: str
    task: asyncio.Task[dict]
    told: asyncio.Queue[Event | Progress | None]

    async def done(self, gone: Awaitable[None]) -> dict:
        """Wait for the document of the work, and add the request's id.

        Args:
            gone: ends when the client has gone, which cancels the work.

        Raises:
            Cancelled: the request was cancelled.
            RepoPilotError: the work failed.
        """
        watch = asyncio.ensure_future(gone)
        try:
            await asyncio.wait((self.task, watch), return_when=asyncio.FIRST_COMPLETED)
        finally:
            watch.cancel()
            self.task.cancel()  # no effect if it is done
        try:
            return {"request": self.id, **await self.task}
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise _cancelled() from None

    def leave(self) -> None:
        """Let the work continue with nobody waiting for it; log an unexpected error."""
        self.task.add_done_callback(_log_fault)

    async def events(self) -> AsyncIterator[str]:
        """Server-sent events: `progress`, `step`, `text`, `evidence`, then `done` or `error`; comments in between."""
        names: dict[str, str] = {}
        try:
            while True:
                try:
                    event = await asyncio.wait_for(self.told.get(), KEEP_ALIVE_S)
                except TimeoutError:
                    yield ": working\n\n"
                    continue
                if event is None:
                    break
                for kind, document in _told(event, names):
                    yield sse(kind, document)
            try:
                yield sse("done", {"request": self.id, **self.task.result()})
            except asyncio.CancelledError:
                yield sse("error", error_document(_cancelled(), self.id))
            except RepoPilotError as error:
                yield sse("error", error_document(error, self.id))
            except Exception:
                log.exception("a request failed")
                yield sse("error", error_document(failed(), self.id))
        finally:
            self.task.cancel()


class Requests:
    """The requests under way.

    Args:
        watched: wraps the sink of a request's steps to count them.
    """

    def __init__(self, watched: Callable[[Sink], Sink] = lambda sink: sink) -> None:
        self._tasks: dict[tuple[str, str], asyncio.Task] = {}
        self._clients: Counter[Client] = Counter()
        self._watched = watched

    def begin(self, id: str, client: Client, name: str, work: Work) -> Running:
        """Begin the work of a request.

        Args:
            id: of the request.
            client: who asks.
            name: of the root step.
            work: returns the document.

        Raises:
            TooMany: the client has too many requests under way.
            UsageError: another request with this id is under way.
        """
        key = client.owner, id
        if key in self._tasks:
            raise UsageError(i18n.message("api.same_id", id=id))
        if self._clients[client] >= AT_ONCE:
            raise TooMany(i18n.message("api.too_many", count=AT_ONCE), i18n.message("api.too_many_hint"))
        told: asyncio.Queue[Event | Progress | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def progress(progress: Progress) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(told.put_nowait, progress)

        async def traced() -> dict:
            async with trace.root(self._watched(told.put_nowait), name, input=id) as step:
                return await work(step, progress)

        def end(_: asyncio.Task) -> None:
            del self._tasks[key]
            self._clients[client] -= 1
            told.put_nowait(None)

        task = self._tasks[key] = asyncio.create_task(traced())
        self._clients[client] += 1
        task.add_done_callback(end)
        return Running(id, task, told)

    def cancel(self, id: str, owner: str) -> bool:
        """Cancel a login's request; False if it has none with that id under way."""
        task = self._tasks.get((owner, id))
        return task is not None and task.cancel()


def request_id(given: str) -> str:
    """The id of a request: the given one if it is well-formed, else a new one."""
    return given if _ID.fullmatch(given) else uuid.uuid4().hex


def error_document(error: RepoPilotError, id: str) -> dict:
    """An error as JSON: {error: {type, message, hint}, request}."""
    return {"error": error_facts(error), "request": id}


def error_facts(error: RepoPilotError) -> dict:
    """An error without the request, as JSON: {type, message, hint}."""
    return {"type": type(error).__name__, "message": str(error.message), "hint": str(error.hint)}


def sse(kind: str, document: dict) -> str:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(document, ensure_ascii=False, default=str)}\n\n"


def failed() -> RepoPilotError:
    """The error that a client gets for an internal fault; the log has the details."""
    return RepoPilotError(i18n.message("api.failed"), i18n.message("api.failed_hint"))


def _log_fault(task: asyncio.Task) -> None:
    if not task.cancelled() and (error := task.exception()) and not isinstance(error, RepoPilotError):
        log.error("a request failed", exc_info=error)


def _cancelled() -> Cancelled:
    return Cancelled(i18n.message("api.cancelled"))


def _told(event: Event | Progress, names: dict[str, str]) -> Iterator[tuple[str, dict]]:
    """The server-sent events for an event of the trace, or for the progress of cloning and indexing."""
    if isinstance(event, Progress):
        yield "progress", {"phase": event.phase, "done": event.done, "total": event.total}
    elif isinstance(event, Started):
        names[event.id] = event.kind
        yield "step", {"id": event.id, "parent": event.parent_id, "name": event.name, "kind": event.kind}
    elif isinstance(event, Streamed) and names.get(event.id) == "answer":
        yield "text", {"text": event.text}
    elif isinstance(event, Finished):
        if evidence := event.data.get("evidence"):
            yield "evidence", {"evidence": evidence}
        yield "step", {"id": event.id, "state": event.state, "error": event.error}
