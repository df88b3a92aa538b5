"""A hosted model by one key: checked when it is entered, kept in memory, sent to its address only, and never shown."""

import asyncio
import email.utils
import json
import logging
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from support.host_server import answering
from support.index_case import runtime_for
from support.ollama_server import OllamaServer, refusing_url

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm.choice import choose
from repopilot.llm.choice.status import status
from repopilot.llm.model import Model
from repopilot.llm.stream import chat
from repopilot.llm.token_estimate import estimate_tokens
from repopilot.settings import Settings
from repopilot.trace import root
from repopilot.ui.chat import Chat, Process
from repopilot.ui.conversation import welcome_props
from repopilot.ui.hosted_model import use_hosted

KEY = "sk-hosted-0123456789abcdef"
QUIET = {"ollama_url": "", "embedded": False, "auto_download": False, "dense": False}


@pytest.fixture
def process(tmp_path):
    with runtime_for(Settings(home=tmp_path / "home", **QUIET, _env_file=None)) as runtime:
        yield Process(runtime)


@pytest.fixture
def service():
    with OllamaServer(native=False, models=["large", "small"], key=KEY) as server:
        yield server


def pressed(process, owner="", **fields):
    return asyncio.run(use_hosted(Chat(process, owner=owner), {"url": "", "key": "", "model": "", **fields}))


