"""Vectors in a real Chroma server: shared by machines, and no question fails or waits because of it."""

import socket
import time
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from support.chroma import Chroma, answering, guarded, reply
from support.index_case import FILES, WordEmbedder, build_index, fill, many, runtime_for, settings, snapshot, write
from support.ollama_server import refusing_url
from support.waiting import reserved_port, until

from repopilot import checks
from repopilot.index import chroma_server, vectors
from repopilot.index.chroma_server import ChromaServer
from repopilot.index.vectors import vectors_of
from repopilot.retrieval.search import search
from repopilot.ui.chat import Process
from repopilot.ui.frame.health import health_props
from repopilot.ui.models.model_status import model_props

QUESTION = "how is the total computed?"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with reserved_port() as port:
        found = Chroma(tmp_path_factory.mktemp("server"), port)
        found.start()
        yield found
        found.kill()


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return snapshot(write(tmp_path_factory.mktemp("clones") / "shop", {**FILES, **many(20)}))


@pytest.fixture
def short_pause(monkeypatch):
    monkeypatch.setattr(chroma_server, "PAUSE_S", 0.3)


def index_at(home, shop, url="", token=""):
    return build_index(shop, settings(home, chroma_url=url, chroma_token=token))


def notes(index, embedder=None):
    """What a search says, which finds something in any case."""
    found = search(index, QUESTION, embedder=embedder or WordEmbedder())
    assert found.hits and found.compared is not None
    return [note for note in found.notes if "Chroma" in note]


@pytest.mark.slow
def test_vectors_stored_from_one_data_directory_are_found_from_another(server, tmp_path, shop):
    one, first = index_at(tmp_path / "one", shop, server.url), WordEmbedder()
    assert fill(one, first) == []
    assert first.texts == len(set(one.digests.tolist()))
    other, second = index_at(tmp_path / "other", shop, server.url), WordEmbedder()
    assert fill(other, second) == [] and second.texts == 0
    asked = WordEmbedder().embed([other.chunks[3].text])[0]
    assert vectors_of(other, second).nearest(other, asked, 5) == vectors_of(one, first).nearest(one, asked, 5)
    assert vectors_of(other, second).nearest(other, asked, 5)[0][0] == 3
    assert not (tmp_path / "other" / "index" / vectors.FOLDER).exists()


@pytest.fixture(scope="module")
def both(server, tmp_path_factory, shop):
    """The same repository with its vectors in the folder and in the server."""
    found = [index_at(tmp_path_factory.mktemp("home"), shop, url) for url in ("", server.url)]
    for index in found:
        fill(index, WordEmbedder())
    yield found
    vectors.release(found[0].folder.parent.parent)


@pytest.mark.slow
@examples(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from("cart total price helper_3 Thing7 run discount number value shop".split()), min_size=1))
def test_a_search_finds_the_same_with_the_folder_and_with_the_server(both, words):
    found = [search(index, " ".join(words), embedder=WordEmbedder()) for index in both]
    assert found[0].hits == found[1].hits and found[0].compared == found[1].compared


@pytest.mark.slow
def test_only_what_another_splitter_made_of_the_repository_is_deleted(server, tmp_path, shop):
    index = index_at(tmp_path / "home", shop, server.url)
    vectors_of(index, WordEmbedder()).in_time(index, [0], 1e9)
    client = index.chroma.api
    old = {"key": shop.key, "embedder": "words", "splitter": "0"}
    kept = {"mine": None, "alike": old, vectors._collection_name("other", "words", "0"): {**old, "key": "other"}}
    stale = vectors._collection_name(shop.key, "words", "0")
    for name, metadata in (kept | {stale: old}).items():
        client.create_collection(name, metadata=metadata)
    before = {each.name for each in client.list_collections()}
    again = index_at(tmp_path / "home", shop, server.url)
    store = vectors_of(again, WordEmbedder())
    store.remove(list(store.known()))
    assert store.known()
    assert before - {each.name for each in client.list_collections()} == {stale}
    for name in kept:
        client.delete_collection(name)


@pytest.mark.slow
def test_a_collection_deleted_meanwhile_is_made_again(server, tmp_path, shop):
    index = index_at(tmp_path / "home", shop, server.url)
    store = vectors_of(index, WordEmbedder())
    store.in_time(index, [0], 1e9)
    index.chroma.api.delete_collection(store._name)
    store.in_time(index, [1], 1e9)
    assert store.persistent and store.known() == {int(index.digests[1])}


