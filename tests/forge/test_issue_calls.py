"""Calls about issues: who may push starts the work by a label or a comment, and is answered there; others nothing."""

import json
import logging

import pytest
from starlette.testclient import TestClient
from support import git_server, gitlab_server
from support.index_case import runtime_for
from support.signed_calls import SECRET, headers
from support.waiting import until

from repopilot.forge.contents import Comment, HostIssue
from repopilot.forge.hosts import forge_of
from repopilot.forge.issue_calls import asked_by, issue_call
from repopilot.forge.items import parse_item
from repopilot.forge.solve import task_of
from repopilot.forge.webhook import Deliveries, pull_of, webhook_application

ASK = "/repopilot solve"


@pytest.fixture
def settings(world):
    quiet = {"ollama_url": "", "embedded": False, "auto_download": False, "dense": False, "environments": "never"}
    return world.settings.model_copy(update={"webhook_secret": SECRET, **quiet})


@pytest.fixture
def called(world, settings):
    """Sends events to a running webhook, waits until all are worked on, and returns the replies."""
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)) as client:

        def send(*events):
            bodies = [json.dumps(each).encode() for each in events]
            replies = [client.post("/webhook", content=each, headers=headers(each)).json() for each in bodies]
            until(lambda: Deliveries(settings.home).next() is None)
            return replies

        yield send


def issue(world, title="rename price to cost", labels=(), author="ada"):
    facts = {"labels": [{"name": each} for each in labels], "user": {"login": author}}
    world.hub.issues[5] = {"number": 5, "title": title, "body": "", "state": "open", **facts}


def labeled(world, label="repopilot", **facts):
    return {
        "action": "labeled",
        "label": {"name": label},
        "issue": {"html_url": f"{world.hub.url}/o/r/issues/5"},
        **facts,
    }


def commented(world, author, text=ASK, id=1, action="created", **facts):
    comment = {"id": id, "user": {"login": author}, "body": text}
    if action == "created":
        world.hub.comments.append(comment)
    # The payload claims more than the host confirms.
    claimed = {**comment, "author_association": "OWNER", "user": {"login": "ada"}}
    return {"action": action, "issue": {"html_url": f"{world.hub.url}/o/r/issues/5", **facts}, "comment": claimed}


@pytest.mark.slow
def test_a_label_of_who_may_push_starts_the_work_once_and_is_answered_there(world, called):
    issue(world, labels=["RepoPilot"])
    set_by = {"event": "labeled", "label": {"name": "RepoPilot", "color": "fff"}, "actor": {"login": "ada"}}
    world.hub.events = [{**set_by, "actor": {"login": "mallory"}}, {"event": "renamed"}, set_by]
    world.hub.permissions = {"ada": "write", "mallory": "read"}
    event = labeled(world, "RepoPilot")
    assert called(event) == [{"queued": True}]
    (opened,) = world.hub.opened
    assert "Closes #5" in opened["body"]
    assert world.hub.comments[-1]["body"] == f"Opened {world.hub.url}/o/r/pull/101"
    assert "def cost(count)" in git_server.git(world.served / "shop.git", "show", f"{opened['head']}:shop/prices.py")
    assert called(event) == [{"queued": False}], "a redelivery"
    assert called(commented(world, "ada")) == [{"queued": True}]
    assert len(world.hub.opened) == 1, "a second call goes on with the pull request that is open"


@pytest.mark.slow
@pytest.mark.parametrize("role", [None, "read", "none"])
def test_a_stranger_is_refused_and_the_log_says_so(world, called, caplog, role):
    issue(world, labels=["repopilot"])
    world.hub.permissions = {"ada": "admin", **({"mallory": role} if role else {})}
    world.hub.events = [
        {"event": "labeled", "label": {"name": "repopilot", "color": ""}, "actor": {"login": "mallory"}}
    ]
    with caplog.at_level(logging.WARNING):
        called(labeled(world, sender={"login": "ada"}), commented(world, "mallory"))
    assert not world.hub.opened and len(world.hub.comments) == 1
    refused = [each.getMessage() for each in caplog.records if "refused" in each.getMessage()]
    assert len(refused) == 2 and all("'mallory' may not push to o/r" in each for each in refused)


@pytest.mark.slow
@pytest.mark.thorough
def test_the_change_for_a_strangers_issue_goes_through_a_fork(world, called):
    issue(world, author="mallory")
    world.hub.permissions = {"ada": "write"}
    called(commented(world, "ada"))
    assert world.hub.forked == 1 and not world.hub.opened
    branches = git_server.git(world.served / "shop.git", "branch", "--format=%(refname:short)").split()
    assert branches == ["main"], "the host allows no fork, and nothing was pushed to the repository itself"
    assert "could not finish its work" in world.hub.comments[-1]["body"]


@pytest.mark.slow
def test_before_any_work_it_is_found_out_that_a_strangers_issue_can_have_no_fork(world, called):
    issue(world, author="mallory")
    world.hub.permissions = {"ada": "write"}
    world.hub.repository["allow_forking"] = False
    called(commented(world, "ada"))
    (told,) = world.hub.comments[1:]
    assert "Nothing was changed" in told["body"] and not (world.hub.forked or world.hub.opened)
    assert not (world.settings.home / "repos").exists()