@pytest.mark.slow
def test_a_model_is_chosen_used_and_left_again(process, service, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    assert pressed(process, url=service.url, key=f" {KEY}\n") == {"models": ["large", "small"]}
    assert process.models.model is None, "nothing is used before a model is named"
    assert pressed(process, url=f"{service.url}/v1/chat/completions", key=KEY, model="small") == {}
    assert process.models.model.name == "small" and process.models.names == ["small"]
    props = welcome_props(Chat(process), "")
    assert props["hosted"]["used"] == f"{service.url}/v1" and "small at" in props["model"]["text"]
    assert pressed(process) == {} and process.models.model is None and process.models.settings.llm_key == ""
    seen = [repr(props), repr(process.models.settings), repr(process.models.status), caplog.text]
    seen += [file.read_text("utf-8", "replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert not any(KEY in each for each in seen)


@pytest.mark.slow
@pytest.mark.parametrize("public_list", [False, True])
def test_a_wrong_key_is_said_and_not_used(process, service, public_list):
    service.state.public_list = public_list
    error = pressed(process, url=service.url, key="sk-of-another-service", model="large")["error"]
    assert "refuses the key (status 401)" in error and "sk-of" not in error
    assert process.models.settings.llm_url == "" and process.models.model is None


@pytest.mark.slow
def test_an_unknown_model_and_a_spent_limit_are_said(process, service):
    assert "no model huge" in pressed(process, url=service.url, key=KEY, model="huge")["error"]
    service.state.chat_error = 429
    error = pressed(process, url=service.url, key=KEY, model="large")["error"]
    assert "takes no more calls now (status 429)" in error and KEY not in error


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ((200, {"Content-Type": "text/html"}, b"<html>Welcome"), "not an OpenAI-compatible service (status 200)"),
        ((200, {}, b'{"models": []}'), "not an OpenAI-compatible service (status 200)"),
        ((404, {}, b""), "not an OpenAI-compatible service (status 404)"),
        ((302, {"Location": "http://127.0.0.1:9/steal"}, b""), "not an OpenAI-compatible service (status 302)"),
        ((503, {}, b""), "fails (status 503)"),
        ((403, {}, b"sk-hosted-0123456789abcdef"), "refuses the key (status 403)"),
    ],
)
def test_another_services_answer_is_said(process, reply, expected):
    with answering(reply) as (url, asked):
        error = pressed(process, url=url, key=KEY)["error"]
    assert expected in error and KEY not in error and len(asked) == 2, "nothing follows a redirect"


def test_what_is_no_address_or_key_is_sent_nowhere(process):
    for url in ("http://models.example.org/v1", "ftp://x", "models", "https://user:pw@x.org", "https://a,https://b"):
        error = pressed(process, url=url, key=KEY)["error"]
        assert "is not the address of a service" in error and KEY not in error and "pw" not in error
    for key in ("clé", "two words", "a\x00b", "x" * 600):
        assert "characters that no key has" in pressed(process, url="https://127.0.0.1:9", key=key)["error"]
    assert "does not answer" in pressed(process, url=refusing_url(), key=KEY)["error"]


@pytest.mark.slow
def test_where_it_is_set_for_everybody_nobody_changes_it(process, service, tmp_path):
    assert "set for everybody" in pressed(process, owner="ada", url=service.url, key=KEY, model="small")["error"]
    assert welcome_props(Chat(process, owner="ada"), "")["hosted"] is None
    fixed = Settings(home=tmp_path / "other", llm_url=service.url, **QUIET, _env_file=None)
    with runtime_for(fixed) as runtime:
        assert "set for everybody" in pressed(Process(runtime), url=service.url, key=KEY)["error"]


@pytest.mark.slow
async def test_a_key_of_the_settings_is_named_where_it_is_refused_and_never_repeated(service, tmp_path, caplog):
    wrong = Settings(home=tmp_path, llm_url=service.url, llm_key="sk-wrong-0123456789", **QUIET, _env_file=None)
    said = [i18n.translated(note, "en") for note in (await asyncio.to_thread(status, wrong)).notes]
    assert any("refuses the key (status 401)" in each for each in said) and "sk-wrong" not in repr(said)
    with runtime_for(wrong) as runtime:
        assert await choose.choose(wrong, runtime.models) is None
    assert "refuses the key (status 401)" in caplog.text and "sk-wrong" not in caplog.text
    right = wrong.model_copy(update={"llm_key": KEY})
    with runtime_for(right) as runtime:
        model = await choose.choose(right, runtime.models)
        service.state.chat_error = 422
        with pytest.raises(ModelError) as failed:
            async with root(lambda event: None, "ask") as step:
                await chat(model, [ChatMessage(role="user", content="Hi")], step)
        assert "422" in failed.value.message and KEY not in failed.value.message and "…" in failed.value.message
        for code, hint in (
            (429, "limit is reached"),
            (402, "credit there is used up"),
            (401, "given on the first screen"),
        ):
            service.state.chat_error = code
            with pytest.raises(ModelError, match=str(code)) as failed:
                async with root(lambda event: None, "ask") as step:
                    await chat(model, [ChatMessage(role="user", content="Hi")], step)
            assert hint in failed.value.hint and KEY not in str(failed.value)


async def test_a_busy_service_elsewhere_is_asked_again_and_a_server_of_this_machine_is_not(monkeypatch):
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices = [{"index": 0, "delta": {"content": "Here."}}, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    events = "".join(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n" for choice in choices)
    busy = (429, {"Retry-After": "0.05"}, b"{}")
    reply = (200, {"Content-Type": "text/event-stream"}, f"{events}data: [DONE]\n\n".encode())
    with answering(busy, busy, reply) as (proxy, asked):
        monkeypatch.setenv("HTTP_PROXY", proxy)  # so that a name from elsewhere leads to loopback
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        llm = OpenAILike(model="m", api_base="http://models.example/v1", api_key=KEY, is_chat_model=True)
        async with root(lambda event: None, "ask") as step:
            model = Model(llm, "m", "openai", 8192, estimate_tokens)
            assert await chat(model, [ChatMessage(role="user", content="Hi")], step) == "Here."
    assert [path for _, path, _ in asked] == ["http://models.example/v1/chat/completions"] * 3
    spent = (429, {}, b'{"error": {"message": "Try again in 40 minutes.", "type": "rate_limit"}}')
    with answering(spent) as (url, asked):
        llm = OpenAILike(model="m", api_base=f"{url}/v1", api_key=KEY, is_chat_model=True)
        with pytest.raises(ModelError, match="answered 429: Try again in 40 minutes"):
            async with root(lambda event: None, "ask") as step:
                await chat(replace(model, llm=llm), [ChatMessage(role="user", content="Hi")], step)
    assert len(asked) == 1


def failing(message, **facts):
    return json.dumps({"error": {"message": message, **facts}}).encode()


IN_TWO_HOURS = email.utils.formatdate(time.time() + 7200, usegmt=True)
STREAMED = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":'
STREAMED += b'[{"index":0,"delta":{"content":"Half"}}]}\n\ndata: '


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ((429, {}, failing("Slow down")), "answered 429: Slow down. ~ limit is reached, or its credit"),
        ((429, {"Retry-After": "21600"}, failing("Slow down")), "429: Slow down ~ It takes calls again at 20"),
        ((429, {"Retry-After": IN_TWO_HOURS}, failing("Slow down")), "429: Slow down ~ It takes calls again at 20"),
        ((429, {"Retry-After": "soon"}, b'{"error": "slow down"}'), "429: slow down ~ limit is reached, or"),
        ((429, {}, failing("You exceeded it", code="insufficient_quota")), "You exceeded it ~ credit there is used up"),
        ((402, {}, failing("Add more")), "402: Add more ~ credit there is used up"),
        ((401, {}, failing(f"Incorrect API key {KEY}")), "refused the key (401) ~ Check the key"),
        ((403, {}, failing("Not in your country")), "403: Not in your country ~ Check the key"),
        ((400, {}, b"[" + failing("API key not valid") + b"]"), "answered 400: API key not valid ~ "),
        ((404, {}, b"<html><body>Nothing here"), "answered 404: no reason given ~ Check the address of the API"),
        ((503, {}, b"<html>Unavailable"), "answered 503: no reason given ~ "),
        ((200, {"Content-Type": "text/html"}, b"<html>Welcome"), "an empty reply ~ Is this really a model server"),
        (
            (307, {"Location": "http://127.0.0.2:9/steal"}, b""),
            "redirects to another address; ~ Give the address of its",
        ),
        ((301, {"Location": "https://x.example/v1"}, b""), "redirects to another address; ~ Give the address of its"),
        (
            (200, {}, STREAMED + failing("Used up", code="insufficient_quota")),
            "failed: Used up ~ credit there is used up",
        ),
        ((200, {}, STREAMED + failing("Too many", code=429)), "failed: Too many ~ What it had written is kept."),
    ],
)
async def test_a_failure_of_a_service_says_what_happened_and_what_to_do(reply, expected):
    status, headers, body = reply
    with answering((status, {"Content-Type": "text/event-stream"} | headers, body + b"\n\n")) as (url, asked):
        llm = OpenAILike(model="m", api_base=url, api_key=KEY, is_chat_model=True)
        model = Model(llm, "m", "openai", 8192, estimate_tokens)
        with pytest.raises(ModelError) as failed:
            async with root(lambda event: None, "ask") as step:
                await chat(model, [ChatMessage(role="user", content="Hi")], step)
    happened, advice = expected.split(" ~ ")
    assert happened in failed.value.message and advice in failed.value.hint
    assert len(asked) == 1, "what is refused is not sent elsewhere"
    assert KEY not in str(failed.value) and "<" not in failed.value.message


@pytest.mark.slow
@pytest.mark.thorough
def test_a_service_that_takes_no_more_calls_is_told_once_and_the_question_can_be_asked_again(service, tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "cart.py").write_text("def total(n):\n    return n * 2\n")
    named = {"home": tmp_path / "home", "llm_url": service.url, "llm_key": KEY, "llm_model": "large"}
    env = {f"REPOPILOT_{name.upper()}": str(value) for name, value in (QUIET | named).items()}
    ask = [sys.executable, "-m", "repopilot", "ask", str(tmp_path / "code"), "how is the total computed, and why?"]
    service.state.chat_error = 429
    done = subprocess.run(ask, env=os.environ | env, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and said.count("429") == 1 and "limit is reached" in said, said
    assert "cart.py:1-2" in done.stdout and KEY not in said, "what code found is there all the same"
    service.state.chat_error = 0
    again = subprocess.run(ask, env=os.environ | env, capture_output=True, text=True)
    assert again.returncode == 0 and "429" not in again.stdout + again.stderr
