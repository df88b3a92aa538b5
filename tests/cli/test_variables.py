"""Options from variables: of the environment, and of RepoPilot's own `.env` file."""

from pathlib import Path

import pytest

from repopilot.cli.app import main
from repopilot.settings import Settings


def test_an_option_given_comes_before_the_environment_and_that_before_the_file(monkeypatch, tmp_path):
    file = tmp_path / ".env"
    file.write_text("REPOPILOT_PORT=1\nREPOPILOT_HOST='h'\nexport REPOPILOT_THREADS=3\nREPOPILOT_NOTHING\nOTHER=1\n")
    monkeypatch.setenv("REPOPILOT_PORT", "2")
    monkeypatch.setenv("repopilot_threads", "4")
    monkeypatch.setenv("REPOPILOT_EXCLUDE", '["*.md", "docs/"]')
    found = Settings(_env_file=file, home=Path("given"), threads=5)
    assert (found.port, found.host, found.threads, found.exclude) == (2, "h", 5, ["*.md", "docs/"])
    assert {"port", "host", "threads", "exclude", "home"} <= found.model_fields_set
    assert "dense" not in found.model_fields_set
    assert Settings(_env_file=None).host == "127.0.0.1" and Settings(_env_file=tmp_path / "none").threads == 4


@pytest.mark.parametrize(("name", "value"), [("INCLUDE", "*.py"), ("WEBHOOK_REPOSITORIES", "{}"), ("PORT", "many")])
def test_an_invalid_value_is_named_with_its_variable(monkeypatch, capsys, tmp_path, name, value):
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path))
    monkeypatch.setenv(f"REPOPILOT_{name}", value)
    assert main(["doctor"]) == 2
    assert f"REPOPILOT_{name}: " in capsys.readouterr().err
