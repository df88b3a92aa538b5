"""The HTTP interface on the running application: documents, streams, ids, limits, refusals."""

import asyncio
import http.client
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from support import git_server, waiting
from support.app import ROOT, running
from support.more_tests import MORE_TESTS
from support.waiting import PATIENCE_S, until

from repopilot import intents
from repopilot.api.application import client_of, status_of
from repopilot.api.operations import UnknownTool
from repopilot.api.work import Client, Requests
from repopilot.errors import (
    CredentialsNeeded,
    ForgeError,
    IndexFailed,
    SourceError,
    SourceMalformed,
    SourceRefused,
    SourceUnreachable,
    UsageError,
)
from repopilot.index.storage import layout
from repopilot.types import Progress

FILES = {
    "shop/prices.py": "RATE = 2\n\n\ndef price(count):\n    return count * RATE\n",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total(n):\n    return price(n)\n",
    "tests/test_prices.py": "from shop.prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n"
    + MORE_TESTS,
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
        with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=PATIENCE_S) as made:
            made.app = app
            yield made


@pytest.fixture(scope="module")
def indexed(client, repository):
    return client.post("/repositories", json={"source": str(repository)}).json()


@pytest.fixture(scope="module")
def source(indexed, repository):
    return str(repository)


@pytest.mark.slow
def test_an_indexed_repository_is_ready_and_listed(client, indexed, source):
    assert indexed["files"] == 3 and indexed["commit"] and len(indexed["request"]) == 32
    assert client.get(f"/repositories/{indexed['id']}").json()["state"] == "ready"
    assert source in [each["source"] for each in client.get("/repositories").json()["repositories"]]


@pytest.mark.slow
def test_a_search_returns_as_many_places_as_asked_for(client, source):
    hits = client.post("/search", json={"source": source, "query": "price", "k": 2}).json()
    assert hits["hits"] and len(hits["hits"]) <= 2


@pytest.mark.slow
def test_a_question_returns_evidence_and_its_steps(client, source):
    asked = client.post("/ask", json={"source": source, "question": "what calls price?"}).json()
    assert "shop/cart.py" in json.dumps(asked["evidence"]) and asked["model"] is None
    (root,) = asked["steps"]  # as on the command line
    assert (root["name"], root["input"], root["state"]) == ("ask", "what calls price?", "ok") and root["children"]


@pytest.mark.slow
def test_what_is_asked_is_answered_and_never_carried_out(client, source):
    order = client.post("/ask", json={"source": source, "question": "rename price to cost"}).json()
    assert order["route"]["intent"] in intents.answering()


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [{"query": "how is a price computed?", "max_tokens": 600}, {"folders": ["shop"]}])
def test_a_pack_has_its_excerpts_and_an_overview_where_one_is_wanted(client, source, wanted):
    packed = client.post("/context", json={"source": source, **wanted}).json()
    assert {"shop/prices.py"} <= {each["path"] for each in packed["excerpts"]} and 0 < packed["tokens"] < 600
    led = client.post("/context", json={"source": source, **wanted, "overview": True}).json()
    assert led["overview"] and not packed["overview"]


@pytest.mark.slow
def test_a_pack_of_nothing_is_refused(client, source):
    assert client.post("/context", json={"source": source}).status_code == 422


@pytest.mark.slow
def test_all_repositories_are_searched_and_asked(client, indexed):
    everywhere = client.post("/search", json={"all": True, "query": "price", "k": 2}).json()
    assert everywhere["repositories"] >= 1 and "shop" in {each["repository"] for each in everywhere["hits"]}
    asked = client.post("/ask", json={"all": True, "question": "what calls price?"}).json()
    assert "shop" in {each["repository"] for each in asked["citations"]} and asked["degraded"]


@pytest.mark.slow
def test_an_impact_has_its_risk_and_what_is_affected(client, source):
    touched = client.post("/impact", json={"source": source, "targets": ["shop/prices.py:price"]}).json()
    assert touched["risk"] and any(each["path"] == "shop/cart.py" for each in touched["affected"])


@pytest.mark.slow
def test_a_review_has_findings_and_a_wrong_range_is_refused(client, source):
    assert "findings" in client.post("/review", json={"source": source}).json()
    refused = client.post("/review", json={"source": source, "diff": "..HEAD"})
    assert refused.status_code == 422 and "not a range of commits" in refused.json()["error"]["message"]


