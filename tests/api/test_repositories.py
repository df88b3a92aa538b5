"""What the open repositories of the API and of MCP are known by, and when they are fetched again."""

from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from support import git_server
from support.index_case import runtime_for

from repopilot.api import repositories
from repopilot.api.repositories import Repositories
from repopilot.mcp import server
from repopilot.mcp.server import OfferedTools
from repopilot.openings import SharedOpenings
from repopilot.settings import Settings

SECRETS = ("first-secret", "second-secret")


@pytest.fixture
def served(tmp_path):
    git_server.commit(tmp_path / "work", {"a.py": "def one():\n    return 1\n"})
    git_server.publish(tmp_path / "work", tmp_path / "served", "shop.git")
    with git_server.serve(tmp_path / "served") as git:
        yield git


@pytest.fixture
def runtime(tmp_path):
    quiet = {"ollama_url": "", "embedded": False, "auto_download": False, "dense": False, "workers": 1}
    settings = Settings(home=tmp_path / "home", allow_private_hosts=True, allow_http=True, **quiet, _env_file=None)
    with runtime_for(settings) as made:
        yield made


def named(served):
    """The repository as clients name it: without a token, and with each."""
    plain = f"{served.url}/shop.git"
    return [plain, *(plain.replace("://", f"://user:{secret}@") for secret in SECRETS)]


@pytest.mark.slow
async def test_the_api_keeps_no_token_and_lists_each_repository_once(served, runtime):
    known = Repositories(runtime, SharedOpenings(runtime))
    for source in named(served):
        await known.open(source)
    (listed,) = known.listed()
    assert listed["source"] == named(served)[0]
    assert not any(secret in repr(known.opened) for secret in SECRETS)
    (key,) = known.opened
    before = known.opened[key] = replace(known.opened[key], fetched_at=-repositories.FRESH_S)
    await known.open(named(served)[1])
    assert list(known.opened) == [key] and known.opened[key].fetched_at > before.fetched_at


@pytest.mark.slow
async def test_an_mcp_session_keeps_no_token_and_sees_new_commits(served, runtime, tmp_path, monkeypatch):
    async with AsyncExitStack() as stack:
        tools = OfferedTools(runtime, stack, may_apply=False)
        for source in named(served):
            assert "def one" in (await tools.call("read", {"source": source, "path": "a.py"})).content[0].text
        told = " ".join(f"{each.name} {each.uri}" for each in tools.resources())
        assert told.count("overview of") == 1 and not any(secret in f"{told} {tools._opened}" for secret in SECRETS)

        git_server.commit(tmp_path / "work", {"a.py": "def two():\n    return 2\n"})
        git_server.publish(tmp_path / "work", tmp_path / "served", "shop.git")
        asked = len(served.requests)
        address = server.file_uri(source, "a.py")
        assert "def one" in await tools.read(address) and len(served.requests) == asked, "it was fetched just now"
        monkeypatch.setattr(server, "FRESH_S", 0)
        found = await tools.call("read", {"source": source, "path": "a.py"})
        assert "def two" in found.content[0].text and "def two" in await tools.read(address)
