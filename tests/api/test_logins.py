"""The HTTP interface where a team logs in: a login reaches what is its own or shared, the server's token everything."""

import asyncio
import base64
import contextlib

import httpx
import pytest
from starlette.datastructures import Headers
from support import git_server
from support.app import running
from support.waiting import PATIENCE_S, until

from repopilot.database.chat_database import ChatDatabase
from repopilot.logins.callers import Callers, basic_credentials
from repopilot.logins.password_file import set_password
from repopilot.logins.recent import EVERYBODY, forget, recent, remember
from repopilot.settings import Settings

TOKEN = "a-token-for-the-proxy"
SECRET = "open-sesame"
FILES = {"orchard/trees.py": "def harvest(tree):\n    return tree.apples\n"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
QUIET = {"ollama_url": "", "embedded": "false", "auto_download": "false", "dense": "false", "access_token": TOKEN}
LOCAL = {"allow_http": "true", "allow_private_hosts": "true"}


class Team:
    """The application with logins by header, and each who asks it."""

    def __init__(self, app, origin, client):
        self.app, self.origin, self._client = app, origin, client
        self.database = ChatDatabase(app.home / "data")

    def ask(self, who, method, path, **body):
        headers = BEARER | ({"X-Forwarded-User": who} if who else {})
        headers |= body.pop("headers", {})
        return self._client.request(method, f"/api/v1{path}", headers=headers, json=body or None)

    def opened(self, who, source):
        return self.ask(who, "POST", "/repositories", source=source)

    def listed(self, who):
        return [each["source"] for each in self.ask(who, "GET", "/repositories").json()["repositories"]]

    def found(self, who):
        return [each["path"] for each in self.ask(who, "POST", "/search", all=True, query="harvest").json()["hits"]]


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("git")
    git_server.commit(folder / "work", FILES)
    for name in ("orchard", "garden", "meadow", "copse"):
        git_server.publish(folder / "work", folder / "served", f"{name}.git")
    with git_server.serve(folder / "served") as git:
        git.token = SECRET
        yield git


@pytest.fixture(scope="module")
def team(tmp_path_factory, origin):
    with running(tmp_path_factory.mktemp("team"), login="header", **QUIET, **LOCAL) as app:
        with httpx.Client(base_url=app.url, timeout=PATIENCE_S) as client:
            yield Team(app, origin, client)


def private(origin, name, secret=SECRET):
    return f"{origin.url.replace('://', f'://{secret}@')}/{name}.git"


@pytest.mark.slow
@pytest.mark.thorough
def test_a_private_repository_is_the_logins_that_its_host_lets_in(team):
    address = f"{team.origin.url}/orchard.git"
    opened = team.opened("ada", private(team.origin, "orchard"))
    assert opened.status_code == 200, opened.text
    id = opened.json()["id"]
    assert team.found("ada") == ["orchard/trees.py"] and address in team.listed("ada")
    assert recent(team.database, "ada")[0]["address"] == address, "the page's first screen has it as well"

    assert team.found("bob") == [] == team.listed("bob")
    assert team.ask("bob", "GET", f"/repositories/{id}").status_code == 404, "an id of another login"
    for path, body in (
        ("/search", {"query": "harvest"}),
        ("/ask", {"question": "what is harvest?"}),
        ("/context", {"query": "harvest"}),
        ("/overview", {}),
        ("/review", {}),
        ("/impact", {"targets": ["orchard/trees.py"]}),
        ("/generate", {"task": "rename harvest to pick"}),
        ("/tools/read", {"arguments": {"path": "orchard/trees.py"}}),
    ):
        for source in (address, private(team.origin, "orchard", "guess"), f"{address[:-4]}/pull/7"):
            refused = team.ask("bob", "POST", path, source=source, **body)
            assert refused.status_code in (401, 404, 502) and "apples" not in refused.text, (path, refused.text)
        assert team.ask("ada", "POST", path, source=address, **body).status_code == 200, path
    assert team.ask("bob", "POST", "/ask", all=True, question="what is harvest?").json()["evidence"] == []

    # What the other asks for and does not get leaves the state of it alone.
    assert team.ask("ada", "GET", f"/repositories/{id}").json()["state"] == "ready"
    assert team.ask("bob", "GET", f"/repositories/{id}").json()["state"] == "failed"
    assert team.opened("bob", private(team.origin, "orchard")).status_code == 200 and team.found("bob")
    assert address in team.listed("") and team.found("")


@pytest.mark.slow
def test_what_is_shared_is_everybodys_until_it_no_longer_is(team):
    address = f"{team.origin.url}/garden.git"
    assert team.opened("carl", private(team.origin, "garden")).status_code == 200
    assert team.opened("dora", address).status_code == 401
    remember(team.database, "garden", address, EVERYBODY)
    assert team.opened("dora", address).status_code == 200, "without a token"
    assert address in team.listed("dora") and team.found("dora") == ["orchard/trees.py"]
    forget(team.database, address, EVERYBODY)
    assert team.opened("dora", address).status_code == 401, "having used it made it not their own"
    assert team.listed("dora") == [] == team.found("dora")
    forget(team.database, address, "carl")
    assert team.found("carl") == [] and team.opened("carl", address).status_code == 401, "deleted on the page"


@pytest.mark.slow
def test_a_folder_is_of_the_login_that_opened_it_first(team, tmp_path):
    folder = tmp_path / "project"
    git_server.commit(folder, FILES)
    assert team.opened("erin", str(folder)).status_code == 200
    for place in (folder, folder / "orchard", tmp_path, team.app.home / "data"):
        refused = team.opened("finn", str(place))
        assert refused.status_code == 403 and refused.json()["error"]["type"] == "SourceRefused", place
    assert team.opened("", str(folder)).status_code == 200, "the server's own account may open everything"
    assert team.opened("erin", str(folder)).status_code == 200 and team.listed("finn") == []


@pytest.mark.slow
def test_requests_are_cancelled_by_whose_they_are_and_named_alike_by_others(team):
    team.origin.stall.set()
    named = {"headers": {"X-Request-ID": "the-same"}}
    try:
        source = private(team.origin, "meadow")
        for who in ("gail", "hank"):
            begun = team.ask(who, "POST", "/repositories", source=source, wait=False, **named)
            assert begun.status_code == 202, "an id is a login's own"
        id = begun.json()["id"]
        assert team.ask("iris", "POST", "/requests/the-same/cancel").json() == {"cancelled": False}
        assert team.ask("hank", "POST", "/requests/the-same/cancel").json() == {"cancelled": True}
        until(lambda: team.ask("hank", "GET", f"/repositories/{id}").json()["state"] == "cancelled")
        assert team.ask("gail", "GET", f"/repositories/{id}").json()["state"] == "running"
        assert team.ask("", "GET", f"/repositories/{id}").status_code == 200
        assert team.ask("gail", "POST", "/requests/the-same/cancel").json() == {"cancelled": True}
    finally:
        team.origin.stall.clear()
        team.origin.released.set()


@pytest.mark.slow
def test_a_proxy_that_lost_the_name_is_not_the_servers_account(team):
    for headers in (
        {"X-Forwarded-For": "10.0.0.7"},
        {"X-Forwarded-User": ""},
        {"X-Forwarded-User": "x" * 300},
    ):
        refused = team.ask("", "GET", "/repositories", headers=headers)
        assert refused.status_code == 401 and refused.json()["error"]["message"], headers
    with httpx.Client(base_url=team.app.url) as client:
        twice = [("Authorization", f"Bearer {TOKEN}"), ("X-Forwarded-User", "ada"), ("X-Forwarded-User", "bob")]
        assert client.get("/api/v1/repositories", headers=twice).status_code == 401
        only_named = client.get("/api/v1/repositories", headers={"X-Forwarded-User": "ada"})
        assert only_named.status_code == 401, "nobody vouches for the name"
        by_proxy = {"X-RepoPilot-Token": TOKEN, "X-Forwarded-User": "ada", "Authorization": "Basic of-the-proxy"}
        assert client.get("/api/v1/repositories", headers=by_proxy).status_code == 200, "as it asks for the page"


@pytest.mark.slow
def test_metrics_name_nobody(team):
    team.ask("very-private-name", "GET", "/repositories")
    assert "very-private-name" not in team.ask("very-private-name", "GET", "/metrics").text
    assert team.ask("", "GET", "/health").json()["parts"]


@contextlib.contextmanager
def with_passwords(home, **options):
    set_password(Settings(home=home / "data", _env_file=None), "Ada", "correct horse")
    with running(home, login="password", **{**QUIET, **options}) as app:
        with httpx.Client(base_url=f"{app.url}/api/v1", timeout=PATIENCE_S) as client:
            yield client


@pytest.mark.slow
@pytest.mark.thorough
def test_a_password_acts_as_its_login(tmp_path):
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs):
        git_server.commit(folder, FILES)
    with with_passwords(tmp_path / "app") as client:
        ada = ("Ada", "correct horse")
        assert client.post("/repositories", json={"source": str(theirs)}, headers=BEARER).status_code == 200
        assert client.post("/repositories", json={"source": str(mine)}, auth=ada).status_code == 200
        listed = client.get("/repositories", auth=ada).json()["repositories"]
        assert [each["source"] for each in listed] == [str(mine)]
        assert len(client.get("/repositories", headers=BEARER).json()["repositories"]) == 2
        for auth in (("Ada", "wrong horse"), ("Bob", "correct horse"), ("", ""), None):
            assert client.get("/repositories", auth=auth).status_code == 401, auth
        named = {"X-Forwarded-User": "Bob"}
        assert len(client.get("/repositories", headers=BEARER | named).json()["repositories"]) == 2, "no proxy's word"
    with with_passwords(tmp_path / "open", access="open", access_token="") as client:
        assert client.get("/repositories").status_code == 401, "an open port has its logins all the same"
        assert client.get("/repositories", auth=ada).status_code == 200