@pytest.mark.slow
def test_answers_go_on_when_the_server_is_killed_and_when_it_is_back(server, tmp_path, shop, short_pause):
    index, embedder = index_at(tmp_path / "home", shop, server.url), WordEmbedder(delay_s=0.001)
    assert notes(index, embedder) == []
    stored = vectors_of(index, embedder).known()
    server.kill()
    try:
        said = f"The Chroma server at {server.url} does not answer: vectors are computed on demand here and not saved."
        assert notes(index, embedder) == notes(index, embedder) == [said]
        embedded = embedder.texts
        assert notes(index, embedder) == [said] and embedder.texts == embedded + 1, "they are kept in memory"
        assert fill(index, embedder) == [said]
    finally:
        server.start()
    until(lambda: not notes(index, embedder))
    assert stored <= vectors_of(index, embedder).known()


@pytest.mark.slow
def test_filling_stops_when_the_server_is_lost(server, tmp_path):
    index = index_at(tmp_path / "home", snapshot(write(tmp_path / "many", many(150))), server.url)

    class Killing(WordEmbedder):
        def embed(self, texts, **how):
            if self.texts >= 64:
                server.kill()
            return super().embed(texts, **how)

    embedder = Killing()
    try:
        assert any("does not answer" in note for note in fill(index, embedder))
    finally:
        server.start()
    assert embedder.texts <= 128 and index.dense < 0.5


def hang(request):
    time.sleep(30)


def drip(request):
    request.send_response(200)
    request.end_headers()
    with suppress(ConnectionError):
        for _ in range(300):
            request.wfile.write(b" ")
            time.sleep(0.1)


ELSEWHERE = {
    "no json": lambda request: reply(request, b"\x00<h1>hello</h1>"),
    "other json": lambda request: reply(request, b'[{"ids": 1}]'),
    "an error": lambda request: reply(request, b"it broke", 500),
    "no http": lambda request: request.wfile.write(b"220 smtp ready\r\n"),
    "cut off": lambda request: request.connection.shutdown(socket.SHUT_RDWR),
    "silence": hang,
    "an endless answer": drip,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ELSEWHERE)
def test_what_is_no_chroma_server_is_said_and_asked_once(what, both, monkeypatch):
    monkeypatch.setattr(chroma_server, "_ANSWER_S", 1.0)
    asked = []

    def answer(request):
        asked.append(request.path)
        request.rfile.read(int(request.headers.get("Content-Length", 0)))
        request.close_connection = True
        ELSEWHERE[what](request)

    with answering(answer) as url:
        index = both[1]
        monkeypatch.setattr(index, "chroma", ChromaServer(url))
        (note,) = notes(index)
        assert url in note and note.endswith("vectors are computed on demand here and not saved.")
        before = len(asked)
        assert notes(index) == [note] and len(asked) == before


@pytest.mark.slow
def test_only_who_has_the_token_is_served(server, tmp_path, shop):
    with answering(guarded(server.url, "right")) as url:
        assert notes(index_at(tmp_path / "one", shop, url, "right")) == []
        (note,) = notes(index_at(tmp_path / "two", shop, url, "wrong"))
    assert note == f"The Chroma server at {url} refused the token: vectors are computed on demand here and not saved."
    conf = settings(tmp_path, chroma_url="http://me:password@127.0.0.1", chroma_token="secret-token")
    shown = repr(conf) + repr(runtime_for(conf).indexes.chroma)
    assert "secret-token" not in shown and "password" not in shown


@pytest.mark.slow
def test_doctor_and_the_line_of_health_say_which_store_is_used_and_what_is_wrong(server, tmp_path):
    def found(url):
        runtime = runtime_for(settings(tmp_path, chroma_url=url))
        return checks._guarded("chroma", checks._chroma, runtime), health_props(None, Process(runtime), "en")

    check, health = found(server.url)
    assert check.state == "ok" and check.detail == f"server at {server.url}"
    assert f"vectors: Chroma at {server.url}" in health["items"] and not health["problems"]
    nowhere = refusing_url()
    check, health = found(nowhere)
    assert check.state == "degraded" and "REPOPILOT_CHROMA_URL" in check.fix
    assert f"vectors: Chroma at {nowhere}" in health["items"] and health["state"] == "bad"
    assert f"{nowhere} does not answer" in check.detail and f"{nowhere} does not answer" in health["problems"][-1]


def test_the_first_screen_names_a_server_elsewhere(tmp_path):
    def said(url):
        return model_props(Process(runtime_for(settings(tmp_path, chroma_url=url))).models, "en")["notes"]

    assert said("http://me:password@chroma.lan:8000") == [
        "Vectors of the code are sent to the Chroma server at http://chroma.lan:8000."
    ]
    assert said("http://127.0.0.1:8000") == said("") == []
