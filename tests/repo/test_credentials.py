"""Tokens go to the host they are bound to, when it asks, and nowhere else: real git, real servers."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_server import GitServer, publish, self_signed, serve

from repopilot.errors import CredentialsNeeded, SourceError, UsageError
from repopilot.repo import git_command, history
from repopilot.repo.clone import fetch_limits
from repopilot.repo.remote import network
from repopilot.repo.remote.credentials import HostToken, host_of, token_for
from repopilot.repo.remote.fetch import list_refs
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source, split_token
from repopilot.settings import Settings

SECRET = "t0ps3cret-value"


@pytest.fixture
def other(tmp_path: Path, work: Path) -> Iterator[GitServer]:
    """Another host: the same repository on another port."""
    publish(work, tmp_path / "elsewhere")
    with serve(tmp_path / "elsewhere") as running:
        yield running


@pytest.fixture
def encrypted(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitServer]:
    """The repository over https, with a certificate that git trusts."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    certificate = self_signed(tmp_path)
    publish(work, tmp_path / "encrypted")
    monkeypatch.setenv("GIT_SSL_CAINFO", f"{certificate}.crt")
    with serve(tmp_path / "encrypted", certificate) as running:
        yield running


def opened(server: GitServer, options: Settings, token: HostToken | None = None):
    return open_source(parse_source(f"{server.url}/demo.git"), options, token=token)


def with_tokens(options: Settings, tokens: str) -> Settings:
    return options.model_copy(update={"git_token": tokens})


def bound(server: GitServer) -> str:
    return f"{host_of(server.url)}={SECRET}"


@pytest.mark.slow
def test_the_host_of_a_token_gets_it_when_it_asks(server: GitServer, options: Settings) -> None:
    server.token = SECRET
    assert opened(server, with_tokens(options, f"github.com=other, {bound(server)}")).stale is None
    assert server.credentials[0] == "", "the first request has none"
    assert set(server.credentials) == {"", SECRET}


@pytest.mark.slow
def test_a_pasted_user_goes_along_with_its_password(server: GitServer, options: Settings) -> None:
    server.token = SECRET
    text, token = split_token(server.url.replace("//", f"//deploy:{SECRET}@") + "/demo.git")
    open_source(parse_source(text), options, token=token)
    sent = base64.b64encode(f"deploy:{SECRET}".encode()).decode()
    assert any(f"Basic {sent}" in headers for headers in server.headers)


@pytest.mark.slow
def test_over_https_too(encrypted: GitServer, options: Settings) -> None:
    encrypted.token = SECRET
    strict = options.model_copy(update={"allow_http": False, "git_token": bound(encrypted)})
    snapshot = opened(encrypted, strict)
    history.deepen(snapshot, strict)
    assert len(history.commits(snapshot, strict.history_commits)) == 3
    assert encrypted.credentials[0] == "" and SECRET in encrypted.credentials


@pytest.mark.slow
def test_a_host_that_never_asks_never_gets_it(server: GitServer, options: Settings) -> None:
    opened(server, with_tokens(options, bound(server)), HostToken(host_of(server.url), SECRET))
    assert set(server.credentials) == {""}


@pytest.mark.slow
@pytest.mark.parametrize("setting", [SECRET, f"github.com={SECRET}", f"127.0.0.1={SECRET}", f"localhost={SECRET}"])
def test_a_host_that_asks_for_the_token_of_another_does_not_get_it(server, options: Settings, setting: str) -> None:
    server.token = SECRET
    with pytest.raises(CredentialsNeeded):
        opened(server, with_tokens(options, setting))
    assert set(server.credentials) == {""}


