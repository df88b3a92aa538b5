"""A language model whose replies are a function of the messages."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from typing import Any

from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
    MessageRole,
)
from pydantic import PrivateAttr

Script = str | Iterable[str | float | Exception]
"""A text, streamed word by word; or pieces: a text is sent, a number of seconds waited, an error raised."""

Reply = Callable[[Sequence[ChatMessage]], Script]


class ScriptedLLM(CustomLLM):
    """LlamaIndex's interface over a reply function. `calls` has the messages of every call, `abandoned` counts the
    streams that were closed before their end."""

    context_window: int = 8192
    delay_s: float = 0.0
    _reply: Reply = PrivateAttr()
    _calls: list[list[ChatMessage]] = PrivateAttr(default_factory=list)
    _abandoned: int = PrivateAttr(default=0)

    def __init__(self, reply: Reply, *, delay_s: float = 0.0, context_window: int = 8192, **kwargs: Any) -> None:
        super().__init__(delay_s=delay_s, context_window=context_window, **kwargs)
        self._reply = reply

    @classmethod
    def class_name(cls) -> str:
        """See `CustomLLM`."""
        return "ScriptedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """See `CustomLLM`."""
        return LLMMetadata(context_window=self.context_window, model_name="scripted", is_chat_model=True)

    @property
    def calls(self) -> list[list[ChatMessage]]:
        """The messages of every call."""
        return self._calls

    @property
    def abandoned(self) -> int:
        """How many streams were closed before their end."""
        return self._abandoned

    def _pieces(self, messages: Sequence[ChatMessage]) -> Iterable[str | float | Exception]:
        self._calls.append(list(messages))
        script = self._reply(messages)
        pieces = re.findall(r"\s*\S+\s*$|\s*\S+|\s+", script) if isinstance(script, str) else script
        for piece in pieces:
            if self.delay_s:
                yield self.delay_s
            yield piece

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """See `CustomLLM`."""
        return _last(self.stream_chat(messages, **kwargs))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """See `CustomLLM`."""
        responses = [response async for response in await self.astream_chat(messages, **kwargs)]
        return _last(responses)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Generator[ChatResponse, None, None]:
        """See `CustomLLM`."""
        text = ""
        for piece in self._pieces(messages):
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, str):
                text += piece
                yield _response(text, piece)
            else:
                time.sleep(piece)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> AsyncGenerator[ChatResponse, None]:
        """See `CustomLLM`."""

        async def stream() -> AsyncGenerator[ChatResponse, None]:
            text = ""
            try:
                for piece in self._pieces(messages):
                    if isinstance(piece, Exception):
                        raise piece
                    if isinstance(piece, str):
                        text += piece
                        yield _response(text, piece)
                    else:
                        await asyncio.sleep(piece)
            except (GeneratorExit, asyncio.CancelledError):
                self._abandoned += 1
                raise

        return stream()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """See `CustomLLM`."""
        return CompletionResponse(text=self.chat(_as_user(prompt)).message.content or "")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """See `CustomLLM`."""
        for response in self.stream_chat(_as_user(prompt)):
            yield CompletionResponse(text=response.message.content or "", delta=response.delta)


def _response(text: str, delta: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text), delta=delta)


def _last(stream: Iterable[ChatResponse]) -> ChatResponse:
    last = _response("", "")
    for response in stream:
        last = response
    return last


def _as_user(prompt: str) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole.USER, content=prompt)]
