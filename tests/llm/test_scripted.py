"""The scripted model keeps to LlamaIndex's interface."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.llms import ChatMessage
from support.scripted_llm import ScriptedLLM

from repopilot.llm.token_estimate import estimate_tokens

HELLO = [ChatMessage(role="user", content="hello")]


@pytest.mark.slow
@given(st.text())
def test_a_text_arrives_completely(text):
    responses = list(ScriptedLLM(lambda _: text).stream_chat(HELLO))
    assert "".join(response.delta for response in responses) == text
    assert not responses or responses[-1].message.content == text


async def test_every_way_to_ask_gives_the_same():
    llm = ScriptedLLM(lambda messages: f"{messages[-1].content} back")
    streamed = [response.delta async for response in await llm.astream_chat(HELLO)]
    assert "".join(streamed) == "hello back" and len(streamed) == 2
    assert llm.chat(HELLO).message.content == (await llm.achat(HELLO)).message.content == "hello back"
    assert llm.complete("hello").text == "hello back"
    assert [part.delta for part in llm.stream_complete("hello")] == streamed
    assert len(llm.calls) == 5


async def test_pieces_can_wait_and_fail():
    llm = ScriptedLLM(lambda _: ["a", 0.001, ValueError("no"), "b"])
    seen = []
    with pytest.raises(ValueError, match="no"):
        async for response in await llm.astream_chat(HELLO):
            seen.append(response.delta)
    assert seen == ["a"]


async def test_a_stream_that_is_closed_early_is_counted():
    llm = ScriptedLLM(lambda _: ["a", "b"])
    stream = await llm.astream_chat(HELLO)
    await anext(stream)
    await stream.aclose()
    assert llm.abandoned == 1


@pytest.mark.slow
@given(st.text(), st.text())
def test_the_estimate_of_tokens_grows_with_the_text(one, other):
    assert 0 <= estimate_tokens(one) <= estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)
