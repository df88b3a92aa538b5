"""The checks of this machine: none ends the others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from repopilot import checks as module
from repopilot.checks import Check, checks, parts
from repopilot.errors import RepoPilotError
from repopilot.runtime import Runtime
from repopilot.settings import Settings


@pytest.mark.parametrize(
    "error", [OSError("no"), subprocess.TimeoutExpired("git", 10), ValueError("no"), RepoPilotError("no")], ids=repr
)
def test_a_check_that_fails_is_told_and_the_others_go_on(tmp_path, monkeypatch, error):
    def failing(runtime: Runtime) -> Check:
        raise error

    right = {name: lambda runtime, name=name: Check(name, "ok", "fine") for name in module._CHECKS}
    with Runtime(Settings(home=tmp_path, _env_file=None)) as runtime:
        for name in right:
            monkeypatch.setattr(module, "_CHECKS", right | {name: failing})
            for found in (checks(runtime), list(parts(runtime).values())):
                told = {check.name: check for check in found}
                assert all(check.state == "ok" for other, check in told.items() if other != name)
                if name in told:
                    assert told[name].state == "degraded" and str(error) in told[name].detail


@pytest.mark.parametrize("script", ["exit 1", "exec sleep 60", None], ids=["fails", "hangs", "no program"])
def test_a_git_that_does_not_run_is_broken(tmp_path, monkeypatch, script):
    program = Path(tmp_path, "git")
    program.write_text(f"#!/bin/sh\n{script}\n" if script else "no program")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(module, "_GIT_TIMEOUT_S", 0.5)
    with Runtime(Settings(home=tmp_path / "home", _env_file=None)) as runtime:
        found = module._git(runtime)
    assert found.state == "broken" and str(program) in found.detail and found.fix
