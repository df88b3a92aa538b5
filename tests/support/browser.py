"""A real Chromium for tests: the system's, else Playwright's own, else the test is skipped with a plain statement."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright
from support.waiting import PATIENCE_S

from repopilot.checks import find_browser

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
expect.set_options(timeout=PATIENCE_S * 1000)
LOCAL = ("127.0.0.1", "localhost", "")


# What the page before has left in the profile is not there; what this one leaves is for its other pages.
FORGET = "if (!sessionStorage.seen) { sessionStorage.seen = 1; localStorage.clear() };"
# What moves is drawn sixty times a second, which takes a third of an answer's processor time.
STILL = """addEventListener('DOMContentLoaded', () => {
  const text = '*, ::before, ::after { animation: none !important; transition: none !important }';
  document.head.append(Object.assign(document.createElement('style'), { textContent: text }));
});"""


@contextmanager
def chromium(*options: str) -> Iterator[Browser]:
    """A headless browser. Skips the test where there is none."""
    with sync_playwright() as playwright:
        system = find_browser()
        if system is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip(
                "No Chromium was found: install one from the system's packages, or `playwright install chromium`."
            )
        browser = playwright.chromium.launch(executable_path=system, args=[*QUIET, *options])
        try:
            yield browser
        finally:
            browser.close()


@functools.cache
def profile(browser: Browser, locale: str) -> BrowserContext:
    """The profile of all tabs in a language: to read and compile the page's scripts anew takes longer than a test."""
    return browser.new_context(locale=locale, accept_downloads=True)


class Tab:
    """One page with an empty profile. `outside` collects every request that left the machine, `problems` what the
    page complained about. `moving` leaves it its animations."""

    def __init__(
        self, browser: Browser, *, width=1280, height=850, scheme="light", locale="en-US", moving: bool = False
    ) -> None:
        self.size = ViewportSize(width=width, height=height)
        self.script = f"{'' if moving else STILL}localStorage.setItem('vite-ui-theme', '{scheme}')"
        self.context = profile(browser, locale)
        self.outside: list[str] = []
        self.problems: list[str] = []
        self.page = self.open(FORGET)

    def open(self, first: str = "") -> Page:
        """Another page of the same profile."""
        page = self.context.new_page()
        page.set_viewport_size(self.size)
        page.add_init_script(first + self.script)
        page.set_default_timeout(PATIENCE_S * 1000)
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
        self.page.wait_for_function("!document.querySelector('#stop-button')")
        self.page.locator('button[id^="step-Work"], button[id^="step-Travail"]').last.click()

    def close(self) -> None:
        for page in self.context.pages:
            page.close()
        self.context.clear_cookies()
        self.context.clear_permissions()

    def _watch(self, request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and (parts.hostname or "") not in LOCAL:
            self.outside.append(request.url)
