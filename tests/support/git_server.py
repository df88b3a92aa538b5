"""A real smart-HTTP git remote on loopback: `git http-backend` behind http.server, with the misbehaviour tests need."""

from __future__ import annotations

import base64
import os
import re
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from support.loopback import LoopbackServer


@dataclass
class GitServer:
    """`url` is the base; repositories lie in `folder`. The rest says how it behaves, and may change while it runs."""

    url: str
    folder: Path
    token: str = ""  # requests need it as the password
    stall: threading.Event = field(default_factory=threading.Event)  # set: packs are never sent
    released: threading.Event = field(default_factory=threading.Event)  # ends stalled requests
    status: int = 0  # answer everything with it
    redirect: str = ""  # answer everything with a redirect to it
    redirect_bare: bool = False  # redirect addresses without .git to those with it
    refuse_filter: bool = False  # answer 500 to a request with a filter
    requests: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)

    @property
    def credentials(self) -> list[str]:
        """The passwords that were sent, '' for each request without one."""
        return [_password(headers) for headers in self.headers]


@contextmanager
def serve(folder: Path, certificate: Path | None = None) -> Iterator[GitServer]:
    """Serve the bare repositories of a folder until the block ends; over TLS with a certificate of `self_signed`."""
    server = LoopbackServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    state = GitServer(f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}", folder)
    server.RequestHandlerClass = type("Handler", (_Handler,), {"state": state})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def self_signed(folder: Path) -> Path:
    """A file with a certificate for 127.0.0.1 and localhost, and its key. Needs the program openssl."""
    file = folder / "loopback.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=loopback"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", str(file), "-out", f"{file}.crt"]
    subprocess.run(command, check=True, capture_output=True)
    with file.open("ab") as both:
        both.write(Path(f"{file}.crt").read_bytes())
    return file


class _Handler(BaseHTTPRequestHandler):
    state: GitServer

    def log_message(self, format: str, *args: object) -> None:
        self.state.requests.append(self.requestline)

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, body: bytes) -> None:
        state = self.state
        state.headers.append(str(self.headers))
        if state.redirect:
            return self._short(301, {"Location": state.redirect + self.path})
        if state.redirect_bare and ".git/" not in self.path:
            return self._short(301, {"Location": state.url + self.path.replace("/info/", ".git/info/")})
        if state.status:
            return self._short(state.status, {}, b"<html>\nA page\n</html>\n")
        if state.token and not self._authorized():
            return self._short(401, {"WWW-Authenticate": 'Basic realm="git"'})
        if state.refuse_filter and b"filter " in _plain(self.headers, body):
            return self._short(500, {})
        if state.stall.is_set() and body:
            state.released.wait(60)
            return self._short(503, {})
        self._backend(body)

    def _authorized(self) -> bool:
        return _password(str(self.headers)) == self.state.token

    def _short(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _backend(self, body: bytes) -> None:
        """CGI as git http-backend wants it."""
        url = urlsplit(self.path)
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.state.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "REQUEST_METHOD": self.command,
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        output = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False).stdout
        head, _, content = output.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value.split()[0]) for key, value in fields if key == "Status"), 200)
        self.send_response(status)
        for key, value in fields:
            if key != "Status":
                self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _password(headers: str) -> str:
    sent = re.search(r"^Authorization: Basic (\S+)", headers, re.MULTILINE | re.IGNORECASE)
    return base64.b64decode(sent[1]).decode().partition(":")[2] if sent else ""


def _plain(headers: Mapping[str, str], body: bytes) -> bytes:
    if headers.get("Content-Encoding") == "gzip":
        import gzip

        return gzip.decompress(body)
    return body


def git(folder: Path, *args: str, stdin: bytes | None = None) -> str:
    """Run git in a test's own repository, independent of the machine's configuration."""
    env = {
        **os.environ,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    }
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", *args], cwd=folder, env=env, input=stdin, capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "replace").strip()


def commit(folder: Path, files: Mapping[str, str | bytes | None], message: str = "change") -> str:
    """Write (or with None delete) files in a work tree, made a repository if need be, and commit; returns the id."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    for path, content in files.items():
        target = folder / path
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def publish(work: Path, served: Path, name: str = "demo.git") -> Path:
    """Push everything of a work tree to the bare repository `served/name`, made if need be, filters allowed."""
    bare = served / name
    if not bare.exists():
        bare.parent.mkdir(parents=True, exist_ok=True)
        git(bare.parent, "init", "-q", "--bare", "-b", "main", name)
        git(bare, "config", "uploadpack.allowFilter", "true")
        git(bare, "config", "receive.denyCurrentBranch", "ignore")
    git(work, "push", "-q", "--force", "--all", str(bare))
    git(work, "push", "-q", "--force", "--tags", str(bare))
    return bare
