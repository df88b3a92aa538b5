"""A server that speaks the part of GitHub's REST API that issues and pull requests need, with its paging and errors.

Repositories are served beside it by `git_server`; what the API says of clone addresses leads there.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE_LIMIT = 100


@dataclass
class GitHubServer:
    """`url` is the address of API and pages. The rest is what it holds, and how it behaves."""

    url: str
    token: str = ""
    repository: dict[str, Any] = field(default_factory=dict)
    issues: dict[int, dict] = field(default_factory=dict)
    pulls: dict[int, dict] = field(default_factory=dict)
    files: list[dict] = field(default_factory=list)
    inline: list[dict] = field(default_factory=list)
    comments: list[dict] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    opened: list[dict] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    failures: list[tuple[int, dict]] = field(default_factory=list)  # answered before anything else
    graphql: bool = True
    cut: int = 0  # replies that end in the middle

    def add_pull(
        self, number: int, base: tuple[str, str], head: tuple[str, str], clone_url: str, fork: str = ""
    ) -> None:
        """A pull request of (sha, branch) into (sha, branch)."""
        self.pulls[number] = {
            "number": number,
            "title": "A change",
            "body": "What it is for.",
            "state": "open",
            "merged": False,
            "base": {"sha": base[0], "ref": base[1], "repo": {"clone_url": clone_url}},
            "head": {"sha": head[0], "ref": head[1], "repo": {"clone_url": fork or clone_url}},
        }


@contextmanager
def serve() -> Iterator[GitHubServer]:
    """Serve until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    state = GitHubServer(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"state": state})
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: GitHubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        self.state.requests.append(self.requestline.rpartition(" ")[0])

    def do_GET(self) -> None:
        self._handle("GET", {})

    def do_POST(self) -> None:
        self._handle("POST", self._body())

    def do_PATCH(self) -> None:
        self._handle("PATCH", self._body())

    def _body(self) -> dict:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def _handle(self, verb: str, body: dict) -> None:
        state, parts = self.state, urlsplit(self.path)
        if state.failures:
            status, reply = state.failures.pop(0)
            return self._send(status, reply)
        if state.token and self.headers.get("Authorization", "").split(" ")[-1] != state.token:
            return self._send(401, {"message": "Bad credentials", "documentation_url": "", "status": "401"})
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        for pattern, verbs in _ROUTES:
            match = re.fullmatch(pattern, parts.path)
            if match and verb in verbs:
                return verbs[verb](self, match, body, query)
        self._send(404, {"message": "Not Found", "documentation_url": "", "status": "404"})

    def _send(self, status: int, reply: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.state.cut:
            self.state.cut -= 1
            data = data[: len(data) // 2]
            self.close_connection = True
        self.wfile.write(data)

    def _page(self, rows: list, query: dict[str, str]) -> None:
        size, page = min(int(query.get("per_page", 30)), PAGE_LIMIT), int(query.get("page", 1))
        headers = {}
        if len(rows) > size * page:
            headers["Link"] = f'<{self.state.url}{urlsplit(self.path).path}?page={page + 1}>; rel="next"'
        self._send(200, rows[size * (page - 1) : size * page], headers)

    def _one(self, found: dict | None) -> None:
        self._send(200, found) if found else self._send(404, {"message": "Not Found"})

    def repository(self, match: re.Match, body: dict, query: dict) -> None:
        self._one(self.state.repository)

    def issue(self, match: re.Match, body: dict, query: dict) -> None:
        self._one(self.state.issues.get(int(match[1])))

    def issue_comments(self, match: re.Match, body: dict, query: dict) -> None:
        self._page(self.state.comments, query)

    def add_comment(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.comments.append(
            {"id": 1000 + len(self.state.comments), "body": body["body"], "user": {"login": "me"}}
        )
        self._send(201, self.state.comments[-1])

    def change_comment(self, match: re.Match, body: dict, query: dict) -> None:
        rows = self.state.inline if "/pulls/" in self.path else self.state.comments
        found = next((each for each in rows if each["id"] == int(match[1])), None)
        if found:
            found["body"] = body["body"]
        self._one(found)

    def pull(self, match: re.Match, body: dict, query: dict) -> None:
        self._one(self.state.pulls.get(int(match[1])))

    def pull_files(self, match: re.Match, body: dict, query: dict) -> None:
        self._page(self.state.files, query)

    def inline(self, match: re.Match, body: dict, query: dict) -> None:
        self._page(self.state.inline, query)

    def add_inline(self, match: re.Match, body: dict, query: dict) -> None:
        missing = {"body", "commit_id", "path"} - body.keys()
        shown = next((file.get("patch", "") for file in self.state.files if file["filename"] == body.get("path")), "")
        starts = [(int(h[1]), int(h[2] or 1)) for h in re.finditer(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", shown)]
        if missing or not any(start <= body.get("line", 0) < start + size for start, size in starts):
            problem = {"resource": "PullRequestReviewComment", "code": "invalid", "field": "line"}
            return self._send(422, {"message": "Validation Failed", "errors": [problem]})
        self.state.inline.append({"id": 1 + len(self.state.inline), "user": {"login": "me"}, **body})
        self._send(201, self.state.inline[-1])

    def add_review(self, match: re.Match, body: dict, query: dict) -> None:
        """Gitea's way: a review with comments."""
        self.state.inline += [
            {"id": 1 + len(self.state.inline), "user": {"login": "me"}, **c} for c in body["comments"]
        ]
        self._send(200, {"id": 1, "state": body["event"]})

    def open_pull(self, match: re.Match, body: dict, query: dict) -> None:
        self.state.opened.append(body)
        number = 100 + len(self.state.opened)
        self._send(201, {"number": number, "html_url": f"{self.state.url}/o/r/pull/{number}"})

    def query(self, match: re.Match, body: dict, query: dict) -> None:
        if not self.state.graphql:
            return self._send(403, {"message": "Resource not accessible"})
        if "resolveReviewThread" in body["query"]:
            self.state.resolved.append(body["variables"]["id"])
            return self._send(200, {"data": {"resolveReviewThread": {"thread": {"id": body["variables"]["id"]}}}})
        nodes = [
            {"id": f"T{each['id']}", "comments": {"nodes": [{"databaseId": each["id"]}]}} for each in self.state.inline
        ]
        found = {"repository": {"pullRequest": {"reviewThreads": {"nodes": nodes}}}}
        self._send(200, {"data": found})


_ROUTES = [
    (r"/repos/o/r", {"GET": _Handler.repository}),
    (r"/repos/o/r/issues/(\d+)", {"GET": _Handler.issue}),
    (r"/repos/o/r/issues/(\d+)/comments", {"GET": _Handler.issue_comments, "POST": _Handler.add_comment}),
    (r"/repos/o/r/issues/comments/(\d+)", {"PATCH": _Handler.change_comment}),
    (r"/repos/o/r/pulls", {"POST": _Handler.open_pull}),
    (r"/repos/o/r/pulls/(\d+)", {"GET": _Handler.pull}),
    (r"/repos/o/r/pulls/(\d+)/files", {"GET": _Handler.pull_files}),
    (r"/repos/o/r/pulls/(\d+)/comments", {"GET": _Handler.inline, "POST": _Handler.add_inline}),
    (r"/repos/o/r/pulls/(\d+)/reviews", {"POST": _Handler.add_review}),
    (r"/repos/o/r/pulls/comments/(\d+)", {"PATCH": _Handler.change_comment}),
    (r"/graphql", {"POST": _Handler.query}),
]
