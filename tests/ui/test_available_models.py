"""The models of the process: measured behind the start, fetched by a click; what the first screen says of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from support.ollama_server import OllamaServer

from repopilot.llm import calibration
from repopilot.llm.calibration import Measurement
from repopilot.llm.discovery import ollama_speed_keys
from repopilot.llm.model_speed import SIZES, Speed
from repopilot.llm.ollama_api import tags
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.ui.available_models import Models
from repopilot.ui.model_status import model_props
from repopilot.ui.settings_panel import model_label

SMALL, LARGER, THREE, SEVEN = SIZES


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


def models_of(home: Path, server: OllamaServer, **options: object) -> Models:
    settings = {"home": home, "ollama_url": server.url, "embedded": False, "auto_download": False, "dense": False}
    return Models(Runtime(Settings(**{**settings, **options})))


async def test_the_speed_is_measured_behind_the_start_and_the_next_size_is_one_click_away(tmp_path):
    with OllamaServer(models=[SMALL], pullable=[SEVEN]) as server:
        models = models_of(tmp_path, server)
        assert model_props(models, "en")["state"] == "busy"
        models.start(after=lambda: None)
        await until(lambda: models.model)
        await until(lambda: models.model.speed and not models.measuring)
        shown = model_props(models, "en")
        assert "Measured here: it reads" in shown["text"] and shown["state"] == "ok"
        assert shown["offer"]["name"] == SEVEN and "s an answer here" in shown["offer"]["text"]
        assert models.model.speed == models.status.speed
        models.start_get("something:else")
        models.start_get(SEVEN)
        await until(lambda: models.model.name == SEVEN)
        assert [body["model"] for body in server.state.sent("/api/pull")] == [SEVEN]


async def test_a_size_that_is_too_slow_here_answers_once_the_user_got_it(tmp_path):
    with OllamaServer(models=[SMALL, LARGER], pullable=[THREE]) as server:
        models = models_of(tmp_path, server)
        (key,) = [key for name, key in ollama_speed_keys(server.url, tags(server.url, 1)).items() if name == LARGER]
        calibration.keep(tmp_path, Measurement(key, Speed(104, 24)))
        await models.look()
        assert (models.model.name, models.status.offer.name) == (LARGER, THREE)
        assert model_label(models, SMALL, "en") == f"{SMALL} · about 6 s an answer"
        assert model_label(models, "llama3.2:3b", "en") == "llama3.2:3b"
        await models.get(THREE)
        assert models.model.name == THREE and "you named it" in model_props(models, "en")["text"]


async def test_a_question_ends_the_measurement_and_it_is_done_later(tmp_path):
    with OllamaServer(models=[SMALL], reply=lambda _: ["one ", 30.0, "two"]) as server:
        models = models_of(tmp_path, server)
        models.start(after=lambda: None)
        await until(lambda: models.measuring and [b for b in server.state.sent("/api/chat") if b["messages"]])
        assert "Measuring its speed" in model_props(models, "en")["text"]
        with models.answering():
            await until(lambda: not models.measuring)
            models._start_calibration()
            await asyncio.sleep(0)
            assert not models.measuring, "not while a question is answered"
        assert models.status.needs_calibration and models.trouble is None


@pytest.mark.parametrize("behaviour", ["500", "garbage"])
async def test_a_server_that_can_not_be_measured_answers_all_the_same(tmp_path, behaviour):
    with OllamaServer(models=[SMALL]) as server:
        models = models_of(tmp_path, server)
        await models.look()
        await until(lambda: not models.warming)
        server.state.behaviour = behaviour
        await models._calibrate()
        assert models.model is not None and not models.measuring
        assert "has not been measured yet" in model_props(models, "en")["text"]


async def test_the_models_of_roles_are_loaded_and_missing_ones_said(tmp_path):
    with OllamaServer(models=[SMALL, LARGER]) as server:
        models = models_of(tmp_path, server, llm_model=LARGER, router_model=SMALL, coder_model="phi")
        await models.look()
        await until(lambda: len(server.state.sent("/api/chat")) >= 2 and not models.warming)
        assert [b["model"] for b in server.state.sent("/api/chat") if not b["messages"]] == [LARGER, SMALL]
        assert any("REPOPILOT_CODER_MODEL" in note for note in model_props(models, "en")["notes"])
