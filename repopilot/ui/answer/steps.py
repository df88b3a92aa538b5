"""Trace events as Chainlit steps, in batches the browser can take.

The browser spends about 20 ms on every event, whatever its size, so nothing is sent as it happens: each step keeps
what is new, and a pump sends a few updates at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from repopilot.trace import Event, Finished, Started, Streamed
from repopilot.ui.answer.step_text import (
    OUTPUT_LIMIT,
    body,
    finished_title,
    inert,
    inert_piece,
    running_input,
    running_title,
)

FLUSH_S = 0.16
UPDATES_PER_FLUSH = 5
TYPES = {"agent": "run", "answer": "llm"}
"""Our kinds that Chainlit has no type of the same name for."""
ICONS = {
    "run": "list-tree", "agent": "bot", "tool": "wrench", "llm": "sparkles", "answer": "sparkles",
    "retrieval": "search", "rerank": "arrow-down-wide-narrow", "embedding": "binary",
}  # fmt: skip


class Emitter(Protocol):
    """The part of Chainlit's emitter that shows steps."""

    async def send_step(self, step_dict: dict) -> None: ...
    async def update_step(self, step_dict: dict) -> None: ...
    async def send_token(self, id: str, token: str, is_sequence: bool = False, is_input: bool = False) -> None: ...


@dataclass(slots=True)
class _Shown:
    started: Started
    text: list[str] = field(default_factory=list)
    unsent: list[str] = field(default_factory=list)
    sent_chars: int = 0
    sent: bool = False
    finished: Finished | None = None


class TraceView:
    """Shows one trace. `sink` takes its events on the event loop; `run` sends them until `close` has sent the rest.

    Text of `answer` steps goes to `on_answer` instead of into the step, each time the whole text so far. Text too
    long to show goes whole to `attach(step id, name, text)`.
    """

    def __init__(
        self,
        emitter: Emitter,
        thread_id: str,
        parent_id: str | None,
        *,
        on_answer: Callable[[str], Awaitable[None]],
        attach: Callable[[str, str, str], Awaitable[None]],
    ) -> None:
        self._emitter = emitter
        self._thread_id = thread_id
        self._parent_id = parent_id
        self._on_answer = on_answer
        self._attach = attach
        self._steps: dict[str, _Shown] = {}
        self._dirty: dict[str, None] = {}
        self._answers: dict[str, list[str]] = {}
        self._answer_grew = False
        self._pump: asyncio.Task | None = None
        self._sending = asyncio.Lock()

    def sink(self, event: Event) -> None:
        if isinstance(event, Started):
            self._steps[event.id] = _Shown(event)
        else:
            shown = self._steps[event.id]
            if isinstance(event, Finished):
                shown.finished = event
            elif shown.started.kind == "answer":
                self._answers.setdefault(event.id, []).append(event.text)
                self._answer_grew = True
                return
            else:
                _take_text(shown, event)
        self._dirty.setdefault(event.id)

    def start(self) -> None:
        self._pump = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop pumping and send everything that is left."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
        await self.flush()
        while self._dirty:
            await self.flush()

    async def flush(self) -> None:
        """Send at most a few updates, in the order in which steps changed: a parent is always before its children."""
        async with self._sending:
            for id in list(self._dirty)[:UPDATES_PER_FLUSH]:
                del self._dirty[id]
                await self._show(self._steps[id])
            # After the steps: the message must not get above the work that leads to it.
            await self._flush_answer()

    async def _flush_answer(self) -> None:
        """The whole text so far: what is code and what is prose can change with every piece."""
        if self._answer_grew:
            self._answer_grew = False
            await self._on_answer(inert("\n\n".join("".join(pieces) for pieces in self._answers.values())))

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            # Shielded: a step half sent when the pump is cancelled would be sent twice by `close`, which waits for it.
            await asyncio.shield(self.flush())

    async def _show(self, shown: _Shown) -> None:
        text, shown.unsent = "".join(shown.unsent), []
        if shown.finished is not None:
            step, whole = self._finished_dict(shown, shown.finished)
            await (self._emitter.update_step(step) if shown.sent else self._emitter.send_step(step))
            if whole:
                await self._attach(shown.started.id, f"{shown.started.name}.txt", whole)
        elif not shown.sent:
            await self._emitter.send_step({**self._dict(shown), "output": inert_piece(text)})
        elif text:
            await self._emitter.send_token(shown.started.id, inert_piece(text))
        shown.sent = True

    def _finished_dict(self, shown: _Shown, finished: Finished) -> tuple[dict, str]:
        streamed = "".join(shown.text) if shown.text else finished.output
        output, whole = body(finished, streamed, with_text=shown.started.kind != "answer")
        step = {
            **self._dict(shown),
            "name": finished_title(shown.started, finished),
            "output": output,
            "end": _time(finished.at),
            "isError": finished.state == "error",
            "autoCollapse": finished.state != "error" and shown.started.parent_id is not None,
        }
        return step, whole

    def _dict(self, shown: _Shown) -> dict:
        """The step as the browser knows it. It opens while it runs and folds at the end, unless it failed."""
        started = shown.started
        given = running_input(started)
        return {
            "id": started.id,
            "threadId": self._thread_id,
            "parentId": started.parent_id or self._parent_id,
            "name": running_title(started),
            "type": TYPES.get(started.kind, started.kind),
            "input": given,
            "showInput": bool(given) and started.parent_id is not None,
            "output": "",
            "streaming": False,
            "isError": False,
            "createdAt": _time(started.at),
            "start": _time(started.at),
            "end": None,
            "defaultOpen": True,
            "autoCollapse": started.parent_id is not None,
            "metadata": {"icon": ICONS.get(started.kind, "dot")},
            "tags": None,
            "language": None,
            "generation": None,
        }


def _take_text(shown: _Shown, delta: Streamed) -> None:
    """Keep all of it for the attachment, but stream no more than can be shown."""
    shown.text.append(delta.text)
    room = OUTPUT_LIMIT - shown.sent_chars
    if room > 0:
        shown.unsent.append(delta.text[:room])
        shown.sent_chars += len(delta.text)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
