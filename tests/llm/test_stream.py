"""Asking a model over HTTP: what arrives, what goes wrong, and that stopping stops."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from llama_index.core.llms import ChatMessage
from support.ollama_server import OllamaServer
from support.scripted_models import scripted_model

from repopilot import trace
from repopilot.errors import ModelError, ModelSilent
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.choice import choose
from repopilot.llm.model import Model
from repopilot.llm.resources import ModelResources
from repopilot.llm.speed.model_speed import Speed, first_word_s

QUESTION = [
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(role="user", content="one two three four five"),
]
PROTOCOLS = ["ollama", "openai"]


@pytest.fixture(params=PROTOCOLS)
def server(request):
    """A scripted server, spoken to by Ollama's protocol or as an OpenAI-compatible one."""
    with OllamaServer(native=request.param == "ollama") as server:
        yield server


@pytest.fixture
async def model(server, settings_for):
    found = await choose.choose(settings_for(llm_url=server.url, llm_model="qwen2.5-coder:0.5b"), ModelResources())
    assert found is not None
    return found


async def failure(model, step, **options) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await stream.chat(model, QUESTION, step, ChatOptions(**options))
    assert caught.value.hint
    return caught.value


@pytest.mark.slow
async def test_a_reply_is_streamed_piece_by_piece_and_described(model, step, events):
    reply = await stream.chat(model, QUESTION, step, ChatOptions(50))
    assert reply == "You said: one two three four five"
    deltas = [event.text for event in events if isinstance(event, trace.Streamed)]
    assert len(deltas) > 3 and "".join(deltas) == reply
    assert step.data["model"] == "qwen2.5-coder:0.5b"
    assert step.data["prompt_tokens"] > 0 and step.data["completion_tokens"] == 7
    assert step.data["finish"] == "stop" and step.data["first_token_s"] >= 0


async def test_the_options_reach_the_server(model, server, step):
    await stream.chat(model, QUESTION, step, ChatOptions(4, 0.7, stop=("END",), seed=5))
    assert step.text == "You said: one two" and step.data["finish"] == "length"
    if model.kind == "ollama":
        (body,) = server.state.sent("/api/chat")
        assert body["keep_alive"] == "24h"
        wanted = {"num_ctx": 8192, "num_predict": 4, "temperature": 0.7, "stop": ["END"], "seed": 5}
        assert wanted.items() <= body["options"].items()
    else:
        (body,) = server.state.sent("/v1/chat/completions")
        wanted = {"max_tokens": 4, "temperature": 0.7, "stop": ["END"], "seed": 5, "stream": True}
        assert wanted.items() <= body.items()


async def test_a_refusing_server(model, server, step):
    server.__exit__()
    error = await failure(model, step)
    assert "can't be reached" in error.message and error.partial == ""


@pytest.mark.parametrize(
    ("behaviour", "words", "partial"),
    [
        ("500", "answered 500", ""),
        ("garbage", "", ""),
        ("close midway", "in the middle", "You said: one"),
    ],
)
async def test_a_failing_server_is_explained_and_the_streamed_text_stays(
    model, server, step, behaviour, words, partial
):
    server.state.behaviour = behaviour
    error = await failure(model, step)
    assert words in error.message and error.partial == partial and step.text == partial


async def test_an_error_of_ollamas_in_the_middle_is_passed_on(settings_for, step):
    with OllamaServer(behaviour="error midway") as server:
        model = await choose.choose(settings_for(ollama_url=server.url), ModelResources())
        error = await failure(model, step)
    assert "runner process has terminated" in error.message and error.partial == "You said: one"


@pytest.mark.slow
@pytest.mark.parametrize(("behaviour", "partial"), [("hang", ""), ("hang midway", "You said: one")])
async def test_a_hanging_server_is_given_up_after_the_timeout(server, settings_for, step, behaviour, partial):
    warmed = await choose.choose(settings_for(llm_url=server.url), ModelResources())
    async with trace.root([].append, "ask") as other:
        await stream.chat(warmed, [ChatMessage(role="user", content="Load the client.")], other)
    server.state.behaviour = behaviour
    model = await choose.choose(settings_for(llm_url=server.url, model_timeout_s=2), ModelResources())
    error = await failure(model, step)
    assert "sent nothing for 2 s" in error.message and error.partial == partial
    await asyncio.to_thread(server.wait_for_disconnect)


def silent(times: int):
    """The script of a server that says nothing to the first calls."""
    left = [[600.0]] * times

    def reply(messages):
        return left.pop() if left else "Here I am again."

    return reply


async def quick_to_doubt(server, settings_for) -> Model:
    """A model that may be silent for three seconds."""
    warmed = await choose.choose(settings_for(llm_url=server.url), ModelResources())
    async with trace.root([].append, "ask") as other:
        await stream.chat(warmed, [ChatMessage(role="user", content="Load the client.")], other)
    server.state.requests.clear()
    return replace(warmed, timeout_s=3.0)


def asked(server) -> int:
    return sum("chat" in path for path, _ in server.state.requests)


