"""The embedded engine: a child process that may crash, must not outlive us, and does what the servers do."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from llama_index.core.llms import ChatMessage
from pydantic import BaseModel, Field
from support import waiting
from support.models import SMALL, model_settings

from repopilot import trace
from repopilot.errors import ModelError
from repopilot.llm import backend, stream, structured
from repopilot.llm.backend import ChatOptions
from repopilot.llm.choice import choose
from repopilot.llm.embedded import embedded_model
from repopilot.llm.embedded.embedded_engine import Engine, import_error, start_hint
from repopilot.llm.resources import ModelResources
from repopilot.llm.token_estimate import estimate_tokens

COUNT = [ChatMessage(role="user", content="Count from 1 to 300, one number a line, nothing else.")]


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return model_settings(tmp_path_factory.mktemp("home"), num_ctx=2048)


@pytest.fixture(scope="module")
def resources():
    made = ModelResources()
    yield made
    made.close()


@pytest.fixture(scope="module")
def engine(settings, resources):
    """The real 0.5B's process, shared by the tests of this file and ended with the last."""
    name, path, _ = embedded_model.find(settings)
    engine = resources.engines.get(name, path, settings.num_ctx, settings.threads)
    engine.start()
    yield engine
    engine.stop()


@pytest.fixture
async def model(settings, engine, resources):
    found = await choose.choose(settings, resources)
    assert found is not None and found.name == SMALL and found.engine is engine
    return found


def is_idle(engine: Engine) -> bool:
    """Whether no slot of the engine is at work."""
    url, headers = engine.address.replace("/v1", "/slots"), {"Authorization": f"Bearer {engine.key}"}
    return not any(slot["is_processing"] for slot in waiting.get(url, headers=headers).json())


def is_zombie(pid: int) -> bool:
    """Whether the process has ended and only waits for its parent, which in a container may never ask."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(") ")[2].startswith("Z")


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return is_zombie(pid)


@pytest.mark.slow
async def test_weights_that_are_none_are_an_error_with_a_hint(tmp_path, settings_for):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really" * 100)
    model = await choose.choose(settings_for(llm_model=str(broken)), ModelResources())
    assert model.name == "broken" and model.count_tokens("abc def") == estimate_tokens("abc def")
    with pytest.raises(ModelError, match="could not be started") as caught:
        await choose.warm_up(model)
    assert caught.value.hint and not model.engine.alive


@pytest.mark.model
async def test_it_answers_counts_and_keeps_to_a_schema(model, events):
    class Capital(BaseModel):
        country: str = Field(max_length=30)
        capital: str = Field(max_length=30)

    async with trace.root(events.append, "ask") as step:
        question = [ChatMessage(role="user", content="What is the capital of France? Answer with its name only.")]
        assert "Paris" in await stream.chat(model, question, step, ChatOptions(20, 0.0))
        assert step.data["tokens_per_s"] is None or step.data["tokens_per_s"] > 0
        found = await structured.ask(model, question, Capital, step)
        assert found is not None and found.capital == "Paris"
    assert model.count_tokens("def hello(): return 1") == 6
    routing = [ChatMessage(role="user", content="Answer with the word vegetable.")]
    async with trace.root(events.append, "ask") as step:
        word, confidence = await structured.choose_word(model, routing, ["animal", "vegetable"], step)
    assert word == "vegetable" and 0 < confidence <= 1
    asking = [ChatMessage(role="user", content="Will it rain tomorrow? Answer yes or no.")]
    async with trace.root(events.append, "ask") as step:
        word, confidence = await structured.choose_word(model, asking, ["yes", "no"], step)
    assert word in ("yes", "no") and 0.5 <= confidence < 0.999 and step.data["completion_tokens"] <= 2


@pytest.mark.model
async def test_a_crash_keeps_the_partial_reply_and_the_next_call_restarts(model, events):
    async with trace.root(events.append, "ask") as step:
        task = asyncio.create_task(stream.chat(model, COUNT, step, ChatOptions(600, seed=1)))
        while len(step.text) < 6:
            await asyncio.sleep(0.01)
        os.kill(model.engine.pid, signal.SIGKILL)
        with pytest.raises(ModelError, match="SIGKILL") as caught:
            await task
    assert caught.value.partial == step.text != ""
    async with trace.root(events.append, "ask") as step:
        assert await stream.chat(model, COUNT, step, ChatOptions(8, seed=2))


@pytest.mark.model
async def test_cancelling_frees_the_model(model, events):
    """The child stops generating: its slot is idle again long before the reply could have ended."""
    async with trace.root(events.append, "ask") as step:
        task = asyncio.create_task(stream.chat(model, COUNT, step, ChatOptions(1500, seed=3)))
        while not step.text:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await waiting.eventually(lambda: is_idle(model.engine))


@pytest.mark.model
@pytest.mark.thorough
async def test_it_gives_signs_of_life_while_it_reads_a_long_prompt(model):
    """Else a long prompt on a busy machine would count as hanging."""
    prompt = [ChatMessage(role="user", content="def f(x): return x + 1\n" * 40)]
    async with backend.open_reply(model, prompt, ChatOptions(1, 0.0)) as deltas:
        texts = [delta.text async for delta in deltas]
    first_text = next(position for position, text in enumerate(texts) if text)
    assert first_text >= 2


@pytest.mark.model
async def test_without_the_key_nobody_is_served(model):
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{model.engine.address}/chat/completions", json={"messages": []})
    assert answer.status_code == 401


@pytest.mark.model
def test_the_child_ends_with_its_parent(settings):
    """Killed without a chance to clean up, the parent takes the child with it."""
    path = embedded_model.find(settings)[1]
    program = (
        "import sys, time; from pathlib import Path; from repopilot.llm.embedded.embedded_engine import Engine\n"
        "engine = Engine('small', Path(sys.argv[1]), 512, 1); engine.start()\n"
        "print(engine.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    os.kill(child, 0)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    waiting.until(lambda: is_gone(child))


def test_a_stopped_engine_says_so(tmp_path):
    engine = Engine("none", tmp_path / "none.gguf", 512, 1)
    assert not engine.alive and engine.exit_reason() == "not started"
    engine.stop()


def test_a_missing_system_library_is_named_with_its_package() -> None:
    reason = "exit code 1, ImportError: libgomp.so.1: cannot open shared object file"
    assert "apt install libgomp1" in start_hint(reason, Path("m.gguf"))
    assert "libgomp" not in start_hint("SIGSEGV", Path("m.gguf"))


@pytest.mark.slow
def test_the_installed_engine_can_be_imported() -> None:
    assert import_error() == ""
