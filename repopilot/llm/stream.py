"""Ask a model and stream its reply into a step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from repopilot.errors import ModelError
from repopilot.llm import backend, cache
from repopilot.llm.backend import Options, ReplyDelta
from repopilot.llm.model import Model
from repopilot.trace import Step

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

TOKENS_PER_MESSAGE = 6
"""Tokens the chat template adds to each message (ChatML: role, two markers, newlines)."""

DELTAS_PER_TOKEN, DELTAS_SPARE = 2, 32
"""A reply of more deltas than its token limit allows for is cut: the server did not keep the limit."""

ENDING_S = 1.0
"""How long a crashed embedded engine may take to be seen as such."""


@dataclass(slots=True)
class Reply:
    """A reply while it arrives."""

    started: float = field(default_factory=time.monotonic)
    first: float | None = None
    pieces: list[str] = field(default_factory=list)
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reused_tokens: int | None = None
    probabilities: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def take(self, delta: ReplyDelta) -> None:
        if delta.text and self.first is None:
            self.first = time.monotonic()
        self.pieces.append(delta.text)
        self.finish = delta.finish or self.finish
        self.prompt_tokens = delta.prompt_tokens or self.prompt_tokens
        self.completion_tokens = delta.completion_tokens or self.completion_tokens
        self.reused_tokens = delta.reused_tokens or self.reused_tokens
        self.probabilities.extend(delta.probabilities)


async def chat(
    model: Model,
    messages: Sequence[ChatMessage],
    step: Step,
    *,
    max_tokens: int = 700,
    temperature: float = 0.2,
    stop: Sequence[str] = (),
    seed: int | None = None,
    halt: Callable[[str], bool] | None = None,
) -> str:
    """The model's reply, streamed into `step` token by token.

    `halt` is shown the text so far after each piece; once it says True the stream is closed (finish `halted`).

    An identical call of the last ten minutes is answered from the cache (noted as `cached`); pass different `seed`s
    to sample several replies. The step gets the notes model, prompt_tokens, completion_tokens, first_token_s,
    tokens_per_s and finish (`length` when cut at `max_tokens`). Cancelling the task closes the model's stream.
    Raises ModelError, with what was streamed in `partial`, when the model can't be reached, falls silent for
    `model.timeout_s`, breaks off or answers garbage; and before sending when the prompt can't fit the context.
    """
    options = Options(max_tokens, temperature, tuple(stop), seed)
    return (await request(model, messages, step, options, halt)).text


async def request(
    model: Model,
    messages: Sequence[ChatMessage],
    step: Step,
    options: Options,
    halt: Callable[[str], bool] | None = None,
) -> Reply:
    """As `chat`, with all options, returning everything known about the reply."""
    step.note(model=model.name)
    key = cache.call_key(model.identity, messages, options)
    known = model.cache.get(key) if model.cache and not options.probabilities else None
    if known is not None:
        step.note(cached=True)
        await step.write(known)
        return Reply(pieces=[known], finish="stop")
    reply = Reply(prompt_tokens=await _checked_length(model, messages, options))
    try:
        await _receive(model, messages, step, options, reply, halt)
    finally:
        _note(step, reply)
    if model.cache and reply.finish == "stop":
        model.cache.put(key, reply.text)
    return reply


async def _receive(
    model: Model,
    messages: Sequence[ChatMessage],
    step: Step,
    options: Options,
    reply: Reply,
    halt: Callable[[str], bool] | None,
) -> None:
    try:
        async with asyncio.timeout(model.timeout_s) as silence, backend.opened(model, messages, options) as deltas:
            loop = asyncio.get_running_loop()
            async for delta in deltas:
                silence.reschedule(loop.time() + model.timeout_s)
                reply.take(delta)
                if delta.text:
                    await step.write(delta.text)
                if len(reply.pieces) > DELTAS_PER_TOKEN * options.max_tokens + DELTAS_SPARE:
                    reply.finish = "length"  # a server that ignores its limit must not go on for ever
                    break
                if halt is not None and delta.text and halt(reply.text):
                    reply.finish = "halted"
                    break
    except Exception as error:
        if model.engine is not None:
            await asyncio.to_thread(model.engine.ended, ENDING_S)
        raise backend.explain(error, model, reply.text) from error
    if reply.finish is None and model.kind != "scripted":
        raise ModelError(
            f"{model.name} stopped in the middle of the reply."
            if reply.text
            else f"{model.name} ended without a reply.",
            "Try again.",
            reply.text,
        )
    reply.finish = reply.finish or "stop"


async def _checked_length(model: Model, messages: Sequence[ChatMessage], options: Options) -> int:
    """Ollama cuts a prompt that is too long without a word: so we count, and refuse. The count, in tokens."""
    tokens = await prompt_tokens(model, messages)
    room = model.context_window - min(options.max_tokens, model.context_window // 4)
    if tokens > room:
        raise ModelError(
            f"The prompt has about {tokens} tokens; {model.name} reads at most {room} beside its reply.",
            "Ask about less at once, or raise REPOPILOT_NUM_CTX.",
        )
    return tokens


async def prompt_tokens(model: Model, messages: Sequence[ChatMessage]) -> int:
    """Tokens of a whole prompt, by the model's count."""
    text = "\n".join(message.content or "" for message in messages)
    return await asyncio.to_thread(model.count_tokens, text) + TOKENS_PER_MESSAGE * len(messages)


def _note(step: Step, reply: Reply) -> None:
    """Counts are the backend's where it gave them, else the prompt as counted and one token a delta."""
    if reply.first is None:
        return
    duration = time.monotonic() - reply.first
    written = reply.completion_tokens or sum(1 for piece in reply.pieces if piece)
    facts: dict[str, object] = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": written,
        "first_token_s": round(reply.first - reply.started, 3),
        "tokens_per_s": round((written - 1) / duration, 1) if written > 1 and duration > 0 else None,
        "finish": reply.finish,
    }
    if reply.reused_tokens:
        facts["reused_prompt_tokens"] = reply.reused_tokens
    step.note(**facts)
