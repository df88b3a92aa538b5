"""A real Chroma server for tests, on loopback; and what stands in front of one, or in its place."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
from support.loopback import LoopbackServer
from support.waiting import until

_CODE = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', 'run', *sys.argv[1:]])"
"""What `chroma run` does, without the seconds that it takes to import the rest of Chroma."""


class Chroma:
    """A server that can be killed, and started again with the same data at the same address."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._arguments = ["--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]

    def start(self) -> None:
        command, quiet = [sys.executable, "-c", _CODE, *self._arguments], {"stdout": subprocess.DEVNULL}
        environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        self._running = subprocess.Popen(command, **quiet, stderr=subprocess.DEVNULL, env=environment)
        until(self._answers)

    def _answers(self) -> bool:
        assert self._running.poll() is None
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/api/v2/heartbeat").status_code == 200
        return False

    def kill(self) -> None:
        self._running.kill()
        self._running.wait()


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """The address of a server that answers every request so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65537)
            if self.raw_requestline and self.parse_request():
                answer(self)
            else:
                self.close_connection = True

        def log_message(self, *arguments: object) -> None:
            pass

    with LoopbackServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def reply(request: BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
    request.send_response(status)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def guarded(url: str, token: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """A proxy that lets only those with the token through, since the server itself asks for none."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        sent = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        if request.headers["Authorization"] != f"Bearer {token}":
            reply(request, b"<h1>Authorization Required</h1>", 401)
        else:
            headers = {"Content-Type": "application/json"}
            found = httpx.request(request.command, url + request.path, content=sent, headers=headers)
            reply(request, found.content, found.status_code)

    return answer
