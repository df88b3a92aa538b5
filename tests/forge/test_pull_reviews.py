"""A pull request is reviewed and commented on: right lines, once, updated, resolved."""

import asyncio
import re
import threading
from dataclasses import replace

import pytest
from support import git_server
from support.index_case import runtime_for

from repopilot import trace
from repopilot.errors import ForgeError
from repopilot.forge.contents import Posted
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import parse_item
from repopilot.forge.review import review_pull
from repopilot.forge.review_comments import (
    MOST_COMMENTS,
    SUMMARY,
    comment_text,
    open_comments,
    outcome,
    plan,
    reviewed_commit,
    summaries_of,
    summary_text,
)
from repopilot.results import ReviewReport
from repopilot.types import Finding

START = "import subprocess\n\nRATE = 2\n\n\ndef price(count):\n    subprocess.call(count, shell=True)\n"
BAD, FIXED = START + "    return eval(count)\n", START + "    return count\n"


def address(world, kind="pull", number=7):
    return f"{world.hub.url}/o/r/{kind}/{number}"


@pytest.mark.slow
def test_a_pull_request_is_reviewed_by_its_address(world, run):
    world.push_pull({"shop/prices.py": BAD})
    status, found, _ = run("review", address(world), "--json")
    rules = {each["rule"] for each in found["findings"]}
    assert status == 0 and len(rules) >= 2 and {each["path"] for each in found["findings"]} == {"shop/prices.py"}
    assert found["pull"]["head_sha"] == world.hub.pulls[7]["head"]["sha"] and found["posted"] is None
    assert world.hub.inline == world.hub.comments == []
    _, sarif, _ = run("review", address(world), "--sarif")
    assert sarif["version"] == "2.1.0" and sarif["runs"][0]["results"]


@pytest.mark.slow
def test_a_second_run_doubles_nothing_and_resolves_what_is_fixed(world, run):
    world.push_pull({"shop/prices.py": BAD})
    world.hub.comments += [{"id": n, "body": "me too", "user": {"login": "x"}} for n in range(150)]  # two pages
    status, found, _ = run("review", address(world), "--post", "--json")
    posted = [dict(each) for each in world.hub.inline]
    assert status == 0 and found["posted"]["new"] == len(posted) >= 2
    assert world.hub.reviews == [len(posted)], "one review, which one mail tells"
    assert all(each["commit_id"] == found["pull"]["head_sha"] and each["side"] == "RIGHT" for each in posted)
    assert len(world.hub.summaries) == len(world.hub.said) == 1, "the summary is in the same mail"
    assert "/100" in world.hub.summaries[0]["body"]

    _, again, _ = run("review", address(world), "--post", "--json")
    assert (again["posted"]["new"], again["posted"]["changed"], again["posted"]["kept"]) == (0, 0, len(posted))
    assert world.hub.inline == posted

    world.push_pull({"shop/prices.py": FIXED})
    _, third, _ = run("review", address(world), "--post", "--json")
    assert third["posted"]["fixed"] >= 1 and len(world.hub.inline) == len(posted)
    assert (
        world.hub.resolved and sum("**Fixed**" in each["body"] for each in world.hub.inline) == third["posted"]["fixed"]
    )
    (summary,) = world.hub.summaries
    assert third["pull"]["head_sha"][:10] in summary["body"], "it says what the last review came to"
    _, fourth, _ = run("review", address(world), "--post", "--json")
    assert fourth["posted"]["fixed"] == 0, "what is resolved stays so"


STRANGER = {"user": {"login": "mallory"}}


@pytest.mark.slow
@pytest.mark.parametrize("account", ["me", "github-actions[bot]"])
@pytest.mark.sampled(1)
def test_comments_of_others_are_never_ours_whatever_mark_they_have(world, run, account):
    world.hub.account = account
    world.push_pull({"shop/prices.py": BAD})
    _, found, _ = run("review", address(world), "--post", "--json")
    new = found["posted"]["new"]
    planted = [{**each, **STRANGER, "id": 500 + each["id"]} for each in world.hub.inline]  # the marks can be computed
    gone = {**planted[0], "id": 600, "body": "<!-- repopilot:0123456789abcdef -->"}
    world.hub.inline[:] = [*planted, gone]
    summary = {"id": 700, "body": f"Mine\n\n{SUMMARY}", **STRANGER}
    world.hub.comments[:], world.hub.said[:] = [summary], []
    before = [dict(each) for each in (*planted, gone, summary)]

    status, found, err = run("review", address(world), "--post", "--json")
    assert status == 0 and found["posted"] == {**found["posted"], "new": new, "changed": 0, "fixed": 0, "kept": 0}, err
    assert [*world.hub.inline[: len(planted) + 1], world.hub.comments[0]] == before
    assert world.hub.said[0]["user"]["login"] == account and SUMMARY in world.hub.said[0]["body"]

    _, again, _ = run("review", address(world), "--post", "--json")
    assert again["posted"]["kept"] == new and len(world.hub.summaries) == 2


