"""A server that speaks Ollama's HTTP protocol (and the OpenAI one Ollama also speaks), with scripted replies.

It behaves as the real one does on the wire: newline-delimited JSON in chunks, 404 for a model it doesn't have, token
counts in the last line. `behaviour` makes it fail in the ways servers fail. Run it in a thread (`OllamaServer`, a
context manager) or as a program: `python -m support.ollama_server --port 11434` (from `tests/`).
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import math
import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from types import MappingProxyType
from typing import Any, Literal

from support import ollama_wire as wire
from support.loopback import LoopbackServer
from support.waiting import until

Behaviour = Literal["ok", "hang", "hang midway", "close midway", "500", "garbage", "error midway", "slow"]
Script = str | Iterable[str | float] | dict
"""A whole text, sent word by word; or pieces: a text is sent, a number waited for (seconds); or a message with
`content`, `thinking` and `tool_calls`, each with name and arguments."""

PIECES_BEFORE_TROUBLE = 3


def echo(messages: Sequence[dict]) -> str:
    """Says what it was asked last."""
    return "You said: " + (messages[-1]["content"] if messages else "nothing")


@dataclass
class State:
    """What the server has and does; tests change it while it runs."""

    reply: Callable[[Sequence[dict]], Script] = echo
    models: list[str] = field(default_factory=lambda: ["qwen2.5-coder:1.5b", "qwen2.5-coder:0.5b"])
    pullable: list[str] = field(default_factory=lambda: ["qwen2.5-coder:3b", "all-minilm:latest"])
    behaviour: Behaviour = "ok"
    delay_s: float = 0.0
    holding: bool = False
    native: bool = True
    schemas: bool = True
    tools: bool = True
    capabilities: tuple[str, ...] = ("completion",)
    key: str = ""
    public_list: bool = False
    chat_error: int = 0
    most_embedded: int = 2048
    longest_embedded: int = 10**6
    dimension: int = 384
    rivals: dict[str, float] = field(default_factory=dict)
    requests: list[tuple[str, dict]] = field(default_factory=list)
    disconnects: list[str] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def sent(self, path: str) -> list[dict]:
        """The bodies of the requests to `path`, in order."""
        return [body for asked, body in self.requests if asked == path]


class OllamaServer:
    """Serves a `State` on a loopback port from a thread, as a context manager. `native=False` hides `/api`, leaving
    a plain OpenAI-compatible server; `schemas=False` makes that one refuse JSON schemas, `key` every request without it
    but, with `public_list`, that for the models; `chat_error` is the status of every reply. While it is `holding`, no
    reply goes on after its beginning. It refuses more texts to embed than `most_embedded`, and one with more characters
    than `longest_embedded`. `rivals` are tokens with their probabilities that could have stood for any of a reply."""

    def __init__(self, port: int = 0, **state: Any) -> None:
        self.state = State(**state)
        self._http = LoopbackServer(("127.0.0.1", port), _handler(self.state))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> OllamaServer:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.state.stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def wait_for_disconnect(self) -> None:
        """Wait until a client hangs up on a running reply."""
        until(lambda: self.state.disconnects)


@functools.cache
def refusing_url() -> str:
    """An address of this machine where nothing listens as long as the tests run."""
    _REFUSING.bind(("127.0.0.1", 0))
    return f"http://127.0.0.1:{_REFUSING.getsockname()[1]}"


_REFUSING = socket.socket()


def _handler(state: State) -> type[BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"state": state})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: State
    message: dict = MappingProxyType({})
    """The last reply of the script where that is a message."""

    def log_message(self, *_: object) -> None:
        """Quiet: tests look at `state.requests`."""

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._answer(json.loads(self.rfile.read(length) or b"{}"))

    def _answer(self, body: dict) -> None:
        probe = body.get("max_tokens") == 1 and bool(body.get("tools"))
        if not probe:
            self.state.requests.append((self.path, body))
        route = _ROUTES.get((self.command, self.path))
        if route is None or (self.path.startswith("/api") and not self.state.native):
            self._json({"error": "not found"}, 404)
        elif self.path in _GENERATING and self.state.behaviour in _AT_ONCE and not probe:
            _AT_ONCE[self.state.behaviour](self)
        else:
            route(self, body)

    def _json(self, value: object, status: int = 200) -> None:
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, lines: Iterable[bytes], content_type: str) -> None:
        """Chunked; notices a client that hangs up, also while waiting."""
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for line in lines:
                self._check_client()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
        except _Broken:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        except (ConnectionError, _Gone):
            self.state.disconnects.append(self.path)
            self.close_connection = True

    def _check_client(self) -> None:
        readable, _, _ = select.select([self.connection], [], [], 0)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise _Gone

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.state.stopping.is_set():
            self._check_client()
            time.sleep(min(0.02, max(deadline - time.monotonic(), 0)))

    def _pieces(self, messages: Sequence[dict], limit: int) -> Iterator[str]:
        """The reply's pieces, at most `limit`, with what the behaviour does in the middle."""
        script = self.state.reply(messages)
        if isinstance(script, dict):
            self.message = script
            script = script.get("content", "")
        pieces = re.findall(r"\s*\S+\s*$|\s*\S+|\s+", script) if isinstance(script, str) else script
        count = 0
        for piece in pieces:
            if not isinstance(piece, str):
                self._wait(piece)
                continue
            if count >= PIECES_BEFORE_TROUBLE and self.state.behaviour in ("hang midway", "close midway"):
                self._wait(3600 if self.state.behaviour == "hang midway" else 0)
                raise _Broken
            while count >= PIECES_BEFORE_TROUBLE and self.state.holding and not self.state.stopping.is_set():
                self._wait(0.02)
            if count >= limit:
                return
            self._wait(0.3 if self.state.behaviour == "slow" else self.state.delay_s)
            count += 1
            yield piece

    def tags(self, body: dict) -> None:
        self._json({"models": [wire.described(name) for name in self.state.models]})

    def version(self, body: dict) -> None:
        self._json({"version": "0.12.6"})

    def ps(self, body: dict) -> None:
        self._json({"models": [wire.described(self.state.models[0])] if self.state.models else []})

    def show(self, body: dict) -> None:
        if self._has(body):
            info = {"general.architecture": "qwen2", "qwen2.context_length": 32768}
            details = wire.described(body["model"])["details"]
            self._json({"details": details, "model_info": info, "capabilities": list(self.state.capabilities)})

    def chat(self, body: dict) -> None:
        if not self._has(body):
            return
        if body.get("tools") and not self.state.tools:
            self._json({"error": f"registry.ollama.ai/library/{body['model']} does not support tools"}, 400)
        elif not body["messages"]:
            self._json(wire.line(body, "", done=True, done_reason="load"))
        elif body.get("stream", True):
            self._stream(self._chat_lines(body), "application/x-ndjson")
        else:
            *_, last = self._chat_lines({**body, "whole": True})
            self._json(json.loads(last))

    def _chat_lines(self, body: dict) -> Iterator[bytes]:
        limit = int((body.get("options") or {}).get("num_predict") or 10**9)
        said: list[str] = []
        for piece in self._pieces(body["messages"], limit):
            said.append(piece)
            yield wire.ndjson(wire.line(body, piece))
            if self.state.behaviour == "error midway" and len(said) >= PIECES_BEFORE_TROUBLE:
                yield wire.ndjson({"error": "llama runner process has terminated: exit status 2"})
                return
        yield from wire.spoken(body, self.message)
        yield wire.ndjson(
            wire.line(
                body,
                "".join(said) if body.get("whole") else "",
                done=True,
                done_reason="length" if len(said) >= limit else "stop",
                total_duration=10**9,
                load_duration=10**6,
                prompt_eval_count=wire.tokens(body["messages"]),
                prompt_eval_duration=10**8,
                eval_count=len(said),
                eval_duration=10**8,
            )
        )

    def embed(self, body: dict) -> None:
        if self._has(body):
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            self._json(
                {
                    "model": body["model"],
                    "embeddings": [wire.embedding(text) for text in texts],
                    "total_duration": 10**6,
                    "load_duration": 10**5,
                    "prompt_eval_count": len(texts),
                }
            )

    def pull(self, body: dict) -> None:
        self._stream(self._pull_lines(body.get("model") or body.get("name", "")), "application/x-ndjson")

    def _pull_lines(self, name: str) -> Iterator[bytes]:
        yield wire.ndjson({"status": "pulling manifest"})
        if name not in (*self.state.pullable, *self.state.models):
            yield wire.ndjson({"error": "pull model manifest: file does not exist"})
            return
        digest, total = "sha256:" + hashlib.sha256(name.encode()).hexdigest(), 1_000_000
        for done in range(0, total + 1, total // 10):
            self._wait(0.3 if self.state.behaviour == "slow" else self.state.delay_s)
            status = f"pulling {digest[7:19]}"
            yield wire.ndjson({"status": status, "digest": digest, "total": total, "completed": done})
        for status in ("verifying sha256 digest", "writing manifest"):
            yield wire.ndjson({"status": status})
        if name not in self.state.models:
            self.state.models.append(name)
        yield wire.ndjson({"status": "success"})

    def _lacks_key(self) -> bool:
        """Whether the key is missing or wrong; the refusal repeats it, as services do."""
        sent = self.headers.get("Authorization", "")
        lacking = bool(self.state.key) and sent != f"Bearer {self.state.key}"
        if lacking:
            self._json({"error": {"message": f"Incorrect API key provided: {sent}", "code": 401}}, 401)
        return lacking

    def openai_models(self, body: dict) -> None:
        if not self.state.public_list and self._lacks_key():
            return
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "library"} for name in self.state.models]
        self._json({"object": "list", "data": listed})

    def openai_chat(self, body: dict) -> None:
        if self._lacks_key():
            return
        if self.state.chat_error:
            self._json({"error": {"message": f"We saw {self.headers.get('Authorization')}"}}, self.state.chat_error)
        elif body.get("tools") and not self.state.tools:
            self._json({"error": {"message": "tools are not supported", "code": 400}}, 400)
        elif "response_format" in body and not self.state.schemas:
            self._json({"error": {"message": "response_format is not supported", "code": 400}}, 400)
        elif self._has(body):
            self._stream(self._openai_events(body), "text/event-stream")

    def openai_embeddings(self, body: dict) -> None:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if self._lacks_key():
            return
        if len(texts) > self.state.most_embedded:
            self._json({"error": f"batch size {len(texts)} > maximum allowed batch size"}, 422)
        elif max(map(len, texts)) > self.state.longest_embedded:
            self._json({"error": "`inputs` must have less than 512 tokens"}, 413)
        elif self._has(body):
            vectors = [wire.embedding(text, self.state.dimension) for text in texts]
            data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
            self._json({"object": "list", "data": data[::-1], "model": body["model"], "usage": {}})

    def _openai_events(self, body: dict) -> Iterator[bytes]:
        limit = int(body.get("max_tokens") or 10**9)
        count = 0
        for piece in self._pieces(body["messages"], limit):
            count += 1
            choice = {"index": 0, "delta": {"role": "assistant", "content": piece}, "finish_reason": None}
            if body.get("logprobs"):
                choice["logprobs"] = {"content": [self._logprobs(piece)]}
            yield wire.sse(body, [choice])
        yield from wire.openai_spoken(body, self.message)
        finish = "length" if count >= limit else "tool_calls" if self.message.get("tool_calls") else "stop"
        yield wire.sse(body, [{"index": 0, "delta": {}, "finish_reason": finish}])
        prompt = wire.tokens(body["messages"])
        yield wire.sse(body, [], {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count})
        yield b"data: [DONE]\n\n"

    def _logprobs(self, piece: str) -> dict:
        """The probabilities of a token as OpenAI's protocol has them."""
        chosen = {piece: 1.0 - sum(self.state.rivals.values()), **self.state.rivals}
        listed = [{"token": text, "logprob": math.log(p), "bytes": None} for text, p in chosen.items()]
        return {**listed[0], "top_logprobs": listed}

    def _has(self, body: dict) -> bool:
        name = body.get("model", "")
        found = name in self.state.models or f"{name}:latest" in self.state.models
        if not found:
            self._json({"error": f"model '{name}' not found"}, 404)
        return found

    def hang(self) -> None:
        try:
            self._wait(3600)
        except _Gone:
            self.state.disconnects.append(self.path)
        self.close_connection = True

    def fail(self) -> None:
        self._json({"error": "an internal error"}, 500)

    def babble(self) -> None:
        self._stream([b"<html><body>It works!</body></html>\n"], "application/x-ndjson")


