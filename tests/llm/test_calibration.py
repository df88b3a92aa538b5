"""Measuring a model's speed, and what is kept of it."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import SMALL, model_settings
from support.ollama_server import OllamaServer

from repopilot.errors import ModelError
from repopilot.i18n import translated
from repopilot.llm.choice import choose
from repopilot.llm.choice.discovery import ollama_speed_keys
from repopilot.llm.choice.status import status
from repopilot.llm.embedded import embedded_model
from repopilot.llm.resources import ModelResources
from repopilot.llm.servers import ollama_api
from repopilot.llm.speed import calibration, machine
from repopilot.llm.speed.calibration import FILE
from repopilot.llm.speed.model_speed import Speed

LARGER, THREE = "qwen2.5-coder:1.5b", "qwen2.5-coder:3b"
FAST = Speed(188, 45)


def test_a_measured_speed_is_kept(tmp_path):
    assert calibration.kept(tmp_path) == {}
    calibration.keep(tmp_path, "key", FAST)
    assert calibration.kept_for(tmp_path, {SMALL: "key", LARGER: "another"}) == {SMALL: FAST}
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def test_what_a_busy_machine_measures_replaces_nothing_faster(tmp_path):
    calibration.keep(tmp_path, "key", Speed(90, 48))
    calibration.keep(tmp_path, "key", FAST)
    calibration.keep(tmp_path, "key", Speed(90, 20))
    assert calibration.kept(tmp_path) == {"key": Speed(188, 48)}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b"[]",
        b'{"key": 5}',
        b'{"key": {"prompt": 10.0}}',
        b'{"key": {"prompt": 0, "generation": 5.0}}',
        b'{"key": {"prompt": 10.0, "generation": "fast"}}',
        b'{"key": {"prompt": NaN, "generation": 5.0}}',
        b'{"key": {"prompt": true, "generation": 5.0}}',
    ],
)
def test_a_damaged_file_is_none_and_is_written_anew(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    assert calibration.kept(tmp_path) == {}
    calibration.keep(tmp_path, "key", FAST)
    assert calibration.kept(tmp_path) == {"key": FAST}


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_no_json_breaks_the_reading(tmp_path_factory, content):
    folder = tmp_path_factory.getbasetemp()
    (folder / FILE).write_text(json.dumps(content))
    assert calibration.kept(folder) == {}


def test_only_the_newest_are_kept(tmp_path):
    for number in range(calibration.MOST_KEPT + 3):
        calibration.keep(tmp_path, str(number), Speed(1, 1))
    assert next(iter(calibration.kept(tmp_path))) == "3"


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"prompt_eval_count": 5},
        {"prompt_eval_count": 5, "prompt_eval_duration": 0, "eval_count": 1, "eval_duration": 1},
    ],
)
def test_a_reply_without_durations_is_an_error(reply):
    with pytest.raises(ModelError, match="no durations"):
        calibration.ollama_speed(reply)


async def calibrated(settings):
    """Measure the model that answers, once; whether that brought a measurement, and the status after it."""
    model = await choose.choose(settings, ModelResources())
    return await choose.calibrate(model, settings), status(settings)


@pytest.mark.slow
async def test_ollama_is_measured_by_the_durations_it_reports(settings_for):
    with OllamaServer(models=[SMALL, "all-minilm:latest"]) as server:
        settings = settings_for(ollama_url=server.url)
        before = status(settings)
        assert before.speed is None and "not been measured yet" in before.detail
        assert await calibrated(settings) == (True, status(settings))
        after = status(settings)
        bodies = server.state.sent("/api/chat")
        assert before.measurable
    # The server says 0.1 s for each prompt of at least 160 tokens, and 0.1 s for 16 generated ones.
    assert after.speed.prompt >= 1600 and after.speed.generation == pytest.approx(160)
    assert "Measured here" in after.speed_note and "Mesuré ici" in translated(after.speed_note, "fr")
    assert all(body["options"]["num_ctx"] == 8192 and not body["stream"] for body in bodies)
    assert bodies[0]["messages"] != bodies[1]["messages"]


async def test_what_was_measured_chooses_the_size_and_the_offer(settings_for):
    with OllamaServer(models=[SMALL, LARGER]) as server:
        settings = settings_for(ollama_url=server.url)
        calibration.keep(settings.home, ollama_key(server, LARGER), Speed(104, 24))
        state = status(settings)
        assert (state.name, state.offer.name, state.missing_model) == (LARGER, THREE, None)
        assert 15 < state.offer.speed.answer_seconds() < 30 and "research only" in state.offer.licence
        model = await choose.choose(settings, ModelResources())
        assert model.speed == Speed(104, 24)
        (settings.home / FILE).unlink()
        calibration.keep(settings.home, ollama_key(server, LARGER), Speed(20, 4))
        state = status(settings)
        assert (state.name, state.offer.name) == (SMALL, THREE)


def ollama_key(server, name: str) -> str:
    tags = ollama_api.tags(server.url, 1)
    return ollama_speed_keys(server.url, tags)[name]


async def test_a_server_that_fails_is_an_error_and_nothing_is_kept(settings_for):
    with OllamaServer(models=[SMALL]) as server:
        settings = settings_for(ollama_url=server.url)
        model = await choose.choose(settings, ModelResources())
        server.state.behaviour = "500"
        with pytest.raises(ModelError, match="could not be measured"):
            await choose.calibrate(model, settings)
    assert calibration.kept(settings.home) == {}


async def test_a_question_stops_the_measurement(settings_for):
    with OllamaServer(models=[SMALL], reply=lambda _: ["one ", 30.0, "two"]) as server:
        settings = settings_for(ollama_url=server.url)
        model = await choose.choose(settings, ModelResources())
        measuring = asyncio.create_task(choose.calibrate(model, settings))
        while not server.state.sent("/api/chat"):
            await asyncio.sleep(0.01)
        measuring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await measuring
    assert calibration.kept(settings.home) == {}


@pytest.mark.slow
async def test_a_plain_server_is_not_measured(settings_for):
    with OllamaServer(native=False, models=["served"]) as server:
        assert (await calibrated(settings_for(llm_url=server.url)))[0] is False
        assert not server.state.sent("/v1/chat/completions")


def test_a_speed_holds_for_machine_engine_and_weights(settings_for):
    one, two = (embedded_model.speed_key(SMALL, None, settings_for(threads=threads)) for threads in (1, 2))
    other = embedded_model.speed_key(LARGER, None, settings_for(threads=1))
    assert len({one, two, other}) == 3 and all(machine.fingerprint() in key for key in (one, two, other))


@pytest.mark.model
@pytest.mark.thorough
async def test_the_real_model_is_measured(tmp_path):
    settings = model_settings(tmp_path / "home", num_ctx=2048, llm_model="")
    resources = ModelResources()
    try:
        assert await choose.calibrate(await choose.choose(settings, resources), settings)
    finally:
        resources.close()
    state = status(settings)
    assert state.speed is not None and min(state.speed.prompt, state.speed.generation) > 0.5