@pytest.mark.slow
def test_nothing_is_posted_where_the_host_does_not_say_whose_the_token_is(world, run):
    world.hub.account = ""
    world.push_pull({"shop/prices.py": BAD})
    status, _, err = run("review", address(world), "--post")
    assert status == 1 and "which account the token belongs to" in err and world.hub.inline == world.hub.comments == []


@pytest.mark.slow
@pytest.mark.thorough
def test_a_defect_that_comes_back_gets_a_thread_of_its_own(world, run):
    def reviewed(content):
        world.push_pull({"shop/prices.py": content})
        return run("review", address(world), "--post", "--json")[1]["posted"]

    reviewed(BAD)
    fixed = reviewed(FIXED)["fixed"]
    resolved = [dict(each) for each in world.hub.inline]
    back = reviewed(BAD)
    assert back["new"] == fixed and back["changed"] == 0
    assert world.hub.inline[: len(resolved)] == resolved, "what is resolved stays as it was"
    assert reviewed(FIXED)["fixed"] == fixed and len(set(world.hub.resolved)) == 2 * fixed


@pytest.mark.slow
@pytest.mark.thorough
def test_threads_beyond_the_first_hundred_are_resolved(world, run):
    world.push_pull({"shop/prices.py": BAD})
    talk = [{"id": 1000 + n, "body": "hm", "path": "shop/prices.py", "line": 7, **STRANGER} for n in range(250)]
    world.hub.inline[:] = talk
    run("review", address(world), "--post", "--json")
    world.push_pull({"shop/prices.py": FIXED})
    _, found, err = run("review", address(world), "--post", "--json")
    assert found["posted"]["notes"] == [] and len(world.hub.resolved) == found["posted"]["fixed"] >= 1, err


@pytest.mark.slow
@pytest.mark.parametrize("way", ["resolved", "disliked"])
@pytest.mark.thorough
def test_what_somebody_who_may_push_dismissed_is_not_raised_again(world, run, way):
    world.push_pull({"shop/prices.py": BAD})
    found = run("review", address(world), "--post", "--json")[1]["findings"]
    first, *others = world.hub.inline
    path, line = first["path"], first["line"]

    def dismiss(login):
        if way == "resolved":
            world.hub.resolved_by[first["id"]] = login
        else:
            first["reactions"] = {"-1": 1}
            world.hub.disliked = [login]

    def places(number=7):
        _, facts, _ = run("review", address(world, number=number), "--post", "--json")
        assert facts["posted"]["changed"] == facts["posted"]["fixed"] == 0
        return {(each["path"], each["line"], each["rule"]) for each in facts["findings"]}, facts

    before = {(each["path"], each["line"], each["rule"]) for each in found}
    dismiss("mallory")
    assert places()[0] == before, "anybody can do that"
    world.hub.permissions["ada"] = "write"
    dismiss("ada")
    left, facts = places()
    assert len(before - left) == 1 and left < before and any(place[:2] == (path, line) for place in before - left)
    assert any("dismissed" in note for note in facts["notes"]) and world.hub.inline == [first, *others]
    world.push_pull({"shop/prices.py": BAD}, number=8)
    world.hub.inline, world.hub.resolved_by, world.hub.disliked = [], {}, []
    assert places(8)[0] == left, "another pull request of the repository with the same code"


def test_what_a_model_does_not_find_again_is_fixed_only_where_the_line_is_another():
    found = Finding("a.py", 2, "high", "regression", "It fails.", "model", quote="return 1", failure="It fails.")
    report = ReviewReport("x", "c" * 40, (found,), by_model=True)
    posted = [Posted("1", text, path="a.py") for _, text in plan(report, {"a.py": [2]}, []).new]
    again = replace(report, findings=())
    standing = plan(again, {"a.py": [2]}, posted, text_of={"a.py": "def f():\n    return 1\n"}.get)
    assert (standing.fixed, standing.kept, standing.standing) == ((), 1, 1)
    assert "1 finding of an earlier review" in summary_text(again, standing)
    for text in ({"a.py": "def f():\n    return 2\n"}, {}):
        assert len(plan(again, {"a.py": [2]}, posted, text_of=text.get).fixed) == 1


