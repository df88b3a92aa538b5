"""Suggestions that readers take over with a click: over which lines, and where none is offered."""

import re
from dataclasses import replace

import pytest
from support import gitlab_server

from repopilot.agents.review.replacements import replacement
from repopilot.forge.contents import Posted
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import parse_item
from repopilot.forge.review import post
from repopilot.forge.review_comments import comment_text, plan
from repopilot.results import ReviewReport
from repopilot.types import Finding

TEXT = "first\na = 1\nif a:\n\tb = '`'\nlast\n"
NEW = "if a:\n\tb = '````'\n\treturn"
PATCH = "@@ -1,2 +1,5 @@\n first\n+a = 1\n+if a:\n+\tb = '`'\n last"
FOUND = Finding("a.py", 3, "high", "opinion", "It fails.", "model", quote="if a:", failure="It fails.")
FOUND = replace(FOUND, replacement=replacement(TEXT, 3, 4, NEW))


def reviewed(*findings):
    return ReviewReport("x", "c" * 40, findings, (), ("a.py",))


def posted_on_github(world, patch, *reports):
    world.hub.add_pull(7, ("b" * 40, "main"), ("c" * 40, "change"), "http://example.org/o/r.git")
    world.hub.files = [{"filename": "a.py", "status": "modified", "patch": patch}]
    item = parse_item(f"{world.hub.url}/o/r/pull/7")
    forge = forge_of(item, world.settings)
    return [post(item, forge, forge.pull(), each, {"a.py": TEXT}.get) for each in reports]


@pytest.mark.slow
def test_on_github_a_suggestion_replaces_the_lines_of_its_comment(world):
    one = replace(FOUND, line=2, quote="a = 1", replacement=replacement(TEXT, 2, 2, ""))
    first, again = posted_on_github(world, PATCH, *[reviewed(one, FOUND)] * 2)
    places = [(each.get("start_line"), each["line"]) for each in world.hub.inline]
    assert sorted(places, key=str) == [(3, 4), (None, 2)] and (first.new, again.new, again.changed) == (2, 0, 0)
    several, single = (next(e["body"] for e in world.hub.inline if e["line"] == line) for line in (4, 2))
    assert f"\n`````suggestion\n{NEW}\n`````\n" in several, "tabs and backticks as they are, in a longer fence"
    assert "\n```suggestion\n```\n" in single, "a line that goes"


@pytest.mark.slow
@pytest.mark.parametrize(
    "patch",
    [
        "@@ -1,2 +1,3 @@\n first\n+a = 1\n+if a:",  # ends within the lines
        "@@ -1,2 +1,3 @@\n first\n+a = 1\n+if a:\n@@ -9,1 +10,2 @@\n x\n+y",
        PATCH.replace("\n", "\r\n"),  # what is taken over would end in LF
    ],
)
def test_without_all_lines_in_the_diff_the_change_is_only_shown(world, patch):
    posted_on_github(world, patch, reviewed(FOUND))
    (comment,) = world.hub.inline
    assert comment["line"] == 3 and "start_line" not in comment
    assert "suggestion" not in comment["body"] and "diff\n-if a:\n-\tb = '`'\n+if a:" in comment["body"]


def test_a_comment_on_other_lines_gets_no_suggestion_for_those_of_now():
    """The host applies a suggestion to the lines of its comment, which stay when its text is changed."""
    ((mark, _),) = [
        (m[1], m) for m in [re.search("repopilot:(\\w+)", plan(reviewed(FOUND), {"a.py": [3]}, []).new[0][1])]
    ]
    for first, line, offered in ((3, 4, True), (0, 4, True), (3, 3, False), (2, 4, False), (3, 5, False)):
        earlier = Posted(
            "1", comment_text(replace(FOUND, replacement=None), mark, "en"), path="a.py", line=line, first=first
        )
        done = plan(reviewed(FOUND), {"a.py": [3, 4]}, [earlier], fence=lambda finding: "suggestion")
        ((_, text),) = done.changed
        assert ("suggestion" in text) is offered, (first, line)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_on_gitlab_a_suggestion_names_the_lines_above_its_comment(world, end):
    with gitlab_server.serve() as lab:
        lab.project = {"id": 1, "http_url_to_repo": f"{lab.url}/g/p.git", "default_branch": "main"}
        refs = {"base_sha": "b" * 40, "start_sha": "s" * 40, "head_sha": "h" * 40}
        lab.merge_request = {"iid": 7, "title": "A", "description": "", "state": "opened", "target_project_id": 1}
        lab.merge_request |= {"source_project_id": 1, "target_branch": "main", "source_branch": "change"}
        lab.merge_request |= {"diff_refs": refs, "sha": "h" * 40}
        lab.changes = [{"new_path": "a.py", "old_path": "a.py", "diff": f"{PATCH}\n".replace("\n", end)}]
        item = parse_item(f"{lab.url}/g/p/-/merge_requests/7")
        forge = forge_of(item, world.settings.model_copy(update={"forge_api": ""}))
        assert post(item, forge, forge.pull(), reviewed(FOUND), {"a.py": TEXT}.get).new == 1
        assert post(item, forge, forge.pull(), reviewed(FOUND), {"a.py": TEXT}.get).kept == 1
        (note,) = (each["notes"][0] for each in lab.discussions if "position" in each["notes"][0])
        assert note["position"]["new_line"] == (4 if end == "\n" else 3)
        assert (f"\n`````suggestion:-1+0\n{NEW}\n`````\n" in note["body"]) is (end == "\n")


def test_what_holds_a_secret_or_a_mark_is_no_suggestion():
    secret = "ghp_" + "a1B2" * 9
    for old, new in (("x", f"x = '{secret}'"), (f"x = '{secret}'", "x"), ("x", "<!-- repopilot:fixed -->"), ("x", "x")):
        assert replacement(f"{old}\n", 1, 1, new) is None, new
