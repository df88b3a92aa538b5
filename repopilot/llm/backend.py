"""Makes one call to a model, whatever the backend: options in, deltas out, library exceptions turned into ModelError.

Every call has its own HTTP connection. Closing it makes the server stop generating.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from repopilot import i18n
from repopilot.errors import ModelError, ModelSilent
from repopilot.foreign_text import without_surrogates
from repopilot.llm.model import Model
from repopilot.llm.servers.address import is_loopback, reached
from repopilot.redaction.redact import redacted

if TYPE_CHECKING:
    from llama_index.core.llms import LLM, ChatMessage, ChatResponse
    from llama_index.llms.ollama import Ollama
    from llama_index.llms.openai_like import OpenAILike

GRACE_S = 5.0
"""The HTTP timeout is this much longer than the idle timeout of `stream`, which should fire first."""
RETRIES = 2
"""Retries by the SDK when a remote server is busy or failing; honours Retry-After."""
_NO_CREDIT = "insufficient_quota"
"""OpenAI's error code for used-up credit, sent with status 429."""
SHORTEST_KEY = 8
"""Shortest API key that is masked in messages: a shorter one (a keyless server's placeholder) may be a plain word."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How to sample one reply.

    Attributes:
        max_tokens: the longest reply.
        temperature: 0 for greedy decoding.
        stop: texts that end the reply.
        seed: the same call with the same seed gives the same reply, where the backend supports it.
        schema: a JSON schema that constrains the reply.
        probabilities: request the probabilities of each token and of its alternatives.
        words: constrain the reply to one of these words (embedded models only).
        grammar: constrain the reply by a grammar in GBNF, the notation of llama.cpp (embedded models only).
        tools: the tools that the model may call, each with name, description and parameters (servers only).
    """

    max_tokens: int = 700
    temperature: float = 0.2
    stop: tuple[str, ...] = ()
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    probabilities: bool = False
    words: tuple[str, ...] = ()
    grammar: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()


WrittenCall = tuple[str, Any, str]
"""A tool call as the server returns it: the tool's name, its arguments (an object or a JSON string), an id."""


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """A piece of a reply. `finish` is set on the last piece: stop or length. Counts in tokens, None while unknown.
    `calls` are all tool calls so far, `thinking` a piece of the model's reasoning before its answer."""

    text: str
    finish: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reused_tokens: int | None = None
    probabilities: Sequence[Any] = field(default=())
    calls: tuple[WrittenCall, ...] = ()
    thinking: str = ""


@asynccontextmanager
async def open_reply(
    model: Model, messages: Sequence[ChatMessage], options: ChatOptions
) -> AsyncIterator[AsyncIterator[ReplyDelta]]:
    """Call the model; the reply is an asynchronous stream of `ReplyDelta`. Leaving the context closes the connection.

    Args:
        model: which model to call; the HTTP timeout is its `timeout_s` plus `GRACE_S`.
        messages: the prompt.
        options: how to sample the reply.

    Raises:
        Exception: any exception of the backend's libraries; `translate_error` turns it into a ModelError.
    """
    if model.engine is not None:
        await model.engine.ready()
    backend = backend_of(model)
    async with backend.call(model, options) as (llm, arguments):
        stream = await llm.astream_chat(_without_secrets(messages), **arguments)
        try:
            yield _deltas(stream, backend.read)
        finally:
            await stream.aclose()


