"""GitLab: a merge request is reviewed and commented on, an issue read, a merge request opened."""

import pytest
from support import gitlab_server

from repopilot.errors import ForgeError
from repopilot.forge.contents import LineComment
from repopilot.forge.fork import ready_fork
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import parse_item
from repopilot.forge.review import post, posted_before
from repopilot.forge.review_comments import SUMMARY
from repopilot.forge.solve import going_on, issue_of_pull
from repopilot.results import ReviewReport
from repopilot.types import Finding


@pytest.fixture
def lab():
    with gitlab_server.serve() as server:
        server.project = {"id": 1, "http_url_to_repo": f"{server.url}/g/p.git", "default_branch": "main"}
        refs = {"base_sha": "b" * 40, "start_sha": "s" * 40, "head_sha": "h" * 40}
        server.merge_request = {
            "iid": 7,
            "title": "A change",
            "description": "",
            "state": "opened",
            "target_project_id": 1,
            "source_project_id": 1,
            "target_branch": "main",
            "source_branch": "change",
            "diff_refs": refs,
            "sha": "h" * 40,
        }
        server.changes = [{"new_path": "a.py", "old_path": "a.py", "diff": "@@ -1,2 +1,4 @@\n x\n+y\n+z\n w\n"}]
        yield server


def report(*lines):
    findings = tuple(Finding("a.py", n, "high", f"rule{n}", f"fault {n}", "x", "security", f"line {n}") for n in lines)
    return ReviewReport("it", "h" * 40, findings, (), ("a.py",))


@pytest.mark.slow
def test_findings_are_posted_once_on_their_lines_and_resolved_when_gone(lab, world):
    settings = world.settings.model_copy(update={"forge_api": ""})
    item = parse_item(f"{lab.url}/g/p/-/merge_requests/7")
    forge = forge_of(item, settings)
    pull = forge.pull()
    assert (pull.state, pull.head_sha, pull.base_ref) == ("open", "h" * 40, "main")
    assert pull.lines == {"a.py": {1: 1, 2: 0, 3: 0, 4: 2}}

    lab.changes[0]["old_path"] = "before.py"  # a comment needs the path before, and for unchanged lines both numbers
    done = post(item, forge, pull, report(2, 4, 90), {}.get)
    assert (done.new, done.outside, lab.mails) == (2, 1, 1), "one mail for all comments on lines, and the summary"
    assert [each["status"] for each in lab.statuses] == ["success"]
    placed = [each["notes"][0]["position"] for each in lab.discussions if "position" in each["notes"][0]]
    assert [(place.get("old_line"), place["new_line"]) for place in placed] == [(None, 2), (2, 4)] and placed[0][
        "head_sha"
    ] == "h" * 40
    assert sum(SUMMARY in each["notes"][0]["body"] for each in lab.discussions) == 1

    before = [dict(each["notes"][0]) for each in lab.discussions]
    again = post(item, forge, pull, report(2, 4, 90), {}.get, fail_on="high")
    assert [each["status"] for each in lab.statuses] == ["failed"] and not again.notes
    assert (again.new, again.changed, again.kept) == (0, 0, 2)
    assert [each["notes"][0] for each in lab.discussions] == before

    stranger = {"author": {"username": "mallory"}, "system": False}
    for each in before:  # the marks can be computed
        note = {"id": 900 + each["id"], **stranger, "body": each["body"].replace("fault", "no fault")}
        place = {"position": each["position"]} if "position" in each else {}
        lab.discussions.insert(0, {"id": f"m{each['id']}", "notes": [{**note, **place}]})
    planted = [dict(each["notes"][0]) for each in lab.discussions[: len(before)]]
    assert post(item, forge, pull, report(2, 4, 90), {}.get).kept == 2
    third = post(item, forge, pull, report(4), {}.get)
    assert [each["notes"][0] for each in lab.discussions[: len(before)]] == planted
    del lab.discussions[: len(before)]
    assert third.fixed == 1 and lab.resolved == ["d1"] and "**Fixed**" in lab.discussions[0]["notes"][0]["body"]
    lab.account = ""
    with pytest.raises(ForgeError, match="which account the token belongs to"):
        post(item, forge, pull, report(3), {}.get)
    lab.merge_request["state"] = "merged"
    with pytest.raises(ForgeError, match="is merged"):
        post(item, forge, pull, report(3), {}.get)


@pytest.mark.slow
@pytest.mark.parametrize("source", [None, 2])  # its fork was deleted, or the token may not see it
def test_a_merge_request_is_read_without_the_project_it_comes_from(lab, world, source):
    lab.merge_request["source_project_id"] = source
    item = parse_item(f"{lab.url}/g/p/-/merge_requests/7")
    forge = forge_of(item, world.settings.model_copy(update={"forge_api": ""}))
    pull = forge.pull()
    assert (pull.head_clone_url, pull.clone_url) == ("", f"{lab.url}/g/p.git")
    lab.add_note({"body": "say why"})
    lab.members = [{"username": "me", "state": "active", "access_level": 30}]
    with pytest.raises(ForgeError, match="comes from is gone"):
        issue_of_pull(item, forge)


