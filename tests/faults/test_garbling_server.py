"""A model server that answers anything at all: what is said of it is none or a failure, and the page goes on."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler

import pytest
from support.loopback import LoopbackServer
from support.ollama_wire import described

from repopilot.errors import RepoPilotError
from repopilot.index.embed import Embedders
from repopilot.llm.choice import choose
from repopilot.llm.choice.status import status
from repopilot.llm.resources import ModelResources
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.ui.models.available_models import Models
from repopilot.ui.models.model_status import model_props

NAME = "qwen2.5-coder:1.5b"
SOUND = {"models": [described(NAME)]}
BODIES: dict[str, bytes] = {
    "empty": b"",
    "html": b"<!doctype html><title>Sign in</title>",
    "binary": bytes(range(256)),
    "half": json.dumps(SOUND).encode()[:40],
    "nothing": b"null",
    "number": b"7",
    "list": b"[]",
    "text": b'"models"',
    "deep": b"[" * 100_000,
    "infinite": b'{"models": [{"name": "qwen2.5-coder:1.5b", "size": 1e999}]}',
    "none listed": b'{"models": null}',
    "texts listed": b'{"models": ["qwen2.5-coder:1.5b", 3, null]}',
    "no names": b'{"models": [{}, {"name": null}, {"name": 5}, {"name": ["x"]}]}',
    "odd details": b'{"models": [{"name": "qwen2.5-coder:1.5b", "size": "large", "details": [], "digest": 4}]}',
    "odd families": b'{"models": [{"name": "qwen2.5-coder:1.5b", "details": {"families": 3, "parameter_size": {}}}]}',
    "surrogates": b'{"models": [{"name": "\\ud800", "model": "\\ud800"}]}',
    "many": json.dumps({"models": [described(f"m{n}") for n in range(200)]}).encode(),
}


@pytest.fixture
def garbling():
    """(address, what every route answers but the list of models, what the list answers)"""
    answers = {"list": b"{}", "rest": b"{}", "status": 200}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            """Quiet."""

        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = answers["list"] if self.path in ("/api/tags", "/v1/models") else answers["rest"]
            self.send_response(answers["status"])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

    server = LoopbackServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", answers
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("which", ["list", "rest"])
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.sampled(12)
async def test_whatever_it_answers_is_a_failure_that_is_said(garbling, tmp_path, name, which):
    url, answers = garbling
    answers["list"] = json.dumps(SOUND).encode() if which == "rest" else BODIES[name]
    answers["rest"] = b"{}" if which == "list" else BODIES[name]
    for option in ("ollama_url", "llm_url"):
        base = Settings(home=tmp_path, embedded=False, auto_download=False, dense=False, ollama_url="")
        settings = base.model_copy(update={option: url})
        assert (await asyncio.to_thread(status, settings)).detail != ""
        models = Models(Runtime(settings))
        with suppress(RepoPilotError):
            await models.look()
            while models.warming:
                await asyncio.sleep(0.01)
        assert model_props(models, "en")["text"]
        with suppress(RepoPilotError):
            model = await choose.choose(settings, ModelResources())
            assert model is None or which == "rest" or "odd" in name or name in ("many", "infinite")
        embedding = settings.model_copy(update={"dense": True, "embed_model": "all-minilm"})
        with suppress(RepoPilotError):
            embedder = await asyncio.to_thread(Embedders().choose, embedding)
            if embedder is not None:
                await asyncio.to_thread(embedder.embed, ["a text"])
