"""Which model answers, and that every fallback is named."""

from __future__ import annotations

import socket
import sys
import threading

import pytest
from support.ollama_server import OllamaServer, refusing_url

from repopilot.errors import Cancelled, ModelError
from repopilot.i18n import translated
from repopilot.llm.choice import choose
from repopilot.llm.choice.status import status
from repopilot.llm.embedded import embedded_model
from repopilot.llm.resources import ModelResources
from repopilot.llm.servers import ollama_api
from repopilot.llm.speed import calibration, machine
from repopilot.llm.speed.model_speed import Speed
from repopilot.llm.weights import models

SMALL, LARGER = "qwen2.5-coder:0.5b", "qwen2.5-coder:1.5b"


def install(settings, name: str) -> None:
    """A file that passes for the installed model: of the right size, with a hole for its content."""
    (file,) = models.KNOWN[name].files
    path = settings.models / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as out:
        out.truncate(file.size)


async def test_nothing_anywhere(settings_for):
    settings = settings_for(ollama_url=refusing_url())
    assert await choose.choose(settings, ModelResources()) is None
    state = status(settings)
    assert (state.kind, state.reachable, state.missing_model) == (
        "none",
        False,
        embedded_model.size_choice(settings).wanted,
    )
    assert "No language model" in state.detail


async def test_ollama_with_the_wanted_model(settings_for):
    with OllamaServer() as server:
        model = await choose.choose(settings_for(ollama_url=server.url, llm_model=LARGER), ModelResources())
        state = status(settings_for(ollama_url=server.url, llm_model=LARGER))
    assert (model.kind, model.name, model.context_window) == ("ollama", LARGER, 8192)
    assert (state.kind, state.name, state.missing_model, state.reachable) == ("ollama", LARGER, None, True)


async def test_ollama_without_the_wanted_model_takes_another_size_and_says_so(settings_for):
    with OllamaServer(models=[SMALL, "llama3.2:3b"]) as server:
        settings = settings_for(ollama_url=server.url, llm_model=LARGER)
        model, state = await choose.choose(settings, ModelResources()), status(settings)
    assert model.name == SMALL and f"no {LARGER}" in model.notes[-1]
    assert state.missing_model == LARGER


async def test_ollama_with_only_an_embedding_model_falls_back_to_the_embedded_one(settings_for):
    with OllamaServer(models=["all-minilm:latest"]) as server:
        settings = settings_for(ollama_url=server.url)
        assert await choose.choose(settings, ModelResources()) is None
        install(settings, SMALL)
        model = await choose.choose(settings, ModelResources())
    assert (model.kind, model.name) == ("embedded", SMALL)
    assert "Ollama has no chat model." in model.notes


async def test_embedded_can_be_switched_off(settings_for):
    settings = settings_for(embedded=False)
    install(settings, SMALL)
    assert await choose.choose(settings, ModelResources()) is None


@pytest.mark.slow
async def test_embedded_takes_what_is_installed(settings_for):
    settings = settings_for(llm_model=LARGER)
    install(settings, SMALL)
    model, state = await choose.choose(settings, ModelResources()), status(settings)
    assert model.name == SMALL and f"{LARGER} is not installed" in model.notes[-1]
    assert state.missing_model == LARGER
    assert not model.engine.alive


async def test_a_configured_server_is_asked_first(settings_for):
    with OllamaServer(native=False, models=["served"]) as configured, OllamaServer() as local:
        model = await choose.choose(settings_for(llm_url=configured.url, ollama_url=local.url), ModelResources())
        assert (model.kind, model.name) == ("openai", "served")
        assert not local.state.requests


@pytest.mark.parametrize("path", ["", "/", "/v1"])
async def test_the_address_of_a_configured_server_may_end_in_v1(settings_for, path):
    with OllamaServer(native=False, models=["served"]) as server:
        model = await choose.choose(settings_for(llm_url=server.url + path), ModelResources())
    assert model.llm.api_base == server.url + "/v1"


async def test_a_remote_ollama_is_recognised(settings_for):
    with OllamaServer() as server:
        model = await choose.choose(settings_for(llm_url=server.url), ModelResources())
    assert model.kind == "ollama"


