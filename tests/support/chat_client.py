"""A browser's session with the chat, without the browser: Chainlit's protocol over Socket.IO."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx
import socketio
from support.waiting import PATIENCE_S

PATH = "/ws/socket.io"


@dataclass(slots=True)
class Turn:
    """What came back for one question: the answer's text, and when evidence and end came, in seconds."""

    text: str = ""
    evidence_s: float | None = None
    seconds: float = 0.0
    steps: list[str] = field(default_factory=list)
    elements: list[dict] = field(default_factory=list)


class ChatClient:
    """One session. Use it as an asynchronous context manager.

    Args:
        url: of the chat, as it is printed at the start: with the launch's token, where there is one.
    """

    def __init__(self, url: str) -> None:
        self.session_id = str(uuid.uuid4())
        self._url = url
        self._origin, self._headers = "", dict[str, str]()
        self._messages: dict[str, str] = {}
        self._turn = Turn()
        self._asked = 0.0
        self._ended: asyncio.Queue[None] = asyncio.Queue()
        self._socket = socketio.AsyncClient(reconnection=False)
        for name in ("new_message", "update_message", "stream_start"):
            self._socket.on(name, self._on_message)
        self._socket.on("stream_token", self._on_token)
        self._socket.on("element", self._on_element)
        self._socket.on("task_end", self._on_task_end)

    async def __aenter__(self) -> ChatClient:
        origin = str(httpx.URL(self._url).copy_with(path="/", query=None)).rstrip("/")
        async with httpx.AsyncClient(follow_redirects=True, timeout=PATIENCE_S) as browser:
            page = await browser.get(self._url)
            page.raise_for_status()
            cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        headers = {"Origin": origin, "Referer": self._url, **({"Cookie": cookies} if cookies else {})}
        self._origin, self._headers = origin, headers
        auth = {
            "sessionId": self.session_id,
            "clientType": "webapp",
            "userEnv": "{}",
            "chatProfile": "",
            "threadId": "",
        }
        how = {"socketio_path": PATH, "transports": ["websocket"], "wait_timeout": PATIENCE_S}
        await self._socket.connect(origin, headers=headers, auth=auth, **how)
        await self._socket.emit("connection_successful")
        for _ in range(2):  # the server is idle when it has connected, and when it has greeted
            await asyncio.wait_for(self._ended.get(), PATIENCE_S)
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._socket.emit("clear_session")
        await self._socket.disconnect()

    async def send(self, text: str) -> None:
        """Send a message, without waiting."""
        message = {
            "id": str(uuid.uuid4()),
            "threadId": "",
            "name": "User",
            "type": "user_message",
            "output": text,
            "createdAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        await self._socket.emit("client_message", {"message": message, "fileReferences": []})

    async def ask(self, text: str, timeout: float = PATIENCE_S, ends: int = 1) -> Turn:
        """Send a message and wait until the server is done with it.

        Args:
            text: the message.
            timeout: for each end, in seconds.
            ends: how many messages are to be done with: those sent before are among them.

        Raises:
            TimeoutError: it isn't in time.
        """
        self._turn, self._messages = Turn(), {}
        self._asked = time.monotonic()
        await self.send(text)
        for _ in range(ends):
            await asyncio.wait_for(self._ended.get(), timeout)
        self._turn.seconds = time.monotonic() - self._asked
        self._turn.text = self.said()
        return self._turn

    def said(self) -> str:
        """The answers since the last message that was asked."""
        return "\n\n".join(text for text in self._messages.values() if text)

    async def press(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Press a button of an element; what the server answers to the element."""
        sent = {"sessionId": self.session_id, "action": {"name": name, "payload": payload}}
        async with httpx.AsyncClient(headers=self._headers, timeout=PATIENCE_S) as browser:
            answer = await browser.post(f"{self._origin}/project/action", json=sent)
        answer.raise_for_status()
        return answer.json()["response"]

    async def _on_message(self, data: dict[str, Any]) -> None:
        if data.get("type") == "assistant_message":
            self._messages[data["id"]] = data.get("output") or ""
        elif data.get("type") != "user_message":
            self._turn.steps.append(f"{data.get('name', '')}\n{data.get('output') or ''}")

    async def _on_token(self, data: dict[str, Any]) -> None:
        if data["id"] in self._messages:
            before = "" if data.get("isSequence") else self._messages[data["id"]]
            self._messages[data["id"]] = before + data["token"]
        else:
            self._turn.steps.append(data["token"])

    async def _on_element(self, data: dict[str, Any]) -> None:
        self._turn.elements.append(data)
        if data.get("name") == "Evidence" and self._turn.evidence_s is None:
            self._turn.evidence_s = time.monotonic() - self._asked

    async def _on_task_end(self, *_: object) -> None:
        self._ended.put_nowait(None)
