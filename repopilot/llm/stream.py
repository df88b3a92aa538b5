"""Asks a model and streams its reply into a step."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from repopilot import i18n
from repopilot.errors import ModelError, ModelSilent
from repopilot.llm import backend
from repopilot.llm.backend import ChatOptions, ReplyDelta
from repopilot.llm.model import Model
from repopilot.llm.speed.model_speed import Speed, first_word_s
from repopilot.trace import Step

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

DEFAULT_OPTIONS = ChatOptions()

Halt = Callable[[str], Awaitable[bool]]
"""Called with the text so far after each piece; the reply ends once it returns True."""

TOKENS_PER_MESSAGE = 6
"""Tokens the chat template adds to each message (ChatML: role, two markers, newlines)."""

DELTAS_PER_TOKEN = 2
"""A reply with more deltas than its token limit allows for is cut: the server ignores the limit."""
SPARE_DELTAS = 32
"""Deltas that a reply may have beyond `DELTAS_PER_TOKEN` times its limit."""

_TELLING_PROMPT = 64
"""Shortest prompt, in tokens, whose reading time says something about the reading speed."""

CRASH_DETECTION_S = 1.0
"""How long to wait for a crashed embedded engine to be recognised as such."""


@dataclass(slots=True)
class Reply:
    """A reply while it arrives: its pieces, counts in tokens, and times of the monotonic clock."""

    started: float = field(default_factory=time.monotonic)
    first: float | None = None
    pieces: list[str] = field(default_factory=list)
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reused_tokens: int | None = None
    probabilities: list[Any] = field(default_factory=list)
    calls: tuple[backend.WrittenCall, ...] = ()
    thinking: str = ""

    @property
    def text(self) -> str:
        """What has arrived so far."""
        return "".join(self.pieces)

    def add(self, delta: ReplyDelta) -> None:
        """Append a delta; counts and the finish reason overwrite earlier ones."""
        if delta.text and self.first is None:
            self.first = time.monotonic()
        self.pieces.append(delta.text)
        self.finish = delta.finish or self.finish
        self.prompt_tokens = delta.prompt_tokens or self.prompt_tokens
        self.completion_tokens = delta.completion_tokens or self.completion_tokens
        self.reused_tokens = delta.reused_tokens or self.reused_tokens
        self.probabilities.extend(delta.probabilities)
        self.calls = delta.calls or self.calls
        self.thinking += delta.thinking


async def chat(
    model: Model,
    messages: Sequence[ChatMessage],
    step: Step,
    options: ChatOptions = DEFAULT_OPTIONS,
    halt: Halt | None = None,
) -> str:
    """The text of the model's reply, streamed into `step` token by token.

    Args:
        model: as for `request`, like all other arguments.
        messages: the prompt.
        step: receives the reply and the notes.
        options: sampling, length and seed.
        halt: ends the reply early.

    Returns:
        The text.

    Raises:
        ModelError: as `request`.
    """
    return (await request(model, messages, step, options, halt)).text


async def request(
    model: Model, messages: Sequence[ChatMessage], step: Step, options: ChatOptions, halt: Halt | None = None
) -> Reply:
    """Ask a model and stream the reply into `step`. Cancelling the task closes the model's stream.

    Pass different seeds to sample several replies. The step gets the notes model, prompt_tokens, completion_tokens,
    first_token_s, tokens_per_s and finish (`length` when cut at `max_tokens`).

    A model that is silent for too long is asked once more, unless `halt` was given some of its reply. Before its first
    word it may be silent as long as it takes to read the prompt (`first_word_s`), later on for `model.timeout_s`.

    Args:
        model: which model to ask.
        messages: the prompt.
        step: receives the reply and the notes.
        options: how to sample the reply.
        halt: ends the reply early (finish `halted`).

    Returns:
        Everything known about the reply.

    Raises:
        ModelError: the prompt doesn't fit the context; or the model can't be reached, is silent for too long
            (`ModelSilent`), breaks off or answers garbage, with the text streamed so far in `partial`.
    """
    step.note(model=model.name)
    tokens = await _check_length(model, messages, options)
    async with _turn(model, step):
        try:
            return await _attempt(model, messages, step, options, tokens, halt)
        except ModelSilent as error:
            if halt is not None and error.partial:
                raise
            step.degrade(i18n.joined((error.message, i18n.message("llm.asked_again"))))
            if error.partial:
                await step.write("\n\n")
            return await _attempt(model, messages, step, options, tokens, halt)


@asynccontextmanager
async def _turn(model: Model, step: Step) -> AsyncIterator[None]:
    """Hold one of the model server's concurrent calls. While the call has to wait, a step shows its place in the
    queue."""
    if model.calls is None:
        yield
        return
    places: asyncio.Queue[int | None] = asyncio.Queue()
    async with AsyncExitStack() as turn:
        entering = asyncio.create_task(turn.enter_async_context(model.calls.turn(step.root_id, places.put_nowait)))
        entering.add_done_callback(lambda _: places.put_nowait(None))
        try:
            await _show_places(places, step)
            await entering
        finally:
            entering.cancel()
        yield


async def _show_places(places: asyncio.Queue[int | None], step: Step) -> None:
    """Show the call's places in the queue, if it has to wait, until None ends them."""
    place = await places.get()
    if place is None:
        return
    async with step.child("wait for the model", "tool") as waiting:
        while place is not None:
            await waiting.write(i18n.text("llm.place_in_queue", place=place) + "\n")
            place = await places.get()


