"""Take the pictures of the README and of the tour from the running program, in a headless Chromium.

    PYTHONPATH=.:tests python docs/pictures.py FOLDER

FOLDER is a copy of a Python repository that may be written to, such as Starlette's; its files stay as they are.
"""

import sys
import tempfile
from pathlib import Path

from support.app import running
from support.browser import Tab, chromium

IMAGES = Path(__file__).parent / "images"
QUESTION, COMMAND = "How is a request routed to an endpoint?", "/rename request_response as_response"
DONE_MS = 120_000


def main(folder: str) -> None:
    """Walk through what a user does first; a picture of each."""
    with tempfile.TemporaryDirectory() as home, chromium() as browser:
        quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false"}
        with running(Path(home), **quiet) as app:
            tab = Tab(browser, height=820)
            address = f"{app.url}/?repo={folder}"
            open_repository(tab, app.url, address)
            ask(tab)
            mention(tab)
            for text, name in (
                (COMMAND, "change"),
                ("/review HEAD~30..HEAD", "review"),
                ("/impact Router.app", "impact"),
            ):
                tab.page.goto(address)
                tab.page.wait_for_selector('[data-answerable="true"]')
                work(tab, text, name)


def open_repository(tab: Tab, start: str, address: str) -> None:
    """The first screen, with a repository that was opened before."""
    tab.page.goto(address)
    tab.page.wait_for_selector('[data-answerable="true"]')
    tab.page.goto(start)
    tab.page.wait_for_selector(".rp-welcome")
    take(tab, "start")
    tab.page.goto(address)
    tab.page.wait_for_selector('[data-answerable="true"]')


def ask(tab: Tab) -> None:
    """An answer with the code it cites beside it, and the steps of that answer."""
    tab.say(QUESTION)
    tab.page.wait_for_selector(".rp-footer")
    tab.page.locator(".rp-evidence .rp-source").first.click()
    tab.page.wait_for_selector(".rp-file-text")
    take(tab, "answer")
    tab.page.locator('[aria-label="Steps of this answer"]').last.click()
    tab.page.wait_for_selector(".rp-trace-panel .rp-trace-head")
    take(tab, "steps")


def mention(tab: Tab) -> None:
    """The list that @ opens."""
    tab.page.reload()
    tab.page.wait_for_selector(".rp-footer")
    tab.page.locator("#chat-input").click()
    tab.page.keyboard.type("why does @rout", delay=40)
    tab.page.get_by_role("listbox", name="Mentions").wait_for()
    take(tab, "mention")


def work(tab: Tab, text: str, name: str) -> None:
    """A command and its result."""
    tab.say(text)
    tab.page.wait_for_selector(".rp-footer", timeout=DONE_MS)
    take(tab, name)


def take(tab: Tab, name: str) -> None:
    """A picture of the page as it is, once it has come to rest."""
    tab.page.wait_for_timeout(1500)
    tab.page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1])
