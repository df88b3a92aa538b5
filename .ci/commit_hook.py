"""Writes the commit that a package is built from into it, for `repopilot/release.py`."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """Runs while `uv build`, pip or pipx make a package. Outside of a checkout it adds nothing."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not Path(self.root, ".git").exists():
            return
        command = ["git", "-C", self.root, "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        self.folder = tempfile.TemporaryDirectory()  # goes with the process
        file = Path(self.folder.name, "commit.txt")
        file.write_text(said)
        build_data["force_include"][str(file)] = "repopilot/commit.txt"
