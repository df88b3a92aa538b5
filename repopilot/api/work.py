"""A request's work: with an id, within the limits of its client, cancelled by its id, streamed as events."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager

from repopilot import i18n, trace
from repopilot.errors import Cancelled, RepoPilotError, UsageError
from repopilot.trace import Event, Finished, Published, Started, Step, Streamed

AT_ONCE = 4
"""Requests of one client that are worked on at the same time."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
log = logging.getLogger(__name__)
Work = Callable[[Step], Awaitable[dict]]


class TooMany(UsageError):
    """A client has as many requests under way as it may."""


class Requests:
    """The requests under way."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task] = {}
        self._clients: Counter[str] = Counter()

    async def done(self, id: str, client: str, name: str, work: Work) -> dict:
        """Do the work of a request to its end.

        Args:
            id: of the request.
            client: who asks.
            name: of the root step.
            work: returns the document.

        Raises:
            TooMany: the client has too many under way.
            Cancelled: it was cancelled by its id.
            RepoPilotError: as the work.
        """
        with self._counted(client):
            return await self._run(id, name, work, lambda event: None)

    async def events(self, id: str, client: str, name: str, work: Work) -> AsyncIterator[str]:
        """The work of a request as server-sent events: `step`, `text`, `evidence`, then `done` or `error`."""
        with self._counted(client):
            queue: asyncio.Queue[Event | None] = asyncio.Queue()
            task = asyncio.create_task(self._run(id, name, work, queue.put_nowait))
            task.add_done_callback(lambda _: queue.put_nowait(None))
            names: dict[str, str] = {}
            try:
                while (event := await queue.get()) is not None:
                    for kind, document in _told(event, names):
                        yield sse(kind, document)
                yield sse("done", {"request": id, **task.result()})
            except (RepoPilotError, asyncio.CancelledError) as error:
                if isinstance(error, asyncio.CancelledError) and not task.cancelled():
                    raise
                yield sse("error", error_document(error if isinstance(error, RepoPilotError) else _cancelled(), id))
            finally:
                task.cancel()

    def cancel(self, id: str) -> bool:
        """Cancel a request under way; False where there is none of that id."""
        task = self._tasks.get(id)
        return task is not None and task.cancel()

    async def _run(self, id: str, name: str, work: Work, sink: trace.Sink) -> dict:
        if id in self._tasks:
            raise UsageError(i18n.message("api.same_id", id=id))
        log.info("request %s: %s", id, name)

        async def traced() -> dict:
            async with trace.root(sink, name, input=id) as step:
                return await work(step)

        task = self._tasks[id] = asyncio.create_task(traced())
        try:
            return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                task.cancel()
                raise
            raise _cancelled() from None
        finally:
            del self._tasks[id]

    @contextmanager
    def _counted(self, client: str) -> Iterator[None]:
        if self._clients[client] >= AT_ONCE:
            raise TooMany(i18n.message("api.too_many", count=AT_ONCE), i18n.message("api.too_many_hint"))
        self._clients[client] += 1
        try:
            yield
        finally:
            self._clients[client] -= 1


def request_id(given: str) -> str:
    """The id of a request: the one given, where it is plain, else a new one."""
    return given if _ID.fullmatch(given) else uuid.uuid4().hex


def error_document(error: RepoPilotError, id: str) -> dict:
    """An error as JSON: {error: {type, message, hint}, request}."""
    return {
        "error": {"type": type(error).__name__, "message": str(error.message), "hint": str(error.hint)},
        "request": id,
    }


def sse(kind: str, document: dict) -> str:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(document, ensure_ascii=False, default=str)}\n\n"


def _cancelled() -> Cancelled:
    return Cancelled(i18n.message("api.cancelled"))


def _told(event: Event, names: dict[str, str]) -> Iterator[tuple[str, dict]]:
    """What a client is told of an event of the trace."""
    if isinstance(event, Started):
        names[event.id] = event.kind
        yield "step", {"id": event.id, "parent": event.parent_id, "name": event.name, "kind": event.kind}
    elif isinstance(event, Streamed) and names.get(event.id) == "answer":
        yield "text", {"text": event.text}
    elif isinstance(event, Finished):
        if evidence := event.data.get("evidence"):
            yield "evidence", {"evidence": evidence}
        yield "step", {"id": event.id, "state": event.state, "error": event.error}
    elif isinstance(event, Published):
        return
