"""Take the README's picture from the running program: `.venv/bin/python docs/screenshot.py [CHECKOUT [QUESTION]]`.

Starts RepoPilot on a data directory of its own without any model, opens CHECKOUT (this one), asks QUESTION, opens a
citation and writes `docs/images/answer.png`. Needs the development environment and a Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support import git_server  # noqa: E402  # after the path is set
from support.app import running  # noqa: E402  # after the path is set
from support.browser import Tab, chromium  # noqa: E402

QUESTION = "How does `explain` reach `verify`?"
NAME = "repopilot"
OUT = ROOT / "docs" / "images" / "answer.png"


def take(checkout: Path, question: str) -> None:
    """Write the picture of one answer about a checkout, served over loopback HTTP as a git host would."""
    options = {"ollama_url": "", "embedded": "false", "auto_download": "false", "dense": "false"}
    options |= {"big_repository_lines": "1000000", "allow_private_hosts": "true", "allow_http": "true"}
    with tempfile.TemporaryDirectory() as folder:
        served = Path(folder) / "served"
        subprocess.run(["git", "clone", "-q", "--bare", checkout, served / f"{NAME}.git"], check=True)
        with git_server.serve(served) as git, running(Path(folder), **options) as app, chromium() as browser:
            tab = Tab(browser, width=1360, height=900)
            tab.page.goto(f"{app.url}/?repo={git.url}/{NAME}.git")
            tab.page.wait_for_selector('[data-answerable="true"]', timeout=120_000)
            tab.say(question)
            tab.page.wait_for_selector(".rp-footer", timeout=120_000)
            tab.page.locator("a[href^='#cite-']").nth(1).click()
            tab.page.wait_for_selector("#side-view-content tr.rp-cited")
            tab.page.locator(".ai-message", has_text="Call path").last.scroll_into_view_if_needed()
            tab.page.mouse.wheel(0, -1)
            tab.page.wait_for_timeout(1000)
            OUT.parent.mkdir(exist_ok=True)
            tab.page.screenshot(path=OUT)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    take(Path(arguments[0]) if arguments else ROOT, arguments[1] if arguments[1:] else QUESTION)