@pytest.mark.slow
def test_one_comment_is_one_call_and_a_strangers_replaces_no_members(world, called):
    issue(world, "what is this about")
    world.hub.permissions = {"ada": "write"}
    asked = commented(world, "ada", f"{ASK}\r\nplease")
    again = {**asked, "sender": {"login": "ada"}}  # another body about the same comment
    assert called(asked, commented(world, "mallory", id=2), again) == [
        {"queued": True},
        {"queued": True},
        {"queued": False},
    ]
    (answer,) = world.hub.comments[2:]
    assert answer["body"].startswith("RepoPilot could not work on this yet:") and not world.hub.opened


@pytest.mark.slow
def test_what_does_not_ask_is_ignored(world, called):
    issue(world)
    quoted = commented(world, "ada", f"> {ASK}", id=3)
    edited = commented(world, "ada", ASK, id=4, action="edited")
    on_pull = commented(world, "ada", ASK, id=5, pull_request={"url": "x"})
    unset = {**labeled(world), "action": "unlabeled"}
    events = (quoted, edited, on_pull, unset, labeled(world, "bug"), commented(world, "ada", "thanks", id=6))
    assert called(*events) == [{"ignored": True}] * len(events)


def test_hostile_events_are_ignored():
    url = "https://github.com/o/r/issues/5"
    for odd in (b"", b"[]", b'"x"', b"\xff", b'{"action":' * 100_000, b'{"action": "labeled"}', b'{"changes": 7}'):
        assert issue_call(odd, "repopilot") == ""
    for id in ("1; drop", None, [1], {}):
        event = {"action": "created", "issue": {"html_url": url}, "comment": {"id": id, "body": ASK}}
        assert issue_call(json.dumps(event).encode(), "repopilot") == ""
    for bad in (7, ["x"], "https://x/\n", ""):
        event = {"action": "labeled", "issue": {"html_url": bad}, "label": {"name": "repopilot"}}
        assert issue_call(json.dumps(event).encode(), "repopilot") == ""
    event = {"action": "labeled", "issue": {"html_url": url}, "label": {"name": ""}}
    assert issue_call(json.dumps(event).encode(), "") == ""


@pytest.mark.slow
def test_gitlab_says_who_set_a_label_or_commented_and_what_they_may(world):
    with gitlab_server.serve() as lab:
        url = f"{lab.url}/g/p/-/issues/3"
        lab.project = {"id": 1, "http_url_to_repo": f"{lab.url}/g/p.git", "default_branch": "main"}
        lab.issue = {"iid": 3, "title": "Add tax", "description": "", "state": "opened", "labels": ["repopilot"]}
        events = [("add", "mallory"), ("remove", "ada"), ("add", "ada"), ("remove", "eve")]
        lab.label_events = [
            {"action": action, "label": {"name": "repopilot"}, "user": {"username": name}} for action, name in events
        ]
        lab.label_events.append({"action": "add", "label": None, "user": None})  # both are gone by now
        lab.notes = [{"id": 8, "body": ASK, "author": {"username": "eve"}, "system": False}]
        lab.members = [
            {"username": "adam", "access_level": 50, "state": "active"},
            {"username": "ada", "access_level": 30, "state": "active"},
            {"username": "eve", "access_level": 20, "state": "active"},
            {"username": "bob", "access_level": 50, "state": "blocked"},
        ]
        forge = forge_of(parse_item(url), world.settings.model_copy(update={"forge_api": ""}))
        found = forge.issue()
        assert asked_by(forge, found, "label-repopilot") == "ada" and asked_by(forge, found, "label-other") == ""
        assert asked_by(forge, found, "comment-8") == "eve" and asked_by(forge, found, "comment-9") == ""
        allowed = [name for name in ("ada", "eve", "bob", "mallory", "ad") if forge.lets_push(name)]
        assert allowed == ["ada"]
        forge.comment("Opened it")
        assert lab.notes[-1]["body"] == "Opened it"

    label = {"labels": {"previous": [{"title": "bug"}], "current": [{"title": "bug"}, {"title": "repopilot"}]}}
    event = {"object_kind": "issue", "object_attributes": {"action": "update", "url": url}, "changes": label}
    assert issue_call(json.dumps(event).encode(), "RepoPilot") == f"{url}#label-RepoPilot"
    assert pull_of(json.dumps(event).encode()) == "", "an issue is no merge request"
    event["changes"]["labels"]["previous"] = label["labels"]["current"]
    assert issue_call(json.dumps(event).encode(), "repopilot") == "", "it was set before"
    note = {"id": 8, "note": ASK, "noteable_type": "Issue", "url": f"{url}#note_8"}
    event = {"object_kind": "note", "object_attributes": note, "issue": {"iid": 3}}
    assert issue_call(json.dumps(event).encode(), "repopilot") == f"{url}#comment-8"
    event["object_attributes"]["noteable_type"] = "MergeRequest"
    assert issue_call(json.dumps(event).encode(), "repopilot") == ""


def test_the_call_itself_is_no_part_of_the_task():
    asked = HostIssue("Add tax", "", "open", "", "", (), (Comment("ada", ASK, "1"), Comment("eve", "of 20 %", "2")))
    assert ASK not in task_of(asked) and "> of 20 %" in task_of(asked)