def _without_secrets(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages with secrets redacted, wherever their text comes from, users' questions and code included."""
    from llama_index.core.llms import ChatMessage, TextBlock

    def cleaned(message: ChatMessage) -> ChatMessage:
        calls = [block for block in message.blocks if not isinstance(block, TextBlock)]
        text = TextBlock(text=redacted(message.content or ""))
        return ChatMessage(role=message.role, blocks=[text, *calls], additional_kwargs=message.additional_kwargs)

    return [cleaned(message) for message in messages]


async def _deltas(
    stream: AsyncIterator[ChatResponse], read: Callable[[ChatResponse], ReplyDelta]
) -> AsyncIterator[ReplyDelta]:
    async for response in stream:
        delta = read(response)
        yield replace(delta, text=without_surrogates(delta.text))


@asynccontextmanager
async def _scripted_call(model: Model, options: ChatOptions) -> AsyncIterator[tuple[LLM, dict[str, Any]]]:
    yield model.llm, {}


@asynccontextmanager
async def _ollama_call(model: Model, options: ChatOptions) -> AsyncIterator[tuple[LLM, dict[str, Any]]]:
    import ollama

    base = cast("Ollama", model.llm)
    extra = {"num_predict": options.max_tokens, "stop": list(options.stop) or None, "seed": options.seed}
    client = ollama.AsyncClient(
        host=base.base_url, timeout=model.timeout_s + GRACE_S, headers=base.headers or {}, **reached(base.base_url)
    )
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
        arguments: dict[str, Any] = {"format": dict(options.schema)} if options.schema else {}
        yield llm, arguments | _tools(options)
    finally:
        await client.close()


@asynccontextmanager
async def _openai_call(model: Model, options: ChatOptions) -> AsyncIterator[tuple[LLM, dict[str, Any]]]:
    import httpx

    base = cast("OpenAILike", model.llm)
    timeout = httpx.Timeout(model.timeout_s + GRACE_S, connect=10.0)
    arguments: dict[str, Any] = {"stream_options": {"include_usage": True}} | _tools(options)
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
        if options.words or options.grammar:
            arguments["extra_body"]["grammar"] = options.grammar or _any_of(options.words)
    url = model.engine.address if model.engine else base.api_base or ""
    async with httpx.AsyncClient(timeout=timeout, **reached(url)) as client:
        transport: dict[str, Any] = {"async_http_client": client}  # OpenAILike passes it on to OpenAI
        llm = type(base)(
            model=base.model,
            api_base=url,
            api_key=base.api_key,
            is_chat_model=True,
            context_window=base.context_window,
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            max_retries=0 if is_loopback(url) else RETRIES,
            timeout=model.timeout_s + GRACE_S,
            **transport,
        )
        yield llm, arguments


def _tools(options: ChatOptions) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": dict(tool)} for tool in options.tools]} if options.tools else {}


def _any_of(words: Sequence[str]) -> str:
    return "root ::= " + " | ".join(json.dumps(word) for word in words)


def _read_scripted(response: ChatResponse) -> ReplyDelta:
    return ReplyDelta(response.delta or "")


def _read_ollama(response: ChatResponse) -> ReplyDelta:
    raw = response.raw or {}
    finish = (raw.get("done_reason") or "stop") if raw.get("done") else None
    return ReplyDelta(
        response.delta or "",
        finish,
        raw.get("prompt_eval_count"),
        raw.get("eval_count"),
        calls=_calls(response),
        thinking=response.additional_kwargs.get("thinking_delta") or "",
    )


def _read_openai(response: ChatResponse) -> ReplyDelta:
    raw: Any = response.raw
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
        _calls(response),
        response.additional_kwargs.get("thinking_delta") or "",
    )


def _calls(response: ChatResponse) -> tuple[WrittenCall, ...]:
    from llama_index.core.base.llms.types import ToolCallBlock

    blocks = (block for block in response.message.blocks if isinstance(block, ToolCallBlock))
    return tuple((block.tool_name, block.tool_kwargs, block.tool_call_id or "") for block in blocks)


_TIMEOUTS = {"TimeoutError", "ReadTimeout", "ConnectTimeout", "APITimeoutError"}


@dataclass(frozen=True, slots=True)
class Backend:
    """A kind of model server: how it is called, and how it differs from the others. Nothing else asks for the kind.

    Attributes:
        call: opens a call with some options; gives the client and its arguments.
        read: reads a piece of the reply.
        excerpt_tokens: how many tokens of excerpts a small model is given; on a CPU each thousand costs seconds
            before the first word.
        takes_grammar: whether a grammar or a list of words can constrain a reply.
        schemas: the JSON schemas that can constrain a reply: of any value, of objects only, or none.
        refuses_schemas: whether servers of this kind may refuse schemas.
        is_measured: whether the speed of its models on this machine is measured.
        is_on_cpu: whether its models read so slowly that the time to the first word limits the evidence.
        tells_end: whether a reply says that it is complete.
    """

    call: Callable[[Model, ChatOptions], AbstractAsyncContextManager[tuple[LLM, dict[str, Any]]]]
    read: Callable[[ChatResponse], ReplyDelta]
    excerpt_tokens: int
    takes_grammar: bool = False
    schemas: Literal["any", "objects", "none"] = "any"
    refuses_schemas: bool = False
    is_measured: bool = True
    is_on_cpu: bool = False
    tells_end: bool = True


_BACKENDS = {
    "ollama": Backend(_ollama_call, _read_ollama, 2200),
    "openai": Backend(_openai_call, _read_openai, 6000, schemas="objects", refuses_schemas=True, is_measured=False),
    "embedded": Backend(_openai_call, _read_openai, 1100, takes_grammar=True, is_on_cpu=True),
    "scripted": Backend(_scripted_call, _read_scripted, 1100, schemas="none", tells_end=False),
}


def backend_of(model: Model) -> Backend:
    """The backend that serves a model."""
    return _BACKENDS[model.kind]