def test_a_summary_says_up_to_which_commit_a_model_has_reviewed():
    report = ReviewReport("x", "c" * 40, (), by_model=True)
    assert reviewed_commit(summary_text(report, plan(report, {}, []))) == "c" * 40
    without_model = replace(report, by_model=False)
    assert reviewed_commit(summary_text(without_model, plan(without_model, {}, []))) == ""


@pytest.mark.parametrize(
    ("form", "counts"),
    [("{}", True), ("Mine\r\n\r\n{}\r\n", True), ("> {}", False), ("`{}`", False), ("it says {} there", False)],
)
def test_a_mark_counts_on_a_line_of_its_own_only(form, counts):
    """Reading what earlier reviews left and posting the next one agree on which comments are ours."""
    reviewed, fixed = f"<!-- repopilot:reviewed {'c' * 40} -->", "<!-- repopilot:fixed -->"
    comment = Posted("1", form.format(SUMMARY), author="me")
    assert summaries_of([comment, replace(comment, author="you")], "me") == ([comment] if counts else [])
    assert reviewed_commit(form.format(reviewed)) == ("c" * 40 if counts else "")
    inline = replace(comment, text=f"<!-- repopilot:{'a' * 16} low -->\n{form.format(fixed)}")
    assert bool(open_comments([inline])) is not counts


def test_of_two_equal_lines_each_has_its_comment():
    two = [Finding("a.py", n, "high", "R", "m", "tool", quote="x = eval(y)") for n in (9, 4)]
    first = plan(ReviewReport("x", "c" * 40, tuple(two)), {"a.py": [4, 9]}, [])
    assert sorted(finding.line for finding, _ in first.new) == [4, 9] and len({text for _, text in first.new}) == 2
    posted = [Posted(str(n), text) for n, (_, text) in enumerate(first.new)]
    moved = [Finding("a.py", n, "high", "R", "m", "tool", quote="x = eval(y)") for n in (14, 19)]
    again = plan(ReviewReport("x", "c" * 40, tuple(moved)), {"a.py": [14, 19]}, posted)
    assert (again.new, again.fixed, again.kept) == ((), (), 2)
    one = plan(ReviewReport("x", "c" * 40, tuple(moved[:1])), {"a.py": [14]}, posted)
    assert (len(one.fixed), one.kept) == (1, 1)


def test_many_findings_get_some_comments_the_gravest_first_and_no_more_in_a_second_run():
    found = [Finding("a.py", n, "low", "R", "m", "tool", quote=f"q{n}") for n in range(100)]
    report = ReviewReport("x", "c" * 40, (*found, Finding("z.py", 1, "high", "R", "m", "tool", quote="q")))
    lines = {"a.py": range(100), "z.py": [1]}
    first = plan(report, lines, [])
    assert len(first.new) == MOST_COMMENTS and first.new[0][0].path == "z.py" and len(first.outside) == 61
    quoted = Posted("r", f"> {first.new[0][1]}\nI disagree")
    posted = [*(Posted(str(n), text) for n, (_, text) in enumerate(first.new)), quoted]
    again = plan(report, lines, posted)
    assert (again.new, again.changed, again.fixed, again.kept) == ((), (), (), MOST_COMMENTS)


@pytest.mark.slow
def test_what_is_not_on_a_line_of_the_diff_is_in_the_summary(world, run):
    world.push_pull({"shop/prices.py": BAD})
    world.hub.files = [{"filename": "shop/prices.py", "status": "modified"}]  # too large to be shown
    _, found, _ = run("review", address(world), "--post", "--json")
    assert world.hub.inline == [] and found["posted"]["outside"] == len(found["findings"])
    assert "shop/prices.py:7" in world.hub.comments[0]["body"]


