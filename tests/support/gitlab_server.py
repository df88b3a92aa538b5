"""A server that speaks the part of GitLab's REST API that issues and merge requests need."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class GitLabServer:
    """`url` is the address of the server; the rest is what its one project `g/p` (id 1) holds."""

    url: str
    token: str = ""
    project: dict[str, Any] = field(default_factory=dict)
    issue: dict[str, Any] = field(default_factory=dict)
    merge_request: dict[str, Any] = field(default_factory=dict)
    changes: list[dict] = field(default_factory=list)
    notes: list[dict] = field(default_factory=list)
    discussions: list[dict] = field(default_factory=list)
    opened: list[dict] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)

    def add_note(self, body: dict) -> dict:
        """A discussion of one note; on a line where the body has a position."""
        number = len(self.discussions) + 1
        note = {"id": 100 + number, "body": body["body"], "author": {"username": "me"}, "system": False}
        if "position" in body:
            note["position"] = body["position"]
        self.discussions.append({"id": f"d{number}", "notes": [note]})
        return note


@contextmanager
def serve() -> Iterator[GitLabServer]:
    """Serve until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    state = GitLabServer(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"state": state})
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: GitLabServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._handle("GET", {})

    def do_POST(self) -> None:
        self._handle("POST", self._body())

    def do_PUT(self) -> None:
        self._handle("PUT", self._body())

    def _body(self) -> dict:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def _send(self, status: int, reply: Any) -> None:
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _page(self, rows: list) -> None:
        query = {
            name: int(values[-1])
            for name, values in parse_qs(urlsplit(self.path).query).items()
            if values[-1].isdigit()
        }
        size, page = query.get("per_page", 20), query.get("page", 1)
        data = json.dumps(rows[size * (page - 1) : size * page]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if len(rows) > size * page:
            path = urlsplit(self.path).path
            self.send_header("Link", f'<{self.state.url}{path}?page={page + 1}&per_page={size}>; rel="next"')
        self.end_headers()
        self.wfile.write(data)

    def _handle(self, verb: str, body: dict) -> None:
        state = self.state
        if state.token and self.headers.get("PRIVATE-TOKEN") != state.token:
            return self._send(401, {"message": "401 Unauthorized"})
        path = unquote(urlsplit(self.path).path).removeprefix("/api/v4/projects/")
        rest = re.sub(r"^(?:g/p|1)", "", path)
        if rest == "":
            return self._send(200, state.project)
        if rest == "/issues/3":
            return self._send(200, state.issue) if state.issue else self._send(404, {"message": "404 Not found"})
        if rest == "/issues/3/notes":
            return self._page(state.notes)
        if rest == "/merge_requests" and verb == "POST":
            state.opened.append(body)
            return self._send(201, {"iid": 50, "web_url": f"{state.url}/g/p/-/merge_requests/50"})
        if rest == "/merge_requests/7":
            return self._send(200, state.merge_request)
        if rest == "/merge_requests/7/changes":
            return self._send(200, {**state.merge_request, "changes": state.changes})
        if rest == "/merge_requests/7/discussions":
            if verb == "POST":
                state.add_note(body)
                return self._send(201, state.discussions[-1])
            return self._page(state.discussions)
        if rest == "/merge_requests/7/notes" and verb == "POST":
            return self._send(201, state.add_note(body))
        return self._thread(verb, rest, body)

    def _thread(self, verb: str, rest: str, body: dict) -> None:
        for thread in self.state.discussions:
            note = thread["notes"][0]
            if rest == f"/merge_requests/7/discussions/{thread['id']}":
                if verb == "PUT" and body.get("resolved"):
                    self.state.resolved.append(thread["id"])
                return self._send(200, thread)
            if rest in (
                f"/merge_requests/7/discussions/{thread['id']}/notes/{note['id']}",
                f"/merge_requests/7/notes/{note['id']}",
            ):
                note["body"] = body.get("body", note["body"])
                return self._send(200, note)
        self._send(404, {"message": "404 Not found"})