@pytest.mark.parametrize("option", ["llm_url", "ollama_url"])
async def test_of_several_addresses_the_first_that_answers_is_used_and_the_others_are_said(settings_for, option):
    with OllamaServer() as first, OllamaServer() as second:
        silent = refusing_url()
        settings = settings_for(**{"ollama_url": "", option: f"{silent}, {first.url}/ {second.url}"})
        model = await choose.choose(settings, ModelResources())
        assert model is not None and model.llm.base_url == first.url
        state = status(settings)
        assert state.reachable and silent in str(state.notes)


async def test_a_configured_server_that_is_down_is_reported(settings_for):
    with OllamaServer() as local:
        settings = settings_for(llm_url="http://user:secret@127.0.0.1:9/v1", ollama_url=local.url)
        model, state = await choose.choose(settings, ModelResources()), status(settings)
    assert model.kind == "ollama" and "does not answer" in model.notes[0]
    assert not state.reachable and "secret" not in state.detail


async def test_a_garbling_server_is_none(settings_for):
    with OllamaServer(native=False, models=[]) as server:
        assert await choose.choose(settings_for(ollama_url=server.url, llm_url="not a url"), ModelResources()) is None


@pytest.mark.slow
def test_status_does_not_wait_for_a_silent_server(settings_for):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        state = status(settings_for(ollama_url=url, llm_url=url))
        assert state.kind == "none" and not state.reachable


async def test_the_reviewer_is_another_size(settings_for):
    with OllamaServer(models=[SMALL, LARGER, "qwen2.5-coder:3b"]) as server:
        settings = settings_for(ollama_url=server.url, llm_model=LARGER)
        model = await choose.choose(settings, ModelResources())
        reviewer = await choose.choose_reviewer(settings, model, ModelResources())
        assert reviewer.name in (SMALL, "qwen2.5-coder:3b")
        named = settings_for(ollama_url=server.url, llm_model=LARGER, reviewer_model=SMALL)
        assert (await choose.choose_reviewer(named, model, ModelResources())).name == SMALL
        server.state.models[:] = [LARGER]
        assert await choose.choose_reviewer(settings, model, ModelResources()) is None


async def test_the_reviewer_is_of_another_family_where_there_is_one(settings_for, monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: 64 * machine.GIB)
    models = ["qwen3:8b", "qwen2.5-coder:3b", "llama3.1:8b", "smollm2:135m"]
    with OllamaServer(models=models) as server:
        settings = settings_for(ollama_url=server.url, llm_model="qwen3:8b")
        model = await choose.choose(settings, ModelResources())
        assert (await choose.choose_reviewer(settings, model, ModelResources())).name == "llama3.1:8b"
        monkeypatch.setattr(machine, "memory", lambda: 16 * machine.GIB)  # no room for both
        assert (await choose.choose_reviewer(settings, model, ModelResources())).name == "qwen2.5-coder:3b"


async def test_a_named_reviewer_may_be_on_another_server(settings_for):
    with OllamaServer(native=False, models=["big"]) as hosted, OllamaServer(models=["llama3.1:8b"]) as local:
        settings = settings_for(llm_url=f"{hosted.url}/v1", ollama_url=local.url, reviewer_model="llama3.1:8b")
        model = await choose.choose(settings, ModelResources())
        reviewer = await choose.choose_reviewer(settings, model, ModelResources())
        assert (model.kind, reviewer.kind, reviewer.name) == ("openai", "ollama", "llama3.1:8b")
        unknown = settings_for(llm_url=f"{hosted.url}/v1", ollama_url=local.url, reviewer_model="nowhere")
        assert await choose.choose_reviewer(unknown, model, ModelResources()) is None


async def test_warming_up_loads_with_our_context(settings_for):
    with OllamaServer() as server:
        model = await choose.choose(settings_for(ollama_url=server.url, num_ctx=4096), ModelResources())
        await choose.warm_up(model)
        (body,) = server.state.sent("/api/chat")
        assert body["messages"] == [] and body["keep_alive"] == "24h" and body["options"] == {"num_ctx": 4096}
        server.state.models.clear()
        with pytest.raises(ModelError, match="could not load"):
            await choose.warm_up(model)


async def test_a_missing_model_is_pulled_with_progress(settings_for):
    shown = []
    with OllamaServer(models=[]) as server:
        settings = settings_for(ollama_url=server.url, llm_model="qwen2.5-coder:3b")
        await choose.pull("qwen2.5-coder:3b", settings, progress=shown.append)
        assert (await choose.choose(settings, ModelResources())).name == "qwen2.5-coder:3b"
    assert shown[-1].detail == "success" and any(p.done == p.total > 0 and p.unit == "bytes" for p in shown)