async def _attempt(
    model: Model, messages: Sequence[ChatMessage], step: Step, options: ChatOptions, tokens: int, halt: Halt | None
) -> Reply:
    """Ask once. `tokens` is the length of the prompt."""
    reply = Reply(prompt_tokens=tokens)
    if model.budget is not None:
        await asyncio.to_thread(model.budget.take, tokens)
    try:
        await _receive(model, messages, step, options, reply, halt)
    finally:
        _note_statistics(step, reply, model)
        if model.budget is not None:
            spent = (reply.prompt_tokens or 0) + (reply.completion_tokens or len(reply.pieces)) if reply.pieces else 0
            await asyncio.to_thread(model.budget.spend, spent - tokens)
    return reply


async def _receive(
    model: Model, messages: Sequence[ChatMessage], step: Step, options: ChatOptions, reply: Reply, halt: Halt | None
) -> None:
    waiting = replace(model, timeout_s=first_word_s(reply.prompt_tokens or 0, model.speed, model.timeout_s))
    silence_s = waiting.timeout_s
    try:
        async with asyncio.timeout(silence_s) as silence, backend.open_reply(waiting, messages, options) as deltas:
            loop = asyncio.get_running_loop()
            async for delta in deltas:
                reply.add(delta)
                if delta.text or delta.thinking or delta.calls:
                    silence_s = model.timeout_s
                silence.reschedule(loop.time() + silence_s)
                if delta.text:
                    await step.write(delta.text)
                if len(reply.pieces) > DELTAS_PER_TOKEN * options.max_tokens + SPARE_DELTAS:
                    reply.finish = "length"
                    break
                if halt is not None and delta.text and await halt(reply.text):
                    reply.finish = "halted"
                    break
    except Exception as error:
        if model.engine is not None:
            await asyncio.to_thread(model.engine.ended, CRASH_DETECTION_S)
        raise backend.translate_error(error, replace(model, timeout_s=silence_s), reply.text) from error
    if reply.finish is None and backend.backend_of(model).tells_end:
        began = reply.text or reply.calls
        message = i18n.message("llm.broke_off" if began else "llm.empty_reply", name=model.name)
        raise ModelError(message, i18n.message("llm.try_again" if began else "llm.no_reply_hint"), reply.text)
    reply.finish = reply.finish or "stop"


async def _check_length(model: Model, messages: Sequence[ChatMessage], options: ChatOptions) -> int:
    """Count the tokens of the prompt and of the tools. Raises ModelError when the prompt (without the tools) doesn't
    fit: Ollama silently truncates a prompt that is too long."""
    tokens = await prompt_tokens(model, messages)
    limit = model.context_window - min(options.max_tokens, model.context_window // 4)
    if tokens > limit:
        raise ModelError(
            i18n.message("llm.prompt_too_long", tokens=tokens, name=model.name, limit=limit),
            i18n.message("llm.prompt_too_long_hint"),
        )
    return tokens + await asyncio.to_thread(model.count_tokens, json.dumps(options.tools)) if options.tools else tokens


def prompt_of(system: str, user: str) -> list[ChatMessage]:
    """A prompt of two messages: what the model is to do, and the request."""
    from llama_index.core.llms import ChatMessage

    return [ChatMessage(role="system", content=system), ChatMessage(role="user", content=user)]


async def prompt_tokens(model: Model, messages: Sequence[ChatMessage]) -> int:
    """Count the tokens of a prompt, including those of the chat template."""
    text = "\n".join(message.content or "" for message in messages)
    return await asyncio.to_thread(model.count_tokens, text) + TOKENS_PER_MESSAGE * len(messages)


def _note_statistics(step: Step, reply: Reply, model: Model) -> None:
    """Note counts and speed: the backend's counts, else the tokens counted here and one token per delta."""
    if reply.first is None:
        return
    duration = time.monotonic() - reply.first
    written = reply.completion_tokens or sum(1 for piece in reply.pieces if piece)
    rate = (written - 1) / duration if written > 1 and duration > 0 else None
    read = (reply.prompt_tokens or 0) - (reply.reused_tokens or 0)
    if rate and read >= _TELLING_PROMPT:
        model.replies.append(Speed(read / (reply.first - reply.started), rate))
    facts: dict[str, object] = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": written,
        "first_token_s": round(reply.first - reply.started, 3),
        "tokens_per_s": round(rate, 1) if rate else None,
        "finish": reply.finish,
    }
    if reply.reused_tokens:
        facts["reused_prompt_tokens"] = reply.reused_tokens
    step.note(**facts)
