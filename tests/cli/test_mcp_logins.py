"""The MCP server over HTTP where a team logs in: a login has sessions and repositories of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli.test_mcp_sessions import Server, called, served
from support.git_server import commit

from repopilot.database.chat_database import ChatDatabase
from repopilot.logins.recent import EVERYBODY, forget, recent, remember

TOKEN = "a-token-for-the-proxy"
FILES = {"orchard/trees.py": "def harvest(tree):\n    return tree.apples\n"}


def as_user(server: Server, name: str) -> Server:
    return replace(server, headers=server.headers | {"X-Forwarded-User": name})


def text(server: Server, session: str, tool: str, **arguments: object) -> str:
    return called(server, session, tool, **arguments)["content"][0]["text"]


@pytest.mark.slow
def test_a_login_reaches_what_is_its_own_or_shared(tmp_path: Path) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    commit(folder, FILES)
    options = {"login": "header", "access_token": TOKEN, "auto_download": False, "dense": False}
    with served(home, tmp_path / "temporary", **options) as operator:
        database = ChatDatabase(home)
        ada, bob = (as_user(operator, name) for name in ("ada", "bob"))
        of_ada, of_bob, own = ada.begin(), bob.begin(), operator.begin()
        source = str(folder)
        assert "apples" in text(ada, of_ada, "symbol", source=source, name="harvest")
        assert recent(database, "ada")[0]["address"] == source, "as on the page"

        assert "another login" in text(bob, of_bob, "symbol", source=source, name="harvest")
        for tool in ("search", "ask"):
            asked = {"query" if tool == "search" else "question": "what is harvest?"}
            assert "trees.py" not in text(bob, of_bob, tool, all=True, **asked)
            assert "trees.py" in text(ada, of_ada, tool, all=True, **asked)
            assert "trees.py" in text(operator, own, tool, all=True, **asked)
        assert bob.post("tools/list", of_ada).status_code == 404, "another login's session is none"
        assert operator.post("tools/list", of_ada).status_code == 404
        nobody = replace(operator, headers=operator.headers | {"X-Forwarded-For": "10.0.0.7"})
        assert nobody.post("tools/list", own).status_code == 401, "a proxy that lost the name"

        remember(database, "project", source, EVERYBODY)
        assert "apples" in text(bob, of_bob, "symbol", source=source, name="harvest")
        assert "trees.py" in bob.post("resources/list", of_bob).text
        forget(database, source, EVERYBODY)
        assert "another login" in text(bob, of_bob, "symbol", source=source, name="harvest"), (
            "open, but no longer shared"
        )
        assert "trees.py" not in bob.post("resources/list", of_bob).text
        address = json.loads(re.search(r"^data: (.+)$", ada.post("resources/list", of_ada).text, re.MULTILINE)[1])
        uris = [each["uri"] for each in address["result"]["resources"]]
        assert len(uris) > 1, "the overview and the files"
        for uri in uris:
            assert "trees.py" in ada.post("resources/read", of_ada, uri=uri).text
            assert "trees.py" not in bob.post("resources/read", of_bob, uri=uri).text.replace(uri, "")


@pytest.mark.slow
def test_a_proxy_that_can_not_know_the_token_is_said_at_once(tmp_path: Path) -> None:
    env = {"REPOPILOT_HOME": str(tmp_path), "REPOPILOT_LOGIN": "header", "PATH": "/usr/bin"}
    command = [sys.executable, "-m", "repopilot", "mcp", "--http", "--port", "0"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 2 and "REPOPILOT_ACCESS_TOKEN" in done.stderr
