"""The HTTP interface on the running application: documents, streams, ids, limits, refusals."""

import json
import threading
import time

import httpx
import pytest
from support import git_server
from support.app import running

FILES = {
    "shop/prices.py": "RATE = 2\n\n\ndef price(count):\n    return count * RATE\n",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total(n):\n    return price(n)\n",
    "tests/test_prices.py": "from shop.prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n",
}
TOKEN = "a-token-of-the-tests-0123"


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api") / "shop"
    git_server.commit(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false", "access_token": TOKEN, "access": "token"}
    with running(tmp_path_factory.mktemp("home"), **quiet) as app:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=120) as made:
            yield made


def test_every_operation_returns_its_document(client, repository):
    source = str(repository)
    indexed = client.post("/repositories", json={"source": source}).json()
    assert indexed["files"] == 3 and indexed["commit"] and len(indexed["request"]) == 32
    assert [each["source"] for each in client.get("/repositories").json()["repositories"]] == [source]
    hits = client.post("/search", json={"source": source, "query": "price", "k": 2}).json()
    assert hits["hits"] and len(hits["hits"]) <= 2
    asked = client.post("/ask", json={"source": source, "question": "what calls price?"}).json()
    assert "shop/cart.py" in json.dumps(asked["evidence"]) and asked["steps"] and asked["model"] is None
    for body in ({"query": "how is a price computed?", "max_tokens": 600}, {"folders": ["shop"]}):
        packed = client.post("/context", json={"source": source, **body}).json()
        assert {"shop/prices.py"} <= {each["path"] for each in packed["excerpts"]} and 0 < packed["tokens"] < 600
    assert client.post("/context", json={"source": source}).status_code == 422
    everywhere = client.post("/search", json={"all": True, "query": "price", "k": 2}).json()
    assert everywhere["repositories"] == 1 and everywhere["hits"][0]["repository"] == "shop"
    asked = client.post("/ask", json={"all": True, "question": "what calls price?"}).json()
    assert asked["citations"][0]["repository"] == "shop" and asked["degraded"]
    touched = client.post("/impact", json={"source": source, "targets": ["shop/prices.py:price"]}).json()
    assert touched["risk"] and any(each["path"] == "shop/cart.py" for each in touched["affected"])
    reviewed = client.post("/review", json={"source": source}).json()
    assert "findings" in reviewed
    refused = client.post("/review", json={"source": source, "diff": "..HEAD"})
    assert refused.status_code == 422 and "not a range of commits" in refused.json()["error"]["message"]
    made = client.post("/generate", json={"source": source, "task": "rename price to cost"}).json()
    assert {file["path"] for file in made["files"]} == set(FILES)
    assert "def price" in (repository / "shop/prices.py").read_text(), "nothing is written"


def test_tools_are_listed_and_called_on_a_working_copy(client, repository):
    names = {tool["name"] for tool in client.get("/tools").json()["tools"]}
    assert {"search", "rename_symbol", "run_tests", "changes"} <= names and "ask_user" not in names
    body = {"source": str(repository), "arguments": {"name": "price", "new_name": "cost"}}
    called = client.post("/tools/rename_symbol", json=body).json()
    assert len(called["changes"]) == 3 and not called["applied"]
    wrong = client.post("/tools/rename_symbol", json={"source": str(repository), "arguments": {"name": "price"}})
    assert wrong.status_code == 422 and "new_name" in wrong.json()["error"]["message"] + wrong.json()["error"]["hint"]
    assert client.post("/tools/no_such", json={"source": str(repository)}).status_code == 422


def test_a_question_is_streamed_as_events(client, repository):
    body, kinds = {"source": str(repository), "question": "what calls price?"}, []
    headers = {"Accept": "text/event-stream", "X-Request-ID": "mine-1"}
    with client.stream("POST", "/ask", json=body, headers=headers) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["x-request-id"] == "mine-1"
        events = reply.read().decode().strip().split("\n\n")
    for event in events:
        kind, _, data = event.partition("\n")
        kinds.append(kind.removeprefix("event: "))
        document = json.loads(data.removeprefix("data: "))
    assert kinds[0] == "step" and "evidence" in kinds and kinds[-1] == "done"
    assert document["request"] == "mine-1" and document["answer"]


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_without_the_token_nothing_is_said(client, headers):
    reply = httpx.get(f"{client.base_url}repositories", headers=headers)
    assert reply.status_code == 401 and reply.json()["error"]["message"] and reply.headers["x-request-id"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b'{"source": "/nowhere/at/all", "query": "x"}', 404),
        (b'{"source": "x", "query": "x", "more": 1}', 422),
        (b'{"query": "x"}', 422),
        (json.dumps({"source": "x", "query": "y" * 2_000_000}).encode(), 413),
    ],
)
def test_bad_input_is_answered_with_what_is_wrong(client, body, status):
    reply = client.post("/search", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in (status, 422 if status == 404 else status), reply.text
    assert reply.json()["error"]["message"] and reply.json()["request"] == reply.headers["x-request-id"]


def test_what_is_asked_for_can_be_cancelled_and_is_limited(client, tmp_path):
    slow = tmp_path / "slow"
    git_server.commit(slow, {f"m{n}.py": f"def f{n}():\n    return {n}\n" * 400 for n in range(150)})
    answers = []

    def ask(id):
        answers.append(client.post("/review", json={"source": str(slow)}, headers={"X-Request-ID": id}))

    threads = [threading.Thread(target=ask, args=(f"r{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    cancelled, deadline = set(), time.monotonic() + 60
    while len(answers) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)  # two are refused at once
    while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
        cancelled |= {n for n in range(6) if client.post(f"/requests/r{n}/cancel").json()["cancelled"]}
        time.sleep(0.05)
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses.count(429) == 2 and cancelled, statuses
    assert all(answer.headers.get("retry-after") for answer in answers if answer.status_code == 429)
    assert client.post("/requests/none/cancel").json() == {"cancelled": False}


def test_the_schema_describes_every_operation(client):
    schema = client.get("/openapi.json").json()
    assert {"/repositories", "/search", "/ask", "/generate", "/review", "/impact", "/tools/{name}"} <= set(
        schema["paths"]
    )
    for path in schema["paths"].values():
        for operation in path.values():
            assert operation.get("description")
