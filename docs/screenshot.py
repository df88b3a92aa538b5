"""Take the README's picture from the running program: `.venv/bin/python docs/screenshot.py [SOURCE [QUESTION]]`.

Starts RepoPilot on a data directory of its own without any model, opens SOURCE (this checkout), asks QUESTION, opens
the first citation and writes `docs/images/answer.png`. Needs the development environment and a Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.app import running  # noqa: E402  # after the path is set
from support.browser import Tab, chromium  # noqa: E402

QUESTION = "How does `answer` in the assistant reach `verify`?"
OUT = ROOT / "docs" / "images" / "answer.png"


def take(source: str, question: str) -> None:
    """Write the picture of one answer."""
    options = {"ollama_url": "", "embedded": "false", "auto_download": "false", "dense": "false"}
    options["big_repository_lines"] = "1000000"
    with tempfile.TemporaryDirectory() as home, running(Path(home), **options) as app, chromium() as browser:
        tab = Tab(browser, width=1360, height=900)
        tab.page.goto(f"{app.url}/")
        tab.page.wait_for_selector(".rp-welcome")
        tab.say(source)
        tab.page.wait_for_selector('[data-answerable="true"]', timeout=120_000)
        tab.say(question)
        tab.page.wait_for_selector(".rp-footer", timeout=120_000)
        tab.page.locator("a[href^='#cite-']").first.click()
        tab.page.wait_for_selector("#side-view-content tr.rp-cited")
        tab.page.wait_for_timeout(500)
        OUT.parent.mkdir(exist_ok=True)
        tab.page.screenshot(path=OUT)


if __name__ == "__main__":
    take(*(sys.argv[1:3] + [str(ROOT), QUESTION][len(sys.argv) - 1 :]))