@pytest.mark.slow
def test_what_the_author_wrote_is_text_in_what_is_posted(world, run):
    evil = "a`b\n# Heading @ada fixes #1"
    code = 'password = "fixes #1 @ada ![x](http://h/x) <img src=x> /close"\n' + BAD
    world.push_pull({"shop/prices.py": code, f"{evil}.py": code, f"{evil}/x.csv": "1\n"})
    status, found, err = run("review", address(world), "--post", "--json")
    texts = [each["body"] for each in (*world.hub.inline, *world.hub.summaries)]
    assert status == 0 and len(texts) == len(found["findings"]) + 1, err
    assert {each["path"] for each in world.hub.inline} == {f"{evil}.py", "shop/prices.py"}
    for text in texts:
        prose = re.sub("(`+).+?\\1", "", text)
        assert "\n# " not in text and not re.search("@ada|#1|<img|\n/", prose), text
    assert "`` a`b\\n# Heading @ada fixes #1/x.csv ``" in texts[-1], "as code"


@pytest.mark.slow
@pytest.mark.thorough
def test_on_gitea_comments_are_those_of_a_review(world, run):
    world.push_pull({"shop/prices.py": BAD})
    status, found, _ = run("review", f"{world.hub.url}/o/r/pulls/7", "--post", "--json")
    assert status == 0 and found["posted"]["new"] == len(world.hub.inline) >= 2
    assert {each["path"] for each in world.hub.inline} == {"shop/prices.py"} and world.hub.inline[0]["new_position"] > 1
    assert any(SUMMARY in each["body"] for each in world.hub.comments)
    _, again, _ = run("review", f"{world.hub.url}/o/r/pulls/7", "--post", "--json")
    assert (again["posted"]["new"], again["posted"]["kept"]) == (0, len(world.hub.inline))
    world.push_pull({"shop/prices.py": FIXED})
    _, third, _ = run("review", f"{world.hub.url}/o/r/pulls/7", "--post", "--json")
    assert third["posted"]["fixed"] == sum("**Fixed**" in each["body"] for each in world.hub.inline) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("token", ["ghs_app", "ghp_person", ""])
@pytest.mark.sampled(1)
def test_the_commit_says_what_its_review_came_to(world, run, monkeypatch, token):
    """By a check run with the token of an app or a workflow, which alone may create one, else by a status."""
    world.hub.token = token
    monkeypatch.setenv("REPOPILOT_GIT_TOKEN", f"{world.hub.url[7:]}={token}" if token else "")
    head = world.push_pull({"shop/prices.py": BAD})
    status, found, err = run("review", address(world), "--post", "--fail-on", "high", "--json")
    (said,) = world.hub.outcomes
    assert status == 1 and said["sha"] == head and found["posted"]["notes"] == [], err
    assert (said["conclusion"] if token == "ghs_app" else said["state"]) == "failure"
    assert f"{len(found['findings'])} findings" in str(said)
    run("review", address(world), "--post", "--json")
    assert "success" in world.hub.outcomes[-1].values(), "nothing is set that fails it"


@pytest.mark.parametrize("language", ["en", "fr"])
def test_what_an_earlier_review_found_and_still_stands_does_not_pass(language):
    """Whatever language either review spoke, and whatever its texts say by now."""
    found = Finding("a.py", 2, "high", "opinion", "It fails.", "model", "correctness")
    stands = Posted("1", comment_text(found, "0" * 16, language), path="a.py", line=2)
    report = ReviewReport("x", "c" * 40, (), by_model=True)
    done = replace(plan(report, {}, []), stands=(stands,))
    states = [outcome(report, done, severity, "en").state for severity in ("high", "critical", "")]
    assert states == ["failed", "passed", "passed"]
    said = replace(stands, text=f"**Critical** It says so itself.\n<!-- repopilot:{'0' * 16} low -->")
    assert outcome(report, replace(done, stands=(said,)), "medium", "en").state == "passed"


@pytest.mark.slow
@pytest.mark.thorough
def test_what_a_tool_mends_for_certain_is_a_suggestion_where_the_host_takes_one_over(world, run):
    secret = "ghp_" + "a1B2" * 9
    code = f"import os, sys\nimport json\n\nTEXT = f'plain'\nKEY = f'{secret}'\nprint(sys, None == TEXT)\n"
    world.push_pull({"shop/prices.py": code})
    run("review", address(world), "--post", "--json")
    found = {each["line"]: each["body"] for each in world.hub.inline if "```suggestion" in each["body"]}
    blocks = {line: re.search("^```suggestion\n(.*?)^```$", body, re.S | re.M)[1] for line, body in found.items()}
    assert blocks.pop(1) == "import sys\n" and blocks.pop(2) == "" and blocks.pop(4) == "TEXT = 'plain'\n"
    assert 5 not in blocks, "a line with a secret isn't repeated"
    world.hub.inline.clear()
    run("review", f"{world.hub.url}/o/r/pulls/7", "--post", "--json")
    assert world.hub.inline and "suggestion" not in str(world.hub.inline)


