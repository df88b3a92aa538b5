"""The address of an issue becomes a change and a pull request on a click; that of a pull request a review."""

import pytest
from playwright.sync_api import expect
from support import git_server, github_server
from support.app import running

pytestmark = pytest.mark.browser
FILES = {
    "shop/prices.py": "def price(count):\n    return count * 2\n",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total(n):\n    return price(n)\n",
}


@pytest.fixture(scope="module")
def hosted(tmp_path_factory):
    """A folder with what a server of git serves, its server, the host that knows it, and an application."""
    folder = tmp_path_factory.mktemp("hosted")
    (folder / "served").mkdir()
    options = {"ollama_url": "", "embedded": "false", "auto_download": "false"}
    with git_server.serve(folder / "served") as git, github_server.serve() as hub:
        options |= {"forge_api": hub.url, "allow_http": "true", "allow_private_hosts": "true"}
        with running(folder / "home", **options) as app:
            yield folder / "served", git, hub, app


@pytest.mark.thorough
def test_an_issue_is_worked_on_and_its_pull_request_opened(visitor, hosted, tmp_path):
    (served, git, hub, app), page = hosted, visitor.page
    git_server.commit(tmp_path / "work", FILES)
    bare = git_server.publish(tmp_path / "work", served, "shop.git")
    git_server.git(bare, "config", "http.receivepack", "true")
    hub.repository = {"clone_url": f"{git.url}/shop.git", "default_branch": "main"}
    hub.issues[5] = {"number": 5, "title": "rename price to cost", "body": "It says too little.", "state": "open"}
    page.goto(app.url)
    page.wait_for_selector(".rp-welcome")
    visitor.say(f"{hub.url}/o/r/issues/5")
    expect(page.get_by_text("Working on issue #5")).to_be_visible()
    expect(page.locator('.rp-file[data-path="shop/prices.py"]')).to_be_visible()
    expect(page.locator(".rp-footer")).to_be_visible()
    assert hub.opened == []
    page.get_by_role("button", name="Open a pull request").click()
    page.get_by_role("button", name="Push it and open a pull request?").click()
    expect(page.get_by_text("/o/r/pull/101")).to_be_visible()
    assert "def cost" in git_server.git(bare, "show", f"{hub.opened[0]['head']}:shop/prices.py")
    page.screenshot(path=str(tmp_path / "issue.png"))

    hub.issues[5]["title"] = "rename total to sum_of"
    visitor.say(f"{hub.url}/o/r/issues/5")
    expect(page.get_by_text("Going on with")).to_be_visible()
    page.get_by_role("button", name="Push to the pull request").click()
    page.screenshot(path=str(tmp_path / "again.png"))
    page.get_by_role("button", name="Push to its branch?").click()
    expect(page.get_by_text("✓ Pushed ")).to_be_visible()
    text = git_server.git(bare, "show", f"{hub.opened[0]['head']}:shop/cart.py")
    assert "def sum_of" in text and "cost(n)" in text and len(hub.opened) == 1
    hub.pulls[101]["state"] = "closed"
    hub.issues[5]["title"] = "rename price to cost"

    git_server.git(served, "clone", "-q", "--bare", "shop.git", "me.git")
    git_server.git(served / "me.git", "config", "http.receivepack", "true")
    hub.fork = {"full_name": "me/shop", "owner": {"login": "me"}, "default_branch": "main"}
    hub.fork["clone_url"] = f"{git.url}/me.git"
    hub.repository["permissions"] = {"push": False}
    visitor.say(f"{hub.url}/o/r/issues/5")
    button = page.get_by_role("button", name="Open a pull request")
    expect(button).to_have_count(2)
    button.last.click()
    page.get_by_role("button", name="no right to push to o/r. Push to a fork of your account").click()
    expect(page.get_by_text("/o/r/pull/102 from the fork me/shop")).to_be_visible()
    assert hub.opened[1]["head"].startswith("me:repopilot/")
    page.screenshot(path=str(tmp_path / "fork.png"))
    hub.issues[5]["state"] = "closed"
    visitor.say(f"{hub.url}/o/r/issues/5")
    expect(page.get_by_text("is closed")).to_be_visible()
    assert visitor.problems == []


@pytest.mark.thorough
def test_a_pull_request_is_reviewed_and_the_review_posted_and_its_comments_worked_on(visitor, hosted, tmp_path):
    (served, git, hub, app), page = hosted, visitor.page
    work = tmp_path / "work"
    base = git_server.commit(work, FILES)
    git_server.git(work, "checkout", "-q", "-b", "change")
    bad = "import subprocess\n\n\ndef price(count):\n    return subprocess.call(count, shell=True)\n"
    head = git_server.commit(work, {"shop/prices.py": bad})
    bare = git_server.publish(work, served, "pulls.git")
    git_server.git(bare, "config", "http.receivepack", "true")
    git_server.git(bare, "update-ref", "refs/pull/7/head", head)
    hub.add_pull(7, (base, "main"), (head, "change"), f"{git.url}/pulls.git")
    diff = git_server.git(work, "diff", base, head)
    hub.files = [{"filename": "shop/prices.py", "patch": diff[diff.find("@@") :], "status": "modified"}]
    page.goto(app.url)
    page.wait_for_selector(".rp-welcome")
    visitor.say(f"{hub.url}/o/r/pull/7")
    expect(page.get_by_text("Reviewing pull request #7: A change")).to_be_visible()
    expect(page.locator(".rp-findings")).to_contain_text("shell=True")
    assert hub.comments == []
    page.get_by_role("button", name="Post as comments").click()
    page.screenshot(path=str(tmp_path / "pull.png"), full_page=True)
    page.get_by_role("button", name="Post them on the pull request?").click()
    expect(page.get_by_text("Posted: ")).to_be_visible()
    assert hub.inline and len(hub.summaries) == 1 and hub.comments == []

    hub.pulls[7]["title"] = "rename price to cost"
    hub.inline.append({"id": 99, "path": "shop/prices.py", "line": 4, "body": "as it is one", "user": {"login": "ada"}})
    page.get_by_role("button", name="Work on the review comments").click()
    expect(page.locator('.rp-file[data-path="shop/cart.py"]')).to_be_visible()
    page.get_by_role("button", name="Push to the pull request").click()
    page.screenshot(path=str(tmp_path / "comments.png"), full_page=True)
    expect(page.locator(".rp-footer")).to_have_count(2)
    assert page.get_by_text("Score breakdown").count() == 1, "shown once, whatever stages the answer had"
    page.get_by_role("button", name="Push to its branch?").click()
    expect(page.get_by_text("✓ Pushed ")).to_be_visible()
    assert "def cost" in git_server.git(bare, "show", "change:shop/prices.py")

    git_server.git(bare, "update-ref", "refs/pull/7/head", head)
    hub.pulls[7]["head"]["sha"] = "f" * 40  # pushed to, as the host says
    visitor.say(f"{hub.url}/o/r/pull/7")
    expect(page.get_by_text("got new commits in the meantime")).to_be_visible()
    visitor.say(f"/review {hub.url}/o/r/pull/8")
    expect(page.get_by_text("/o/r/pull/8 was not found")).to_be_visible()