@pytest.mark.slow
async def test_a_password_is_known_again_until_it_changes(tmp_path, monkeypatch, caplog):
    settings = Settings(home=tmp_path, login="password", _env_file=None)
    set_password(settings, "Ada", "correct horse")
    monkeypatch.setattr("repopilot.logins.callers._AFTER_FAILURE_S", 0)
    callers = Callers(settings, TOKEN)

    def sent(password):
        return Headers({"authorization": "Basic " + base64.b64encode(f"Ada:{password}".encode()).decode()})

    assert await callers.owner(sent("correct horse")) == "Ada"
    tried = []
    monkeypatch.setattr("repopilot.logins.callers.verify_password", lambda *given: tried.append(given))
    assert await callers.owner(sent("correct horse")) == "Ada" and not tried, "no second of hashing for each request"
    monkeypatch.undo()
    monkeypatch.setattr("repopilot.logins.callers._AFTER_FAILURE_S", 0)
    assert await callers.owner(sent("wrong horse")) is None and [each.message for each in caplog.records]
    set_password(settings, "Ada", "another horse")
    assert await callers.owner(sent("correct horse")) is None and await callers.owner(sent("another horse")) == "Ada"
    assert await asyncio.gather(*(callers.owner(sent(f"guess {n}")) for n in range(3))) == [None] * 3


@pytest.mark.parametrize("given", ["", "Basic", "Basic ä", "Basic !!!!", "Basic /w==", "Bearer QWRhOng=", "basic QQ"])
def test_malformed_credentials_are_none(given):
    assert not basic_credentials(given)[1]


def test_a_password_may_hold_a_colon():
    assert basic_credentials("basic " + base64.b64encode(b"Ada:a:b").decode()) == ("Ada", "a:b")
