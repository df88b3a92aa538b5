"""An issue's address in the chat becomes a change, and a pull request on a click."""

import pytest
from playwright.sync_api import expect
from support import git_server, github_server
from support.app import running
from support.browser import Tab

pytestmark = pytest.mark.browser
FILES = {
    "shop/prices.py": "def price(count):\n    return count * 2\n",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total(n):\n    return price(n)\n",
}


def test_an_issue_is_worked_on_and_its_pull_request_opened(browser, tmp_path):
    served = tmp_path / "served"
    served.mkdir()
    with git_server.serve(served) as git, github_server.serve() as hub:
        git_server.commit(tmp_path / "work", FILES)
        bare = git_server.publish(tmp_path / "work", served, "shop.git")
        git_server.git(bare, "config", "http.receivepack", "true")
        hub.repository = {"clone_url": f"{git.url}/shop.git", "default_branch": "main"}
        hub.issues[5] = {"number": 5, "title": "rename price to cost", "body": "It says too little.", "state": "open"}
        options = {"ollama_url": "", "embedded": "false", "auto_download": "false", "forge_api": hub.url}
        with running(tmp_path / "home", **options, allow_http="true", allow_private_hosts="true") as app:
            tab = Tab(browser)
            page = tab.page
            page.goto(app.url)
            page.wait_for_selector(".rp-welcome")
            tab.say(f"{hub.url}/o/r/issues/5")
            expect(page.get_by_text("Working on issue #5")).to_be_visible(timeout=30_000)
            expect(page.locator('.rp-file[data-path="shop/prices.py"]')).to_be_visible(timeout=60_000)
            expect(page.locator(".rp-footer")).to_be_visible(timeout=60_000)
            assert hub.opened == []
            page.get_by_role("button", name="Open a pull request").click()
            page.get_by_role("button", name="Push it and open a pull request?").click()
            expect(page.get_by_text("/o/r/pull/101")).to_be_visible(timeout=30_000)
            assert "def cost" in git_server.git(bare, "show", f"{hub.opened[0]['head']}:shop/prices.py")
            page.screenshot(path=str(tmp_path / "issue.png"))

            git_server.git(served, "clone", "-q", "--bare", "shop.git", "me.git")
            git_server.git(served / "me.git", "config", "http.receivepack", "true")
            hub.fork = {"full_name": "me/shop", "owner": {"login": "me"}, "default_branch": "main"}
            hub.fork["clone_url"] = f"{git.url}/me.git"
            hub.repository["permissions"] = {"push": False}
            tab.say(f"{hub.url}/o/r/issues/5")
            button = page.get_by_role("button", name="Open a pull request")
            expect(button).to_have_count(2, timeout=60_000)
            button.last.click()
            page.get_by_role("button", name="no right to push to o/r. Push to a fork of your account").click()
            expect(page.get_by_text("/o/r/pull/102 from the fork me/shop")).to_be_visible(timeout=30_000)
            assert hub.opened[1]["head"].startswith("me:repopilot/")
            page.screenshot(path=str(tmp_path / "fork.png"))
            hub.issues[5]["state"] = "closed"
            tab.say(f"{hub.url}/o/r/issues/5")
            expect(page.get_by_text("is closed")).to_be_visible(timeout=30_000)
            assert tab.problems == []
            tab.close()