class _Gone(Exception):
    """The client hung up."""


class _Broken(Exception):
    """The server drops the connection."""


_GENERATING = ("/api/chat", "/api/pull", "/api/embed", "/v1/chat/completions", "/v1/embeddings")
_AT_ONCE = {"hang": _Handler.hang, "500": _Handler.fail, "garbage": _Handler.babble}
_ROUTES = {
    ("GET", "/api/tags"): _Handler.tags,
    ("GET", "/api/version"): _Handler.version,
    ("GET", "/api/ps"): _Handler.ps,
    ("POST", "/api/show"): _Handler.show,
    ("POST", "/api/chat"): _Handler.chat,
    ("POST", "/api/embed"): _Handler.embed,
    ("POST", "/api/pull"): _Handler.pull,
    ("GET", "/v1/models"): _Handler.openai_models,
    ("POST", "/v1/chat/completions"): _Handler.openai_chat,
    ("POST", "/v1/embeddings"): _Handler.openai_embeddings,
}


def demo_reply(messages: Sequence[dict]) -> str:
    """A plausible answer to any of RepoPilot's prompts: one sentence that cites the first excerpt, or code."""
    asked = messages[-1]["content"] if messages else ""
    if re.search(r"```|whole file|write the file", asked, re.IGNORECASE) and "[1]" not in asked:
        return "```python\ndef answer() -> int:\n    return 42\n```"
    return "This is what the first excerpt shows [1]."


def main() -> None:
    """Serve until interrupted; prints the address on the first line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds before each piece of a reply")
    parser.add_argument("--behaviour", default="ok")
    arguments = parser.parse_args()
    state = {"reply": demo_reply, "delay_s": arguments.delay, "behaviour": arguments.behaviour}
    with OllamaServer(arguments.port, **state) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
