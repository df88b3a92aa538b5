"""A host's JSON API on loopback: what GitHub's and GitLab's have in common. Every request and reply is held against the
host's published OpenAPI description; what doesn't follow it fails the test when the server ends."""

import json
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from support.loopback import LoopbackServer
from support.openapi import Description

PAGE_LIMIT = 100


@dataclass
class HostServer:
    """`url` is the address of the API; `token`, where one is needed; `violations`, what wasn't as described."""

    url: str
    token: str = ""
    violations: list[str] = field(default_factory=list)


Server = TypeVar("Server", bound=HostServer)
State = TypeVar("State")


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler], state_of: Callable[[str], State]) -> Iterator[State]:
    """Answer with a handler, which finds the state as `state`, until the block ends."""
    server = LoopbackServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    state = state_of(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (handler,), {"state": state})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def serving(handler: type["HostHandler"], state_of: Callable[[str], Server]) -> Iterator[Server]:
    """As `listening`; what wasn't as described fails the test."""
    with listening(handler, state_of) as state:
        yield state
    assert not state.violations, "not as described:\n" + "\n".join(state.violations)


class HostHandler(BaseHTTPRequestHandler):
    """Answers by `routes`: of the first pattern that the path matches, the method for the verb, called with the match,
    the body and the query. `undescribed` matches the paths that the description lacks."""

    state: Any
    description: Description
    routes: Sequence[tuple[str, dict[str, Callable]]]
    undescribed = ""
    base = ""
    page_size = 30
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = parts.path.removeprefix(self.base)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.operation = self.description.operation(self.command, path)
        problems = self._problems(path, body, query)
        self._noted(problems)
        if problems:
            self.send(422, {"message": "Validation Failed"})
        elif not self.refused():
            self._answer(path, body, query)

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def refused(self) -> bool:
        """Answer a request that gets no further, such as one without the token."""
        return False

    def send(self, status: int, reply: Any, headers: dict[str, str] | None = None, cut: bool = False) -> None:
        """Reply; `cut` ends in the middle."""
        if self.operation:
            reply = self.description.whole(self.operation, status, reply)
            self._noted(self.description.reply_problems(self.operation, status, reply), f"{status} ")
        data = b"" if status == 204 else json.dumps(reply).encode()
        self.send_response(status)
        kind = {} if status == 204 else {"Content-Type": "application/json; charset=utf-8"}
        for name, value in {**kind, **(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = self.close_connection or cut
        self.wfile.write(data[: len(data) // 2] if cut else data)

    def page(self, rows: list, query: dict[str, str]) -> None:
        """Reply with a page of a list."""
        size, page = min(int(query.get("per_page", self.page_size)), PAGE_LIMIT), int(query.get("page", 1))
        following = f"{self.state.url}{urlsplit(self.path).path}?page={page + 1}&per_page={size}"
        headers = {"Link": f'<{following}>; rel="next"'} if len(rows) > size * page else {}
        self.send(200, rows[size * (page - 1) : size * page], headers)

    def one(self, found: Any) -> None:
        """Reply with what was found."""
        self.send(200, found) if found else self.send(404, {"message": "Not Found"})

    def _problems(self, path: str, body: dict, query: dict[str, str]) -> list[str]:
        if self.operation:
            return self.description.request_problems(self.operation, query, body)
        return [] if re.fullmatch(self.undescribed, path) else ["no such operation"]

    def _answer(self, path: str, body: dict, query: dict[str, str]) -> None:
        for pattern, verbs in self.routes:
            match = re.fullmatch(pattern, path)
            if match and self.command in verbs:
                return verbs[self.command](self, match, body, query)
        self.one(None)

    def _noted(self, problems: list[str], what: str = "") -> None:
        self.state.violations += [f"{self.command} {self.path}: {what}{problem}" for problem in problems]


Canned = tuple[int, dict[str, str], bytes] | None


@contextmanager
def answering(
    *replies: Canned, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Serve (status, headers, body) one after the other, the last for ever; None is never answered. Yields the address
    and the requests: (verb, path, token)."""
    asked: list[tuple[str, str, str]] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
            asked.append((self.command, self.path, token))
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            reply = replies[min(len(asked), len(replies)) - 1]
            if reply is None:
                over.wait(60)
                self.close_connection = True
                return
            status, headers, body = reply
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    class Server(LoopbackServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    server = Server((host, 0), Handler)
    server.handle_error = lambda *_: None  # such as a client that trusts no certificate
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http{'s' * bool(tls)}://{f'[{host}]' if ':' in host else host}:{server.server_port}", asked
    finally:
        over.set()
        server.shutdown()
        server.server_close()
