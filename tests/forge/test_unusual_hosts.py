"""Hosts that may not be asked, can't be reached, take too long, or answer something else: said plainly, and soon."""

import json
import logging
import socket
import ssl
import subprocess
import time

import pytest
from support.host_server import answering
from support.index_case import settings as made_settings

from repopilot.cli.app import main
from repopilot.errors import ForgeError, SourceError, UsageError
from repopilot.forge import github, gitlab
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import parse_item

KINDS = {"github": "o/r/pull/7", "gitea": "o/r/pulls/7", "gitlab": "g/p/-/merge_requests/7"}
ISSUES = {"github": "o/r/issues/7", "gitlab": "g/p/-/issues/7"}
JSON = {"Content-Type": "application/json"}
PAGE = b"<html><body>Welcome</body></html>"


@pytest.fixture
def settings(tmp_path):
    return made_settings(tmp_path / "home", allow_http=True, allow_private_hosts=True)


def client(url, path, settings, **changes):
    return forge_of(parse_item(f"{url}/{path}"), settings.model_copy(update=changes))


def failure(call, kind=ForgeError):
    with pytest.raises(kind) as raised:
        call()
    return str(raised.value)


@pytest.mark.parametrize("path", KINDS.values())
def test_an_address_is_checked_as_that_of_a_clone_before_anything_is_sent(settings, path):
    with answering((200, JSON, b"{}")) as (url, asked):
        secret = f"{url[7:]}=SECRET"
        for changes, said in (
            ({"allow_http": False}, "unencrypted http"),
            ({"allow_private_hosts": False}, "inside a private network"),
        ):
            forge = client(url, path, settings, git_token=secret, **changes)
            assert said in failure(forge.pull, SourceError)
        assert asked == []
        failure(client(url, path, settings, git_token=secret).pull)
        assert "SECRET" in asked[0][2], "loopback, where nobody can listen"


@pytest.mark.parametrize("path", KINDS.values())
def test_a_token_goes_over_http_to_loopback_alone_or_where_http_is_allowed(settings, path):
    with answering((200, JSON, b"{}"), host="0.0.0.0") as (url, asked):  # not loopback by its number
        token = {"git_token": f"{url[7:]}=SECRET,example.org=SECRET"}
        failure(client(url, path, settings, **token).pull)
        refusing = {**token, "allow_http": False, "allow_private_hosts": False}
        failure(client("https://example.org", path, settings, forge_api=url, **refusing).pull)
        assert len(asked) == 2 and not any("SECRET" in each[2] for each in asked)
        failure(client("https://example.org", path, settings, forge_api=url, **token).pull)
        local = url.replace("0.0.0.0", "127.0.0.1")
        failure(client("https://example.org", path, settings, forge_api=local, **refusing).pull)
        assert len(asked) == 4 and all("SECRET" in each[2] for each in asked[2:])


@pytest.mark.parametrize("path", [*KINDS.values(), *ISSUES.values()])
@pytest.mark.parametrize(
    "reply",
    [
        (200, {"Content-Type": "text/html"}, PAGE),
        (200, JSON, PAGE),
        (200, JSON, b"{}"),
        (200, JSON, b"[]"),
        (200, JSON, b"7"),
        (200, JSON, b'{"a":' * 100_000),
        (302, {"Location": "/login"}, b""),
        (301, {"Location": "/api/v3/login"}, b""),
        (301, {"Location": "https://localhost/elsewhere"}, b""),
        (429, {"Retry-After": "soon"}, b""),
    ],
)
def test_whatever_a_host_answers_ends_in_an_error_of_ours(settings, path, reply):
    with answering(reply) as (url, _):
        forge = client(url, path, settings)
        calls = [forge.pull if "issues" not in path else forge.issue, forge.comments, forge.inline_comments]
        calls.append(lambda: forge.open_pull("t", "b", "head", "main"))
        for call in calls:
            try:
                call()
            except ForgeError as error:
                assert "gave no usable reply" in str(error) or "redirects this address" in str(error)
        failure(calls[0])


def test_a_redirect_or_next_page_of_another_host_gets_nothing(settings):
    with answering((200, JSON, b"[]")) as (other, stolen):
        note = json.dumps([{"id": 1, "notes": []}]).encode()
        link = {**JSON, "Link": f'<{other}/api/v4/x?page=2>; rel="next"', "X-Next-Page": "2"}
        for replies in ([(302, {"Location": f"{other}/x"}, b"")], [(200, JSON, b'{"iid": 7}'), (200, link, note)]):
            with answering(*replies) as (url, _):
                forge = client(url, KINDS["gitlab"], settings, git_token=f"{url[7:]}=SECRET")
                try:
                    forge.inline_comments()
                except ForgeError as error:
                    assert "redirects this address" in str(error)
        assert stolen == []