@pytest.mark.slow
def test_a_netrc_answers_nobody(server, options: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (".netrc", "_netrc"):
        (tmp_path / name).write_text(f"default login ada password {SECRET}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    server.token = SECRET
    with pytest.raises(CredentialsNeeded):
        opened(server, options)
    assert set(server.credentials) == {""}


@pytest.mark.slow
def test_a_typed_token_is_for_the_host_it_was_typed_for(server, other, options: Settings) -> None:
    server.token = other.token = SECRET
    with pytest.raises(CredentialsNeeded):
        opened(other, options, HostToken(host_of(server.url), SECRET))
    assert set(other.credentials) == {""}


@pytest.mark.slow
def test_a_redirect_takes_no_token_along(server, other, options: Settings) -> None:
    other.token = SECRET
    server.redirect = other.url
    both = with_tokens(options, f"{bound(server)} {bound(other)}")
    with pytest.raises(SourceError, match="redirects"):
        opened(server, both)
    server.redirect, server.token = "", SECRET
    snapshot = opened(server, both)
    assert snapshot.stale is None
    assert other.requests == []


@pytest.mark.slow
def test_git_itself_gives_it_to_no_other_host(server, other, options: Settings) -> None:
    """Even where a redirect is followed, which the configuration forbids."""
    other.token = SECRET
    server.redirect = other.url
    remote = network.check(f"{server.url}/demo.git", with_tokens(options, bound(server)))
    env = git_command.fetching(remote)
    follows = next(key for key, value in env.items() if value == "http.followRedirects")
    env[follows.replace("KEY", "VALUE")] = "true"
    with pytest.raises(git_command.GitFailed):
        git_command.run(options.home.parent, ["ls-remote", remote.url], env, bare=False)
    assert other.requests and set(other.credentials) == {""}


@pytest.mark.slow
def test_no_token_over_unencrypted_http(server, options: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name whose address isn't loopback: git is pinned to the loopback server only after the check."""
    server.token = SECRET
    port = server.url.rpartition(":")[2]
    url = f"http://git.example:{port}/demo.git"
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: [(0, 0, 0, "", ("93.184.216.34", int(port)))])
    remote = network.check(url, options, HostToken(f"git.example:{port}", SECRET))
    assert remote.token == ""
    pinned = git_command.Remote(url, (f"git.example:{port}:127.0.0.1",), remote.token, remote.confidential)
    with pytest.raises(SourceError, match="unencrypted http, where none are sent"):
        list_refs(options.home.parent, pinned, fetch_limits(options))
    assert server.credentials == [""]


def test_a_token_is_in_no_argument_and_no_repr(server: GitServer, options: Settings) -> None:
    remote = network.check(f"{server.url}/demo.git", with_tokens(options, bound(server)))
    assert remote.token == SECRET
    assert SECRET not in repr(remote) + repr(HostToken("h", SECRET)) + git_command._CREDENTIAL_HELPER
    assert not any(SECRET in value for key, value in git_command.fetching(remote).items() if "CONFIG" in key)


@pytest.mark.parametrize(
    ("setting", "url", "token"),
    [
        ("", "https://github.com/a/b", ""),
        ("ghp_x", "https://github.com/a/b", "ghp_x"),
        ("ghp_x", "https://github.com:8443/a/b", ""),
        ("ghp_x", "https://github.com.evil.example/a/b", ""),
        ("ghp_x", "https://gitlab.com/a/b", ""),
        ("padded==", "https://github.com/a/b", "padded=="),
        ("ghp_x,gitlab.com=glpat", "https://gitlab.com/a/b", "glpat"),
        ("ghp_x gitlab.com=glpat", "https://github.com/a/b", "ghp_x"),
        ("GitLab.com:443=glpat", "https://gitlab.com/a/b", "glpat"),
        (" git.example:8443=user:pa=ss , ", "https://git.example:8443/a/b", "user:pa=ss"),
        ("git.example:8443=x", "https://git.example/a/b", ""),
        ("[2606:50c0::1]:8443=x", "https://[2606:50c0::1]:8443/a/b", "x"),
    ],
)
def test_the_setting_binds_tokens_to_hosts(setting: str, url: str, token: str) -> None:
    assert token_for(url, setting) == token


@pytest.mark.parametrize(
    "setting",
    ["https://git.example=s3cret", "git.example/a=s3cret", "s3cret other", "a.example=s3cret a.example=x"],
)
def test_a_setting_that_is_unclear_is_refused_and_not_shown(setting: str) -> None:
    with pytest.raises(UsageError, match="REPOPILOT_GIT_TOKEN") as refused:
        token_for("https://github.com/a/b", setting)
    assert "s3cret" not in str(refused.value)


def test_the_token_of_an_address_is_bound_to_its_host() -> None:
    for address, secret in (
        ("https://user:to%2Fk@www.Git.Example:8443/a/b", "user:to/k"),
        ("https://to%2Fk@git.example:8443/a/b", "to/k"),
    ):
        clean, token = split_token(address)
        assert "to%2Fk" not in clean
        assert token == HostToken("git.example:8443", secret)
        assert token_for(parse_source(address).url or "", "", token) == secret
    assert split_token("https://git.example/a/b") == ("https://git.example/a/b", None)


def test_a_token_cannot_speak_to_git(options: Settings) -> None:
    _, token = split_token("https://x%0Ahost=github.com@git.example/a/b")
    with pytest.raises(UsageError, match="control characters"):
        token_for("https://git.example/a/b", "", token)
