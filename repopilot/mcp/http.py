"""The MCP server over HTTP (streamable), on loopback, for clients that have its token."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.routing import Route

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.logins.callers import Callers, server_token
from repopilot.mcp.server import mcp_server
from repopilot.runtime import Runtime

PATH = "/mcp"
HOST = "127.0.0.1"
GRACE_S = 1
"""Seconds that running requests get when the server ends."""
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class GuardedSessions:
    """An ASGI application: passes authorized requests to the sessions. Each session belongs to one login."""

    sessions: StreamableHTTPSessionManager
    callers: Callers

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        owner = await self.callers.owner(Headers(scope=scope))
        if owner is None:
            refusal = JSONResponse({"error": i18n.text("api.no_token", "en")}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        # Streams can't be resumed: the client gets a new one instead. With this header, the library wouldn't answer.
        kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"last-event-id"]
        user = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        await self.sessions.handle_request({**scope, "headers": kept, "user": user}, receive, send)


def run_http(runtime: Runtime, apply: bool, port: int, folders: tuple[Path, ...] = ()) -> None:
    """Serve until the process is stopped; the address and the token are printed on standard error.

    Args:
        runtime: the state of the process.
        apply: whether the tool `apply` may write into local folders.
        port: on loopback; 0 for a free one.
        folders: local folders that clients may name, besides their roots.

    Raises:
        UsageError: the port can't be used, or a proxy names the users but can't know a random token.
    """
    token = server_token(runtime.settings)
    served = application(runtime, apply, token, folders)
    config = uvicorn.Config(served, log_level="warning", timeout_graceful_shutdown=GRACE_S)
    try:
        bound = socket.create_server((HOST, port))  # before the address is printed: clients may connect at once
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        said = message("ui.errors.port", host=HOST, port=port, error=why)
        raise UsageError(said, message("mcp.port_hint")) from error
    address = f"http://127.0.0.1:{bound.getsockname()[1]}{PATH}"
    print(i18n.text("mcp.address", "en", address=address, token=token), file=sys.stderr, flush=True)
    uvicorn.Server(config).run(sockets=[bound])


def application(runtime: Runtime, apply: bool, token: str, folders: tuple[Path, ...] = ()) -> Starlette:
    """The ASGI application.

    Args:
        runtime: the state of the process.
        apply: see `run_http`.
        token: that clients send as `Authorization: Bearer …`, unless they log in.
        folders: see `run_http`.
    """
    hosts = ["127.0.0.1:*", "localhost:*", "[::1]:*"]
    origins = [f"http://{host}" for host in hosts]
    for name in runtime.settings.allowed_hosts:
        hosts += [name, f"{name}:*"]
        origins += [f"https://{name}", f"https://{name}:*"]
    safe = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
    sessions = StreamableHTTPSessionManager(
        mcp_server(runtime, apply, folders),
        security_settings=safe,
        session_idle_timeout=runtime.settings.mcp_idle_minutes * 60,
        max_sessions=runtime.settings.mcp_sessions,
    )

    @contextlib.asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    return Starlette(
        routes=[Route(PATH, GuardedSessions(sessions, Callers(runtime.settings, token)))], lifespan=running
    )
