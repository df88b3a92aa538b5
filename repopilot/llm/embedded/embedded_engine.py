"""The embedded engine: llama.cpp in a child process, started with the first call, restarted after a crash."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections import OrderedDict, deque
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import httpx

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm.servers.address import reached
from repopilot.llm.token_estimate import estimate_tokens

START_TIMEOUT_S = 180.0
MOST_ENGINES = 4
SLOTS = 3
"""Conversations whose prompt prefixes stay cached side by side (answer, critic, defender)."""
CACHE_MIB = 512
"""Host memory for the prefixes of conversations that lost their slot; llama.cpp's default is 8 GB."""


class Engine:
    """One model file served by one child process. Thread-safe. `address` and `key` stay the same over restarts, as
    long as no other program takes the port.

    Args:
        name: the model's name.
        path: the GGUF file.
        context_window: in tokens, for each slot.
        threads: threads that compute.
    """

    def __init__(self, name: str, path: Path, context_window: int, threads: int) -> None:
        self.name = name
        self.path = path
        self.key = secrets.token_urlsafe(24)
        self._settings = {"context_window": context_window, "threads": threads, "slots": SLOTS, "cache_mib": CACHE_MIB}
        self._port = _free_port()
        self._process: subprocess.Popen[str] | None = None
        self._log: deque[str] = deque(maxlen=20)
        self._starting = threading.Lock()
        self._http = httpx.Client(timeout=5.0, headers={"Authorization": f"Bearer {self.key}"}, **reached(self.address))

    @property
    def address(self) -> str:
        """The OpenAI `api_base`."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The process id, None before the first start."""
        return self._process.pid if self._process else None

    async def ready(self) -> None:
        """Start the process unless it runs, and wait until the model is loaded. Raises ModelError."""
        if not self.alive or self._starting.locked():  # the process is alive at once, but loads for seconds
            await asyncio.to_thread(self.start)

    def start(self) -> None:
        """As `ready`, blocking."""
        with self._starting:
            if not self.alive:
                self._launch()

    def stop(self) -> None:
        """End the process. The next call starts it again."""
        with self._starting:
            self._end()

    def count_tokens(self, text: str) -> int:
        """Count by the model's own tokenizer while the process runs, else estimate."""
        if self.alive:
            try:
                answer = self._http.post(f"http://127.0.0.1:{self._port}/tokenize", json={"content": text})
                return len(answer.raise_for_status().json()["tokens"])
            except (httpx.HTTPError, ValueError, KeyError):
                return estimate_tokens(text)
        return estimate_tokens(text)

    def ended(self, within_s: float) -> bool:
        """Whether the process has ended, or ends within the time: its socket closes a little before it ends."""
        process = self._process
        if process is None:
            return True
        try:
            process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def exit_reason(self) -> str:
        """How the process ended, with the last line of its log."""
        if self._process is None:
            return i18n.message("llm.not_started")
        code = self._process.poll()
        if code is None:
            return i18n.message("llm.still_running")
        how = signal.Signals(-code).name if code < 0 else i18n.message("llm.exit_code", code=code)
        return i18n.joined((how, *list(self._log)[-1:]), ", ")

    def _launch(self) -> None:
        self._end()
        for attempt in (1, 2):
            self._log.clear()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "repopilot.llm.embedded.embedded_server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[3],
            )
            threading.Thread(target=_drain, args=(self._process.stderr, self._log), daemon=True).start()
            try:
                self._handshake(self._process)
                return
            except (OSError, ModelError) as error:
                reason = i18n.reason(error) if self.alive else self.exit_reason()
                self._end()
                if attempt == 2:
                    raise ModelError(
                        i18n.message("llm.not_startable", name=self.name, reason=reason),
                        start_hint(reason, self.path),
                    ) from error
                self._port = _free_port()  # another program may have taken the old one

    def _handshake(self, process: subprocess.Popen[str]) -> None:
        """Send the parameters and wait for the address. The child writes nothing else to stdout."""
        assert process.stdin and process.stdout
        parameters = {**self._settings, "name": self.name, "path": str(self.path), "port": self._port, "key": self.key}
        process.stdin.write(json.dumps(parameters) + "\n")
        process.stdin.flush()
        overdue = threading.Timer(START_TIMEOUT_S, process.kill)
        overdue.start()
        try:
            line = process.stdout.readline()
        finally:
            overdue.cancel()
        if not line.startswith("http"):
            process.wait(timeout=10)
            raise ModelError(i18n.message("llm.ended_early"))

    def _end(self) -> None:
        if self._process is None:
            return
        process = self._process
        self._process = None
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Engines:
    """The engines of this process, one per set of parameters. Thread-safe.

    At most `MOST_ENGINES` are kept; one that is dropped ends with the last model that uses it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engines: OrderedDict[tuple[str, Path, int, int], Engine] = OrderedDict()

    def get(self, name: str, path: Path, context_window: int, threads: int) -> Engine:
        """The engine for these parameters, which may not be started yet.

        Args:
            name: the model's name.
            path: its GGUF file.
            context_window: in tokens.
            threads: of the engine; 0 for the number of cores.
        """
        key = (name, path, context_window, threads)
        with self._lock:
            if key not in self._engines:
                self._engines[key] = Engine(name, path, context_window, threads)
            self._engines.move_to_end(key)
            while len(self._engines) > MOST_ENGINES:
                self._engines.popitem(last=False)
            return self._engines[key]

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            engines = list(self._engines.values())
            self._engines.clear()
        for engine in engines:
            engine.stop()


def start_hint(reason: str, weights: Path) -> str:
    """What to do about an engine that did not start: minimal systems lack the OpenMP library that its wheel needs."""
    if "libgomp" in reason:
        return i18n.message("llm.install_libgomp")
    return i18n.message("llm.not_startable_hint", path=weights)


def import_error() -> str:
    """Why the installed engine can't be imported, tried in a process of its own; '' when it can."""
    command = [sys.executable, "-c", "import xllamacpp"]
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return i18n.reason(error)
    return "" if tried.returncode == 0 else "".join(tried.stderr.strip().splitlines()[-1:])


def is_installed() -> bool:
    """Whether the engine is installed: it comes with the extra `embedded` of the package."""
    return find_spec("xllamacpp") is not None


def _drain(lines: IO[str], log: deque[str]) -> None:
    """Read a child's standard error into `log`, so that the child never blocks on it."""
    with lines:
        log.extend(line.strip() for line in lines if line.strip())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
