"""One application for all browser tests, with a scripted Ollama and a git server on loopback."""

import sqlite3
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support import git_server
from support.app import App, running
from support.browser import Tab, chromium
from support.ollama_server import OllamaServer
from support.orchard import BIG, FILES
from support.waiting import PATIENCE_S


@dataclass
class World:
    app: App
    ollama: OllamaServer
    git: git_server.GitServer
    commit: str
    folder: Path

    def repository(self, name: str = "orchard") -> str:
        return f"{self.git.url}/{name}.git"


def reply(messages):
    """Explains with citations: one that its excerpt bears, and one of code that exists but does not stand there."""
    return (
        "The function `harvest` picks every ripe fruit and counts it by kind [1]. "
        "The function `litres` decides on the date of the harvest [1]. ![p](https://images.example/p.png)\n\n"
        + "Every tree is visited in turn. "
        * 4
    )


STARTED, BROWSERS = ExitStack(), list[Browser]()


@pytest.fixture
def browser():
    if not BROWSERS:
        BROWSERS.append(STARTED.enter_context(chromium("--in-process-gpu", "--renderer-process-limit=1")))
    return BROWSERS[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    # Playwright's event loop runs as long as the browser, and no asynchronous test elsewhere could run: not after a
    # teardown that failed, either.
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path.parent != item.path.parent:
            BROWSERS.clear()
            STARTED.close()


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    work, served = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("served")
    commit = git_server.commit(work / "orchard", FILES)
    git_server.publish(work / "orchard", served, "orchard.git")
    git_server.commit(work / "big", BIG)
    git_server.publish(work / "big", served, "big.git")
    options = {
        "allow_private_hosts": "true", "allow_http": "true", "auto_download": "false", "embedded": "false",
        "big_repository_lines": 500,
    }  # fmt: skip
    with OllamaServer(reply=reply, delay_s=0.005) as ollama, git_server.serve(served) as git:
        home = tmp_path_factory.mktemp("home")
        with running(home, ollama_url=ollama.url, **options) as app:
            yield World(app, ollama, git, commit, work)
            assert "Traceback" not in app.log.read_text(), app.log.read_text()[-4000:]


@pytest.fixture
def fresh(world):
    """No conversation is kept from the tests before."""
    file = world.app.home / "data" / "chats.db"
    if file.exists():  # the running app has it open: taking the file away would tear its log from it
        with closing(sqlite3.connect(file, timeout=PATIENCE_S)) as chats, chats:
            for table in ("turns", "opened", "chats"):
                chats.execute(f"DELETE FROM {table}")
    return world


@pytest.fixture
def visitor(browser):
    made = Tab(browser)
    yield made
    made.close()


@pytest.fixture
def tab(fresh, visitor):
    return visitor


@pytest.fixture
def opened(tab, world):
    """A tab with the orchard open."""
    tab.page.goto(f"{world.app.url}/?repo={world.repository()}")
    tab.page.wait_for_selector('[data-answerable="true"]')
    return tab
