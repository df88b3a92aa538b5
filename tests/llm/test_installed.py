"""Which model of an Ollama server answers: by what it can, by memory and by measured speed, whatever its family."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ollama_server import OllamaServer

from repopilot.llm.capability import Capability, read_shown
from repopilot.llm.choice import choose, status
from repopilot.llm.choice.installed import CONTEXT_BYTES, Installed, ModelHost, fits, most_capable, speed_of
from repopilot.llm.resources import ModelResources
from repopilot.llm.speed.model_speed import Speed
from repopilot.settings import Settings

GIB = 1 << 30
CODER = Installed("qwen2.5-coder:1.5b", Capability(billions=1.5), GIB)
QWEN = Installed("qwen3:8b", Capability(True, 8.2), 5 * GIB)
DEVSTRAL = Installed("devstral:24b", Capability(True, 23.6), 14 * GIB)
MIXTURE = Installed("gpt-oss:20b", Capability(True, 20.9, active_share=4 / 32), 13 * GIB)
LLAMA = Installed("llama2:70b", Capability(False, 69.0), 39 * GIB)
ALL = (CODER, QWEN, DEVSTRAL, MIXTURE, LLAMA)
FAST, SLOW = Speed(900, 60), Speed(30, 5)

speeds = st.builds(Speed, st.floats(1, 10_000), st.floats(1, 1_000))
hosts = st.builds(
    ModelHost,
    st.none() | st.floats(GIB, 200 * GIB),
    st.booleans(),
    st.dictionaries(st.sampled_from([model.name for model in ALL]), speeds),
)


@pytest.mark.parametrize(
    ("memory", "accelerated", "speeds", "chosen"),
    [
        (24, True, {}, DEVSTRAL),
        (16, True, {}, MIXTURE),
        (None, True, {}, DEVSTRAL),
        (24, True, {DEVSTRAL.name: SLOW}, MIXTURE),
        (24, False, {}, CODER),
        (24, False, {CODER.name: FAST}, MIXTURE),
        (24, False, {CODER.name: SLOW}, CODER),
        (24, False, {CODER.name: FAST, MIXTURE.name: SLOW}, CODER),
        (2, False, {}, CODER),
    ],
)
def test_the_most_capable_that_fits_and_is_fast_enough(memory, accelerated, speeds, chosen):
    host = ModelHost(memory and memory * GIB, accelerated, speeds)
    assert most_capable(ALL, host)[0] == chosen.name


@pytest.mark.slow
@given(st.sets(st.sampled_from(ALL), min_size=1), hosts)
def test_one_that_is_there_answers_and_fits_where_any_does(models, host):
    name, why = most_capable(tuple(models), host)
    chosen = next(model for model in models if model.name == name)
    assert why
    assert fits(chosen.bytes, host.memory) or not any(fits(model.bytes, host.memory) for model in models)


def test_larger_models_are_estimated_slower_and_mixtures_by_what_a_token_passes_through():
    known = {CODER.name: FAST}
    order = [speed_of(model, ALL, known).answer_seconds() for model in (CODER, MIXTURE, QWEN, DEVSTRAL, LLAMA)]
    assert order == sorted(order)
    assert speed_of(QWEN, ALL, {}) is None


def test_experts_are_read_from_what_the_server_says():
    shown = {"model_info": {"gptoss.expert_count": 32, "gptoss.expert_used_count": 4, "gptoss.context_length": 131072}}
    assert read_shown(shown).active_share == 4 / 32
    assert read_shown({"model_info": {"x.expert_count": 0}}).active_share == 1


async def test_the_way_and_what_a_better_model_brings_are_said(tmp_path):
    with OllamaServer(models=["devstral:24b", "qwen3:8b"], capabilities=("completion", "tools")) as server:
        settings = Settings(home=tmp_path, ollama_url=server.url, embedded=False)
        model = await choose.choose(settings, ModelResources())
        assert (model.name, model.way, status.status(settings).way) == ("qwen3:8b", "agent", "agent")
        server.state.capabilities = ("completion",)
        found = status.status(settings)
        assert found.way == "small"
        server.state.models[:] = ["qwen2.5-coder:0.5b"]
        assert status.status(settings).offer.name == "qwen3:8b"


async def test_a_server_that_refuses_tools_gets_a_model_of_the_small_way(tmp_path):
    for tools, way in ((True, "agent"), (False, "small")):
        with OllamaServer(native=False, models=["qwen3:8b"], tools=tools) as server:
            settings = Settings(home=tmp_path, llm_url=server.url, ollama_url="", embedded=False)
            assert (await choose.choose(settings, ModelResources())).way == way


@pytest.mark.slow
def test_the_context_is_counted_with_the_weights():
    assert fits(5 * GIB, 5 * GIB + CONTEXT_BYTES) and not fits(5 * GIB, 5 * GIB)