@pytest.mark.parametrize("value", ["not-a-url", "ftp://x", "https://", "https://x:99999", "http://[::1", "https://x?y"])
def test_a_setting_that_is_no_address_is_named(settings, value):
    assert "REPOPILOT_FORGE_API" in failure(
        lambda: client("https://x.org", "o/r/pull/7", settings, forge_api=value), UsageError
    )


@pytest.mark.parametrize("path", KINDS.values())
def test_an_ipv6_address_keeps_its_brackets(settings, path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert failure(client(f"http://[::1]:{port}", path, settings).pull).startswith(
            f"[::1]:{port} can't be reached."
        )
    with answering((404, JSON, b'{"message": "Not Found"}'), host="::1") as (url, _):
        assert failure(client(url, path, settings).pull).startswith(f"{url}/{path} was not found.")


@pytest.mark.slow
def test_a_host_that_can_not_be_found_reached_or_trusted_is_said_as_cloning_does(settings, tmp_path, caplog):
    for path in KINDS.values():
        unknown = client("https://example.org", path, settings, forge_api="https://nowhere.invalid")
        assert failure(unknown.pull).startswith("The host nowhere.invalid can't be found.")
        nowhere = client("https://nowhere.invalid", path, settings)
        assert failure(nowhere.pull, SourceError).startswith("The host nowhere.invalid can't be found.")
        closed = client("https://127.0.0.1:9", path, settings)
        assert failure(closed.pull).startswith("127.0.0.1:9 can't be reached.")
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost".split()
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with answering((200, JSON, b"{}"), tls=context) as (url, _), answering((200, JSON, b"{}")) as (plain, _):
        for path in KINDS.values():
            forge = client(url, path, settings)
            assert failure(forge.pull).startswith(f"The certificate of {url[8:]} can't be trusted.")
            forge = client(plain.replace("http:", "https:"), path, settings)
            assert failure(forge.pull).startswith(f"{plain[7:]} can't be reached.")
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize("path", KINDS.values())
def test_what_takes_too_long_or_fails_is_tried_again_a_few_times_and_nothing_done_twice(settings, path, monkeypatch):
    with answering(None) as (url, asked), monkeypatch.context() as impatient:
        for module in (github, gitlab):
            impatient.setattr(module, "TIMEOUT_S", (10, 0.5))
        assert "stopped answering" in failure(client(url, path, settings).pull) and len(asked) == 2
        with pytest.raises(ForgeError, match="stopped answering"):
            client(url, path, settings).open_pull("t", "b", "head", "main")
        assert len(asked) == 3, "a request that writes may have been read"
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    with answering((502, {}, PAGE)) as (url, asked):
        assert "has a server error (502)" in failure(client(url, path, settings).pull) and len(asked) == 3
        assert "has a server error (502)" in failure(
            lambda: client(url, path, settings).open_pull("t", "b", "head", "main")
        )
        assert len(asked) == 4
    said = b'{"message": "API rate limit exceeded"}'
    waits.clear()
    with answering((429, {"Retry-After": "7", **JSON}, said), (200, JSON, b"{}")) as (url, asked):
        failure(lambda: client(url, path, settings).open_pull("t", "b", "head", "main"))
        assert len(asked) == 2 and sum(waits) >= 7, "what was refused may be sent again, when it said"
    with answering((429, JSON, said)) as (url, asked):
        refused = failure(client(url, path, settings).pull)
        assert "for now: API rate limit exceeded. Wait a few minutes." in refused and len(asked) == 3


@pytest.mark.parametrize("path", KINDS.values())
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((403, JSON, b'{"message": "No\\n access!"}'), "with the token: No access! The token"),
        ((422, {}, PAGE), "rejected the request: Unprocessable"),
        ((418, {}, b""), "answered with status 418: I'm a Teapot. Check"),
        ((499, {}, b""), "answered with status 499: 499. Check"),
    ],
)
def test_what_a_host_says_is_quoted_as_a_sentence(settings, path, reply, said):
    with answering(reply) as (url, _):
        assert said in failure(client(url, path, settings).pull)


@pytest.mark.slow
def test_the_command_line_says_which_host_it_asks(monkeypatch, capsys, tmp_path):
    with answering((404, JSON, b"{}")) as (url, _):
        monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path))
        monkeypatch.setenv("REPOPILOT_FORGE_API", url)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        for command in (["review", "https://github.com/o/r/pull/7"], ["solve", "https://github.com/o/r/issues/7"]):
            assert main([*command, "--json"]) == 1
            out, err = capsys.readouterr()
            assert f"Asking {url[7:]}" in err and "was not found" in err and out == ""
