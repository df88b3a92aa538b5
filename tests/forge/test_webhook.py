"""Calls of hosts: signed, worked on once each, bounded, and not lost by a restart."""

import hashlib
import hmac
import itertools
import json
import time

import pytest
from starlette.testclient import TestClient

from repopilot.errors import UsageError
from repopilot.forge import webhook
from repopilot.forge.webhook import Deliveries, pull_of, serve_webhook, webhook_application
from repopilot.runtime import Runtime

START = "import subprocess\n\nRATE = 2\n\n\ndef price(count):\n    subprocess.call(count, shell=True)\n"
BAD = START + "    return eval(count)\n"
SECRET = "a secret of the tests"


def event(world, action="synchronize"):
    return json.dumps({"action": action, "pull_request": {"html_url": f"{world.hub.url}/o/r/pull/7"}}).encode()


def headers(body, id="d1", secret=SECRET):
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": signature, "X-GitHub-Delivery": id, "X-GitHub-Event": "pull_request"}


@pytest.fixture
def settings(world):
    quiet = {"webhook_secret": SECRET, "ollama_url": "", "embedded": False, "auto_download": False, "dense": False}
    return world.settings.model_copy(update=quiet)


def until(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert what()


def test_a_call_has_its_pull_request_reviewed_once(world, settings):
    world.push_pull({"shop/prices.py": BAD})
    body = event(world)
    with Runtime(settings) as runtime, TestClient(webhook_application(runtime)) as client:
        assert client.post("/webhook", content=body, headers=headers(body)).json() == {"queued": True}
        until(lambda: world.hub.comments and Deliveries(settings.home).next() is None)
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


def test_a_body_is_read_no_further_than_its_limit(settings, monkeypatch):
    monkeypatch.setattr(webhook, "LARGEST_BODY", 1000)
    parts = (b"x" * 100 for _ in range(10**9))  # chunked: without a length
    with Runtime(settings) as runtime, TestClient(webhook_application(runtime)) as client:
        assert client.post("/webhook", content=itertools.islice(parts, 20)).status_code == 413


def test_what_waited_at_a_restart_is_worked_on(world, settings):
    world.push_pull({"shop/prices.py": BAD})
    Deliveries(settings.home).add("before", f"{world.hub.url}/o/r/pull/7")
    with Runtime(settings) as runtime, TestClient(webhook_application(runtime)):
        until(lambda: world.hub.comments)


def test_a_review_that_fails_ends_no_other(world, settings):
    deliveries = Deliveries(settings.home)
    gone = f"{world.hub.url}/o/r/pull/99"
    deliveries.add("gone", gone)
    world.push_pull({"shop/prices.py": BAD})
    deliveries.add("good", f"{world.hub.url}/o/r/pull/7")
    with Runtime(settings) as runtime, TestClient(webhook_application(runtime)):
        until(lambda: world.hub.comments and deliveries.next() is None)
    assert deliveries.add("gone", gone), "what failed may be delivered again"
    assert not deliveries.add("good", f"{world.hub.url}/o/r/pull/7")


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


def test_a_merge_request_is_read_and_a_secret_needed(world):
    body = {
        "object_kind": "merge_request",
        "object_attributes": {"action": "update", "url": "https://g/x/-/merge_requests/1"},
    }
    assert pull_of(json.dumps(body).encode()) == "https://g/x/-/merge_requests/1"
    for odd in (b"", b"[]", b'"x"', b'{"action": 1}', b'{"pull_request": []}'):
        assert pull_of(odd) == ""
    with Runtime(world.settings) as runtime, pytest.raises(UsageError, match="No webhook secret"):
        serve_webhook(runtime)
