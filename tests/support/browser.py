"""A real Chromium for tests: the system's, else Playwright's own, else the test is skipped with a plain statement."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "microsoft-edge",
)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCAL = ("127.0.0.1", "localhost", "")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser. Skips the test where there is none."""
    with sync_playwright() as playwright:
        system = next((found for name in NAMES if (found := shutil.which(name))), None)
        if system is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip(
                "No Chromium was found: install one from the system's packages, or `playwright install chromium`."
            )
        browser = playwright.chromium.launch(executable_path=system, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """One page with its own profile. `outside` collects every request that left the machine, `problems` what the
    page complained about."""

    def __init__(
        self, browser: Browser, *, width: int = 1280, height: int = 850, scheme: str = "light", locale: str = "en-US"
    ) -> None:
        size = ViewportSize(width=width, height=height)
        self.context = browser.new_context(viewport=size, locale=locale, accept_downloads=True)
        self.context.add_init_script(f"localStorage.setItem('vite-ui-theme', '{scheme}')")
        self.outside: list[str] = []
        self.problems: list[str] = []
        self.page = self.open()

    def open(self) -> Page:
        """Another page of the same profile."""
        page = self.context.new_page()
        page.set_default_timeout(30_000)
        page.on("request", self._watch)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        return page

    def say(self, text: str) -> None:
        """Type a message and send it."""
        self.page.locator("#chat-input").click()
        self.page.keyboard.insert_text(text)
        self.page.locator("#chat-submit").click()

    def unfold(self) -> None:
        """Unfold the steps of the last answer, which fold when it is done."""
        self.page.wait_for_function("!document.querySelector('#stop-button')", timeout=60_000)
        self.page.locator('button[id^="step-Work"], button[id^="step-Travail"]').last.click()

    def close(self) -> None:
        self.context.close()

    def _watch(self, request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and (parts.hostname or "") not in LOCAL:
            self.outside.append(request.url)
