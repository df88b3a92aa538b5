"""What people paste, and what it is taken for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.errors import RepoPilotError, SourceError, UsageError
from repopilot.i18n import translated
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.source import looks_like_source, parse_source, split_token

GITHUB = "https://github.com/o/r.git"


@pytest.mark.parametrize(
    ("text", "url", "ref", "subdir", "focus", "line"),
    [
        ("https://github.com/o/r", GITHUB, None, "", None, None),
        ("  <https://github.com/o/r.git/>  ", GITHUB, None, "", None, None),
        ("http://www.github.com/o/r", GITHUB, None, "", None, None),
        ("github.com/o/r", GITHUB, None, "", None, None),
        ("git clone https://github.com/o/r", GITHUB, None, "", None, None),
        ("o/r", GITHUB, None, "", None, None),
        ("o/r@v1.2", GITHUB, "v1.2", "", None, None),
        ("git@github.com:o/r.git", GITHUB, None, "", None, None),
        ("git@host.example:group/sub/r.git", "https://host.example/group/sub/r.git", None, "", None, None),
        ("https://github.com/o/r/issues/3", GITHUB, None, "", None, None),
        ("https://github.com/o/r/tree/main/sub/dir", GITHUB, "main", "sub/dir", None, None),
        ("https://github.com/o/r/blob/main/a/b.py#L10", GITHUB, "main", "", "a/b.py", 10),
        ("https://github.com/o/r/blob/main/a%20b.py#L10-L20", GITHUB, "main", "", "a b.py", 10),
        ("https://github.com/o/r/commit/abc1234", GITHUB, "abc1234", "", None, None),
        ("https://github.com/o/r/pull/12/files", GITHUB, "refs/pull/12/head", "", None, None),
        ("https://gitlab.com/g/s/p/-/tree/dev/x?ref=h", "https://gitlab.com/g/s/p.git", "dev", "x", None, None),
        ("https://gitlab.com/g/p/-/blob/dev/x.py#L3-7", "https://gitlab.com/g/p.git", "dev", "", "x.py", 3),
        (
            "https://git.example/g/p/-/merge_requests/4/diffs",
            "https://git.example/g/p",
            "refs/merge-requests/4/head",
            "",
            None,
            None,
        ),
        ("https://codeberg.org/o/r/src/branch/main/x/y.go#L4", "https://codeberg.org/o/r.git", "main", "", "x/y.go", 4),
        ("https://codeberg.org/o/r/pulls/9", "https://codeberg.org/o/r.git", "refs/pull/9/head", "", None, None),
        ("https://git.sr.ht/~ada/repo", "https://git.sr.ht/~ada/repo", None, "", None, None),
        ("https://h.example:8443/r.git/tree/main/x", "https://h.example:8443/r.git", "main", "x", None, None),
    ],
)
def test_addresses(text, url, ref, subdir, focus, line) -> None:
    source = parse_source(text)
    assert (source.url, source.ref, source.subdir, source.focus, source.line) == (url, ref, subdir, focus, line)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("what is this?", "neither"),
        ("ext::sh -c touch% /tmp/x", "remote helper"),
        ("file:///etc", "file://"),
        ("ssh://git@host/o/r", "https address"),
        ("--upload-pack=touch /tmp/x", "option"),
        ("-u", "option"),
        ("https://github.com/", "does not name a repository"),
        ("https://", "no valid host"),
        ("https://ho st/x", "no valid host"),
        ("https://github.com/o/r/tree/--upload-pack=x", "can't be a branch"),
        ("o/r@--upload-pack=x", "can't be a branch"),
        ("https://h.example/a/../../b", "does not name a repository"),
        ("https://h.example/a\nHost: b", "control characters"),
        ("https://h.example:99999/a", "valid address"),
        ("/no/such/folder", "does not exist"),
    ],
)
def test_what_is_refused_says_why(text: str, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_source(text)
    assert says in str(caught.value)
    assert caught.value.hint or "can't be a branch" in caught.value.message


def test_nothing_given() -> None:
    with pytest.raises(UsageError):
        parse_source("  ")


def test_an_existing_path_wins_over_owner_and_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner" / "na me").mkdir(parents=True)
    assert parse_source("owner/na me").path == tmp_path / "owner" / "na me"
    assert parse_source("./owner").path == tmp_path / "owner"
    assert parse_source("owner/other").url == "https://github.com/owner/other.git"


def test_a_file_is_not_a_repository(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    with pytest.raises(SourceError, match="is a file"):
        parse_source(str(tmp_path / "a.py"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://github.com/o/r", True),
        ("git@github.com:o/r.git", True),
        ("o/r", True),
        ("github.com/o/r", True),
        ("ext::sh", False),
        ("file:///etc/passwd", True),
        ("", False),
        ("what is a/b?", False),
        ("a/b?", False),
        ("explain src/app.py", False),
        ("src/app.py", False),
        ("review https://github.com/o/r/pull/1", False),
        ("/nowhere/at/all", False),
        ("hello", False),
        ("https://github.com/o/r\nwhat is it?", False),
        ("/", True),
    ],
)
def test_repository_or_question(text: str, expected: bool) -> None:
    assert looks_like_source(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://user:s3c%40ret@host/o/r", ("https://host/o/r", HostToken("host", "user:s3c@ret"))),
        ("https://:s3cret@host/o/r", ("https://host/o/r", HostToken("host", "s3cret"))),
        ("https://@host/o/r", ("https://host/o/r", None)),
        ("https://ghp_abc@github.com/o/r", ("https://github.com/o/r", HostToken("github.com", "ghp_abc"))),
        ("https://host/o/r@v1", ("https://host/o/r@v1", None)),
        ("git@host:o/r", ("git@host:o/r", None)),
    ],
)
def test_tokens_are_split_off(text: str, expected: tuple[str, HostToken | None]) -> None:
    assert split_token(text) == expected
    assert parse_source(text) == parse_source(expected[0])


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    looks_like_source(text)
    try:
        source = parse_source(text)
    except RepoPilotError:
        return
    assert source.path is not None or (source.url or "").startswith(("https://", "http://"))


@pytest.mark.slow
@given(st.from_regex(r"https://[a-z]{1,8}:[A-Za-z0-9]{12,20}@[a-z]{3,8}\.org/[a-z]{1,8}/[a-z]{1,8}", fullmatch=True))
def test_no_token_stays_in_a_source(text: str) -> None:
    token = split_token(text)[1]
    assert token and token.secret.partition(":")[2] not in repr(parse_source(text))


def test_errors_are_translated() -> None:
    with pytest.raises(SourceError) as refused:
        parse_source("ssh://host/o/r")
    assert refused.value.message == "ssh:// addresses are not supported."
    assert translated(refused.value.message, "fr") == "Les adresses ssh:// ne sont pas prises en charge."
    assert translated(refused.value.hint, "fr").startswith("Donnez l’adresse https")
