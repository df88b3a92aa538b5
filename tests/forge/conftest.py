"""A repository with a pull request, on servers that speak git and GitHub's API."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import git_server, github_server
from support.index_case import settings

from repopilot.cli.app import main

FILES = {
    "shop/prices.py": "RATE = 2\n\n\ndef price(count):\n    return count * RATE\n",
    "shop/__init__.py": "",
    "README.md": "# Shop\n",
}
"""Without tests, which would run many times for each change."""
TESTS = {
    # With eighteen tests a pass is verified by three runs, with one by ten.
    "tests/test_prices.py": "from shop.prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n"
    + "".join(f"\n\ndef test_{n}():\n    assert price({n}) == {2 * n}\n" for n in range(3, 20)),
}


@dataclass
class World:
    hub: github_server.GitHubServer
    git: git_server.GitServer
    work: Path
    served: Path
    settings: object

    @property
    def options(self) -> dict[str, str]:
        """The settings as the environment of a process."""
        return {
            "REPOPILOT_HOME": str(self.settings.home),
            "REPOPILOT_FORGE_API": self.hub.url,
            "REPOPILOT_ALLOW_HTTP": "true",
            "REPOPILOT_ALLOW_PRIVATE_HOSTS": "true",
        }

    def publish(self) -> None:
        bare = git_server.publish(self.work, self.served, "shop.git")
        git_server.git(bare, "config", "http.receivepack", "true")

    def add_tests(self) -> None:
        """Commit tests that cover the code."""
        git_server.commit(self.work, TESTS)
        self.publish()

    def push_pull(self, files: dict, number: int = 7) -> str:
        """Commit on the branch of the pull request, which the API then has."""
        git_server.git(self.work, "checkout", "-q", "-B", "change", "change" if number in self.hub.pulls else "main")
        head = git_server.commit(self.work, files, "work")
        self.publish()
        git_server.git(self.served / "shop.git", "update-ref", f"refs/pull/{number}/head", head)
        base = git_server.git(self.work, "rev-parse", "main")
        self.hub.add_pull(number, (base, "main"), (head, "change"), f"{self.git.url}/shop.git")
        diff = git_server.git(self.work, "diff", "main", "change")
        names = git_server.git(self.work, "diff", "-z", "--name-only", "main", "change").split("\0")
        self.hub.files = [
            {"filename": name, "patch": part[part.find("@@") :], "status": "modified"}
            for name, part in zip(names, diff.split("diff --git ")[1:], strict=False)
        ]
        return head


@pytest.fixture
def world(tmp_path):
    served = tmp_path / "served"
    served.mkdir()
    with git_server.serve(served) as git, github_server.serve() as hub:
        conf = settings(tmp_path / "home", allow_private_hosts=True, allow_http=True, forge_api=hub.url)
        made = World(hub, git, tmp_path / "work", served, conf)
        git_server.commit(made.work, FILES)
        made.publish()
        hub.repository = {"clone_url": f"{git.url}/shop.git", "default_branch": "main"}
        yield made


@pytest.fixture
def run(world, monkeypatch, capsys, shared_workers):
    """The command line without a model: (status, document or text, what was said on standard error)."""
    for name, value in world.options.items():
        monkeypatch.setenv(name, value)
    for name, value in {
        "OLLAMA_URL": "",
        "EMBEDDED": "false",
        "AUTO_DOWNLOAD": "false",
        "DENSE": "false",
        "ENVIRONMENTS": "never",
    }.items():
        monkeypatch.setenv(f"REPOPILOT_{name}", value)

    def command(*arguments):
        status = main(list(arguments))
        out, err = capsys.readouterr()
        return status, json.loads(out) if out.strip().startswith("{") else out, err

    return command
