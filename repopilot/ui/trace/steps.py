"""Trace events as Chainlit steps, in batches the browser can handle.

The browser spends about 20 ms on every event, whatever its size, so each step collects what is new, and a task sends a
few updates at a time: the first at once, the next ones after a pause. It gets slower with every step it shows, so of a
step's many parts the latest are shown; the panel of the answer has all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter

from repopilot import i18n
from repopilot.results import Answer
from repopilot.trace import Event, Finished, Published, Started, Streamed
from repopilot.types import Evidence
from repopilot.ui.trace.step_text import (
    OUTPUT_LIMIT,
    body,
    finished_title,
    inert,
    inert_piece,
    running_input,
    step_name,
)

if TYPE_CHECKING:
    from chainlit.emitter import BaseChainlitEmitter
    from chainlit.step import StepDict

FLUSH_S = 0.1
_EVIDENCE = TypeAdapter(tuple[Evidence, ...])
UPDATES_PER_FLUSH = 3
MOST_PARTS = 60
"""Most parts shown of one step."""
TYPES = {"agent": "run", "answer": "llm"}
"""Chainlit's types for our kinds that it doesn't know."""
ICONS = {
    "run": "list-tree",
    "agent": "bot",
    "tool": "wrench",
    "llm": "sparkles",
    "answer": "sparkles",
    "retrieval": "search",
    "rerank": "arrow-down-wide-narrow",
    "embedding": "binary",
}


@dataclass(slots=True)
class _StepState:
    """A step and its state in the browser: `unsent` is text still to be sent, `sent_chars` how much was streamed.
    `parts` are the shown steps within it. A `removed` step made room for a later one; its parent is `cut`."""

    started: Started
    text: list[str] = field(default_factory=list)
    unsent: list[str] = field(default_factory=list)
    sent_chars: int = 0
    sent: bool = False
    finished: Finished | None = None
    parts: list[str] = field(default_factory=list)
    cut: bool = False
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Receivers:
    """Callbacks for what isn't shown as a step.

    Attributes:
        on_answer: takes the text of `answer` steps, each time all of it so far; it is not shown in the step.
        on_evidence: takes the evidence that a step noted, before any text; better evidence replaces it.
        on_published: takes the newest published answer; after it, the first two are no longer called.
        attach: takes a text too long to show, as (step id, file name, text).
    """

    on_answer: Callable[[str], Awaitable[None]]
    on_evidence: Callable[[Sequence[Evidence]], Awaitable[None]]
    on_published: Callable[[Answer], Awaitable[None]]
    attach: Callable[[str, str, str], Awaitable[None]]


class TraceView:
    """Shows one trace: `sink` takes its events, a task begun by `start` sends them, and `close` sends the rest.

    Args:
        emitter: Chainlit's, which sends steps to the browser.
        thread_id: Chainlit's thread.
        parent_id: Chainlit's step that the trace belongs to, None for none.
        language: of the reader.
        receivers: callbacks for what isn't shown as a step.
    """

    def __init__(
        self,
        emitter: BaseChainlitEmitter,
        thread_id: str,
        parent_id: str | None,
        language: str,
        receivers: Receivers,
    ) -> None:
        self._emitter = emitter
        self._thread_id = thread_id
        self._parent_id = parent_id
        self._language = language
        self._receivers = receivers
        self._published: Answer | None = None
        self._has_published = False
        self._evidence: Sequence[Evidence] = ()
        self._evidence_sent = False
        self._steps: dict[str, _StepState] = {}
        self._dirty: dict[str, None] = {}
        self._answers: dict[str, list[str]] = {}
        self._answer_grew = False
        self._news = asyncio.Event()
        self._sender: asyncio.Task | None = None
        self._sending = asyncio.Lock()

    def sink(self, event: Event) -> None:
        """Take an event, on the event loop. Raises KeyError for a step that was never started."""
        self._news.set()
        if isinstance(event, Started):
            self._steps[event.id] = _StepState(event)
            self._make_room(event)
        elif isinstance(event, Published):
            self._published = cast("Answer", event.answer)
            self._has_published = True
            return
        else:
            state = self._steps[event.id]
            if isinstance(event, Finished):
                state.finished = event
                if found := _noted_evidence(event):
                    self._evidence = found
                    self._evidence_sent = False
            elif state.started.kind == "answer":
                self._answers.setdefault(event.id, []).append(event.text)
                self._answer_grew = True
                return
            else:
                _take_text(state, event)
        self._dirty.setdefault(event.id)

    def _make_room(self, event: Started) -> None:
        """Remove the oldest finished part of a step that would get too many."""
        parent = self._steps.get(event.parent_id or "")
        if parent is None:
            return
        oldest = next((id for id in parent.parts if self._steps[id].finished), None)
        if len(parent.parts) >= MOST_PARTS and oldest is not None:
            parent.parts.remove(oldest)
            parent.cut = self._steps[oldest].removed = True
            self._dirty.setdefault(oldest)
        parent.parts.append(event.id)

    def _is_removed(self, state: _StepState) -> bool:
        parent = self._steps.get(state.started.parent_id or "")
        return state.removed or (parent is not None and self._is_removed(parent))

    def start(self) -> None:
        """Begin to send what `sink` takes."""
        self._sender = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Send everything that is left, and end."""
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.gather(self._sender, return_exceptions=True)
        await self.flush()
        while self._dirty:
            await self.flush()

    async def flush(self) -> None:
        """Send a few updates at most, in the order in which steps changed: a parent always before its children."""
        async with self._sending:
            for id in list(self._dirty)[:UPDATES_PER_FLUSH]:
                del self._dirty[id]
                await self._show(self._steps[id])
            # After the steps: the message must appear below the work that led to it.
            if self._evidence and not self._evidence_sent and not self._has_published:
                self._evidence_sent = True
                await self._receivers.on_evidence(self._evidence)
            if self._published is not None:
                answer = self._published
                self._published = None
                await self._receivers.on_published(answer)
            await self._flush_answer()

    async def _flush_answer(self) -> None:
        """Send all of the text so far: every piece can change what is code and what is prose."""
        if self._answer_grew and not self._has_published:
            self._answer_grew = False
            await self._receivers.on_answer(inert("\n\n".join("".join(pieces) for pieces in self._answers.values())))

    async def _run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            # Shielded: a step being sent when this task is cancelled would be sent a second time by `close`.
            await asyncio.shield(self.flush())
            await asyncio.sleep(FLUSH_S)
            if self._dirty:
                self._news.set()

    async def _show(self, state: _StepState) -> None:
        text = "".join(state.unsent)
        state.unsent = []
        if self._is_removed(state):
            if state.sent:
                await self._emitter.delete_step(self._dict(state))
            state.sent = False
            return
        if state.finished is not None:
            step, attachment = self._finished_dict(state, state.finished)
            await (self._emitter.update_step(step) if state.sent else self._emitter.send_step(step))
            if attachment:
                await self._receivers.attach(state.started.id, f"{state.started.name}.txt", attachment)
        elif not state.sent:
            await self._emitter.send_step({**self._dict(state), "output": inert_piece(text)})
        elif text:
            await self._emitter.send_token(state.started.id, inert_piece(text))
        state.sent = True

    def _finished_dict(self, state: _StepState, finished: Finished) -> tuple[StepDict, str]:
        streamed = "".join(state.text) if state.text else finished.output
        output, attachment = body(finished, streamed, self._language, with_text=state.started.kind != "answer")
        title = finished_title(state.started, finished, self._language)
        if state.cut:
            title += f" · {i18n.text('ui.steps.latest', self._language, count=MOST_PARTS)}"
        step: StepDict = {
            **self._dict(state),
            "name": title,
            "output": output,
            "end": _time(finished.at),
            "isError": finished.state == "error",
            "autoCollapse": finished.state != "error",
        }
        return step, attachment

    def _dict(self, state: _StepState) -> StepDict:
        """The step in Chainlit's form. It is open while it runs and folds at the end, unless it failed. A prompt is
        shown only in the panel of steps: it would fill the page while the model thinks."""
        started = state.started
        given = running_input(started, self._language)
        return {
            "id": started.id,
            "threadId": self._thread_id,
            "parentId": started.parent_id or self._parent_id,
            "name": step_name(started.name, self._language),
            "type": cast(Any, TYPES.get(started.kind, started.kind)),
            "input": given,
            "showInput": bool(given) and started.parent_id is not None and started.kind != "llm",
            "output": "",
            "streaming": False,
            "isError": False,
            "createdAt": _time(started.at),
            "start": _time(started.at),
            "end": None,
            "defaultOpen": True,
            "autoCollapse": True,
            "metadata": {"icon": ICONS.get(started.kind, "dot")},
            "tags": None,
            "language": None,
            "generation": None,
        }


def _noted_evidence(event: Finished) -> Sequence[Evidence]:
    noted = event.data.get("evidence")
    return _EVIDENCE.validate_python(noted) if isinstance(noted, list) else ()


def _take_text(state: _StepState, delta: Streamed) -> None:
    """Collect all of the text for the attachment, but stream no more than can be shown."""
    state.text.append(delta.text)
    left = OUTPUT_LIMIT - state.sent_chars
    if left > 0:
        state.unsent.append(delta.text[:left])
        state.sent_chars += len(delta.text)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
