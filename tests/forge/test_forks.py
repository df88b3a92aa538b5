"""A pull request from a fork of the account, where its token may not push: made, waited for, pushed to, told."""

import pytest
from support import git_server

from repopilot.errors import ForgeError
from repopilot.forge.fork import ready_fork
from repopilot.forge.host_errors import failed
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import parse_item


@pytest.fixture
def fork(world):
    """The fork `me/shop-1` as it is now on the disk."""
    world.hub.repository["permissions"] = {"pull": True, "push": False}
    bare = world.served / "me.git"
    git_server.git(world.served, "clone", "-q", "--bare", "shop.git", "me.git")
    git_server.git(bare, "config", "http.receivepack", "true")
    world.hub.fork = {
        "full_name": "me/shop-1",
        "owner": {"login": "me"},
        "clone_url": f"{world.git.url}/me.git",
        "default_branch": "main",
    }
    return bare


def issue(world):
    world.hub.issues[5] = {"number": 5, "title": "rename price to cost", "body": "", "state": "open"}
    return f"{world.hub.url}/o/r/issues/5"


@pytest.mark.slow
@pytest.mark.thorough
def test_without_the_right_to_push_the_pull_request_comes_from_a_fork(world, fork, run):
    url = issue(world)
    status, _, err = run("solve", url, "--json")
    assert status == 0 and "fork" not in err and world.hub.forked == 0

    world.hub.ready_after = 2
    status, found, err = run("solve", url, "--open-pull", "--json")
    (opened,) = world.hub.opened
    assert status == 0 and "no right to push to o/r" in err and world.hub.ready_after < 0
    branch = found["pull"]["branch"]
    assert found["pull"]["fork"] == "me/shop-1" and opened["head"] == f"me:{branch}" and opened["base"] == "main"
    assert "def cost(count)" in git_server.git(fork, "show", f"{branch}:shop/prices.py")
    assert git_server.git(world.served / "shop.git", "branch", "--list", "repopilot/*") == ""

    world.hub.issues[5]["title"] = "rename RATE to FACTOR"
    status, found, err = run("solve", url, "--open-pull", "--json")
    assert status == 0 and found["pull"]["branch"] == branch and len(world.hub.opened) == 1, err
    assert git_server.git(fork, "rev-parse", branch) == found["pull"]["commit"]

    world.hub.pulls[101]["state"] = "closed"
    world.hub.issues[5]["title"] = "rename price to cost"
    status, said, _ = run("solve", url, "--open-pull")  # a branch of that name exists in the fork
    assert status == 0 and world.hub.opened[1]["head"] == f"me:{branch}-2"
    assert "/o/r/pull/102 from the fork me/shop-1" in said


@pytest.mark.slow
@pytest.mark.thorough
def test_a_fork_that_is_behind_gets_the_commit_from_the_host_or_it_is_said(world, fork, run):
    git_server.commit(world.work, {"README.md": "# The shop\n"})
    world.publish()
    url = issue(world)
    status, _, err = run("solve", url, "--open-pull")
    assert (
        status == 1
        and "could not create a branch in your fork of o/r: Object does not exist" in err
        and "sync it" in err
    )
    assert world.hub.opened == []

    def started(branch, commit):
        """As GitHub, where a fork has the commits of what it comes from."""
        git_server.git(fork, "fetch", "-q", "../shop.git", f"{commit}:refs/heads/{branch}")
        return True

    world.hub.started = started
    hook = fork / "hooks" / "update"
    hook.write_text('#!/bin/sh\n[ -z "${3#0000000000000000000000000000000000000000}" ]\n')
    hook.chmod(0o755)
    status, _, err = run("solve", url, "--open-pull")
    assert status == 1 and "rejected the branch" in err
    assert git_server.git(fork, "branch", "--list", "repopilot/*") == "", "no empty branch is left"
    hook.unlink()
    status, found, err = run("solve", url, "--open-pull", "--json")
    assert status == 0, err
    head = git_server.git(world.served / "shop.git", "rev-parse", "main")
    assert git_server.git(fork, "rev-parse", f"{found['pull']['branch']}^") == head
    assert git_server.git(fork, "rev-parse", "main") != head


@pytest.mark.slow
@pytest.mark.thorough
def test_what_a_host_refuses_is_said_and_nothing_pushed(world, fork, run):
    url, of = issue(world), world.hub.fork
    world.hub.fork = {}
    status, _, err = run("solve", url, "--open-pull")
    assert status == 1 and "allows no fork of o/r: Forking is disabled." in err
    world.hub.repository["allow_forking"] = False
    status, _, err = run("solve", url, "--open-pull")
    assert status == 1 and "Nothing was changed" in err and run("solve", url)[0] == 0
    del world.hub.repository["allow_forking"]
    world.hub.fork = {**of, "clone_url": f"http://localhost:{world.git.url.rpartition(':')[2]}/me.git"}
    status, _, err = run("solve", url, "--open-pull")
    assert status == 1 and "not on the same server" in err
    world.hub.fork = of
    git_server.git(fork, "config", "http.receivepack", "false")
    status, _, err = run("solve", url, "--open-pull")
    assert status == 1 and "rejected the branch" in err
    assert world.hub.opened == [] and git_server.git(fork, "branch", "--list", "repopilot/*") == ""


@pytest.mark.slow
def test_a_fork_that_does_not_get_ready_is_said(world, fork):
    world.hub.ready_after = 1000
    item = parse_item(f"{world.hub.url}/o/r/issues/5")
    with pytest.raises(ForgeError, match="did not finish the fork me/shop-1 within 1 s"):
        ready_fork(item, forge_of(item, world.settings), world.hub.repository["clone_url"], 1)


def test_a_rate_limit_is_told_as_one_whatever_was_asked_for(world):
    item = parse_item(f"{world.hub.url}/o/r/issues/5")
    for doing in ("fork", "start_branch", ""):
        error = failed(item, 403, "You have exceeded a secondary rate limit.", doing)
        assert "accepts no more requests for now" in str(error)


@pytest.mark.slow
def test_gitea_refuses_a_second_fork_so_the_first_is_looked_for(world, fork):
    item = parse_item(f"{world.hub.url}/o/r/issues/5")
    forge = forge_of(item, world.settings.model_copy(update={"forge_api": f"{world.hub.url}/api/v1"}))
    refusal = (409, {"message": "repository is already forked by user"})
    world.hub.failures = [refusal]
    with pytest.raises(ForgeError, match="could not create a fork"):
        forge.fork()
    others = [{**world.hub.fork, "owner": {"login": f"u{n}"}} for n in range(150)]
    world.hub.forks, world.hub.failures = [*others, world.hub.fork], [refusal]
    found = forge.fork()
    assert found.name == "me/shop-1"
    calls = []
    world.hub.started = lambda *call: calls.append(call) or True
    forge.start_branch(found, "c" * 40, "b")
    assert calls == [("b", "c" * 40)]
