"""A hub on loopback from which one model file is downloaded."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from support.loopback import LoopbackServer


@contextmanager
def hub(content: bytes, stop_after: int | None = None):
    """Serves one file with byte ranges; drops the connection after `stop_after` bytes. Yields (url, ranges asked)."""
    asked: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            """Quiet."""

        def do_GET(self):
            wanted = self.headers.get("Range")
            asked.append(wanted)
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            self.send_response(206 if wanted else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][:stop_after])

    server = LoopbackServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tiny.gguf", asked
    finally:
        server.shutdown()
        server.server_close()
