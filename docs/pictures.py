"""Take the pictures of the README from the running program, in a headless Chromium.

    PYTHONPATH=.:tests python docs/pictures.py FOLDER

FOLDER is a copy of a Python repository that may be written to; its files stay as they are.
"""

import sys
import tempfile
from pathlib import Path

from support.app import running
from support.browser import Tab, chromium

IMAGES = Path(__file__).parent / "images"
QUESTION, COMMAND = "How is a request routed to an endpoint?", "/rename request_response as_response"


def main(folder: str) -> None:
    """Ask, open the code beside the answer, rename something; a picture of each."""
    with tempfile.TemporaryDirectory() as home, chromium() as browser:
        quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false"}
        with running(Path(home), **quiet) as app:
            tab = Tab(browser, height=820)
            page = tab.page
            page.goto(f"{app.url}/?repo={folder}")
            page.wait_for_selector('[data-answerable="true"]')
            tab.say(QUESTION)
            page.wait_for_selector(".rp-footer")
            page.locator(".rp-evidence .rp-source").first.click()
            page.wait_for_selector(".rp-file-text")
            page.wait_for_timeout(1500)
            page.screenshot(path=IMAGES / "answer.png")
            page.reload()
            page.wait_for_selector(".rp-footer")
            tab.say(COMMAND)
            page.wait_for_selector(".rp-hunk-buttons")
            page.wait_for_function("document.querySelectorAll('.rp-footer').length > 1", timeout=120_000)
            page.wait_for_timeout(1500)
            page.screenshot(path=IMAGES / "change.png")


if __name__ == "__main__":
    main(sys.argv[1])
