"""A token in use leaves no trace in arguments, output or configuration: git's own record of what it starts is read."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from support.git_server import GitServer

from repopilot.errors import CredentialsNeeded
from repopilot.repo import history
from repopilot.repo.remote.credentials import host_of
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.settings import Settings

SECRET = "t0ps3cret-value"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Every command line that git runs by, or starts, so far, from its event trace."""
    record = tmp_path / "git-events.jsonl"
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(record))
    return lambda: [event["argv"] for event in map(json.loads, record.read_text().splitlines()) if "argv" in event]


@pytest.mark.parametrize("accepted", [True, False])
def test_no_process_has_the_token_in_its_arguments(
    server: GitServer, options: Settings, started, accepted, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    server.token = SECRET if accepted else "another"
    with_token = options.model_copy(update={"git_token": f"{host_of(server.url)}={SECRET}"})
    try:
        snapshot = open_source(parse_source(f"{server.url}/demo.git"), with_token)
        assert accepted
        history.deepen(snapshot, with_token)
        assert len(history.commits(snapshot, with_token.history_commits)) == 3
    except CredentialsNeeded as error:
        assert not accepted and SECRET not in str(error)
    assert SECRET in server.credentials
    commands = [" ".join(argv) for argv in started()]
    assert any("remote-http" in command for command in commands)
    assert any(command.endswith(" get") for command in commands), "the helper was asked"
    assert not any(SECRET in command for command in commands)
    assert SECRET not in caplog.text
    assert not any(SECRET in f.read_text("latin-1") for f in options.home.rglob("*") if f.is_file())