def translate_error(error: Exception, model: Model, partial: str) -> ModelError:
    """The ModelError for a failed call.

    Args:
        error: what a library raised. The chain of causes is examined, since the libraries wrap the transport's
            errors differently.
        model: which model was called; its `timeout_s` is the longest silence that was allowed.
        partial: what was streamed before; stored with the error.
    """
    if isinstance(error, ModelError):
        return ModelError(error.message, error.hint, partial or error.partial)
    message, hint = _describe(error, model)
    if partial:
        hint = i18n.joined((i18n.message("llm.partial_kept"), hint))
    stopped = model.engine is not None and not model.engine.alive
    kind = ModelSilent if _names(error) & _TIMEOUTS and not stopped else ModelError
    return kind(message, hint, partial)


def _describe(error: Exception, model: Model) -> tuple[str, str]:
    """Message and hint for an error."""
    names = _names(error)
    status = getattr(error, "status_code", None)
    name = model.name
    if model.engine is not None and not model.engine.alive:
        reason = model.engine.exit_reason()
        return i18n.message("llm.embedded_stopped", name=name, reason=reason), i18n.message("llm.restarts")
    if names & _TIMEOUTS:
        return i18n.message("llm.silent", name=name, seconds=model.timeout_s), i18n.message("llm.silent_hint")
    if isinstance(status, int) and status >= 400:
        return _describe_status(error, status, model)
    if names & {"RemoteProtocolError", "ReadError"}:
        return i18n.message("llm.connection_lost", name=name), i18n.message("llm.try_again")
    if names & {"ConnectError", "ConnectionError", "APIConnectionError", "ConnectionRefusedError"}:
        return i18n.message("llm.unreachable", name=name), i18n.message("llm.unreachable_hint")
    if status is not None and 300 <= status < 400:
        return i18n.message("llm.redirected", name=name), i18n.message("llm.hosted.other_hint")
    if "ResponseError" in names or "APIError" in names:
        return i18n.message("llm.failed", name=name, error=_said(error, model)), _advice(error, 0, model)
    reason = f"{type(error).__name__}: {_without_key(str(error), model)[:120]}"
    return i18n.message("llm.no_reply", name=name, reason=reason), i18n.message("llm.no_reply_hint")


def _describe_status(error: Exception, status: int, model: Model) -> tuple[str, str]:
    name = model.name
    if status == 401:
        return i18n.message("llm.key_refused", name=name, status=status), i18n.message("llm.check_key")
    said = i18n.message("llm.status", name=name, status=status, reason=_said(error, model))
    return said, _advice(error, status, model)


def _said(error: Exception, model: Model) -> str:
    """The server's own error message. Services nest it differently; a proxy in front of one may send an HTML page."""
    body = getattr(error, "body", None)
    while isinstance(body, (list, dict)) and body:
        body = body[0] if isinstance(body, list) else body.get("error") or body.get("message")
    said = body if isinstance(body, str) else getattr(error, "error", "") or str(error)
    if said.lstrip().startswith("<"):
        return i18n.message("llm.no_reason")
    said = _without_key(said, model)[:200]
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _advice(error: Exception, status: int, model: Model) -> str:
    """The hint for a failure. A rate limit ends by itself; used-up credit doesn't come back."""
    code = getattr(error, "code", None)
    if status == 402 or _NO_CREDIT in (code, getattr(error, "type", None)):
        return i18n.message("llm.hosted.credit_hint")
    if 429 in (status, code):
        when = _allowed_again(error)
        return i18n.message("llm.hosted.limit_until", when=when) if when else i18n.message("llm.hosted.limit_hint")
    known = {403: "llm.check_key", 404: "llm.check_address"}
    if status in known:
        return i18n.message(known[status])
    return i18n.message("llm.see_log" if is_loopback(_url(model)) else "llm.hosted.server_hint")


def _allowed_again(error: Exception) -> str:
    """When a service accepts calls again, from Retry-After (seconds or a date), in local time; '' without one."""
    response = getattr(error, "response", None)
    given = response.headers.get("retry-after", "") if response is not None else ""
    try:
        moment = time.time() + float(given) if given[:1].isdigit() else parsedate_to_datetime(given).timestamp()
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
    except (ValueError, OverflowError, OSError):
        return ""


def _url(model: Model) -> str:
    return getattr(model.llm, "api_base", "") or getattr(model.llm, "base_url", "") or ""


def _without_key(text: str, model: Model) -> str:
    """A server's message with the API key masked, which the message may repeat."""
    key = getattr(model.llm, "api_key", None) or ""
    return redacted(text.replace(key, "…") if len(key) >= SHORTEST_KEY else text)


def _names(error: BaseException) -> set[str]:
    return {type(cause).__name__ for cause in _causes(error)}


def _causes(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain
