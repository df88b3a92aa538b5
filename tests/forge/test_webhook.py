"""Calls of hosts: signed, worked on once each, bounded, and not lost by a restart."""

import json
import socket
import sqlite3
import threading
from contextlib import closing
from urllib.parse import urlencode

import pytest
import uvicorn
from starlette.testclient import TestClient
from support.index_case import runtime_for
from support.signed_calls import SECRET, headers
from support.waiting import PATIENCE_S, until

from repopilot.errors import UsageError
from repopilot.forge import hosts, webhook
from repopilot.forge.webhook import Deliveries, pull_of, serve_webhook, served, webhook_application

START = "import subprocess\n\nRATE = 2\n\n\ndef price(count):\n    subprocess.call(count, shell=True)\n"
BAD = START + "    return eval(count)\n"


def event(world, action="synchronize"):
    return json.dumps({"action": action, "pull_request": {"html_url": f"{world.hub.url}/o/r/pull/7"}}).encode()


@pytest.fixture
def settings(world):
    quiet = {"webhook_secret": SECRET, "ollama_url": "", "embedded": False, "auto_download": False, "dense": False}
    return world.settings.model_copy(update=quiet)


@pytest.mark.slow
def test_a_call_has_its_pull_request_reviewed_once(world, settings):
    world.push_pull({"shop/prices.py": BAD})
    body = event(world)
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)) as client:
        assert client.post("/webhook", content=body, headers=headers(body)).json() == {"queued": True}
        until(lambda: world.hub.summaries and Deliveries(settings.home).next() is None)
        posted = len(world.hub.inline)
        for id in ("d1", "a replay under another id"):
            again = client.post("/webhook", content=body, headers=headers(body, id))
            assert again.json() == {"queued": False} and posted >= 2
        for wrong in (headers(body, "d2", "another"), {}, {"X-Gitlab-Token": "another", "X-Gitlab-Event-UUID": "x"}):
            assert client.post("/webhook", content=body, headers=wrong).status_code == 401
        other = event(world, "labeled")
        assert client.post("/webhook", content=other, headers=headers(other, "d3")).json() == {"ignored": True}
        assert client.post("/webhook", content=b"{", headers=headers(b"{", "d4")).json() == {"ignored": True}
        assert Deliveries(settings.home).next() is None and len(world.hub.inline) == posted


@pytest.mark.slow
def test_the_log_says_what_became_of_each_call(world, settings, caplog):
    caplog.set_level("INFO", "repopilot.forge")
    limited = settings.model_copy(update={"webhook_repositories": ["another/one"]})
    body, other = event(world), event(world, "labeled")
    with runtime_for(limited) as runtime, TestClient(webhook_application(runtime)) as client:
        client.post("/webhook", content=body, headers=headers(body, "d1", "another"))
        client.post("/webhook", content=body, headers=headers(body, "d2"))
        client.post("/webhook", content=other, headers=headers(other, "d3" * 100))
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("call ")]
    starts = ["call pull_request d1: 401 ", "call pull_request d2: 403 ", f"call pull_request {'d3' * 32}: 200 "]
    assert all(line.startswith(start) for line, start in zip(said, starts, strict=True)), said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "length", "status"),
    [
        ({"X-Hub-Signature-256": ""}, "5", 401),
        ({"X-Hub-Signature-256": "sha256=0"}, "5", 401),
        ({"X-Hub-Signature-256": "", "X-Gitlab-Token": "another"}, "5", 401),
        ({"Content-Type": "text/plain"}, "5", 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, "5", 415),
        ({}, None, 411),
        ({}, "-1", 411),
        ({}, str(webhook.LARGEST_BODY + 1), 413),
    ],
)
async def test_what_can_be_refused_by_its_head_is_not_read(settings, changed, length, status):
    """As a server that speaks ASGI asks it."""
    sent = {
        **headers(b"{}"),
        "Content-Type": "application/json",
        **changed,
        **({"Content-Length": length} if length else {}),
    }
    scope = {"type": "http", "method": "POST", "path": "/webhook", "query_string": b"", "root_path": ""}
    scope["headers"] = [(name.lower().encode(), value.encode()) for name, value in sent.items() if value]
    replies = []

    async def receive():
        raise AssertionError("the body was read")

    async def send(message):
        replies.append(message)

    with runtime_for(settings) as runtime:
        await webhook_application(runtime)(scope, receive, send)
    assert replies[0]["status"] == status


@pytest.fixture
def server(settings):
    """The address of a real server."""
    with runtime_for(settings) as runtime:
        running = uvicorn.Server(uvicorn.Config(webhook_application(runtime), port=0, log_level="error"))
        thread = threading.Thread(target=running.run, daemon=True)
        thread.start()
        until(lambda: running.started)
        yield running.servers[0].sockets[0].getsockname()
        running.should_exit = True
        thread.join()


def begun(address, body, length):
    """A connection with a signed call of which only the beginning was sent."""
    connection = socket.create_connection(address, timeout=PATIENCE_S)
    lines = {**headers(body), "Content-Type": "application/json", "Content-Length": str(length), "Host": "x"}
    head = "POST /webhook HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    connection.sendall(head.encode() + b"\r\n" + body)
    return connection


@pytest.mark.slow
def test_bodies_that_never_end_are_given_up_and_keep_no_other_out(settings, monkeypatch, request):
    monkeypatch.setattr(webhook, "READ_S", 0.5)
    monkeypatch.setattr(webhook, "READ_AT_ONCE", 2)
    address = request.getfixturevalue("server")
    unfinished = [begun(address, b"x" * 1000, webhook.LARGEST_BODY) for _ in range(20)]
    for each in unfinished:
        assert each.recv(100).startswith(b"HTTP/1.1 408"), "most never had their turn"
        each.close()
    cut = begun(address, b"x", 100)
    cut.close()
    with begun(address, b"[]", 2) as whole:
        assert whole.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
def test_the_form_that_github_sends_by_default_is_read(world, settings):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    body = urlencode({"payload": event(world).decode()}).encode()
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)) as client:
        reply = client.post("/webhook", content=body, headers={**headers(body), **form})
        assert reply.status_code == 202 and reply.json() == {"queued": True}
        for odd in (b"", b"payload=", b"payload=%ff", b"other=x", b"a&" * 100 + b"payload={}"):
            assert client.post("/webhook", content=odd, headers={**headers(odd), **form}).json() == {"ignored": True}


@pytest.mark.slow
def test_only_the_repositories_that_are_named_are_served(world, settings):
    named = settings.model_copy(update={"webhook_repositories": ["https://example.org/o", f"{world.hub.url}/O/r"]})
    with runtime_for(named) as runtime, TestClient(webhook_application(runtime)) as client:
        for path, status in (("o/r/pull/7", 202), ("o/rr/pull/7", 403), ("o/s/pull/7", 403)):
            url = f"{world.hub.url}/{path}"
            body = json.dumps({"action": "opened", "pull_request": {"html_url": url}}).encode()
            assert client.post("/webhook", content=body, headers=headers(body)).status_code == status, path
    for url, names, expected in (
        ("https://github.com/o/r/pull/1", ["github.com/o/r.git"], True),
        ("https://github.com/o/r/pull/1", ["github.com/o/"], True),
        ("https://github.com/o/r/pull/1", ["https://github.com"], True),
        ("https://github.com.evil.org/o/r/pull/1", ["https://github.com"], False),
        ("https://gitlab.com/g/s/p/-/merge_requests/1", ["gitlab.com/g"], True),
        ("https://github.com/o/r/pull/1", ["", "o/r"], False),
        ("https://github.com/o/r/pull/1", [], True),
    ):
        assert served(url, names) is expected, (url, names)


@pytest.mark.slow
def test_what_waited_at_a_restart_is_worked_on(world, settings):
    world.push_pull({"shop/prices.py": BAD})
    Deliveries(settings.home).add("before", f"{world.hub.url}/o/r/pull/7")
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)):
        until(lambda: world.hub.summaries)


@pytest.mark.slow
@pytest.mark.parametrize("token", ["ghs_app", "ghp_person"])
@pytest.mark.parametrize("pushed", [False, True])
@pytest.mark.sampled(1)
def test_the_commit_says_that_its_review_is_under_way_and_then_what_became_of_it(world, settings, token, pushed):
    world.hub.token = token
    settings = settings.model_copy(update={"git_token": f"{world.hub.url[7:]}={token}"})
    head = world.push_pull({"shop/prices.py": BAD})
    if pushed:  # the host's ref is another than the one that its API told
        head = world.hub.pulls[7]["head"]["sha"] = "1" * 40
    body = event(world)
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)) as client:
        client.post("/webhook", content=body, headers=headers(body))
        until(lambda: Deliveries(settings.home).next() is None)
    said = world.hub.outcomes
    assert {each["sha"] for each in said} == {head} and bool(world.hub.inline) is not pushed
    if token == "ghs_app":
        assert [each["conclusion"] for each in said] == ["cancelled" if pushed else "success"], "one check run"
    else:
        assert [each["state"] for each in said] == ["pending", "error" if pushed else "success"]


@pytest.mark.slow
def test_a_review_that_fails_ends_no_other(world, settings):
    deliveries = Deliveries(settings.home)
    gone = f"{world.hub.url}/o/r/pull/99"
    deliveries.add("gone", gone)
    world.push_pull({"shop/prices.py": BAD})
    deliveries.add("good", f"{world.hub.url}/o/r/pull/7")
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)):
        until(lambda: world.hub.summaries and deliveries.next() is None)
    assert deliveries.add("gone", gone), "what failed may be delivered again"
    assert not deliveries.add("good", f"{world.hub.url}/o/r/pull/7")


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, 9])
@pytest.mark.sampled(1)
def test_a_review_is_tried_again_where_the_network_failed_and_hinders_no_other(world, settings, monkeypatch, times):
    monkeypatch.setattr(webhook, "AGAIN_AFTER_S", (3600, 3600, 3600))
    monkeypatch.setattr(webhook, "LOOK_S", 0.1)
    world.push_pull({"shop/prices.py": BAD})
    deliveries, asked = Deliveries(settings.home), []
    deliveries.add("first", f"{world.hub.url}/o/r/pull/8")
    deliveries.add("second", f"{world.hub.url}/o/r/pull/7")

    def forge_of(item, conf):
        asked.append(item.number)
        down = item.number == 8 and asked.count(8) <= times
        return hosts.forge_of(item, conf.model_copy(update={"forge_api": "http://127.0.0.1:9"}) if down else conf)

    monkeypatch.setattr(webhook, "forge_of", forge_of)
    with runtime_for(settings) as runtime:
        with TestClient(webhook_application(runtime)):
            until(lambda: state(settings, "second") == "done")
        assert asked[:2] == [8, 7] and not deliveries.add("first", f"{world.hub.url}/o/r/pull/8")
        assert deliveries.next() is None, "it waits for its time"
        monkeypatch.setattr(webhook, "AGAIN_AFTER_S", (0, 0, 0))
        with closing(sqlite3.connect(settings.home / "webhooks.db")) as connection, connection:
            connection.execute("UPDATE deliveries SET received = 0 WHERE id = 'first'")
        with TestClient(webhook_application(runtime)):  # a restart, an hour later
            until(lambda: state(settings, "first") == "failed")  # not found, or the last time
    assert deliveries.next() is None
    assert asked.count(8) == min(times + 1, 4) and asked.count(7) == 1


def state(settings, id):
    with closing(sqlite3.connect(settings.home / "webhooks.db")) as connection:
        return connection.execute("SELECT state FROM deliveries WHERE id = ?", (id,)).fetchone()[0]


def test_what_waits_for_another_time_keeps_no_other_out_and_is_replaced_by_a_newer_call(tmp_path, monkeypatch):
    monkeypatch.setattr(webhook, "MOST_WAITING", 2)
    deliveries = Deliveries(tmp_path)
    for number in range(5):
        assert deliveries.add(str(number), f"https://github.com/o/r/pull/{number}")
        deliveries.end(str(number), "again")
    assert deliveries.next() is None
    assert deliveries.add("newer", "https://github.com/o/r/pull/0") and deliveries.next()[0] == "newer"
    deliveries.add("newest", "https://github.com/o/r/pull/0")  # while the newer is worked on
    deliveries.end("newer", "again")
    assert deliveries.next()[0] == "newest"


def test_calls_that_an_older_version_kept_are_worked_on(tmp_path):
    with closing(sqlite3.connect(tmp_path / "webhooks.db")) as connection, connection:
        columns = "id TEXT PRIMARY KEY, url TEXT NOT NULL, received REAL NOT NULL, state TEXT NOT NULL"
        connection.execute(f"CREATE TABLE deliveries({columns}) STRICT")
        connection.execute("INSERT INTO deliveries VALUES('old', 'https://github.com/o/r/pull/1', 1.0, 'waiting')")
    deliveries = Deliveries(tmp_path)
    assert deliveries.next()[0] == "old"
    deliveries.end("old", "again")
    assert deliveries.next() is None


@pytest.mark.slow
def test_a_full_disk_ends_no_later_review(world, settings, monkeypatch, caplog):
    monkeypatch.setattr(webhook, "LOOK_S", 0.1)
    world.push_pull({"shop/prices.py": BAD})
    Deliveries(settings.home).add("1", f"{world.hub.url}/o/r/pull/7")
    file = settings.home / "webhooks.db"
    kept = file.read_bytes()
    file.write_bytes(b"damaged" * 1000)
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)):
        until(lambda: caplog.records)
        file.write_bytes(kept)
        until(lambda: world.hub.summaries)


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_start_says_where_it_listens_and_what_it_will_do(settings, monkeypatch, capsys, host):
    monkeypatch.setattr(webhook.uvicorn, "run", lambda *_, **__: None)
    with runtime_for(settings.model_copy(update={"host": host, "port": 8123})) as runtime:
        serve_webhook(runtime)
    said = capsys.readouterr().err
    assert f"http://{host if host == '127.0.0.1' else '[::1]'}:8123/webhook" in said
    assert "It reviews pull requests" in said


@pytest.mark.slow
def test_a_thousand_calls_at_once_are_bounded(tmp_path, monkeypatch):
    deliveries = Deliveries(tmp_path)
    taken = 0
    for number in range(1000):
        try:
            taken += deliveries.add(str(number), f"https://github.com/o/r/pull/{number}")
        except UsageError:
            break
    assert taken == webhook.MOST_WAITING
    assert Deliveries(tmp_path / "b").add("1", "https://github.com/o/r/pull/1")
    assert Deliveries(tmp_path / "b").add("2", "https://github.com/o/r/pull/1")
    assert Deliveries(tmp_path / "b").next()[0] == "2", "the newest state is reviewed"


@pytest.mark.slow
def test_a_merge_request_is_read_and_a_secret_needed(world):
    body = {
        "object_kind": "merge_request",
        "object_attributes": {"action": "update", "url": "https://g/x/-/merge_requests/1"},
    }
    assert pull_of(json.dumps(body).encode()) == "https://g/x/-/merge_requests/1"
    for odd in (b"", b"[]", b'"x"', b'{"action": 1}', b'{"pull_request": []}', b'{"action":' * 100_000, b"\xff"):
        assert pull_of(odd) == ""
    for mark in ("draft", "work_in_progress"):
        body["object_attributes"][mark] = True
        assert pull_of(json.dumps(body).encode()) == "" != pull_of(json.dumps(body).encode(), drafts=True)
        del body["object_attributes"][mark]
    for url in ("https://g/\ud800/pull/1", "https://g/\0/pull/1", 7, ["x"], {}):
        assert pull_of(json.dumps({"action": "opened", "pull_request": {"html_url": url}}).encode()) == ""
    assert pull_of(json.dumps({"action": [], "pull_request": {"html_url": "https://g/o/r/pull/1"}}).encode()) == ""
    with runtime_for(world.settings) as runtime, pytest.raises(UsageError, match="No webhook secret"):
        serve_webhook(runtime)
