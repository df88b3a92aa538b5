"""Logins of a team: by password, and by the header of a proxy; who isn't logged in gets nothing."""

import asyncio
import contextlib
import io
import json
import os
import sys

import httpx
import pytest
from starlette.datastructures import Headers
from support.app import running
from support.waiting import PATIENCE_S

from repopilot.cli.app import main
from repopilot.errors import StorageError, UsageError
from repopilot.logins.callers import Callers
from repopilot.logins.password_file import login_names, password_file, remove_password, set_password, verify_password
from repopilot.settings import Settings
from repopilot.ui.server.login import by_header, by_password, install_login, signing_secret

TOKEN = "a-token-for-the-proxy"
QUIET = {"ollama_url": "", "embedded": "false", "auto_download": "false"}


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path / "data", _env_file=None)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_password_opens_only_its_name(settings):
    set_password(settings, "Ada", "correct horse")
    set_password(settings, "Grace", "battery staple")
    assert verify_password(settings, "Ada", "correct horse")
    for name, password in (("Ada", "battery staple"), ("ada", "correct horse"), ("Bob", "correct horse"), ("", "")):
        assert not verify_password(settings, name, password)
    set_password(settings, "Ada", "another horse")
    assert not verify_password(settings, "Ada", "correct horse") and verify_password(settings, "Ada", "another horse")
    assert remove_password(settings, "Ada") and not remove_password(settings, "Ada")
    assert not verify_password(settings, "Ada", "another horse") and login_names(settings) == {"Grace"}


@pytest.mark.slow
def test_the_file_holds_no_password_and_is_for_this_account_only(settings):
    set_password(settings, "Ada", "correct horse")
    file = password_file(settings)
    assert file.stat().st_mode & 0o777 == 0o600 and "correct" not in file.read_text()
    first = file.read_text()
    set_password(settings, "Ada", "correct horse")
    assert file.read_text() != first, "the salt is random"


@pytest.mark.parametrize("name", ["", " a", "a:b", "a\nb", "\x1b[31m"])
def test_names_that_would_break_the_file_are_refused(settings, name):
    with pytest.raises(UsageError):
        set_password(settings, name, "long enough")


@pytest.mark.slow
@pytest.mark.parametrize("line", ["Ada:scrypt:0g:00", ":::", "Ada:plain:00:correct"])
def test_a_damaged_line_lets_nobody_in(settings, line):
    password_file(settings).parent.mkdir(parents=True)
    password_file(settings).write_text(line + "\n")
    assert not verify_password(settings, "Ada", "correct") and not verify_password(settings, "", "")


