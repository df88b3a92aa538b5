"""Who is let in: the token of the launch, its cookie, and the account at the other end of the connection."""

import os
import socket
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.other_account import ACCOUNT, as_root, start

from repopilot.errors import UsageError
from repopilot.settings import Settings
from repopilot.ui.server.access import AccessCheck, AccessRule, clean_address, is_direct, is_known, refusal_page, same
from repopilot.ui.server.launch import Served, announce, launch, withdraw
from repopilot.ui.server.peer_account import account_of, owner_in_table

TOKEN = "abcdefghijklmnop_-01"
RULE = AccessRule("token", TOKEN, 8000, address_file="address-8000.txt")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose connection it is")


async def inside(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


@pytest.fixture
async def visit():
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=AccessCheck(inside, RULE), client=("192.0.2.7", 4000)),
        base_url="http://127.0.0.1:8000",
    ) as client:
        yield client


async def test_the_address_with_the_token_gives_the_cookie_and_redirects_to_the_clean_one(visit):
    first = await visit.get("/?offer=https%3A%2F%2Fhost.example%2Fa&token=" + TOKEN)
    assert first.status_code == 303
    assert first.headers["location"] == "/?offer=https%3A%2F%2Fhost.example%2Fa"
    assert first.headers["cache-control"] == "no-store"
    cookie = first.headers["set-cookie"]
    assert cookie.startswith("repopilot_8000=") and TOKEN not in cookie
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert (await visit.get("/anything")).text == "inside"
    assert (await visit.post("/project/action")).text == "inside"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path", ["/", "/project/settings", "/public/theme.json", "/ws/socket.io/?EIO=4", "/mcp", "//x"]
)
async def test_nothing_is_served_without_it(visit, method, path):
    refused = await visit.request(method, path)
    assert refused.status_code == 403 and "inside" not in refused.text


@pytest.mark.parametrize("wrong", ["", "x", TOKEN[:-1], TOKEN + "a", TOKEN.upper(), "é" * 20, "\x00"])
async def test_a_wrong_token_is_refused_everywhere(visit, wrong):
    for request in (
        {"url": "/", "params": {"token": wrong}},
        {"url": "/", "headers": {"x-repopilot-token": wrong.encode()}},
        {"url": "/", "headers": {"cookie": f"repopilot_8000={wrong}".encode()}},
        {"url": "/", "headers": {"cookie": f"repopilot_8000={TOKEN}".encode()}},
    ):
        refused = await visit.get(**request)
        assert refused.status_code == 403 and "set-cookie" not in refused.headers


async def test_a_script_sends_the_token_as_a_header(visit):
    assert (await visit.post("/project/action", headers={"X-RepoPilot-Token": TOKEN})).text == "inside"


async def test_a_token_in_the_address_moves_nothing_but_pages(visit):
    assert (await visit.post("/?token=" + TOKEN)).status_code == 403


@pytest.mark.parametrize(("language", "said"), [("en-GB", "printed"), ("fr-CA,fr;q=0.9", "affichée")])
async def test_a_refusal_says_where_the_address_is(visit, language, said):
    page = (await visit.get("/", headers={"accept-language": language})).text
    assert said in page and "address-8000.txt" in page and TOKEN not in page


