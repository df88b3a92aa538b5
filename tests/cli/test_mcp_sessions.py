"""Sessions with the MCP server: many at once, abandoned ones, what goes on while tests run, the codes of errors."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cli.test_mcp import INITIALIZE, connected
from support import waiting
from support.git_server import commit
from support.waiting import PATIENCE_S, until

SLOW = "import time\n\nfrom prices import price\n\n\ndef test_price():\n    time.sleep(600)\n    assert price(1) == 2\n"


@dataclass
class Server:
    """A server over HTTP. `temporary` is its folder for temporary things."""

    address: str
    headers: dict[str, str]
    temporary: Path
    process: subprocess.Popen

    def post(self, method: str, session: str = "", **params: object) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = self.headers | ({"Mcp-Session-Id": session} if session else {})
        return waiting.post(self.address, json=body, headers=headers)

    def begin(self, *, waits: bool = False) -> str:
        """A session, which `waits` until there is room for it."""
        begun = self.post("initialize", **INITIALIZE)
        while waits and begun.status_code == 503:
            time.sleep(0.1)
            begun = self.post("initialize", **INITIALIZE)
        assert begun.status_code == 200, begun.text
        session = begun.headers["mcp-session-id"]
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        waiting.post(self.address, json=note, headers=self.headers | {"Mcp-Session-Id": session})
        return session

    def folders(self) -> list[Path]:
        return list(self.temporary.glob("repopilot-*"))


@contextmanager
def served(home: Path, temporary: Path, **settings: object) -> Iterator[Server]:
    temporary.mkdir()
    env = {"REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": "", "REPOPILOT_EMBEDDED": "false"}
    env |= {"PATH": os.environ["PATH"], "TMPDIR": str(temporary)}
    env |= {f"REPOPILOT_{name.upper()}": str(value) for name, value in settings.items()}
    command = [sys.executable, "-m", "repopilot", "mcp", "--http", "--port", "0"]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stderr.readline()
        token = re.search(r"Bearer (\S+)\)", said)[1]
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        yield Server(re.search(r"http://\S+", said)[0], headers, temporary, process)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def called(server: Server, session: str, tool: str, **arguments: object) -> dict:
    reply = server.post("tools/call", session, name=tool, arguments=arguments)
    return json.loads(re.search(r"^data: (.+)$", reply.text, re.MULTILINE)[1])["result"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.thorough
def test_an_end_amid_sessions_leaves_nothing_in_the_temporary_folder(
    shop: Path, home: Path, tmp_path: Path, how
) -> None:
    with served(home, tmp_path / "t") as server:
        for _ in range(3):
            edited = called(server, server.begin(), "create_file", source=str(shop), path="new.py", content="x = 1\n")
            assert not edited["isError"], edited
        session = server.begin()
        called(server, session, "create_file", source=str(shop), path="new.py", content="x = 1\n")
        called(server, session, "search", source=str(shop), query="price")  # has an index and processes of its own
        assert len(server.folders()) == 4
        server.process.send_signal(how)
        server.process.wait(PATIENCE_S)
        assert not server.folders()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, None])
@pytest.mark.sampled(1)
def test_an_end_over_standard_input_leaves_nothing_in_the_temporary_folder(
    shop: Path, home: Path, tmp_path: Path, how
) -> None:
    (tmp_path / "t").mkdir()
    env = {"REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": "", "REPOPILOT_EMBEDDED": "false"}
    env |= {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "t")}
    edit = {"source": str(shop), "path": "new.py", "content": "x = 1\n"}
    said = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "create_file", "arguments": edit}},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"source": str(shop), "query": "x"}},
        },
    ]
    command = [sys.executable, "-m", "repopilot", "mcp"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        for each in said:
            p.stdin.write(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n")
            p.stdin.flush()
            if "id" in each:
                assert json.loads(p.stdout.readline())["id"] == each["id"]
        assert list((tmp_path / "t").glob("repopilot-*"))
        p.send_signal(how) if how else p.stdin.close()
        p.wait(PATIENCE_S)
        assert b"Traceback" not in p.stderr.read() and p.returncode == (130 if how else 0)
    assert not list((tmp_path / "t").glob("repopilot-*"))


@pytest.mark.slow
@pytest.mark.thorough
def test_abandoned_sessions_end_and_are_bounded(shop: Path, home: Path, tmp_path: Path) -> None:
    with served(home, tmp_path / "t", mcp_idle_minutes=0.05, mcp_sessions=5) as server:
        for _ in range(5):
            called(server, server.begin(), "outline", source=str(shop), path="shop/cart.py")
        statuses = {server.post("initialize", **INITIALIZE).status_code for _ in range(20)}
        assert statuses <= {503, 200}, "too many, or some have ended meanwhile"
        until(lambda: not server.folders())
        session = server.begin(waits=True)  # those that nothing was called in end, too
        assert not called(server, session, "outline", source=str(shop), path="shop/cart.py")["isError"]


@pytest.mark.slow
@pytest.mark.thorough
def test_another_session_than_the_bound_is_refused(home: Path, tmp_path: Path) -> None:
    with served(home, tmp_path / "t", mcp_sessions=2) as server:
        assert [server.post("initialize", **INITIALIZE).status_code for _ in range(4)] == [200, 200, 503, 503]


@pytest.mark.slow
def test_what_is_not_there_has_the_codes_of_the_protocol(shop: Path, home: Path, tmp_path: Path) -> None:
    with served(home, tmp_path / "t") as server:
        session = server.begin()

        def code(method: str, **params: object) -> int:
            reply = server.post(method, session, **params).text
            return json.loads(re.search(r"^data: (.+)$", reply, re.MULTILINE)[1])["error"]["code"]

        assert code("no/such_method") == code("logging/setLevel", level="info") == -32601
        assert code("tools/call", name=5) == -32602
        assert code("prompts/get", name="no such") == code("prompts/get", name="explain") == -32602
        missing = [f"repopilot://file?source={shop}&path=no.py", "repopilot://file?source=/no&path=a", "test://x"]
        assert {code("resources/read", uri=uri) for uri in missing} == {-32002}
        headers = server.headers | {"Mcp-Session-Id": session, "Last-Event-ID": "7"}
        with httpx.stream("GET", server.address, headers=headers, timeout=PATIENCE_S) as resumed:
            assert resumed.status_code == 200 and resumed.headers["content-type"].startswith("text/event-stream")
        assert server.post("ping", session).status_code == 200


@pytest.mark.slow
@pytest.mark.thorough
async def test_readers_and_edits_go_on_while_tests_run(home: Path, tmp_path: Path) -> None:
    commit(tmp_path / "r", {"prices.py": "def price(n):\n    return n * 2\n", "test_prices.py": SLOW})
    given, told, running = {"source": str(tmp_path / "r")}, [], asyncio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(done)
        if message == "without the change":
            running.set()

    async with connected(home) as session, asyncio.timeout(PATIENCE_S):
        run = given | {"paths": ["test_prices.py"]}
        tests = asyncio.create_task(session.call_tool("run_tests", run, progress_callback=progress))
        await running.wait()
        edit = given | {"path": "prices.py", "old": "n * 2", "new": "2 * n"}
        assert not (await session.call_tool("replace_text", edit)).isError
        found = await session.call_tool("search", given | {"query": "price"})
        assert "return 2 * n" in found.content[0].text
        (tmp_path / "r/new.py").write_text("x = 1\n")
        assert "+    return 2 * n" in (await session.call_tool("changes", given)).content[0].text
        before = len(told)
        while len(told) < before + 2:  # it says that it goes on
            await asyncio.sleep(0.1)
        assert not tests.done() and told == sorted(set(told))
        tests.cancel()