@pytest.mark.slow
def test_the_command_sets_and_removes(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse\n"))
    assert main(["password", "Ada"]) == 0
    assert verify_password(Settings(home=tmp_path), "Ada", "correct horse")
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    assert main(["password", "Ada"]) == 2 and "8 characters" in capsys.readouterr().err
    assert [main(["password", "Ada", "--remove"]) for _ in range(2)] == [0, 1]


@pytest.mark.slow
async def test_guessing_is_slow_for_the_name_and_only_for_it(settings, monkeypatch, caplog):
    set_password(settings, "Ada", "correct horse")
    set_password(settings, "Grace", "battery staple")
    login = by_password(Callers(settings, TOKEN))
    monkeypatch.setattr("repopilot.logins.callers._AFTER_FAILURE_S", 3600)
    guesses = [asyncio.create_task(login("Ada", f"guess {number}")) for number in range(2)]
    while not caplog.records:
        await asyncio.sleep(0.01)
    grace = await login("Grace", "battery staple")
    assert grace is not None and grace.identifier == "Grace"
    assert [each.message for each in caplog.records] == ["a login failed"], "the second guess waits for the first"
    assert not any(guess.done() for guess in guesses), "and the first for its pause"
    for guess in guesses:
        guess.cancel()
    monkeypatch.setattr("repopilot.logins.callers._AFTER_FAILURE_S", 0)
    assert await login("Ada", "another guess") is None and await login("Ada" * 200, "x") is None


def headers(*fields):
    return Headers(raw=[(name.encode(), value.encode()) for name, value in fields])


async def test_a_header_names_the_user(settings):
    login = by_header(Callers(settings, TOKEN))
    user = await login(headers(("x-forwarded-user", " ada ")))
    assert user is not None and user.identifier == "ada"
    assert await login(headers()) is None and await login(headers(("x-forwarded-user", " "))) is None
    forged = [("x-forwarded-user", "grace"), ("x-forwarded-user", "ada")]
    assert await login(headers(*forged)) is None, "the proxy has left the visitor's own in"


def test_the_signing_secret_is_random_kept_and_private(settings, tmp_path):
    first = signing_secret(settings)
    file = settings.home / "login_secret"
    assert len(first) == 64 and signing_secret(settings) == first and file.stat().st_mode & 0o777 == 0o600
    assert signing_secret(Settings(home=tmp_path / "other", _env_file=None)) != first
    file.chmod(0o644)
    signing_secret(settings)
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("")
    with pytest.raises(StorageError, match="incomplete"):
        signing_secret(settings)


def test_logins_without_a_password_start_nothing(settings):
    with pytest.raises(UsageError, match="repopilot password"):
        install_login(Callers(settings.model_copy(update={"login": "password"}), TOKEN))
    os.environ.pop("CHAINLIT_AUTH_SECRET", None)


def socket_session(client, session="s"):
    """What Socket.IO answers to a connection over polling: `40…` when it is accepted, `44…` when it is refused."""
    address = "/ws/socket.io/?EIO=4&transport=polling"
    opened = client.get(address)
    address += "&sid=" + json.loads(opened.text[1:])["sid"]
    sent = {"sessionId": session, "clientType": "webapp", "userEnv": "{}"}
    assert client.post(address, content="40" + json.dumps(sent)).status_code == 200
    return client.get(address).text


@contextlib.contextmanager
def served(home, **options):
    with running(home, **QUIET, **options) as app, httpx.Client(base_url=app.url, timeout=PATIENCE_S) as client:
        yield app, client


@pytest.mark.slow
def test_with_passwords_everything_waits_for_the_login(tmp_path):
    set_password(Settings(home=tmp_path / "app" / "data", _env_file=None), "Ada", "correct horse")
    with served(tmp_path / "app", login="password") as (app, client):
        assert client.get("/").status_code == 200, "the page with the login"
        assert client.get("/auth/config").json()["passwordAuth"] is True
        action = {"sessionId": "s", "action": {"name": "accept", "payload": {}, "label": "", "tooltip": "", "icon": ""}}
        for path in ("/user", "/project/settings", "/project/file/x?session_id=s"):
            assert client.get(path).status_code == 401, path
        assert client.post("/project/action", json=action).status_code == 401
        assert socket_session(client).startswith("44")
        forged = "eyJhbGciOiJub25lIn0.eyJpZGVudGlmaWVyIjoiQWRhIiwibWV0YWRhdGEiOnt9LCJleHAiOjk5OTk5OTk5OTl9."
        assert client.get("/user", headers={"cookie": f"repopilot_login_{app.port}={forged}"}).status_code == 401

        assert client.post("/login", data={"username": "Ada", "password": "wrong horse"}).status_code == 401
        entered = client.post("/login", data={"username": "Ada", "password": "correct horse"})
        assert entered.status_code == 200
        name, _, attributes = entered.headers["set-cookie"].partition("=")
        assert name == f"repopilot_login_{app.port}"
        assert {"HttpOnly", "SameSite=strict"} <= set(attributes.split("; "))
        assert client.get("/user").json()["identifier"] == "Ada"
        assert client.get("/project/settings").status_code == 200
        assert socket_session(client).startswith("40")
        assert "correct horse" not in app.log.read_text()
        assert "token=" not in app.log.read_text(), "nobody needs one"


@pytest.mark.slow
def test_a_header_is_believed_only_with_the_token(tmp_path):
    with served(tmp_path / "app", login="header", access_token=TOKEN) as (_, client):
        for forged in ({}, {"X-Forwarded-User": "ada"}, {"X-Forwarded-User": "ada", "X-RepoPilot-Token": "guess"}):
            assert client.get("/", headers=forged).status_code == 403
            assert client.post("/auth/header", headers=forged).status_code == 403
        client.headers["X-RepoPilot-Token"] = TOKEN
        assert client.get("/").status_code == 200
        assert client.post("/auth/header").status_code == 401 and client.get("/user").status_code == 401
        assert socket_session(client).startswith("44")
        assert client.post("/auth/header", headers={"X-Forwarded-User": "ada"}).status_code == 200
        assert client.get("/user").json()["identifier"] == "ada" and socket_session(client).startswith("40")
