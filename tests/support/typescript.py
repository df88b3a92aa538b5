"""TypeScript's language server: the machine's own, else the one that `make test` installs in the checkout."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from repopilot.sandbox.language_servers.catalogue import program_of, server_of
from repopilot.settings import Settings

FOLDER = Path(__file__).resolve().parents[2] / ".ci/typescript"
PATH = f"{os.environ['PATH']}{os.pathsep}{FOLDER / 'node_modules/.bin'}"
"""A test that needs it puts this into its environment: all others run as where nothing is installed."""
PINNED = json.loads((FOLDER / "package.json").read_text())["dependencies"]["typescript"]


def _is_installed() -> bool:
    server = server_of("typescript")
    assert server is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", PATH)
        return program_of(server, None, Settings()) is not None


needs_typescript = pytest.mark.skipif(
    not _is_installed(), reason="TypeScript's server is not installed: sh .ci/system.sh, which needs npm"
)
