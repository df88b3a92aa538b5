"""Calls of tools, wherever a server puts them; and what a model can."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ollama_server import OllamaServer

from repopilot import trace
from repopilot.errors import ToolsRefused
from repopilot.llm.capability import Capability, context_window, read_shown, way_of
from repopilot.llm.choice import choose
from repopilot.llm.resources import ModelResources
from repopilot.llm.tool_calls import ToolCall, ToolReply, ask_for_action, ask_with_tools, calls_in_text
from repopilot.settings import Settings

NAMES = ("read", "finish")
READ = {"name": "read", "description": "Read a file.", "parameters": {"type": "object", "properties": {}}}
CALL = ToolCall("read", {"path": "a.py"})
HISTORY = [
    {"role": "system", "content": "Use tools."},
    {"role": "user", "content": "Read a.py"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "b.py"}'}}],
    },
    {"role": "tool", "content": "1 x", "tool_call_id": "c1", "name": "read"},
]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "read", "arguments": {"path": "a.py"}}',
        'I look first.\n<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}}\n</tool_call>',
        '```json\n{"name": "read", "parameters": {"path": "a.py"}}\n```',
        '[{"function": {"name": "read", "arguments": "{\\"path\\": \\"a.py\\"}"}}]',
        '{"name": "read", "path": "a.py"}',
        '{"tool": "read", "arguments": "\\"{\\\\\\"path\\\\\\": \\\\\\"a.py\\\\\\"}\\""}',
        'A list [1, 2], a brace {, then {"name": "read", "arguments": {"path": "a.py"}}',
    ],
)
def test_calls_are_found_in_text(text):
    calls, rest, problem = calls_in_text(text, NAMES)
    assert calls == (CALL,) and not problem
    assert "arguments" not in rest and "tool_call" not in rest


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"name": "read", "arguments": {"path": "a.py"', "can't be read"),
        ("It is in a.py, a dict {'name': 'read'}.", ""),
        ("", ""),
    ],
)
def test_what_is_no_call_is_told_apart_from_a_broken_one(text, problem):
    calls, rest, found = calls_in_text(text, NAMES)
    assert not calls and rest == text and (problem in found if problem else not found)


@pytest.mark.slow
@given(st.text(max_size=60), st.text(max_size=60), st.dictionaries(st.text("abc_", min_size=1), st.integers()))
def test_a_call_is_found_in_any_prose(before, after, arguments):
    written = json.dumps({"name": "read", "arguments": arguments})
    plain = [text.translate(str.maketrans("", "", '{}[]"')) for text in (before, after)]
    assert calls_in_text(f"{plain[0]}\n{written}\n{plain[1]}", NAMES)[0] == (ToolCall("read", arguments),)


@given(st.text(alphabet='{}[]",:\\ name"arguments"read\n', max_size=200))
def test_any_text_can_be_read(text):
    calls_in_text(text, NAMES)


async def _asked(settings: Settings, asking) -> ToolReply:
    model = await choose.choose(settings, ModelResources())
    assert model is not None
    async with trace.root(lambda event: None, "ask") as step:
        return await asking(model, HISTORY, [READ], step, max_tokens=200)


@pytest.mark.parametrize("api", ["ollama", "openai"])
async def test_calls_in_the_servers_own_format(api, settings_for):
    said = {"content": "", "thinking": "First a.py.", "tool_calls": [{"name": "read", "arguments": {"path": "a.py"}}]}
    with OllamaServer(reply=lambda messages: said, native=api == "ollama") as server:
        where = {"ollama_url": server.url} if api == "ollama" else {"llm_url": server.url, "ollama_url": ""}
        reply = await _asked(settings_for(**where), ask_with_tools)
        (sent,) = server.state.sent("/api/chat" if api == "ollama" else "/v1/chat/completions")
    assert [(call.name, call.arguments) for call in reply.calls] == [("read", {"path": "a.py"})]
    assert reply.thinking == "First a.py." and not reply.text
    assert sent["tools"] == [{"type": "function", "function": READ}]
    called, answered = sent["messages"][2:]
    assert called["tool_calls"][0]["function"]["name"] == "read"
    assert (answered["role"], answered["content"]) == ("tool", "1 x")


async def test_thinking_in_the_text_is_taken_out(settings_for):
    text = '<think>{"name": "finish", "arguments": {}}</think>{"name": "read", "arguments": {"path": "a.py"}}'
    with OllamaServer(reply=lambda messages: text) as server:
        reply = await _asked(settings_for(ollama_url=server.url), ask_with_tools)
    assert reply.calls == (CALL,) and "finish" in reply.thinking


async def test_a_server_that_refuses_tools_is_asked_for_one_action(settings_for):
    with OllamaServer(reply=lambda messages: json.dumps({"name": "read", "arguments": {}}), tools=False) as server:
        with pytest.raises(ToolsRefused):
            await _asked(settings_for(ollama_url=server.url), ask_with_tools)
        reply = await _asked(settings_for(ollama_url=server.url), ask_for_action)
        sent = server.state.sent("/api/chat")[-1]
    assert reply.calls == (ToolCall("read", {}),)
    assert sent["format"]["properties"]["name"]["enum"] == ["read"] and "Read a file." in sent["messages"][0]["content"]
    assert sent["messages"][-1] == {"role": "user", "content": "read:\n1 x"}


@pytest.mark.parametrize(
    ("can", "setting", "way"),
    [
        (Capability(True, 8.2), "", "agent"),
        (Capability(True, None), "", "agent"),
        (Capability(True, 1.5), "", "small"),
        (Capability(False, 30.0), "", "small"),
        (Capability(False, 0.5), "agent", "agent"),
        (Capability(True, 30.0), "small", "small"),
    ],
)
def test_the_way_follows_from_what_a_model_can_and_the_setting_stands_above(can, setting, way):
    assert way_of(can, Settings(way=setting)) == way


def test_what_ollama_shows_is_read_and_odd_answers_are_nothing():
    shown = {
        "capabilities": ["completion", "tools"],
        "details": {"parameter_size": "8.2B"},
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
    }
    assert read_shown(shown) == Capability(True, 8.2, 40960)
    assert read_shown({"details": {"parameter_size": "494.03M"}}).billions == pytest.approx(0.494, abs=0.001)
    assert read_shown({"capabilities": 1, "details": [], "model_info": {"x.context_length": "many"}}) == Capability()


def test_a_loop_gets_more_context_as_far_as_the_model_has_it():
    settings = Settings(num_ctx=0)
    remote = "http://models.example"
    assert context_window(Capability(True, 8.0, 131072), "agent", settings, remote) == 32768
    assert context_window(Capability(True, 8.0, 16384), "agent", settings, remote) == 16384
    assert context_window(Capability(True, 8.0), "small", settings, remote) == 8192
    assert context_window(Capability(True, 8.0), "agent", Settings(num_ctx=4096), remote) == 4096


async def test_ollama_says_how_a_model_works(settings_for):
    with OllamaServer(models=["qwen3:8b"], capabilities=("completion", "tools")) as server:
        model = await choose.choose(settings_for(ollama_url=server.url, llm_model="qwen3:8b"), ModelResources())
    assert model is not None and (model.way, model.context_window >= 16384) == ("agent", True)


@pytest.mark.slow
def test_a_tool_that_is_not_offered_may_be_called_in_the_plain_form():
    """Whoever makes the calls knows whether there is such a tool, and which ones are like it."""
    calls, rest, problem = calls_in_text('{"name": "raed", "arguments": {"path": "a.py"}}', NAMES)
    assert [call.name for call in calls] == ["raed"] and not rest and not problem
    assert not calls_in_text('{"name": "raed", "path": "a.py"}', NAMES)[0]
