"""A proxy of the environment reads what is sent elsewhere; what is sent to a server of this machine it never sees."""

import pytest
from llama_index.core.llms import ChatMessage
from support.host_server import answering
from support.ollama_server import OllamaServer

from repopilot.index.chroma_server import ChromaServer
from repopilot.llm.choice import choose
from repopilot.llm.servers.embedding_server import EmbeddingServer
from repopilot.llm.stream import chat
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.trace import root

QUIET = {"embedded": False, "auto_download": False, "dense": False}


@pytest.fixture
def proxied(monkeypatch):
    with answering((502, {}, b"")) as (proxy, asked):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield asked


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False])
async def test_a_model_of_this_machine_is_asked_past_the_proxy(proxied, tmp_path, native):
    with OllamaServer(native=native, models=["qwen2.5-coder:1.5b"]) as server:
        place = {"ollama_url": server.url} if native else {"ollama_url": "", "llm_url": server.url}
        settings = Settings(home=tmp_path, **place, **QUIET, _env_file=None)
        with Runtime(settings) as runtime:
            model = await choose.choose(settings, runtime.models)
            async with root(lambda event: None, "ask") as step:
                assert await chat(model, [ChatMessage(role="user", content="Hi")], step)
        assert len(EmbeddingServer(f"{server.url}/v1", "qwen2.5-coder:1.5b").vectors(["text"], 10.0)) == 1
        with ChromaServer(server.url).session() as session:
            assert session.get(f"{server.url}/nothing").status_code == 404
    assert proxied == []