@pytest.mark.slow
def test_an_issue_is_read_and_a_merge_request_opened(lab, world):
    settings = world.settings.model_copy(update={"forge_api": "", "git_token": f"{lab.url[7:]}=s3cret"})
    lab.token = "s3cret"
    lab.issue = {"iid": 3, "title": "Add tax", "description": "Please.", "state": "opened", "labels": ["bug"]}
    lab.notes = [{"id": n, "body": f"say {n}", "author": {"username": "x"}, "system": n == 0} for n in range(30)]
    forge = forge_of(parse_item(f"{lab.url}/g/p/-/issues/3"), settings)
    issue = forge.issue()
    assert (issue.title, issue.state, issue.labels, issue.default_branch) == ("Add tax", "open", ("bug",), "main")
    assert len(issue.comments) == 29 and issue.clone_url == f"{lab.url}/g/p.git"
    assert forge.open_pull("t", "d", "b", "main") == (f"{lab.url}/g/p/-/merge_requests/50", 50)
    assert lab.opened[0]["source_branch"] == "b"
    with pytest.raises(ForgeError, match="rejected the token"):
        forge_of(parse_item(f"{lab.url}/g/p/-/issues/3"), world.settings.model_copy(update={"forge_api": ""})).issue()
    lab.issue = {}
    with pytest.raises(ForgeError, match="was not found"):
        forge.issue()


@pytest.mark.slow
def test_an_own_merge_request_is_gone_on_with(lab, world):
    item = parse_item(f"{lab.url}/g/p/-/issues/3")
    forge = forge_of(item, world.settings.model_copy(update={"forge_api": ""}))
    lab.issue = {"iid": 3, "title": "Add tax", "description": "", "state": "opened", "labels": []}
    issue = forge.issue()
    made = {"iid": 50, "web_url": f"{lab.url}/g/p/-/merge_requests/50", "source_project_id": 1}
    others = [("mallory", "repopilot/3-add-tax"), ("me", "repopilot/30-add-tax"), ("me", "mine")]
    lab.requests = [{**made, "author": {"username": name}, "source_branch": branch} for name, branch in others]
    assert going_on(item, forge, issue) == issue
    lab.requests.append({**made, "author": {"username": "me"}, "source_branch": "repopilot/3-add-vat"})
    found = going_on(item, forge, issue)
    assert (found.default_branch, found.clone_url) == ("repopilot/3-add-vat", f"{lab.url}/g/p.git")
    assert found.own_pull.url == made["web_url"] and found.own_pull.number == 50
    lab.account = ""
    assert going_on(item, forge, issue) == issue


@pytest.mark.slow
def test_without_the_right_to_push_the_merge_request_comes_from_a_fork(lab, world):
    settings = world.settings.model_copy(update={"forge_api": ""})
    item = parse_item(f"{lab.url}/g/p/-/issues/3")
    forge = forge_of(item, settings)
    lab.issue = {"iid": 3, "title": "Add tax", "description": "", "state": "opened", "labels": []}
    for own, group, may in ((None, 20, False), (30, None, True), (10, 40, True)):
        levels = {"project_access": own, "group_access": group}
        lab.project["permissions"] = {name: level and {"access_level": level} for name, level in levels.items()}
        assert forge.issue().may_push is may
    with pytest.raises(ForgeError, match="allows no fork of g/p"):
        forge.fork()

    space = {"kind": "user", "path": "me"}
    lab.fork = {"id": 9, "path_with_namespace": "me/p", "namespace": space, "default_branch": "main"}
    lab.fork["http_url_to_repo"] = f"{lab.url}/me/p.git"
    lab.forks = [{**lab.fork, "path_with_namespace": "team/p", "namespace": {"kind": "group", "path": "team"}}]
    lab.imports = ["scheduled", "started"]
    found = ready_fork(item, forge, forge.issue().clone_url, 30)
    assert found.name == "me/p" and lab.imports == []
    assert forge.open_pull("t", "d", "b", "main", found) == (f"{lab.url}/g/p/-/merge_requests/50", 50)
    assert lab.opened[0]["target_project_id"] == 1 and lab.opened[0]["source_branch"] == "b"
    with pytest.raises(ForgeError, match="in your fork of g/p: Invalid reference name"):
        forge.start_branch(found, "c" * 40, "b")
    lab.imports = ["failed"]
    with pytest.raises(ForgeError, match="could not create a fork of g/p: too large"):
        ready_fork(item, forge, found.clone_url, 30)


@pytest.mark.slow
def test_drafts_of_the_account_are_not_published_with_a_review(lab, world):
    item = parse_item(f"{lab.url}/g/p/-/merge_requests/7")
    forge = forge_of(item, world.settings.model_copy(update={"forge_api": ""}))
    lab.drafts = [{"id": 1, "note": "not yet", "position": {}}]
    assert post(item, forge, forge.pull(), report(2, 4), {}.get).new == 2
    assert [each["note"] for each in lab.drafts] == ["not yet"]
    assert not any("not yet" in each["notes"][0]["body"] for each in lab.discussions)


@pytest.mark.slow
def test_drafts_of_a_review_that_fails_do_not_stay(lab, world):
    item = parse_item(f"{lab.url}/g/p/-/merge_requests/7")
    forge = forge_of(item, world.settings.model_copy(update={"forge_api": ""}))
    pull = forge.pull()
    lab.changes[0]["diff"] = "@@ -1,1 +1,2 @@\n x\n+y\n"  # the last line is gone meanwhile
    with pytest.raises(ForgeError):
        forge.comment_on_lines(pull, [LineComment("a.py", 2, "one"), LineComment("a.py", 4, "two")])
    assert lab.drafts == lab.discussions == []


@pytest.mark.slow
@pytest.mark.parametrize(("level", "is_dismissed"), [(30, True), (20, False)])
def test_what_a_developer_answered_with_a_thumbs_down_is_dismissed(lab, world, level, is_dismissed):
    item = parse_item(f"{lab.url}/g/p/-/merge_requests/7")
    forge = forge_of(item, world.settings.model_copy(update={"forge_api": ""}))
    post(item, forge, forge.pull(), report(2), {}.get)
    lab.members = [{"username": "ada", "state": "active", "access_level": level}]
    assert not posted_before(forge).dismissed
    lab.disliked = ["ada"]
    assert bool(posted_before(forge).dismissed) is is_dismissed
