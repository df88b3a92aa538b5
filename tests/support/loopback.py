"""An HTTP server for tests: it answers at once and ends at once."""

from __future__ import annotations

import socket
from http.server import ThreadingHTTPServer
from typing import Any


class LoopbackServer(ThreadingHTTPServer):
    """Sends each write as it comes. The body of a reply would wait 40 ms until the client has acknowledged its head."""

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address

    def serve_forever(self, poll_interval: float = 0.01) -> None:
        """Serve until `shutdown`, which waits for the end of a poll."""
        super().serve_forever(poll_interval)
