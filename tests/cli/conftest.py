"""The command line run in this process, on a data directory of its own, with no model server."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.small_repo import lay_out

from repopilot.cli.app import main


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left: its exit status and both outputs."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture(autouse=True)
def _shared_workers(shared_workers: None) -> None:
    """Every command here that runs in this process."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    monkeypatch.setenv("REPOPILOT_HOME", str(home))
    monkeypatch.setenv("REPOPILOT_OLLAMA_URL", "")
    monkeypatch.setenv("REPOPILOT_EMBEDDED", "false")
    monkeypatch.setenv("REPOPILOT_AUTO_DOWNLOAD", "false")
    monkeypatch.setenv("REPOPILOT_ENVIRONMENTS", "never")

    def command(*arguments: object) -> Ran:
        capfd.readouterr()
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as stopped:
            status = int(stopped.code or 0)
        captured = capfd.readouterr()
        return Ran(status, captured.out, captured.err)

    return command


@pytest.fixture
def run_afresh(
    run: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, dict | str, str]]:
    """As `run`, on a data directory of this test: the status, the document or the text, and what went to stderr."""
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path / "home"))

    def command(*arguments: object) -> tuple[int, dict | str, str]:
        ran = run(*arguments)
        return ran.status, ran.json if ran.out.startswith("{") else ran.out, ran.err

    return command