@pytest.mark.slow
@pytest.mark.sampled(1)
async def test_a_silent_model_is_asked_once_more(server, settings_for, step):
    model = await quick_to_doubt(server, settings_for)
    server.state.reply = silent(1)
    assert await stream.chat(model, QUESTION, step) == "Here I am again."
    assert asked(server) == 2
    assert step.data["degraded"] == [f"{model.name} has sent nothing for 3 s. It is asked once more."]
    server.state.reply = silent(2)
    with pytest.raises(ModelSilent):
        await stream.chat(model, QUESTION, step)
    assert asked(server) == 4


async def test_a_reply_that_was_shown_is_not_begun_again(server, settings_for, step):
    model = await quick_to_doubt(server, settings_for)
    server.state.reply = lambda messages: ["Half a ", "sentence", 600.0]

    async def shown(text: str) -> bool:
        return False

    with pytest.raises(ModelSilent) as caught:
        await stream.chat(model, QUESTION, step, halt=shown)
    assert caught.value.partial == "Half a sentence" and asked(server) == 1


@pytest.mark.slow
async def test_a_model_that_reads_a_long_prompt_is_waited_for(server, settings_for, step):
    model = replace(await quick_to_doubt(server, settings_for), timeout_s=1.0, speed=Speed(1.0, 1.0))
    server.state.reply = lambda messages: [2.0, "Now I have ", "read it."]
    assert await stream.chat(model, QUESTION, step) == "Now I have read it."
    assert asked(server) == 1 and "degraded" not in step.data


@pytest.mark.parametrize(
    ("tokens", "speed", "seconds"),
    [
        (9000, Speed(20.0, 5.0), 900.0),
        (9000, Speed(33.0, 5.0), 546.0),
        (9000, Speed(1000.0, 50.0), 120.0),
        (100, Speed(20.0, 5.0), 120.0),
        (9000, None, 120.0),
    ],
)
def test_the_first_word_may_take_as_long_as_the_prompt_is_read(tokens, speed, seconds):
    assert first_word_s(tokens, speed, 120.0) == seconds


@pytest.mark.slow
async def test_slow_is_not_hanging(server, settings_for, step):
    """The timeout is for silence, not for the whole reply."""
    server.state.behaviour = "slow"
    server.state.reply = lambda _: "word " * 12
    model = await choose.choose(settings_for(llm_url=server.url, model_timeout_s=3), ModelResources())
    assert await stream.chat(model, QUESTION, step) == "word " * 12


async def test_cancelling_hangs_up(model, server, step):
    server.state.reply = lambda _: ("word " for _ in range(10**6))
    server.state.delay_s = 0.02
    task = asyncio.create_task(stream.chat(model, QUESTION, step))
    while not step.text:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(server.wait_for_disconnect)
    assert step.text.startswith("word") and step.data["completion_tokens"] >= 1


async def test_cancelling_before_the_first_token_hangs_up(model, server, step):
    server.state.behaviour = "hang"
    task = asyncio.create_task(stream.chat(model, QUESTION, step))
    while not any("chat" in path for path, _ in server.state.requests):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(server.wait_for_disconnect)


async def test_a_prompt_too_long_is_refused_before_it_is_sent(model, server, step):
    long = [ChatMessage(role="user", content="def f(): pass\n" * 20_000)]
    with pytest.raises(ModelError, match="leaves room for"):
        await stream.chat(model, long, step)
    assert not any("chat" in path for path, _ in server.state.requests)


async def test_a_removed_model(model, server, step):
    server.state.models.clear()
    error = await failure(model, step)
    assert "404" in error.message and "not found" in error.message


@pytest.mark.slow
async def test_replies_in_parallel_run_in_parallel(model, server, events):
    """Both are under way at the same time: each waits for the other before it goes on."""
    both = asyncio.Barrier(2)
    server.state.delay_s = 0.02

    async def ask(name: str) -> str:
        async with trace.root(events.append, name) as step:
            task = asyncio.create_task(stream.chat(model, QUESTION, step, ChatOptions(seed=len(name))))
            while not step.text:
                await asyncio.sleep(0.005)
            assert not task.done()
            await both.wait()
            return await task

    assert await asyncio.gather(ask("critic"), ask("defender")) == ["You said: one two three four five"] * 2


async def test_an_error_of_the_script_becomes_a_model_error_with_the_partial_reply(step):
    model = scripted_model(lambda _: ["half ", "an ", RuntimeError("boom")])
    error = await failure(model, step)
    assert error.partial == "half an " and "boom" in error.message


async def test_accents_do_not_break_across_pieces(model, server, step):
    server.state.reply = lambda _: "Où est-ce défini ? 定義はここ"
    assert await stream.chat(model, QUESTION, step) == "Où est-ce défini ? 定義はここ"


async def test_half_a_surrogate_pair_becomes_valid_text(step):
    lonely = scripted_model(lambda messages: ["a \ud83d b"])
    assert await stream.chat(lonely, QUESTION, step) == "a \ufffd b"
