"""One call to a model, whatever the backend: options in, deltas out, foreign exceptions turned into ours.

Every call has its own HTTP connection, closed with the call: that is what stops the model when we stop listening.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from repopilot.errors import ModelError
from repopilot.llm.model import Model

if TYPE_CHECKING:
    from llama_index.core.llms import LLM, ChatMessage, ChatResponse

GRACE_S = 5.0
"""The HTTP timeout lies this much above our own idle timeout, which is the one that should fire."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to sample one reply. `schema` is a JSON schema the reply is constrained to; with `seed` the same call
    gives the same reply where the backend can; `probabilities` asks for the tokens' alternatives; `words` constrains
    the reply to one of them (embedded models only)."""

    max_tokens: int
    temperature: float
    stop: tuple[str, ...] = ()
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    probabilities: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """A piece of a reply. `finish` is set with the last one: stop or length. Counts in tokens, None while unknown."""

    text: str
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reused_tokens: int | None = None
    probabilities: Sequence[Any] = field(default=())


@asynccontextmanager
async def opened(
    model: Model, messages: Sequence[ChatMessage], options: Options
) -> AsyncIterator[AsyncIterator[ReplyDelta]]:
    """The reply as an asynchronous stream of `ReplyDelta`; leaving the context closes the connection.

    Raises whatever the backend's libraries raise: see `explain`.
    """
    if model.engine is not None:
        await model.engine.ready()
    async with _CALLS[model.kind](model, options) as (llm, arguments):
        stream = await llm.astream_chat(messages, **arguments)
        try:
            yield _deltas(stream, _READERS[model.kind])
        finally:
            await stream.aclose()


async def _deltas(stream: AsyncIterator[ChatResponse], read) -> AsyncIterator[ReplyDelta]:
    async for response in stream:
        yield read(response)


@asynccontextmanager
async def _scripted_call(model: Model, options: Options) -> AsyncIterator[tuple[LLM, dict]]:
    yield model.llm, {}


@asynccontextmanager
async def _ollama_call(model: Model, options: Options) -> AsyncIterator[tuple[LLM, dict]]:
    import ollama

    base = model.llm
    extra = {"num_predict": options.max_tokens, "stop": list(options.stop) or None, "seed": options.seed}
    client = ollama.AsyncClient(host=base.base_url, timeout=model.timeout_s + GRACE_S, headers=base.headers or {})
    llm = type(base)(
        model=base.model,
        base_url=base.base_url,
        temperature=options.temperature,
        context_window=base.context_window,
        keep_alive=base.keep_alive,
        additional_kwargs={name: value for name, value in extra.items() if value is not None},
        async_client=client,
    )
    try:
        yield llm, {"format": dict(options.schema)} if options.schema else {}
    finally:
        await client.close()


@asynccontextmanager
async def _openai_call(model: Model, options: Options) -> AsyncIterator[tuple[LLM, dict]]:
    import httpx

    base = model.llm
    timeout = httpx.Timeout(model.timeout_s + GRACE_S, connect=10.0)
    arguments: dict[str, Any] = {"stream_options": {"include_usage": True}}
    if options.stop:
        arguments["stop"] = list(options.stop)
    if options.seed is not None:
        arguments["seed"] = options.seed
    if options.schema:
        schema = {"name": "reply", "schema": dict(options.schema), "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    if options.probabilities:
        arguments |= {"logprobs": True, "top_logprobs": 20}
    if model.engine is not None:
        arguments["extra_body"] = {"return_progress": True}  # signs of life while it reads a long prompt
        if options.words:
            grammar = "root ::= " + " | ".join(json.dumps(word) for word in options.words)
            arguments["extra_body"]["grammar"] = grammar
    async with httpx.AsyncClient(timeout=timeout) as client:
        llm = type(base)(
            model=base.model,
            api_base=model.engine.address if model.engine else base.api_base,
            api_key=base.api_key,
            is_chat_model=True,
            context_window=base.context_window,
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            max_retries=0,
            timeout=model.timeout_s + GRACE_S,
            async_http_client=client,
        )
        yield llm, arguments


def _read_scripted(response: ChatResponse) -> ReplyDelta:
    return ReplyDelta(response.delta or "")


def _read_ollama(response: ChatResponse) -> ReplyDelta:
    raw = response.raw or {}
    finish = (raw.get("done_reason") or "stop") if raw.get("done") else None
    return ReplyDelta(response.delta or "", finish, raw.get("prompt_eval_count"), raw.get("eval_count"))


def _read_openai(response: ChatResponse) -> ReplyDelta:
    raw = response.raw
    choice = raw.choices[0] if raw.choices else None
    usage = getattr(raw, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    logprobs = getattr(choice, "logprobs", None)
    return ReplyDelta(
        response.delta or "",
        choice.finish_reason if choice else None,
        usage.prompt_tokens if usage else None,
        usage.completion_tokens if usage else None,
        getattr(details, "cached_tokens", None),
        tuple(logprobs.content or ()) if logprobs else (),
    )


_CALLS = {"ollama": _ollama_call, "openai": _openai_call, "embedded": _openai_call, "scripted": _scripted_call}
_READERS = {"ollama": _read_ollama, "openai": _read_openai, "embedded": _read_openai, "scripted": _read_scripted}


def explain(error: Exception, model: Model, partial: str) -> ModelError:
    """What went wrong with a call, in our words; `partial` is kept. The whole chain of causes is looked at, since
    the libraries wrap the transport's errors differently."""
    if isinstance(error, ModelError):
        return ModelError(error.message, error.hint, partial or error.partial)
    names = {type(cause).__name__ for cause in _causes(error)}
    message, hint = _words(error, names, model)
    if partial:
        hint = f"What it wrote until then is kept. {hint}"
    return ModelError(message, hint, partial)


def _words(error: Exception, names: set[str], model: Model) -> tuple[str, str]:
    status = getattr(error, "status_code", None)
    if model.engine is not None and not model.engine.alive:
        return f"The embedded model {model.name} stopped ({model.engine.last_words()}).", "Try again: it is restarted."
    if names & {"TimeoutError", "ReadTimeout", "ConnectTimeout", "APITimeoutError"}:
        return (
            f"{model.name} has said nothing for {model.timeout_s:g} s.",
            "Try again, or raise REPOPILOT_MODEL_TIMEOUT_S.",
        )
    if isinstance(status, int) and status >= 400:
        said = str(getattr(error, "error", "") or error)[:200]
        if status in (401, 403):
            return f"The server of {model.name} refused the key ({status}).", "Check REPOPILOT_LLM_KEY."
        return f"The server of {model.name} answered {status}: {said}", "Its log should say more. Try again."
    if names & {"RemoteProtocolError", "ReadError"}:
        return f"The connection to {model.name} broke off in the middle of the reply.", "Try again."
    if names & {"ConnectError", "ConnectionError", "APIConnectionError", "ConnectionRefusedError"}:
        return f"{model.name} can't be reached.", "Is its server running? `python -m repopilot doctor` says more."
    if "ResponseError" in names or "APIError" in names:
        return f"{model.name} failed: {str(error)[:200]}", "Its server's log should say more. Try again."
    reason = f"{type(error).__name__}: {str(error)[:120]}"
    return (
        f"{model.name} answered with something that is no reply ({reason}).",
        "Is this really a model server? Try again.",
    )


def _causes(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain
