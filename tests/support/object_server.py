"""An S3 server on loopback: objects by their path, with ranges, and its XML errors."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import md5
from http.server import BaseHTTPRequestHandler

from support.host_server import listening


@dataclass
class ObjectServer:
    """`objects` by `/bucket/name`; `failing` answers what writes with an error."""

    url: str
    objects: dict[str, bytes] = field(default_factory=dict)
    failing: bool = False


def serve() -> AbstractContextManager[ObjectServer]:
    """Serve until the block ends."""
    return listening(_Handler, ObjectServer)


class _Handler(BaseHTTPRequestHandler):
    state: ObjectServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.state.failing:
            return self._send(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
        self.state.objects[self.path] = body
        self._send(200, b"", {"ETag": f'"{md5(body).hexdigest()}"'})

    def do_GET(self) -> None:
        found = self.state.objects.get(self.path)
        if found is None:
            return self._send(404, b"<Error><Code>NoSuchKey</Code><Message>No such key.</Message></Error>")
        headers = {"ETag": f'"{md5(found).hexdigest()}"', "Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}
        start, _, end = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
        if not end:
            return self._send(200, found, headers)
        part = found[int(start) : int(end) + 1]
        headers["Content-Range"] = f"bytes {start}-{int(start) + len(part) - 1}/{len(found)}"
        self._send(206, part, headers)

    do_HEAD = do_GET

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)
