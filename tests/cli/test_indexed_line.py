"""What `repopilot index` says of the state that it has indexed."""

import pytest

from repopilot.cli.app import main


@pytest.mark.slow
def test_a_folder_without_version_control_is_called_so_in_full(tmp_path, monkeypatch, capsys):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("x = 1\n")
    for name, value in {"HOME": tmp_path / "home", "OLLAMA_URL": "", "EMBEDDED": "false"}.items():
        monkeypatch.setenv(f"REPOPILOT_{name}", str(value))
    assert main(["index", str(tmp_path / "code")]) == 0
    assert "Indexed code at unversioned: 1 files" in capsys.readouterr().out
