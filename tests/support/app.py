"""The whole application as a process of its own, with an empty home, watched for connections it opens."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
START_S = 60.0

# Runs first in every Python process of the application: writes down whom it connects to and which names it looks up.
WATCHER = """
import json, os, sys
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
    port = _free_port()
    log, connections_log = home / "server.log", home / "connections.jsonl"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("REPOPILOT_", "CHAINLIT_"))}
    if sys.platform != "linux":
        # No other system says whose connection it is, and most tests open the plain address.
        options = {"access": "open"} | options
    env |= {f"REPOPILOT_{name.upper()}": str(value) for name, value in options.items()}
    env |= {
        "REPOPILOT_HOME": str(data or home / "data"),
        "REPOPILOT_PORT": str(port),
        "PYTHONPATH": os.pathsep.join([str(watcher), str(root)]),
        "CONNECTIONS_LOG": str(connections_log),
        "TMPDIR": str(temporary),
    }
    with log.open("wb") as out:
        process = subprocess.Popen(_command(command, port), cwd=root, env=env, stdout=out, stderr=subprocess.STDOUT)
        try:
            _await_answer(f"http://127.0.0.1:{port}/", process, log)
            yield App(f"http://127.0.0.1:{port}", port, home, log, connections_log, process)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _command(command: str, port: int) -> list[str]:
    if command == "chainlit":
        return [sys.executable, "-m", "chainlit", "run", "chainlit_app.py", "--headless", "--port", str(port)]
    return [sys.executable, "-m", "repopilot", "serve", *([] if command == "window" else ["--headless"])]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await_answer(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_S
    with httpx.Client(verify=False) as client:  # one, as it takes long to make
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if client.get(url).status_code in (200, 403):
                    return
            except httpx.TransportError:
                time.sleep(0.1)
    raise AssertionError(f"The application did not start:\n{log.read_text()}")
