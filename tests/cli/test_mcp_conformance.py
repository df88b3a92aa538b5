"""The conformance suite of MCP against our server over HTTP."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from support.index_case import runtime_for

from repopilot.mcp.http import application
from repopilot.settings import Settings

SUITE = Path(__file__).resolve().parents[2] / ".ci/conformance/node_modules/@modelcontextprotocol/conformance"
LEFT_OUT = Path(__file__).with_name("conformance_left_out.yml")
PASSED = 9
"""Scenarios of the suite, without those left out."""


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    """Of a server that takes every request for one with the token: the suite sends none."""
    settings = Settings(home=home, ollama_url="", embedded=False, auto_download=False)
    with runtime_for(settings) as runtime, socket.create_server(("127.0.0.1", 0)) as bound:
        inside = application(runtime, False, "token-of-this-test")

        async def with_token(scope, receive, send):
            token = [(b"authorization", b"Bearer token-of-this-test")]
            await inside({**scope, "headers": [*scope.get("headers", ()), *token]}, receive, send)

        server = uvicorn.Server(uvicorn.Config(with_token, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        yield f"http://localhost:{bound.getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
@pytest.mark.skipif(not SUITE.exists(), reason="the conformance suite of MCP is not installed: sh .ci/system.sh")
def test_the_server_conforms_in_all_that_it_declares(address: str, tmp_path: Path) -> None:
    command = ["node", SUITE / "dist/index.js", "server", "--url", address, "--suite", "all"]
    command += ["--expected-failures", LEFT_OUT, "--output-dir", tmp_path / "results"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]
    assert done.stdout.count("\n✓ ") == PASSED, done.stdout[-4_000:]
