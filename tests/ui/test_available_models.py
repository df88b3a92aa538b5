"""The models of the process: measured behind the start, fetched by a click; what the first screen says of them."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from support.loopback import LoopbackServer
from support.ollama_server import OllamaServer
from support.waiting import PATIENCE_S, eventually

from repopilot.llm.choice.discovery import ollama_speed_keys
from repopilot.llm.choice.installed import AGENT_MODEL
from repopilot.llm.servers.ollama_api import tags
from repopilot.llm.speed import calibration
from repopilot.llm.speed.model_speed import SIZES, Speed
from repopilot.llm.weights import models as known_models
from repopilot.llm.weights.models import KnownModel, ModelFile
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.ui.models import available_models
from repopilot.ui.models.available_models import Models
from repopilot.ui.models.model_status import model_props
from repopilot.ui.settings.settings_panel import model_label

SMALL, LARGER, THREE, SEVEN = SIZES


class FlakyHub:
    """Serves a file with byte ranges; the first connections end after a part of it."""

    def __init__(self, content: bytes, failures: int) -> None:
        self.asked: list[str | None] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                """Quiet."""

            def do_GET(self):
                wanted = self.headers.get("Range")
                hub.asked.append(wanted)
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                stop = len(content) if len(hub.asked) > failures else start + len(content) // 5
                self.wfile.write(content[start:stop])

        self._server = LoopbackServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/tiny.gguf"

    def __enter__(self) -> FlakyHub:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def models_of(home: Path, server: OllamaServer, **options: object) -> Models:
    settings = {"home": home, "ollama_url": server.url, "embedded": False, "auto_download": False, "dense": False}
    return Models(Runtime(Settings(**{**settings, **options})))


@pytest.mark.slow
async def test_the_speed_is_measured_behind_the_start_and_the_next_size_is_one_click_away(tmp_path):
    with OllamaServer(models=[SMALL], pullable=[AGENT_MODEL.name]) as server:
        models = models_of(tmp_path, server)
        assert model_props(models, "en")["state"] == "busy"
        models.start(after=lambda: None)
        await eventually(lambda: models.model)
        await eventually(lambda: models.model.speed and not models.measuring)
        shown = model_props(models, "en")
        assert "Measured here: it reads" in shown["text"] and shown["state"] == "ok"
        assert shown["offer"]["name"] == AGENT_MODEL.name and "s an answer here" in shown["offer"]["text"]
        assert models.model.speed == models.status.speed
        models.start_get("something:else")
        models.start_get(AGENT_MODEL.name)
        await eventually(lambda: models.model.name == AGENT_MODEL.name)
        assert [body["model"] for body in server.state.sent("/api/pull")] == [AGENT_MODEL.name]


@pytest.mark.slow
async def test_a_size_that_is_too_slow_here_answers_once_the_user_got_it(tmp_path):
    endless = ["one ", 30.0, "two"]  # a measurement of its own doesn't end here
    with OllamaServer(models=[SMALL, LARGER], pullable=[THREE], reply=lambda _: endless) as server:
        models = models_of(tmp_path, server)
        (key,) = [key for name, key in ollama_speed_keys(server.url, tags(server.url, 1)).items() if name == LARGER]
        calibration.keep(tmp_path, key, Speed(104, 24))
        await models.look()
        assert (models.model.name, models.status.offer.name) == (LARGER, THREE)
        assert model_label(models, SMALL, "en") == f"{SMALL} · about 6 s an answer"
        assert model_label(models, "llama3.2:3b", "en") == "llama3.2:3b"
        await models.get(THREE)
        assert models.model.name == THREE and "you named it" in model_props(models, "en")["text"]


@pytest.mark.slow
async def test_a_question_ends_the_measurement_and_it_is_done_later(tmp_path):
    with OllamaServer(models=[SMALL], reply=lambda _: ["one ", 30.0, "two"]) as server:
        models = models_of(tmp_path, server)
        models.start(after=lambda: None)
        await eventually(lambda: models.measuring and [b for b in server.state.sent("/api/chat") if b["messages"]])
        assert "Measuring its speed" in model_props(models, "en")["text"]
        with models.answering():
            await eventually(lambda: not models.measuring)
            models._start_calibration()
            await asyncio.sleep(0)
            assert not models.measuring, "not while a question is answered"
        assert not models._measured and not models.troubles


@pytest.mark.parametrize("behaviour", ["500", "garbage"])
async def test_a_server_that_can_not_be_measured_answers_all_the_same(tmp_path, behaviour):
    with OllamaServer(models=[SMALL]) as server:
        models = models_of(tmp_path, server)
        await models.look()
        await eventually(lambda: not models.warming)
        server.state.behaviour = behaviour
        await models._calibrate()
        assert models.model is not None and not models.measuring
        models._start_calibration()
        await asyncio.sleep(0)
        assert not models.measuring, "not again at each look"
        assert "has not been measured yet" in model_props(models, "en")["text"]


@pytest.mark.slow
async def test_a_reviewer_that_is_missing_is_said(tmp_path):
    with OllamaServer(models=[SMALL, LARGER]) as server:
        models = models_of(tmp_path, server, llm_model=LARGER, reviewer_model="phi")
        await models.look()
        assert any("REPOPILOT_REVIEWER_MODEL" in note for note in model_props(models, "en")["notes"])
        for there in (True, False):
            server.state.models = [SMALL, LARGER, *["phi:latest"] * there]
            async with asyncio.timeout(
                PATIENCE_S
            ):  # a look gives up on a server that answers late: nothing is known then
                while (models.reviewer is not None, bool(models.reviewer_note)) != (there, not there):
                    await models.look()


@pytest.mark.slow
async def test_a_look_in_progress_takes_no_reviewer_away(tmp_path):
    with OllamaServer(models=[SMALL, LARGER]) as server:
        models = models_of(tmp_path, server, llm_model=LARGER, reviewer_model="phi")
        await models.look()
        server.state.models = [*server.state.models, "other:latest"]
        look = asyncio.create_task(models.look())
        while not look.done():
            assert models.model is not None and models.reviewer_note
            await asyncio.sleep(0)
        await look
        assert "other:latest" in models.names


@pytest.mark.slow
async def test_a_failed_download_is_tried_again_by_itself_and_goes_on_where_it_was(tmp_path, monkeypatch):
    content = bytes(range(256)) * 4000
    monkeypatch.setattr(available_models, "AGAIN_S", 0.2)
    monkeypatch.setattr(available_models, "LOOK_AGAIN_S", 0.1)
    with FlakyHub(content, failures=3) as hub:
        file = ModelFile("tiny.gguf", len(content), hashlib.sha256(content).hexdigest(), hub.url, ())
        monkeypatch.setitem(known_models.KNOWN, "tiny", KnownModel("tiny", "chat", "tiny.gguf", (file,), 10))
        monkeypatch.setattr(available_models, "EMBEDDING_MODEL", "tiny")
        models = Models(Runtime(Settings(home=tmp_path, ollama_url="", embedded=False)))
        models.start(after=lambda: None)
        await eventually(lambda: models.troubles)
        assert any("tries again within" in note for note in model_props(models, "en")["notes"])
        await eventually(lambda: known_models.installed("tiny", models.settings))
        await eventually(lambda: not models.troubles)
        assert (models.settings.models / "tiny.gguf").read_bytes() == content
        assert len(hub.asked) >= 4 and hub.asked[-1] not in (None, "bytes=0-"), "it began anew"


@pytest.mark.slow
async def test_a_server_that_comes_and_goes_is_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(available_models, "AGAIN_S", 0.2)
    monkeypatch.setattr(available_models, "LOOK_AGAIN_S", 0.1)
    with OllamaServer(models=[SMALL]) as server:
        server.state.behaviour = "500"  # as when the memory doesn't suffice to load it
        models = models_of(tmp_path, server)
        models.start(after=lambda: None)
        await eventually(lambda: models.troubles)
        assert models.model is not None
        server.state.behaviour = "ok"
        await eventually(lambda: not models.troubles and not models.warming)
        server.state.models = [LARGER]
        await eventually(lambda: models.model is not None and models.model.name == LARGER)
        server.state.models = []
        await eventually(lambda: models.model is None)
        server.state.models = [SMALL]
        await eventually(lambda: models.model is not None and models.model.name == SMALL)