async def test_a_refused_socket_is_closed_before_the_application_sees_it():
    async def never(scope, receive, send):
        raise AssertionError("reached the application")

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": "/ws/socket.io/", "query_string": b"token=" + TOKEN.encode(), "headers": []}
    await AccessCheck(never, RULE)(scope, None, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def test_a_link_on_another_site_is_followed_once_more_from_here(visit):
    """The browser keeps a SameSite=Strict cookie back, until one of our own pages asks."""
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert (await visit.get("/?offer=x", headers=followed)).headers["refresh"] == "0"
    for opening in ("/?repo=https://h.example/a/b", "/thread/x?token=wrong&repo=https://h.example/a/b"):
        again = (await visit.get(opening, headers=followed)).headers["refresh"]
        assert again == "0; url=/?offer=https%3A%2F%2Fh.example%2Fa%2Fb", "asking again must not open what a link names"
    own = followed | {"sec-fetch-site": "same-origin"}
    assert "refresh" not in (await visit.get("/?offer=x", headers=own)).headers


@given(st.text(max_size=30), st.text(max_size=60))
def test_a_redirect_stays_on_this_host(path, query):
    address = clean_address({"path": path, "query_string": query.encode("utf-8", "replace")})
    assert address.startswith("/") and not address.startswith(("//", "/\\"))
    assert not any(ord(character) < 33 or ord(character) > 126 for character in address)


@pytest.mark.slow
@given(st.text(max_size=40))
def test_only_the_same_text_is_the_same(text):
    assert same(text, TOKEN) == (text == TOKEN) and not same(None, TOKEN)


def test_the_account_of_the_server_needs_no_token_where_it_is_known():
    rule = AccessRule("account", TOKEN, 8000)
    assert is_known({}, os.geteuid(), rule)
    assert not is_known({}, os.geteuid() + 1, rule)
    assert not is_known({}, None, rule)
    assert not is_known({}, os.geteuid(), RULE)


def test_a_cookie_serves_the_account_it_was_given_to_only():
    cookie = {"cookie": f"repopilot_8000={RULE.ticket(1000)}"}
    assert is_known(cookie, 1000, RULE)
    assert not is_known(cookie, 1001, RULE) and not is_known(cookie, None, RULE)
    assert not is_known({"cookie": f"repopilot_9000={RULE.ticket(1000)}"}, 1000, RULE)
    assert RULE.ticket(1000) != AccessRule("token", TOKEN + "x", 8000).ticket(1000)


@pytest.mark.parametrize(
    "proxied",
    [
        {"host": "127.0.0.1:8000", "x-forwarded-for": "127.0.0.1:5000"},
        {"host": "127.0.0.1:8000", "forwarded": "for=127.0.0.1"},
        {"host": "127.0.0.1:8000", "x-real-ip": "127.0.0.1"},
        {"host": "127.0.0.1:8000", "via": "1.1 proxy"},
        {"host": "repos.example"},
        {},
    ],
)
def test_behind_a_proxy_the_connection_says_nothing(proxied):
    assert not is_direct(proxied)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
def test_a_request_to_loopback_is_direct(host):
    assert is_direct({"host": host})


@contextmanager
def connection(host, listen=None):
    """The client's and the server's end of a connection to `host`."""
    family = socket.AF_INET6 if ":" in (listen or host) else socket.AF_INET
    with (
        socket.create_server((listen or host, 0), family=family, dualstack_ipv6=listen == "::") as server,
        socket.create_connection((host, server.getsockname()[1])) as client,
        server.accept()[0] as accepted,
    ):
        yield client, accepted


def tables():
    return [line for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]


def ends(accepted):
    return accepted.getpeername()[:2], accepted.getsockname()[:2]


@on_linux
@pytest.mark.parametrize(
    ("host", "listen"), [("127.0.0.1", None), ("127.0.0.2", None), ("::1", None), ("127.0.0.1", "::")]
)
async def test_the_kernel_and_its_tables_say_whose_connection_it_is(host, listen):
    with connection(host, listen) as (client, accepted):
        assert await account_of(*ends(accepted)) == os.geteuid()
        plain = [(name.removeprefix("::ffff:"), port) for name, port in ends(accepted)]
        assert owner_in_table(tables(), *plain) == os.geteuid()
        client.close()
        assert await account_of(*ends(accepted)) is None
        assert owner_in_table(tables(), *plain) is None


@on_linux
async def test_nobody_is_named_for_what_is_no_connection():
    with socket.create_server(("127.0.0.1", 0)) as server:
        listening = server.getsockname()
        for client in (listening, ("127.0.0.1", 0), ("127.0.0.1", 1), ("192.0.2.1", 80), ("", 1), ("name.example", 1)):
            assert await account_of(client, ("127.0.0.1", 2)) is None
            assert await account_of(client, listening) is None


@on_linux
async def test_a_half_closed_connection_names_nobody():
    with connection("127.0.0.1") as (client, accepted):
        client.shutdown(socket.SHUT_WR)
        assert await account_of(*ends(accepted)) is None


CONNECT = """
connected = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connected.send(b"x")
sys.stdin.read(1)
if sys.argv[3] == "reset":
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\\1\\0\\0\\0\\0\\0\\0\\0")
connected.close()
"""


@pytest.mark.slow
@on_linux
@as_root
@pytest.mark.parametrize("way", ["close", "reset"])
async def test_another_account_is_named_and_is_nobody_once_it_has_gone(way):
    """A socket without an owner is shown as root's: whoever sends and leaves must not pass for root."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        with start(CONNECT, "127.0.0.1", server.getsockname()[1], way) as other:
            accepted, _ = server.accept()
            addresses = ends(accepted)
            assert await account_of(*addresses) == ACCOUNT
            other.communicate("\n")
            assert await account_of(*addresses) is None
            accepted.close()


def test_tables_of_the_kernel_are_read_in_its_form():
    table = [
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
        "   0: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 11 1",
        "   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 12 1",
        "   2: 0100007F:9C41 0100007F:1F90 04 00000000:00000000 00:00000000 00000000     0        0 0 1",
        "   3: 0100007F:9C42 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 0 1",
    ]
    server = ("127.0.0.1", 8080)
    found = [owner_in_table(table, ("127.0.0.1", port), server) for port in (40000, 40001, 40002, 40003)]
    assert found == ([1001, None, None, None] if sys.byteorder == "little" else [None] * 4)


def settings(home, **values):
    return Settings(home=home, _env_file=None, **values)


def test_the_token_is_random_or_the_one_that_is_set(tmp_path):
    random = launch(settings(tmp_path), Served("127.0.0.1", 8000))
    assert len(random.rule.token) >= 32 and random.address == f"http://127.0.0.1:8000/?token={random.rule.token}"
    chosen = launch(settings(tmp_path, access_token=TOKEN), Served("::1", 8000, "https", "/sub"))
    assert chosen.address == f"https://[::1]:8000/sub/?token={TOKEN}"
    assert launch(settings(tmp_path, access="open"), Served("0.0.0.0", 80)).address == "http://127.0.0.1:80/"
    with pytest.raises(ValueError, match="access_token"):
        settings(tmp_path, access_token="short")


def test_the_address_is_in_a_file_for_this_account_only_as_long_as_the_launch(tmp_path, capsys):
    started = launch(settings(tmp_path / "data"), Served("127.0.0.1", 8000))
    started.file.parent.mkdir()
    started.file.write_text("old")
    started.file.chmod(0o666)
    announce(started)
    assert started.file.read_text() == started.address + "\n" and started.file.stat().st_mode & 0o777 == 0o600
    assert started.address in capsys.readouterr().out
    withdraw(started)
    assert list(started.file.parent.iterdir()) == []


def test_a_data_directory_that_can_not_be_written_stops_no_start(tmp_path, capsys, caplog):
    (tmp_path / "file").write_text("")
    announce(launch(settings(tmp_path / "file"), Served("127.0.0.1", 8000)))
    assert "token=" in capsys.readouterr().out and "can't be written" in caplog.text


def test_logins_decide_what_the_token_is_for(tmp_path):
    assert launch(settings(tmp_path, login="password"), Served("127.0.0.1", 1)).rule.access == "open"
    by_header = settings(tmp_path, login="header", access_token=TOKEN)
    assert launch(by_header, Served("127.0.0.1", 1)).rule.access == "token"
    with pytest.raises(UsageError, match="REPOPILOT_ACCESS_TOKEN"):
        launch(settings(tmp_path, login="header"), Served("127.0.0.1", 1))


def test_the_refusal_is_plain_html():
    assert "<script" not in refusal_page("en", "<b>") and "&lt;b&gt;" in refusal_page("en", "<b>")
