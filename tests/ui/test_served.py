"""The application as it is started, both ways: closed to other websites, and quick to stop."""

import socket
import sys

import httpx
import pytest
from support import other_account, waiting
from support.app import running
from support.waiting import PATIENCE_S, until

from repopilot import __version__
from repopilot.release import commit

pytestmark = pytest.mark.slow

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}
SOCKET = "/ws/socket.io/?EIO=4&transport=websocket"


QUIET = {"ollama_url": "", "embedded": "false", "auto_download": "false"}


@pytest.fixture(scope="module", params=["serve", "chainlit"])
def app(request, tmp_path_factory):
    with running(tmp_path_factory.mktemp(request.param), command=request.param, **QUIET) as app:
        yield app


def handshake(app, **headers):
    """The first line of the answer to a WebSocket handshake."""
    lines = [
        f"GET {SOCKET} HTTP/1.1",
        *(f"{name}: {value}" for name, value in UPGRADE.items()),
        *(f"{name.capitalize()}: {value}" for name, value in headers.items()),
    ]
    with socket.create_connection(("127.0.0.1", app.port), timeout=PATIENCE_S) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return connection.recv(4096).decode("latin-1").split("\r\n")[0]


@pytest.mark.sampled(1)
def test_the_page_loads_nothing_from_elsewhere(app):
    page = waiting.get(app.url)
    assert page.status_code == 200 and "RepoPilot" in page.text
    assert "https://" not in page.text and "http://" not in page.text
    assert "'nonce-" in page.headers["content-security-policy"]
    assert waiting.get(f"{app.url}/public/theme.json").json()["custom_fonts"] == []
    assert "swagger" not in waiting.get(f"{app.url}/docs").text


def test_another_website_reaches_nothing(app):
    own = f"127.0.0.1:{app.port}"
    assert "101" in handshake(app, host=own, origin=f"http://{own}")
    for headers in (
        {"host": own, "origin": "http://evil.example"},
        {"host": own, "origin": "null"},
        {"host": f"evil.example:{app.port}", "origin": f"http://evil.example:{app.port}"},
    ):
        assert "403" in handshake(app, **headers)
    polling = f"{app.url}/ws/socket.io/?EIO=4&transport=polling"
    assert waiting.get(polling).status_code == 200
    assert waiting.get(polling, headers={"origin": "http://evil.example"}).status_code == 403
    assert waiting.get(app.url, headers={"host": "evil.example"}).status_code == 421


def test_uploads_are_refused(app):
    sent = waiting.post(f"{app.url}/project/file?session_id=x", files={"file": ("a.txt", b"x", "text/plain")})
    assert sent.status_code == 403
    features = waiting.get(f"{app.url}/project/settings").json()["features"]
    assert not features["spontaneous_file_upload"]["enabled"] and not features["unsafe_allow_html"]


@pytest.mark.parametrize(("language", "said"), [("en-US", "unknown"), ("fr-FR", "inconnu")])
def test_the_help_says_version_and_commit(app, language, said):
    page = waiting.get(f"{app.url}/project/settings", params={"language": language}).json()["markdown"]
    shown = page.rpartition("\n\n")[2]
    assert shown == f"RepoPilot {__version__}, commit {commit() or said}" and page.startswith("# RepoPilot")


def test_an_action_for_an_unknown_session_is_refused(app):
    sent = {"sessionId": "nobody", "action": {"name": "search_again", "payload": {}}}
    assert waiting.post(f"{app.url}/project/action", json=sent).status_code == 404
    assert waiting.get(app.url, headers={"origin": "http://["}).status_code == 403
    assert waiting.get(f"{app.url}/public/%00").status_code == 404
    for body in ("{", "[1]", "{}", '{"session_id": 1}', '{"session_id": "a; b"}'):
        headers = {"content-type": "application/json"}
        assert waiting.post(f"{app.url}/set-session-cookie", content=body, headers=headers).status_code == 422
    assert waiting.post(f"{app.url}/set-session-cookie", json={"session_id": "0a-b"}).status_code == 200
    assert "Traceback" not in app.log.read_text()


def test_it_looks_up_no_name_and_connects_nowhere(app):
    waiting.get(app.url)
    assert [target for _, target in app.connections() if "127.0.0.1" not in target] == []


READS = ("/", "/project/settings", "/project/translations", "/public/theme.json", "/auth/config", "/user", "/favicon",
         "/project/file/x?session_id=y", "/ws/socket.io/?EIO=4&transport=polling", "/openapi.json")  # fmt: skip
WRITES = ("/project/action", "/project/element", "/project/file", "/mcp", "/login", "/logout", "/set-session-cookie")


@other_account.as_root
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose connection it is")
def test_another_account_needs_the_token(app):
    host = {"Host": f"127.0.0.1:{app.port}"}
    requests = [{"path": path, "headers": host} for path in READS]
    requests += [{"path": path, "method": "POST", "headers": host, "body": "{}"} for path in WRITES]
    requests += [{"path": SOCKET, "headers": host | UPGRADE}, {"path": "/?token=wrong", "headers": host}]
    assert {status for status, _ in other_account.fetch(app.port, *requests)} == {403}

    file = app.home / "data" / f"address-{app.port}.txt"
    assert file.stat().st_mode & 0o777 == 0o600
    address = file.read_text().strip()
    assert f"RepoPilot: {address}" in app.log.read_text()
    token = address.partition("?token=")[2]
    with_token = [{"path": "/", "headers": host | {"X-RepoPilot-Token": token}}, {"path": f"/?token={token}"}]
    (page, text), (redirected, _) = other_account.fetch(app.port, *with_token)
    assert (page, redirected) == (200, 303) and "RepoPilot" in text


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose connection it is")
def test_the_own_account_needs_no_token_but_through_a_proxy(app):
    assert waiting.get(app.url).status_code == 200
    for proxied in ("x-forwarded-for", "forwarded", "via"):
        assert waiting.get(app.url, headers={proxied: "127.0.0.1"}).status_code == 403
    visitor = httpx.Client(headers={"x-forwarded-for": "192.0.2.1"}, follow_redirects=True, timeout=PATIENCE_S)
    address = (app.home / "data" / f"address-{app.port}.txt").read_text().strip()
    opened = visitor.get(address + "&offer=x")
    assert opened.status_code == 200 and opened.url.query == b"offer=x" and visitor.get(app.url).status_code == 200


@pytest.mark.thorough
def test_the_address_with_the_token_is_opened_in_the_browser_and_forgotten_at_the_end(tmp_path, monkeypatch):
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s &")
    with running(tmp_path / "home", command="window", access="token", **QUIET) as app:
        until(opened.exists)
        address = app.home / "data" / f"address-{app.port}.txt"
        assert opened.read_text() == address.read_text() and "?token=" in opened.read_text()
        assert waiting.get(opened.read_text().strip(), follow_redirects=False).status_code == 303
        assert waiting.get(app.url).status_code == 403
    assert not address.exists()