@pytest.mark.slow
def test_a_change_is_returned_and_not_written(client, source, repository):
    made = client.post("/generate", json={"source": source, "task": "rename price to cost"}).json()
    assert {file["path"] for file in made["files"]} == set(FILES)
    assert [step["name"] for step in made["steps"]] == ["generate"]
    assert "def price" in (repository / "shop/prices.py").read_text()


@pytest.mark.slow
def test_tools_are_listed_and_called_on_a_working_copy(client, repository):
    names = {tool["name"] for tool in client.get("/tools").json()["tools"]}
    assert {"search", "rename_symbol", "run_tests", "changes"} <= names and "ask_user" not in names
    body = {"source": str(repository), "arguments": {"name": "price", "new_name": "cost"}}
    called = client.post("/tools/rename_symbol", json=body).json()
    assert len(called["changes"]) == 3 and not called["applied"]
    wrong = client.post("/tools/rename_symbol", json={"source": str(repository), "arguments": {"name": "price"}})
    assert wrong.status_code == 422 and "new_name" in wrong.json()["error"]["message"] + wrong.json()["error"]["hint"]
    assert client.post("/tools/no_such", json={"source": str(repository)}).status_code == 404


@pytest.mark.slow
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
    assert kinds[0] == "step" and {"evidence", "progress"} <= set(kinds) and "evidence" in kinds and kinds[-1] == "done"
    assert document["request"] == "mine-1" and document["answer"]


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_without_the_token_nothing_is_said(client, headers):
    reply = waiting.get(f"{client.base_url}repositories", headers=headers)
    assert reply.status_code == 401 and reply.json()["error"]["message"] and reply.headers["x-request-id"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b'{"source": "/nowhere/at/all", "query": "x"}', 404),
        (b'{"source": "nowhere", "query": "x"}', 404),
        (b'{"source": "/%s", "query": "x"}' % (b"long" * 400), 404),
        (b'{"source": "no repository at all", "query": "x"}', 422),
        (b'{"source": "https://host.example:x/a/b", "query": "x"}', 422),
        (b'{"source": "https://127.0.0.1:1/a/b", "query": "x"}', 403),
        (b'{"source": "http://host.example/a/b", "query": "x"}', 403),
        (b'{"source": "file:///etc", "query": "x"}', 403),
        (b'{"source": "https://no-such-host.invalid/a/b", "query": "x"}', 502),
        (b'{"source": "x", "query": "x", "more": 1}', 422),
        (b'{"query": "x"}', 422),
        (json.dumps({"source": "x", "query": "y" * 2_000_000}).encode(), 413),
    ],
)
def test_bad_input_is_answered_with_what_is_wrong(client, body, status):
    reply = client.post("/search", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == status, reply.text
    assert reply.json()["error"]["message"] and reply.json()["request"] == reply.headers["x-request-id"]


@pytest.mark.slow
def test_what_is_asked_for_can_be_cancelled_and_is_limited(client, tmp_path):
    slow = tmp_path / "slow"
    git_server.commit(slow, {f"m{n}.py": f"def f{n}():\n    return {n}\n" * 400 for n in range(150)})
    answers = []

    def ask(id):
        answers.append(client.post("/review", json={"source": str(slow)}, headers={"X-Request-ID": id}))

    threads = [threading.Thread(target=ask, args=(f"r{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    cancelled = set()
    until(lambda: len(answers) >= 2)  # two are refused at once
    while any(thread.is_alive() for thread in threads):
        cancelled |= {n for n in range(6) if client.post(f"/requests/r{n}/cancel").json()["cancelled"]}
        time.sleep(0.05)
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses.count(429) == 2 and cancelled, statuses
    assert all(answer.headers.get("retry-after") for answer in answers if answer.status_code == 429)
    assert client.post("/requests/none/cancel").json() == {"cancelled": False}


@pytest.fixture
def slow(tmp_path):
    """A repository whose index takes long."""
    return _slow(tmp_path / "slow")


def _slow(folder):
    modules = {f"m{n}.py": f"def f{n}():\n    return {n}\n" * 400 for n in range(60)}
    git_server.commit(folder, {**modules, **{f"many/{name}": text * 3 for name, text in modules.items()}})
    for copy in range(12):
        shutil.copytree(folder / "many", folder / f"many/copy{copy}", ignore=shutil.ignore_patterns("copy*"))
    return folder


def _cpu_ticks(pid):
    """The processor time of a process in ticks of the clock, 0 where it has ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0


def has_stopped(client):
    """Whether the server has stopped indexing: nothing is published, and its processes have nothing to do."""
    deadline, before = time.monotonic() + PATIENCE_S, -1.0
    while time.monotonic() < deadline:
        now = sum(map(_cpu_ticks, client.app.children()))
        if now == before:
            folders = [each for each in (client.app.home / "data/index").glob("slow-*") if each.is_dir()]
            return bool(folders) and not any(map(layout.generations, folders))
        before = now
        time.sleep(2)
    return False


@pytest.mark.slow
def test_a_request_that_is_cancelled_stops_its_index(client, slow):
    answers = []

    def ask():
        body = {"source": str(slow), "query": "x"}
        answers.append(client.post("/search", json=body, headers={"X-Request-ID": "stop"}))

    indexes = client.app.home / "data/index"
    before = set(indexes.glob("slow-*/*"))
    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: set(indexes.glob("slow-*/*")) - before)
    until(lambda: client.post("/requests/stop/cancel").json()["cancelled"])
    thread.join()
    assert answers[0].status_code == 409
    assert has_stopped(client)
    assert "never retrieved" not in client.app.log.read_text()


@pytest.mark.parametrize("source", ["/", "~", "~/..", "/tmp/.."])
def test_no_client_has_all_that_a_user_has_indexed(client, tmp_path, source):
    (tmp_path / "link").symlink_to(Path(source).expanduser())
    for named in (source, str(tmp_path / "link")):
        for route, rest in {"repositories": {}, "search": {"query": "x"}, "tools/files": {}}.items():
            reply = client.post(f"/{route}", json={"source": named, **rest})
            assert reply.status_code == 403, reply.text
            assert "home folder" in reply.json()["error"]["message"] and reply.json()["error"]["hint"]


@pytest.mark.slow
@pytest.mark.thorough
def test_a_client_that_goes_stops_its_work_and_frees_its_place(client, slow, repository):
    body = {"source": str(slow), "query": "x"}
    with client.stream("POST", "/search", json=body, headers={"Accept": "text/event-stream"}) as reply:
        for line in reply.iter_lines():
            if line.startswith("data: ") and (told := json.loads(line[6:])).get("phase") == "parsing":
                break
    assert told.keys() == {"phase", "done", "total"}
    soon = httpx.Timeout(PATIENCE_S, read=1.5)
    with httpx.Client(base_url=client.base_url, headers=client.headers, timeout=soon) as impatient:
        for _ in range(5):
            with pytest.raises(httpx.ReadTimeout):
                impatient.post("/search", json=body)
    until(lambda: client.post("/search", json={"source": str(repository), "query": "price"}).status_code == 200)
    assert has_stopped(client)


@pytest.mark.slow
@pytest.mark.thorough
def test_nobody_is_stopped_by_another_who_wanted_the_same(client, slow):
    shutil.rmtree(slow / "many")  # so that it takes less long
    body, answers = {"source": str(slow), "query": "f1"}, []
    thread = threading.Thread(target=lambda: answers.append(client.post("/search", json=body)))
    thread.start()
    with pytest.raises(httpx.ReadTimeout):
        client.post("/search", json=body, timeout=httpx.Timeout(PATIENCE_S, read=0.7))
    thread.join()
    assert answers[0].status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_the_limit_holds_before_the_reply_begins(client, slow, accept):
    asked = {"json": {"source": str(slow), "query": "x"}}
    with ExitStack() as held:
        for _ in range(4):
            holding = client.stream("POST", "/search", **asked, headers={"Accept": "text/event-stream"})
            assert held.enter_context(holding).status_code == 200
        refused = client.post("/search", **asked, headers={"Accept": accept})
    assert refused.status_code == 429 and refused.headers["retry-after"]
    assert refused.json()["error"]["type"] == "TooMany"


@pytest.mark.slow
@pytest.mark.parametrize("token", [TOKEN, "wrong"])
def test_the_example_client_answers_or_says_why_not(client, repository, token):
    address = str(client.base_url).partition("/api/")[0]
    command = [sys.executable, "docs/api_client.py", address, token, str(repository), "what calls price?"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S)
    if token == TOKEN:
        assert done.returncode == 0 and "shop/cart.py:" in done.stdout
    else:
        assert done.returncode == 1 and done.stderr.startswith("The request needs the header Authorization")


async def test_a_stream_with_nothing_to_say_is_kept_alive(monkeypatch):
    monkeypatch.setattr("repopilot.api.work.KEEP_ALIVE_S", 0.05)

    async def work(step, progress):
        progress(Progress("cloning", 1, 2))
        await asyncio.sleep(0.2)
        raise ZeroDivisionError

    told = [text async for text in Requests().begin("r", Client("", "c"), "search", work).events()]
    assert ": working\n\n" in told
    assert 'event: progress\ndata: {"phase": "cloning", "done": 1, "total": 2}\n\n' in told
    assert told[-1].startswith("event: error\n") and '"request": "r"' in told[-1]


def test_a_post_needs_no_body_and_refusals_their_headers(client):
    connection = http.client.HTTPConnection("127.0.0.1", client.app.port, timeout=PATIENCE_S)
    headers = {"Host": f"127.0.0.1:{client.app.port}", "Authorization": f"Bearer {TOKEN}"}
    connection.putrequest("POST", "/api/v1/requests/none/cancel", skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert json.loads(connection.getresponse().read()) == {"cancelled": False}
    endless = client.post("/search", content=iter([b"{}"]))
    assert endless.status_code == 411
    wrong = client.get("/search")
    assert wrong.status_code == 405 and wrong.headers["allow"] == "POST"
    assert client.delete("/repositories").headers["allow"] == "GET, POST", "of all routes there"


@pytest.mark.parametrize("path", ["%0A", "%0Atools", "tools/%0Asearch", "tools%0A"])
def test_a_path_with_a_newline_needs_the_token_as_any_other(client, path):
    assert waiting.post(f"{client.base_url}{path}", json={}).status_code == 401
    reply = client.post(f"/{path}", json={"source": "/nowhere"})
    assert reply.status_code in (404, 405) and reply.json()["error"]["message"]


def test_each_login_has_a_limit_of_its_own_wherever_it_asks_from():
    def asked_by(owner, address):
        return client_of(Request({"type": "http", "client": (address, 4000), "state": {"owner": owner}}))

    assert asked_by("ada", "127.0.0.1") == asked_by("ada", "10.0.0.1") != asked_by("bob", "127.0.0.1")
    assert asked_by("", "127.0.0.1") != asked_by("", "10.0.0.1")


def test_each_request_is_a_line_in_the_log_of_the_server(client, repository):
    client.get("/tools", headers={"X-Request-ID": "seen-1"})
    client.post("/search", json={"source": "/nowhere"}, headers={"X-Request-ID": "seen-2"})
    for line in (r"GET /api/v1/tools 200 \d+\.\d{3} s \[request seen-1\]", r"POST /api/v1/search 422 .+ seen-2\]"):
        until(lambda line=line: re.search(line, client.app.log.read_text()))


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ForgeError("x"), 502),
        (SourceUnreachable("x"), 502),
        (SourceRefused("x"), 403),
        (SourceMalformed("x"), 422),
        (SourceError("x"), 404),
        (CredentialsNeeded("x"), 401),
        (UnknownTool("x"), 404),
        (UsageError("x"), 422),
        (IndexFailed("x"), 500),
    ],
)
def test_errors_have_their_status(error, status):
    assert status_of(error) == status


@pytest.mark.parametrize(
    ("given", "said"),
    [({"k": True}, "k: "), ({"k": "5"}, "k: "), ({"all": True}, "give either source or all"), ({"all": 1}, "all: ")],
)
def test_types_are_strict_and_problems_plain(client, repository, given, said):
    reply = client.post("/search", json={"source": str(repository), "query": "x", **given})
    assert reply.status_code == 422
    assert reply.json()["error"]["message"].startswith(f"The request is malformed: {said}")
    assert "Value error" not in reply.text


@pytest.mark.slow
def test_the_schema_describes_every_operation(client):
    schema = client.get("/openapi.json").json()
    assert {"/repositories", "/search", "/ask", "/generate", "/review", "/impact", "/tools/{name}"} <= set(
        schema["paths"]
    )
    for path in schema["paths"].values():
        for operation in path.values():
            assert operation.get("description")
    assert schema["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    search = schema["paths"]["/search"]["post"]
    assert search["security"] and "text/event-stream" in search["responses"]["200"]["content"]
    assert "X-Request-ID" in search["responses"]["200"]["headers"]
    assert any(each["name"].lower() == "x-request-id" for each in search["parameters"])
    refusals = {"400", "401", "403", "404", "405", "409", "411", "413", "422", "429", "500", "502"}
    assert refusals <= search["responses"].keys()
    for status in refusals:
        reference = search["responses"][status]["content"]["application/json"]["schema"]["$ref"]
        assert reference.endswith("/ErrorDocument")
    alternatives = schema["components"]["schemas"]["SearchBody"]["oneOf"]
    assert [each["required"] for each in alternatives] == [["source"], ["all"]]
