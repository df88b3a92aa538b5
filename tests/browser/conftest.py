"""One application for all browser tests, with a scripted Ollama and a git server on loopback."""

from dataclasses import dataclass

import pytest
from support import git_server
from support.app import App, running
from support.browser import Tab, chromium
from support.ollama_server import OllamaServer

FILES = {
    "README.md": "# Orchard\n\nOrchard grows fruit trees. It waters them and picks what is ripe.\n",
    "orchard/__init__.py": "",
    "orchard/trees.py": (
        '"""Trees and what hangs on them."""\n\n\nclass Tree:\n    """One fruit tree."""\n\n'
        "    def __init__(self, kind):\n        self.kind = kind\n        self.fruit = []\n\n"
        '    def ripen(self, days):\n        """Let fruit grow for some days; a fruit needs ten."""\n'
        "        self.fruit += [self.kind] * (days // 10)\n\n\n"
        "def harvest(trees):\n"
        '    """Pick every ripe fruit from the trees and count it by kind."""\n'
        "    basket = {}\n    for tree in trees:\n        for kind in tree.fruit:\n"
        "            basket[kind] = basket.get(kind, 0) + 1\n        tree.fruit.clear()\n    return basket\n"
    ),
    "orchard/water.py": (
        '"""Watering."""\n\n\ndef litres(tree, degrees):\n    """Water for one tree on a day of so many degrees."""\n'
        "    return 2.5 if degrees > 25 else 1.0\n"
    ),
    "tests/test_trees.py": (
        "from orchard.trees import Tree, harvest\n\n\ndef test_harvest():\n    tree = Tree('pear')\n"
        "    tree.ripen(25)\n    assert harvest([tree]) == {'pear': 2}\n"
    ),
    "node_modules/left/index.js": "module.exports = 1\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\x00\x00",
}
BIG = {f"{folder}/m{n}.py": "\n".join(f"def f{n}_{k}():\n    return {k}\n" for k in range(150))
       for folder in ("src", "docs", "examples") for n in range(3)}  # fmt: skip


@dataclass
class World:
    app: App
    ollama: OllamaServer
    git: git_server.GitServer
    commit: str

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


@pytest.fixture(scope="session")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    work, served = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("served")
    commit = git_server.commit(work / "orchard", FILES)
    git_server.publish(work / "orchard", served, "orchard.git")
    git_server.commit(work / "big", BIG)
    git_server.publish(work / "big", served, "big.git")
    options = {
        "allow_private_hosts": "true", "allow_http": "true", "auto_download": "false", "embedded": "false",
        "big_repository_lines": 500, "clone_timeout_s": 30,
    }  # fmt: skip
    with OllamaServer(reply=reply, delay_s=0.005) as ollama, git_server.serve(served) as git:
        home = tmp_path_factory.mktemp("home")
        with running(home, ollama_url=ollama.url, **options) as app:
            yield World(app, ollama, git, commit)


@pytest.fixture
def tab(browser, world):
    made = Tab(browser)
    yield made
    made.close()


@pytest.fixture
def opened(tab, world):
    """A tab with the orchard open."""
    tab.page.goto(f"{world.app.url}/?repo={world.repository()}")
    tab.page.wait_for_selector('[data-answerable="true"]')
    return tab
