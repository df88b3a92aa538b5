"""The whole application as a process of its own, with an empty home, watched for connections it opens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
from support.waiting import PATIENCE_S, reserved_port, until

ROOT = Path(__file__).resolve().parents[2]

# Runs first in every Python process of the application: writes down whom it connects to and which names it looks up,
# and doesn't wait for the disk (tests/conftest.py says why).
WATCHER = """
import json, os, sys
os.fsync = lambda descriptor: None
def watch(event, args):
    if event == "socket.connect" or event == "socket.getaddrinfo":
        target = args[1] if event == "socket.connect" else args[0]
        with open(os.environ["CONNECTIONS_LOG"], "a") as log:
            log.write(json.dumps([event, repr(target)]) + "\\n")
sys.addaudithook(watch)
"""


@dataclass
class App:
    """`url` without a trailing slash."""

    url: str
    port: int
    home: Path
    log: Path
    connections_log: Path
    process: subprocess.Popen

    def connections(self) -> list[tuple[str, str]]:
        """Every connection and name look-up of the application so far: (event, target)."""
        if not self.connections_log.exists():
            return []
        return [tuple(json.loads(line)) for line in self.connections_log.read_text().splitlines()]

    def children(self) -> list[int]:
        """The processes it has started and that still run, on Linux."""
        found: list[int] = []
        for task in Path(f"/proc/{self.process.pid}/task").glob("*"):
            with suppress(OSError):  # the thread has ended
                found += map(int, (task / "children").read_text().split())
        return found


@contextmanager
def running(
    home: Path, *, command: str = "serve", root: Path = ROOT, data: Path | None = None, **options: object
) -> Iterator[App]:
    """Start it by `python -m repopilot serve`, with command `chainlit` by `chainlit run`; options are settings. With
    command `window` it opens the browser that the variable BROWSER names.

    `root` is the folder that holds the package: the checkout, or where a wheel was installed. `data` is the data
    directory, one below `home` if None.
    """
    home.mkdir(parents=True, exist_ok=True)
    watcher, temporary = home / "watcher", home / "tmp"
    watcher.mkdir()
    temporary.mkdir()
    (watcher / "sitecustomize.py").write_text(WATCHER)
    log, connections_log = home / "server.log", home / "connections.jsonl"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("REPOPILOT_", "CHAINLIT_"))}
    if sys.platform != "linux":
        # No other system says whose connection it is, and most tests open the plain address.
        options = {"access": "open"} | options
    options = {"test_timeout_s": os.environ["REPOPILOT_TEST_TIMEOUT_S"], "workers": 1} | options
    env |= {f"REPOPILOT_{name.upper()}": str(value) for name, value in options.items()}
    env |= {
        "REPOPILOT_HOME": str(data or home / "data"),
        "PYTHONPATH": os.pathsep.join([str(watcher), str(root)]),
        "CONNECTIONS_LOG": str(connections_log),
        "TMPDIR": str(temporary),
    }
    with log.open("wb") as out, reserved_port() as port:
        env["REPOPILOT_PORT"] = str(port)
        process = subprocess.Popen(_command(command, port), cwd=root, env=env, stdout=out, stderr=subprocess.STDOUT)
        try:
            _await_answer(f"http://127.0.0.1:{port}/", process, log)
            yield App(f"http://127.0.0.1:{port}", port, home, log, connections_log, process)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _command(command: str, port: int) -> list[str]:
    if command == "chainlit":
        return [sys.executable, "-m", "chainlit", "run", "chainlit_app.py", "--headless", "--port", str(port)]
    return [sys.executable, "-m", "repopilot", "serve", *([] if command == "window" else ["--headless"])]


def _await_answer(url: str, process: subprocess.Popen, log: Path) -> None:
    with httpx.Client(verify=False) as client:  # one, as it takes long to make

        def answers() -> bool:
            assert process.poll() is None, f"The application did not start:\n{log.read_text()}"
            with suppress(httpx.TransportError):
                return client.get(url).status_code in (200, 403)
            return False

        until(answers)
