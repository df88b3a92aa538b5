"""Addresses of issues and pull requests, on every host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.forge.items import parse_item


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://github.com/o/r/pull/7", ("github", "pull", "o/r", 7, "https://api.github.com")),
        ("github.com/o/r/issues/12#issuecomment-1", ("github", "issue", "o/r", 12, "https://api.github.com")),
        ("https://github.com/o/r/pull/7/files", ("github", "pull", "o/r", 7, "https://api.github.com")),
        ("http://127.0.0.1:8080/o/r/pull/7", ("github", "pull", "o/r", 7, "http://127.0.0.1:8080/api/v3")),
        ("https://gitlab.com/g/s/p/-/merge_requests/3", ("gitlab", "pull", "g/s/p", 3, "https://gitlab.com")),
        ("https://git.example.org/g/p/-/issues/3", ("gitlab", "issue", "g/p", 3, "https://git.example.org")),
        ("https://www.GitHub.com:443/o/r/pull/7", ("github", "pull", "o/r", 7, "https://api.github.com")),
        ("http://[::1]:3000/o/r/pulls/9", ("gitea", "pull", "o/r", 9, "http://[::1]:3000/api/v1")),
        ("https://codeberg.org/o/r/pulls/9", ("gitea", "pull", "o/r", 9, "https://codeberg.org/api/v1")),
    ],
)
def test_an_address_names_its_item_and_the_api(text, found):
    item = parse_item(text)
    assert (item.forge, item.kind, item.project, item.number, item.api("")) == found
    assert parse_item(item.url) == item
    assert item.api("http://127.0.0.1:1/") == "http://127.0.0.1:1"


@pytest.mark.parametrize("text", ["", "o/r", "https://github.com/o/r", "https://github.com/issues/7", "/o/r/pull/x"])
def test_other_texts_are_none(text):
    assert parse_item(text) is None


@pytest.mark.parametrize(
    "host", ["github.com:99999", "github.com:abc", "github.com:-1", "[::1", "[::1]:x", ":7", "a]:1"]
)
@pytest.mark.parametrize("path", ["o/r/pull/7", "o/r/issues/7", "o/r/pulls/7", "g/p/-/merge_requests/7"])
def test_an_address_whose_host_or_port_is_none_is_no_item(host, path):
    assert parse_item(f"https://{host}/{path}") is None


@pytest.mark.slow
@given(st.text())
def test_no_text_is_a_fault(text):
    parse_item(text)
    parse_item(f"https://{text}/o/r/pull/1")
    parse_item(f"https://github.com/{text}/pull/1")