async def test_pulling_what_does_not_exist(settings_for):
    with OllamaServer() as server:
        with pytest.raises(ModelError, match="file does not exist"):
            await choose.pull("qwen99", settings_for(ollama_url=server.url))
    with pytest.raises(ModelError, match="No Ollama"):
        await choose.pull(SMALL, settings_for(ollama_url=server.url))


@pytest.mark.parametrize("behaviour", ["500", "garbage"])
async def test_a_pull_that_fails(settings_for, behaviour):
    with OllamaServer(behaviour=behaviour) as server:
        with pytest.raises(ModelError, match="failed"):
            await choose.pull("qwen2.5-coder:3b", settings_for(ollama_url=server.url))


async def test_a_pull_can_be_stopped(settings_for):
    cancel = threading.Event()
    with OllamaServer(behaviour="slow", models=[]) as server:
        with pytest.raises(Cancelled):
            await choose.pull(
                "qwen2.5-coder:3b", settings_for(ollama_url=server.url), progress=lambda _: cancel.set(), cancel=cancel
            )
        server.wait_for_disconnect()


@pytest.mark.parametrize(
    ("names", "wanted", "found"),
    [
        (["qwen2.5-coder:1.5b-instruct-q4_K_M"], LARGER, "qwen2.5-coder:1.5b-instruct-q4_K_M"),
        (["mistral:latest"], "mistral", "mistral:latest"),
        ([SMALL], LARGER, None),
        (["qwen2.5-coder:1.5beta"], LARGER, None),
    ],
)
def test_names_as_ollama_reads_them(names, wanted, found):
    assert ollama_api.find(names, wanted) == found


def test_the_machine_is_measured():
    assert machine.cores() >= 1 and machine.memory() > 100 * 1024**2
    assert machine.fingerprint() == machine.fingerprint() != ""


async def test_the_chosen_model_and_the_reason_are_translated(settings_for):
    with OllamaServer(models=[SMALL]) as server:
        settings = settings_for(llm_url=refusing_url(), ollama_url=server.url, llm_model=LARGER)
        state = status(settings)
    assert state.detail == " ".join((*state.notes, state.speed_note))
    assert translated(state.detail, "fr").startswith("Le serveur de modèles à l’adresse http://127.0.0.1:")
    assert f"{SMALL} répond à sa place." in translated(state.detail, "fr")


async def test_a_missing_extra_of_the_package_is_reported(settings_for, monkeypatch):
    monkeypatch.setitem(sys.modules, "llama_index.llms.openai_like", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with OllamaServer(native=False) as server:
        settings = settings_for(llm_url=server.url, ollama_url="")
        install(settings, SMALL)
        assert await choose.choose(settings, ModelResources()) is None
        notes = status(settings).notes
    assert [note.partition("pip install ")[2] for note in notes] == ["'repopilot[openai]'.", "'repopilot[embedded]'."]


async def test_a_local_ollama_stands_in_for_a_server_whose_client_is_missing(settings_for, monkeypatch):
    monkeypatch.setitem(sys.modules, "llama_index.llms.openai_like", None)
    with OllamaServer(native=False) as server, OllamaServer() as ollama:
        model = await choose.choose(
            settings_for(llm_url=server.url, ollama_url=ollama.url, llm_model=LARGER), ModelResources()
        )
    assert model.kind == "ollama" and "repopilot[openai]" in model.notes[0]


async def test_a_reviewer_that_is_missing_is_said(settings_for):
    with OllamaServer(models=[LARGER]) as server:
        settings = settings_for(ollama_url=server.url, llm_model=LARGER, reviewer_model="phi")
        model = await choose.choose(settings, ModelResources())
        reviewer = await choose.choose_reviewer(settings, model, ModelResources())
    note = choose.reviewer_missing(settings, model, reviewer)
    assert "REPOPILOT_REVIEWER_MODEL names phi" in note and translated(note, "fr").endswith("le remplace.")


@pytest.mark.slow
def test_no_smaller_size_is_fetched_before_the_installed_one_was_measured(settings_for):
    settings = settings_for()
    install(settings, "qwen2.5-coder:7b")
    before = status(settings)
    assert (before.name, before.missing_model) == ("qwen2.5-coder:7b", None) and before.measurable
    calibration.keep(settings.home, embedded_model.speed_key("qwen2.5-coder:7b", None, settings), Speed(5, 1))
    assert status(settings).missing_model == SMALL