@pytest.mark.slow
def test_a_fork_is_fetched_where_the_host_has_no_ref(world, run):
    world.push_pull({"shop/prices.py": BAD})
    git_server.git(world.served / "shop.git", "update-ref", "-d", "refs/pull/7/head")
    git_server.git(world.served / "shop.git", "update-ref", "-d", "refs/heads/change")
    git_server.publish(world.work, world.served, "fork.git")
    world.hub.pulls[7]["head"]["repo"]["clone_url"] = f"{world.git.url}/fork.git"
    status, found, _ = run("review", address(world), "--json")
    assert status == 0 and found["findings"]


@pytest.mark.slow
def test_nothing_is_posted_to_what_is_closed_or_was_pushed_to(world, run):
    world.push_pull({"shop/prices.py": BAD})
    world.hub.pulls[7]["state"] = "closed"
    status, _, err = run("review", address(world), "--post")
    assert status == 1 and "is closed" in err and world.hub.inline == world.hub.comments == []
    world.hub.pulls[7]["state"] = "open"
    world.hub.pulls[7]["head"]["sha"] = "0" * 40
    status, _, err = run("review", address(world), "--post")
    assert status == 1 and "new commits in the meantime" in err and world.hub.inline == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "reply", "said"),
    [
        (401, {"message": "Bad credentials"}, "rejected the token"),
        (403, {"message": "Resource not accessible"}, "doesn't allow this"),
        (404, {"message": "Not Found"}, "was not found"),
        (409, {"message": "Conflict"}, "changed in the meantime"),
        (422, {"message": "Validation Failed"}, "rejected the request"),
    ],
)
def test_what_the_host_refuses_is_said(world, status, reply, said):
    world.push_pull({"shop/prices.py": BAD})
    item = parse_item(address(world))
    world.hub.failures = [(status, reply)]
    with pytest.raises(ForgeError, match=said):
        forge_of(item, world.settings).pull()


@pytest.mark.slow
def test_faults_of_the_host_are_tried_again_and_then_said(world):
    world.push_pull({"shop/prices.py": BAD})
    item = parse_item(address(world))
    world.hub.failures = [(502, {"message": "Bad gateway"})]
    assert forge_of(item, world.settings).pull().state == "open"
    with pytest.raises(ForgeError, match="can't be reached"):
        forge_of(item, world.settings.model_copy(update={"forge_api": "http://127.0.0.1:9"})).pull()
    world.hub.cut = 50
    with pytest.raises(ForgeError):
        forge_of(item, world.settings).pull()
    world.hub.cut = 0


@pytest.mark.slow
def test_a_token_goes_to_its_host_alone(world):
    world.push_pull({"shop/prices.py": BAD})
    world.hub.token = "s3cret"
    item = parse_item(address(world))
    host = world.hub.url.partition("//")[2]
    with pytest.raises(ForgeError, match="rejected the token"):
        forge_of(item, world.settings.model_copy(update={"git_token": "example.org=s3cret"})).pull()
    assert forge_of(item, world.settings.model_copy(update={"git_token": f"{host}=s3cret"})).pull().title == "A change"


@pytest.mark.slow
def test_post_needs_the_address_of_a_pull_request(world, run):
    status, _, err = run("review", str(world.work), "--post")
    assert status == 1 and "not the address of a pull request" in err


@pytest.mark.slow
async def test_a_review_that_is_cancelled_clones_nothing_more(world):
    world.push_pull({"shop/prices.py": BAD})
    item = parse_item(address(world))
    pull = forge_of(item, world.settings).pull()
    cancelled, loop = threading.Event(), asyncio.get_running_loop()

    def progress(_):
        loop.call_soon_threadsafe(work.cancel)
        cancelled.wait(10)

    with runtime_for(world.settings) as runtime:
        async with trace.root(lambda event: None, "review") as step:
            work = asyncio.create_task(review_pull(item, pull, runtime, step, progress))
            with pytest.raises(asyncio.CancelledError):
                await work
        cancelled.set()
        await asyncio.sleep(2)
        assert not list((world.settings.home / "repos").glob("*.git"))
