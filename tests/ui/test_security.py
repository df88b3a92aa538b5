"""The guard in front of the chat: who may talk to it, and what its pages may load."""

import re

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.ui.server.page import local_only
from repopilot.ui.server.security import (
    Guard,
    allowed_hosts,
    asked_from_elsewhere,
    content_security_policy,
    refusal,
)

HOSTS = allowed_hosts("127.0.0.1", ["repos.example"])


def request(path="/", method="GET", kind="http", **headers):
    named = {"host": "127.0.0.1:8000", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return {
        "type": kind,
        "path": path,
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in named.items() if value is not None],
        **({"method": method} if kind == "http" else {}),
    }


@pytest.mark.parametrize("path", ["/public/\0", "/public/" + "a" * 5000])
def test_a_path_that_no_file_has_is_no_page(path):
    assert (refusal(request(path), HOSTS) or (0,))[0] == 404


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000", "repos.example", "localhost."]
)
def test_answers_to_its_own_names(host):
    assert refusal(request(host=host), HOSTS) is None


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "127.0.0.1.evil.example", "localhost:8000@evil.example", "[::1", "0.0.0.0:8000"]
)
def test_refuses_other_names(host):
    assert refusal(request(host=host), HOSTS)[0] == 421


@pytest.mark.parametrize(
    "port", ["", "0", "65536", "999999", "-1", "+80", "8000x", "80 ", "x", "٨٠", "1; script-src *"]
)
def test_refuses_what_is_no_port(port):
    for name in ("localhost", "127.0.0.1", "[::1]", "repos.example"):
        scope = {**request(), "headers": [(b"host", f"{name}:{port}".encode())]}
        refused = refusal(scope, HOSTS)
        assert refused is not None and refused[0] == 421
        assert refusal(request(host=f"{name}:65535"), HOSTS) is None


@pytest.mark.slow
@given(st.sampled_from(["localhost", "127.0.0.1", "[::1]"]), st.text(min_size=1, max_size=12))
def test_only_a_port_may_follow_a_name(name, rest):
    """The header is written into the policy of the page, so that nothing else may get through with a good name."""
    scope = {**request(), "headers": [(b"host", f"{name}{rest}".encode())]}
    port = re.fullmatch(r"\.*(?::([0-9]{1,5}))?", rest)
    assert refusal(scope, HOSTS) is not None or (port and 0 < int(port[1] or 80) < 65536)


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://]", "http://[x]"])
def test_a_malformed_origin_is_a_foreign_one(origin):
    assert refusal(request(origin=origin), HOSTS)[0] == 403


def test_a_wildcard_address_names_nobody():
    assert allowed_hosts("0.0.0.0") == allowed_hosts("::") == allowed_hosts("127.0.0.1")


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9000", "http://localhost:8000", "", "127.0.0.1:8000"]
)
def test_refuses_a_foreign_origin(kind, origin):
    assert refusal(request("/ws/socket.io/", kind=kind, origin=origin), HOSTS)[0] == 403


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_takes_its_own_origin_and_clients_without_one(kind):
    assert refusal(request("/ws/socket.io/", kind=kind, origin="http://127.0.0.1:8000"), HOSTS) is None
    assert refusal(request("/ws/socket.io/", kind=kind), HOSTS) is None


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_refuses_what_another_site_embeds_but_not_a_link_followed(site):
    embedded = request("/public/theme.json", sec_fetch_site=site, sec_fetch_mode="no-cors", sec_fetch_dest="script")
    framed = request(sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="iframe")
    posted = request(method="POST", sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document")
    followed = request(sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document")
    assert [bool(refusal(each, HOSTS)) for each in (embedded, framed, posted, followed)] == [True, True, True, False]


def test_uploads_are_refused_downloads_are_not():
    assert refusal(request("/project/file", "POST", origin="http://127.0.0.1:8000"), HOSTS)[0] == 403
    assert refusal(request("/mcp", "POST"), HOSTS)[0] == 403
    assert refusal({**request("/sub/project/file", "POST"), "root_path": "/sub"}, HOSTS)[0] == 403
    assert refusal(request("/project/file/abc"), HOSTS) is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_header_value_breaks_the_check(host, origin):
    scope = {
        "type": "http", "method": "GET", "path": "/",
        "headers": [(b"host", host.encode("utf-8")), (b"origin", origin.encode("utf-8"))],
    }  # fmt: skip
    refused = refusal(scope, HOSTS)
    assert refused is not None or origin.lower().endswith(f"//{host}".lower())


async def test_every_response_is_hardened():
    async def page(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"inside"})

    transport = httpx.ASGITransport(app=Guard(page, HOSTS))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        inside = await client.get("/")
        outside = await client.get("/", headers={"host": "evil.example"})
    assert inside.text == "inside"
    assert "default-src 'self'" in inside.headers["content-security-policy"]
    assert inside.headers["x-content-type-options"] == "nosniff"
    assert outside.status_code == 421 and "inside" not in outside.text


async def test_a_refused_socket_is_closed_before_the_application_sees_it():
    async def never(scope, receive, send):
        raise AssertionError("reached the application")

    sent = []

    async def send(message):
        sent.append(message)

    await Guard(never, HOSTS)(request("/ws/socket.io/", kind="websocket", origin="http://evil.example"), None, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_policy_lets_nothing_in_from_elsewhere():
    policy = content_security_policy("127.0.0.1:8000", "abc")
    assert "https:" not in policy and "*" not in policy
    assert "img-src 'self' data: blob:" in policy
    assert "'nonce-abc'" in policy and "script-src 'self' 'unsafe-inline'" not in policy


def test_the_page_names_no_other_host():
    from chainlit.server import get_html_template

    raw = get_html_template("")
    page = local_only(raw, "abc")
    assert "cdn.jsdelivr.net" in raw, "the template changed: is the cleaning still needed?"
    assert "https://" not in page and "http://" not in page
    assert page.count("<script") == page.count('<script nonce="abc"') + page.count(
        '<script type="module"'
    ) + page.count('<script src="/public/')


def test_a_link_from_elsewhere_only_offers_a_repository():
    query = "repo=https%3A%2F%2Fhost.example%2Fa%2Fb%26c"
    assert (
        asked_from_elsewhere({"sec-fetch-site": "cross-site"}, query)
        == "/?offer=https%3A%2F%2Fhost.example%2Fa%2Fb%26c"
    )
    assert asked_from_elsewhere({"sec-fetch-site": "none"}, query) is None
    assert asked_from_elsewhere({"sec-fetch-site": "cross-site"}, "offer=x") is None
