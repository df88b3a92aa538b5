"""The routes of the API. What they return is what the command line prints with `--json`, with the id of the request."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException

from repopilot import __version__, i18n
from repopilot.api.operations import OPERATIONS, Operation, call_tool
from repopilot.api.repositories import Repositories
from repopilot.api.requests import OfRepository, ToolCallBody
from repopilot.api.work import Requests, TooMany, Work, error_document, request_id
from repopilot.bearer import has_token
from repopilot.errors import Cancelled, CredentialsNeeded, RepoPilotError, SourceError, UsageError
from repopilot.runtime import Runtime
from repopilot.tools.toolbox import client_tools

PREFIX = "/api/v1"
LARGEST_BODY = 1 << 20
STREAM = "text/event-stream"
_STATUS: tuple[tuple[type[RepoPilotError], int], ...] = (
    (TooMany, 429),
    (UsageError, 422),
    (Cancelled, 409),
    (CredentialsNeeded, 401),
    (SourceError, 404),
)


def api(runtime: Runtime, token: str) -> FastAPI:
    """The application, to be mounted at `PREFIX`.

    Args:
        runtime: the state of the process.
        token: that clients send as `Authorization: Bearer …`; '' lets everybody in.
    """
    # FastAPI's own pages for the schema would load scripts from elsewhere.
    pages: dict[str, Any] = {"docs_url": None, "redoc_url": None}
    application = FastAPI(title="RepoPilot", version=__version__, openapi_url="/openapi.json", **pages)
    _guard(application, token)
    _routes(application, Repositories(runtime), Requests())
    return application


def _guard(application: FastAPI, token: str) -> None:
    """Ids, the token, the largest body, and errors as JSON."""

    @application.middleware("http")
    async def checked(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        request.state.id = id = request_id(request.headers.get("x-request-id", ""))
        length = request.headers.get("content-length", "0")
        if token and not has_token(request.headers.get("authorization", ""), token):
            reply: Response = _problem(401, UsageError(i18n.message("api.no_token")), id)
            reply.headers["WWW-Authenticate"] = "Bearer"
        elif request.method == "POST" and (not length.isdigit() or int(length) > LARGEST_BODY):
            reply = _problem(413, UsageError(i18n.message("api.too_large", most=LARGEST_BODY >> 10)), id)
        elif request.method == "POST" and "content-length" not in request.headers:
            reply = _problem(411, UsageError(i18n.message("api.no_length")), id)
        else:
            reply = await call_next(request)
        reply.headers["X-Request-ID"] = id
        return reply

    @application.exception_handler(RepoPilotError)
    async def ours(request: Request, error: RepoPilotError) -> JSONResponse:
        return _problem(status_of(error), error, request.state.id)

    @application.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        said = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors()[:5])
        return _problem(422, UsageError(i18n.message("api.malformed", problems=said)), request.state.id)

    @application.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        return _problem(error.status_code, UsageError(str(error.detail)), request.state.id)


def status_of(error: RepoPilotError) -> int:
    """The status that an error is answered with."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def _problem(status: int, error: RepoPilotError, id: str) -> JSONResponse:
    headers = {"Retry-After": "5"} if status == 429 else {}
    return JSONResponse(error_document(error, id), status, headers=headers)


def _routes(application: FastAPI, repositories: Repositories, requests: Requests) -> None:
    async def reply(request: Request, name: str, work: Work) -> Response:
        """The document of some work; as events where the client wants a stream."""
        id = request.state.id
        client = request.client.host if request.client else ""
        if STREAM in request.headers.get("accept", ""):
            return StreamingResponse(requests.events(id, client, name, work), media_type=STREAM)
        return JSONResponse({"request": id, **_plain(await requests.done(id, client, name, work))})

    def offer(name: str, body_type: type[OfRepository], operation: Operation) -> None:
        async def endpoint(request: Request, body: OfRepository) -> Response:
            return await reply(request, name, lambda step: operation(body, repositories, step))

        endpoint.__annotations__ |= {"request": Request, "body": body_type, "return": Response}
        summary = (operation.__doc__ or "").strip()
        application.post(f"/{name}", name=name, description=summary, response_model=None)(endpoint)

    for name, (body_type, operation) in OPERATIONS.items():
        offer(name, body_type, operation)

    @application.get("/repositories")
    async def listed() -> dict:
        """The repositories that are open."""
        return {"repositories": repositories.listed()}

    @application.get("/tools")
    async def tools() -> dict:
        """The toolbox, each tool with the schema of its arguments."""
        return {"tools": [{"kind": tool.kind, **tool.schema()} for tool in client_tools()]}

    @application.post("/tools/{name}", response_model=None)
    async def call(name: str, body: ToolCallBody, request: Request) -> Response:
        """Call a tool on a working copy: the reply has the changes, nothing is written."""
        return await reply(request, name, lambda step: call_tool(name, body, repositories, step))

    @application.post("/requests/{id}/cancel")
    async def cancel(id: str) -> dict:
        """Cancel a request under way."""
        return {"cancelled": requests.cancel(id)}


def _plain(document: dict) -> dict:
    """The document with plain values: paths and messages are texts."""
    return json.loads(json.dumps(document, default=str))
