"""The MCP server, with the standard error codes for unknown methods, parameters and resources."""

from __future__ import annotations

from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import McpError
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCMessage, JSONRPCRequest

from repopilot import i18n

RESOURCE_NOT_FOUND = -32002
Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


class MethodCheck(Server):
    """A server that reports unknown methods as such; the library alone reports invalid parameters."""

    async def run(self, read_stream: Incoming, write_stream: Outgoing, *given: Any, **named: Any) -> None:
        """Serve a session until its stream ends; the arguments are those of the library's server."""
        known = {"initialize", *(_method(kind) for kind in self.request_handlers)}
        pass_on, passed = anyio.create_memory_object_stream[SessionMessage | Exception]()

        async def check() -> None:
            async with pass_on:
                async for each in read_stream:
                    request = each.message.root if isinstance(each, SessionMessage) else None
                    if isinstance(request, JSONRPCRequest) and request.method not in known:
                        await write_stream.send(_unknown_method(request))
                    else:
                        await pass_on.send(each)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(check)
            await super().run(passed, write_stream, *given, **named)
            tasks.cancel_scope.cancel()


def wrong_parameters(said: i18n.Message) -> McpError:
    """The protocol's error for invalid parameters."""
    return McpError(ErrorData(code=INVALID_PARAMS, message=str(said)))


def no_resource(uri: str) -> McpError:
    """The protocol's error for the address of an unknown resource."""
    said = str(i18n.message("mcp.no_resource", uri=uri))
    return McpError(ErrorData(code=RESOURCE_NOT_FOUND, message=said, data={"uri": uri}))


def _method(kind: type[Any]) -> str:
    return kind.model_fields["method"].default


def _unknown_method(request: JSONRPCRequest) -> SessionMessage:
    said = i18n.text("mcp.no_method", "en", name=request.method[:100])
    error = JSONRPCError(jsonrpc="2.0", id=request.id, error=ErrorData(code=METHOD_NOT_FOUND, message=said))
    return SessionMessage(JSONRPCMessage(error))
