"""The scripted hosts follow the hosts' published OpenAPI descriptions: what doesn't is a fault of the test."""

import pytest
import requests
from support import github_server, gitlab_server
from support.openapi import Description

REQUEST = "/api/v4/projects/1/merge_requests/7"
ISSUE = {"number": 5, "title": "A", "body": "", "state": "open", "labels": [{"name": "bug"}]}


@pytest.mark.parametrize("host", ["github", "gitlab"])
def test_every_operation_that_is_used_is_described(host):
    found = Description(host).found
    assert found["version"] and found["licence"] and found["not described"] == []


@pytest.mark.parametrize(
    ("host", "verb", "path", "body", "said"),
    [
        (github_server, "GET", "/repos/o/r/issues/5/comments?per_page=5&order=asc", None, "?order is not described"),
        (github_server, "GET", "/repos/o/r/issues/5/comments?page=x", None, "'x' is not of type 'integer'"),
        (github_server, "POST", "/repos/o/r/issues/5/comments", {}, "'body' is a required property"),
        (github_server, "POST", "/repos/o/r/issues/5/comments", {"body": "a", "text": "b"}, "'text' was unexpected"),
        (github_server, "GET", "/repos/o/r/labels", None, "no such operation"),
        (github_server, "PATCH", "/repos/o/r/pulls", {}, "no such operation"),
        (gitlab_server, "GET", "/api/v4/projects/1/issues/3/notes?sort=up", None, "'up' is not one of ['asc', 'desc']"),
        (gitlab_server, "POST", f"{REQUEST}/discussions", {"body": "a", "position": {}}, "'base_sha' is a required"),
        (gitlab_server, "PUT", f"{REQUEST}/discussions/d1", {"resolved": "yes"}, "'yes' is not of type 'boolean'"),
        (gitlab_server, "GET", f"{REQUEST}/approvals", None, "no such operation"),
    ],
)
def test_a_request_that_the_host_would_not_take_fails_the_test(host, verb, path, body, said):
    with pytest.raises(AssertionError) as failure, host.serve() as hub:
        requests.request(verb, hub.url + path, json=body, timeout=10)
    assert said in str(failure.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"number": "5"}, "'5' is not of type 'integer'"), ({"text": ""}, "'text' was unexpected"), ({"user": 1}, "user")],
)
def test_a_reply_that_the_host_would_not_give_fails_the_test(wrong, said):
    with pytest.raises(AssertionError) as failure, github_server.serve() as hub:
        hub.issues[5] = {**ISSUE, **wrong}
        requests.get(f"{hub.url}/repos/o/r/issues/5", timeout=10)
    assert said in str(failure.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"labels": "bug"}, "'bug' is not of type 'array'"), ({"number": 3}, "'number' was unexpected")],
)
def test_a_reply_that_gitlab_would_not_give_fails_the_test(wrong, said):
    with pytest.raises(AssertionError) as failure, gitlab_server.serve() as lab:
        lab.issue = {"iid": 3, "title": "A", "state": "opened", **wrong}
        requests.get(f"{lab.url}/api/v4/projects/1/issues/3", timeout=10)
    assert said in str(failure.value)


@pytest.mark.slow
def test_a_reply_has_all_that_the_host_always_sends():
    with github_server.serve() as hub:
        hub.issues[5] = ISSUE
        found = requests.get(f"{hub.url}/repos/o/r/issues/5", timeout=10).json()
    assert found["user"] is None and found["node_id"] == "" and found["labels"][0]["name"] == "bug"
