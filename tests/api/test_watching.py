"""What the API says of itself: repositories on their way by id, health, and metrics."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from support import git_server, waiting
from support.app import running
from support.waiting import PATIENCE_S, until

from repopilot import __version__
from repopilot.api.jobs import MOST, RepositoryJobs, UnknownRepository, repository_id
from repopilot.checks import is_usable
from repopilot.errors import Cancelled, SourceError
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Progress

TOKEN = "a-token-of-the-tests-0123"
SECRET_NAME = "very-private-shop"


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watching") / SECRET_NAME
    git_server.commit(folder, {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(20)})
    return str(folder)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false", "access_token": TOKEN, "access": "token"}
    quiet["git_token"] = "git.example.org=s3cr3t"
    with running(tmp_path_factory.mktemp("home"), **quiet) as app:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=f"{app.url}/api/v1", headers=headers, timeout=PATIENCE_S) as made:
            made.home = app.home
            yield made


def ended(client, id):
    def found():
        told = client.get(f"/repositories/{id}").json()
        return told if told["state"] != "running" else None

    return until(found)


@pytest.mark.slow
def test_a_repository_that_nobody_waits_for_is_followed_by_its_id(client, repository):
    reply = client.post("/repositories", json={"source": repository, "wait": False})
    begun = reply.json()
    assert reply.status_code == 202 and begun["state"] == "running" and begun["request"]
    assert reply.headers["location"] == f"/api/v1/repositories/{begun['id']}"
    found = ended(client, begun["id"])
    assert (found["state"], found["percentage"], found["error"]) == ("ready", 100, None)
    waited = client.post("/repositories", json={"source": repository}).json()
    assert waited["id"] == begun["id"] and waited["files"] == 20
    assert begun["id"] in {each["id"] for each in client.get("/repositories").json()["repositories"]}


@pytest.mark.slow
@pytest.mark.thorough
def test_one_that_fails_says_why_and_tells_no_token(client):
    source = "https://user:s3cr3t@no-such-host.invalid/a/b"
    begun = client.post("/repositories", json={"source": source, "wait": False}).json()
    found = ended(client, begun["id"])
    assert found["state"] == "failed" and found["error"]["type"] == "SourceUnreachable" and found["error"]["hint"]
    assert "s3cr3t" not in json.dumps([begun, found])


@pytest.mark.parametrize(("source", "status"), [("/", 403), ("no repository at all", 422), ("/nowhere", 404)])
def test_what_can_not_be_opened_at_all_is_refused_at_once(client, source, status):
    assert client.post("/repositories", json={"source": source, "wait": False}).status_code == status
    assert client.get(f"/repositories/{repository_id(source, '')}").status_code == 404


def test_of_two_who_wait_one_that_leaves_cancels_nothing():
    openings = RepositoryJobs()
    said = []

    def opened(error=None):
        with openings.follow("", "https://a.example/b/c", "", said.append) as told:
            told(Progress("cloning", 1, 4))
            if error:
                raise error

    id = repository_id("https://x:y@a.example/b/c", "")
    with openings.follow("", "https://a.example/b/c", "", said.append):
        with pytest.raises(Cancelled):
            opened(Cancelled("gone"))
        assert openings.of("", id).document() == {
            "source": "https://a.example/b/c",
            "ref": "",
            "state": "running",
            "phase": "cloning",
            "percentage": 25,
            "error": None,
        }
    assert openings.of("", id).state == "ready" and said
    with pytest.raises(SourceError):
        opened(SourceError("deleted", "hint"))
    assert openings.of("", id).document()["error"] == {"type": "SourceError", "message": "deleted", "hint": "hint"}
    with pytest.raises(Cancelled):
        opened(Cancelled("gone"))
    assert openings.of("", id).state == "cancelled"


def test_no_more_openings_are_remembered_than_fit():
    openings = RepositoryJobs()
    with openings.follow("", "first", "", print):
        for n in range(MOST + 10):
            with openings.follow("", f"https://a.example/b/{n}", "", print):
                pass
        assert len(openings.states()) <= MOST + 1 and openings.of("", repository_id("first", "")).state == "running"
    with pytest.raises(UnknownRepository):
        openings.of("", repository_id("https://a.example/b/0", ""))


@pytest.mark.slow
def test_health_is_up_or_not_for_everybody_and_more_with_the_token(client):
    bare = waiting.get(f"{client.base_url}health")
    assert (bare.status_code, bare.json()) == (200, {"status": "up"})
    assert waiting.get(f"{client.base_url}health", headers={"Authorization": "Bearer x"}).status_code == 401
    for path in ("health/", "health/x", "metrics", "repositories"):
        assert waiting.get(f"{client.base_url}{path}").status_code == 401
    found = client.get("/health").json()
    assert set(found["parts"]) == {"model", "index", "sandbox", "vectors", "forge"} and found["version"] == __version__
    assert {part["state"] for part in found["parts"].values()} <= {"ok", "degraded"}
    assert found["parts"]["model"]["state"] == "degraded" and found["parts"]["model"]["fix"]
    assert "1 host" in found["parts"]["forge"]["detail"] and "s3cr3t" not in json.dumps(found)


@pytest.mark.slow
def test_metrics_count_requests_and_times_and_tell_no_content(client, repository):
    client.post("/search", json={"source": repository, "query": "f1"})
    client.get(f"/{SECRET_NAME}")
    reply = client.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=")
    counted = re.search(
        r'^repopilot_request_seconds_count\{method="POST",path="/search",status="200"\} ([\d.]+)$', reply.text, re.M
    )
    assert counted and float(counted[1]) >= 1
    assert 'repopilot_step_seconds_count{kind="run",state="ok"}' in reply.text
    assert f'version="{__version__}"' in reply.text and "process_resident_memory_bytes" in reply.text
    assert SECRET_NAME not in reply.text and "f1" not in re.sub("[0-9a-f]{12}", "", reply.text)


@pytest.mark.slow
def test_health_that_many_ask_for_at_once_is_up(tmp_path):
    with Runtime(Settings(home=tmp_path, _env_file=None)) as runtime, ThreadPoolExecutor(8) as threads:
        assert all(threads.map(is_usable, [runtime] * 400))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.thorough
def test_a_server_that_can_not_write_its_data_is_down(tmp_path):
    blocked = tmp_path / "data"
    quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false", "access": "open"}
    with running(tmp_path / "home", data=blocked / "deep", **quiet) as app:
        (blocked / "deep").rename(tmp_path / "moved")
        blocked.rmdir()
        blocked.write_text("no folder")
        reply = waiting.get(f"{app.url}/api/v1/health")
    assert reply.status_code == 503 and reply.json()["status"] == "down"
