"""The steps of an agent's work as a stream of events. Independent of any UI: whoever shows a trace passes a sink.

Steps are passed explicitly from function to function, so agents running in parallel nest correctly.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from repopilot import i18n
from repopilot.errors import Cancelled, RepoPilotError
from repopilot.redaction.redact import redacted

Result = TypeVar("Result")
Kind = Literal["run", "agent", "tool", "llm", "embedding", "retrieval", "rerank", "answer"]
State = Literal["ok", "error", "stopped"]


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Started:
    """A step began. `at` is in seconds since the epoch."""

    id: str
    parent_id: str | None
    name: str
    kind: Kind
    input: str
    at: float


@dataclass(frozen=True, slots=True)
class Streamed:
    """Text was streamed into a step."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A step ended. `data` holds JSON-able facts (model, tokens, hits, score, …); `error` is a message for the user."""

    id: str
    state: State
    output: str
    error: str
    at: float
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Published:
    """An answer that stands even if the rest of the work is stopped or fails. It replaces what was published before.

    `answer` is a `results.Answer`, which this module must not import.
    """

    id: str
    answer: object


Event = Started | Streamed | Finished | Published
Sink = Callable[[Event], None]


@dataclass(slots=True)
class Step:
    """A running step.

    The text of a step of kind `answer` is the answer itself, which the browser shows as the message. `fallbacks` are
    the messages recorded by `degrade`, `data` the facts recorded by `note`, `root_id` the id of the request's outermost
    step.
    """

    sink: Sink
    id: str
    name: str
    data: dict[str, object] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)
    root_id: str = ""
    _text: list[str] = field(default_factory=list)

    async def write(self, text: str) -> None:
        """Stream text into the step, without secrets; yields to the event loop, which a fast model would starve."""
        text = redacted(text)
        self._text.append(text)
        self.sink(Streamed(self.id, text))
        await asyncio.sleep(0)

    def note(self, **facts: object) -> None:
        """Attach JSON-able facts, shown with the finished step."""
        self.data.update(facts)

    def degrade(self, message: str) -> None:
        """Record a fallback: a message that says what the step had to do without. `degraded` collects them."""
        self.fallbacks.append(message)
        self.data["degraded"] = self.fallbacks

    def publish(self, answer: object) -> None:
        """Publish the finished part of an answer (a `results.Answer`): it is shown at once, and survives Stop."""
        self.sink(Published(self.id, answer))

    def contained(self) -> Step:
        """The same step for work whose answer is only part of another answer: what the work publishes is dropped."""

        def sink(event: Event) -> None:
            if not isinstance(event, Published):
                self.sink(event)

        return replace(self, sink=sink)

    @property
    def text(self) -> str:
        """The text written into the step so far."""
        return "".join(self._text)

    def child(self, name: str, kind: Kind = "run", input: str = "") -> AbstractAsyncContextManager[Step]:
        """Open a nested step.

        Args:
            name: what the step does, in plain English; it names the step in traces and JSON.
            kind: the kind of work.
            input: what it works on.

        Returns:
            A context with the running step. An exception or a cancellation sets its state and is raised again.
        """
        return _running(self.sink, self, name, kind, input)

    async def answer(self, text: str) -> None:
        """Show a finished answer in a step of its own."""
        async with self.child("answer", "answer") as answering:
            await answering.write(text)


def root(sink: Sink, name: str, kind: Kind = "run", input: str = "") -> AbstractAsyncContextManager[Step]:
    """Open the outermost step of a request.

    Args:
        sink: receives the events of this step and of all steps below it.
        name: what the step does, in plain English.
        kind: the kind of work.
        input: what it works on.

    Returns:
        A context with the running step.
    """
    return _running(sink, None, name, kind, input)


@asynccontextmanager
async def _running(sink: Sink, parent: Step | None, name: str, kind: Kind, input: str) -> AsyncIterator[Step]:
    id = uuid.uuid4().hex
    step = Step(sink, id, name, root_id=parent.root_id or parent.id if parent else id)
    began = time.time()
    counted = time.monotonic()
    sink(Started(step.id, parent.id if parent else None, name, kind, redacted(input), began))

    def end(state: State, error: str = "") -> None:
        # Setting the clock meanwhile changes no duration.
        sink(Finished(step.id, state, step.text, error, began + time.monotonic() - counted, dict(step.data)))

    try:
        yield step
    except asyncio.CancelledError:
        end("stopped", i18n.message("errors.stopped"))
        raise
    except Exception as error:
        end("error", i18n.reason(error))
        raise
    end("ok")


def tree(events: Iterable[Event]) -> list[dict]:
    """The trace as JSON: a list of roots, each {name, kind, state, input, output, error, duration_s, data, children}.

    A step that hasn't ended has state `running`.
    """
    nodes: dict[str, dict] = {}
    roots: list[dict] = []
    started: dict[str, float] = {}
    for event in events:
        if isinstance(event, Started):
            node: dict[str, Any] = {
                "name": event.name,
                "kind": event.kind,
                "state": "running",
                "input": event.input,
                "output": "",
                "error": "",
                "duration_s": None,
                "data": {},
                "children": [],
            }
            nodes[event.id] = node
            started[event.id] = event.at
            (nodes[event.parent_id]["children"] if event.parent_id in nodes else roots).append(node)
        elif isinstance(event, Streamed):
            nodes[event.id]["output"] += event.text
        elif isinstance(event, Finished):
            nodes[event.id].update(
                state=event.state,
                error=event.error,
                data=dict(event.data),
                duration_s=round(event.at - started[event.id], 3),
            )
    return roots


def said_once(fallbacks: Sequence[str]) -> tuple[str, ...]:
    """Each fallback once; of several with the same error as cause, such as a service that refuses every call, the last.
    Pure."""
    last = {_cause(each): each for each in fallbacks}
    return tuple(dict.fromkeys(each for each in fallbacks if not _cause(each) or last[_cause(each)] is each))


def _cause(fallback: str) -> str:
    values = fallback.values.values() if isinstance(fallback, i18n.Message) else ()
    return next((str(each) for each in values if isinstance(each, i18n.Message) and each.key == "errors.with_hint"), "")


def degraded(events: Iterable[Event]) -> tuple[str, ...]:
    """Every fallback recorded anywhere in the trace, in order, once each."""
    found: dict[str, None] = {}
    for event in events:
        recorded = event.data.get("degraded") if isinstance(event, Finished) else None
        if isinstance(recorded, list):
            found |= dict.fromkeys(recorded)
    return tuple(found)


async def result_or_none(work: Awaitable[Result], what: str, step: Step) -> Result | None:
    """Await some work. When it fails, its own step shows the error and `step` records what is missing.

    Args:
        work: the work to await.
        what: its result, with an article, for the message about its failure.
        step: the step that has to do without it.

    Returns:
        The result, None when the work failed.

    Raises:
        Cancelled: the user stopped the work.
    """
    try:
        return await work
    except Cancelled:
        raise
    except RepoPilotError as error:
        step.degrade(i18n.message("errors.work_failed", work=what, error=i18n.reason(error)))
    except Exception as error:  # a fault in one agent must not cost the others' results
        log.exception("%s failed", what)
        step.degrade(i18n.message("errors.work_failed", work=what, error=f"{type(error).__name__}: {error}"))
    return None
