"""The routes of the API. They return the documents that the command line prints with `--json`, plus the request id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from repopilot import __version__, checks, i18n
from repopilot.api.guard import RequestGuard, problem
from repopilot.api.jobs import UnknownRepository, repository_id
from repopilot.api.metrics import Metrics
from repopilot.api.openapi import ACCEPTED, BEARER, DOCUMENT, DOWN, OPTIONAL_TOKEN, REPLIES, REQUEST_ID, STREAM, TEXT
from repopilot.api.operations import OPERATIONS, Operation, UnknownTool, call_tool, index
from repopilot.api.repositories import Repositories
from repopilot.api.requests import OfRepository, OpenBody, ToolCallBody
from repopilot.api.work import Client, Requests, TooMany, Work
from repopilot.documents import plain
from repopilot.errors import (
    Cancelled,
    CredentialsNeeded,
    ForgeError,
    RepoPilotError,
    SourceError,
    SourceMalformed,
    SourceRefused,
    SourceUnreachable,
    UsageError,
    validation_problems,
)
from repopilot.logins.callers import Callers
from repopilot.openings import SharedOpenings
from repopilot.release import commit
from repopilot.runtime import Runtime
from repopilot.tools.toolbox import client_tools
from repopilot.trace import Step
from repopilot.types import OnProgress

PREFIX = "/api/v1"
Reply = Callable[[Request, str, Work], Awaitable[Response]]
_STATUS: tuple[tuple[type[RepoPilotError], int], ...] = (
    (TooMany, 429),
    (Cancelled, 409),
    (CredentialsNeeded, 401),
    (SourceMalformed, 422),
    (SourceRefused, 403),
    (SourceUnreachable, 502),
    (SourceError, 404),
    (UnknownTool, 404),
    (UnknownRepository, 404),
    (ForgeError, 502),
    (UsageError, 422),
)


def api(runtime: Runtime, callers: Callers) -> FastAPI:
    """The application, to be mounted at `PREFIX`.

    Args:
        runtime: the state of the process.
        callers: tell which login a request belongs to.
    """
    # FastAPI's own documentation pages would load scripts from another site.
    pages: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": "/openapi.json"}
    application = FastAPI(
        title="RepoPilot", version=__version__, responses=REPLIES, dependencies=[BEARER, REQUEST_ID], **pages
    )
    repositories = Repositories(runtime, SharedOpenings(runtime))
    metrics = Metrics(repositories.jobs.states)
    requests = Requests(metrics.watched)
    application.add_middleware(RequestGuard, callers=callers, metrics=metrics)
    _errors(application)
    _routes(application, repositories, requests)
    _watching(application, runtime, metrics)
    return application


def _errors(application: FastAPI) -> None:
    """Errors as JSON."""

    @application.exception_handler(RepoPilotError)
    async def ours(request: Request, error: RepoPilotError) -> JSONResponse:
        status = status_of(error)
        return problem(status, error, request.state.id, {"Retry-After": "5"} if status == 429 else {})

    @application.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        said = i18n.message("api.malformed", problems=validation_problems(error.errors()))
        return problem(422, UsageError(said), request.state.id)

    @application.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        headers = {"Allow": _allowed(request)} if error.status_code == 405 else dict(error.headers or {})
        return problem(error.status_code, UsageError(str(error.detail)), request.state.id, headers)


def _allowed(request: Request) -> str:
    """The methods of all routes at the address of a request; Starlette names those of the first one only."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    fitting = [route.methods or () for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return ", ".join(sorted({method for methods in fitting for method in methods}))


def status_of(error: RepoPilotError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def client_of(request: Request) -> Client:
    """The client of a request: its login, whatever the address, else its address."""
    owner = request.state.owner
    return Client(owner, request.client.host if request.client and not owner else "")


def _routes(application: FastAPI, repositories: Repositories, requests: Requests) -> None:
    def of(request: Request) -> Repositories:
        return replace(repositories, owner=request.state.owner)

    async def reply(request: Request, name: str, work: Work) -> Response:
        """Reply with the document of the work, or with events if the client asks for a stream."""
        running = requests.begin(request.state.id, client_of(request), name, work)
        if STREAM in request.headers.get("accept", ""):
            return StreamingResponse(running.events(), media_type=STREAM)
        return JSONResponse(plain(await running.done(_gone(request))))

    def offer(name: str, body_type: type[OfRepository], operation: Operation) -> None:
        async def endpoint(request: Request, body: OfRepository) -> Response:
            return await reply(request, name, partial(_operated, operation, body, of(request)))

        endpoint.__annotations__ |= {"request": Request, "body": body_type, "return": Response}
        summary = (operation.__doc__ or "").strip()
        application.post(f"/{name}", name=name, description=summary, response_model=None, responses=DOCUMENT)(endpoint)

    for name, (body_type, operation) in OPERATIONS.items():
        offer(name, body_type, operation)
    _openings(application, of, requests, reply)

    @application.get("/tools")
    async def tools() -> dict:
        """The toolbox, each tool with the schema of its arguments."""
        return {"tools": [{"kind": tool.kind, **tool.schema()} for tool in client_tools()]}

    @application.post("/tools/{name}", response_model=None, responses=DOCUMENT)
    async def call(name: str, body: ToolCallBody, request: Request) -> Response:
        """Call a tool on a working copy: the reply has the changes, nothing is written."""
        return await reply(request, name, partial(_operated, partial(call_tool, name), body, of(request)))

    @application.post("/requests/{id}/cancel")
    async def cancel(id: str, request: Request) -> dict:
        """Cancel a request under way."""
        return {"cancelled": requests.cancel(id, request.state.owner)}


def _openings(application: FastAPI, of: Callable[[Request], Repositories], requests: Requests, reply: Reply) -> None:
    @application.post("/repositories", response_model=None, responses=DOCUMENT | ACCEPTED)
    async def opened(request: Request, body: OpenBody) -> Response:
        """Open a repository: clone or read it, and index it. With `wait` false its id is the reply, at once."""
        repositories = of(request)
        work = partial(_operated, index, body, repositories)
        if body.wait:
            return await reply(request, "repositories", work)
        repositories.check(body.source)
        requests.begin(request.state.id, client_of(request), "repositories", work).leave()
        id = repository_id(body.source, body.ref)
        facts = repositories.jobs.begin(repositories.owner, body.source, body.ref).document()
        address = f"{request.scope.get('root_path', '')}/repositories/{id}"
        return JSONResponse({"request": request.state.id, "id": id, **facts}, 202, {"Location": address})

    @application.get("/repositories/{id}")
    async def opening(id: str, request: Request) -> dict:
        """How far the opening of a repository is, or why it failed."""
        return {"id": id, **of(request).job(id).document()}

    @application.get("/repositories")
    async def listed(request: Request) -> dict:
        """The repositories that are open."""
        return {"repositories": await asyncio.to_thread(of(request).listed)}


def _watching(application: FastAPI, runtime: Runtime, metrics: Metrics) -> None:
    @application.get("/health", response_model=None, responses=DOWN, openapi_extra=OPTIONAL_TOKEN)
    async def health(request: Request) -> JSONResponse:
        """Whether the server is up, without a token; with one also its parts: model, index, sandbox, vectors, forge."""
        up = await asyncio.to_thread(checks.is_usable, runtime)
        document: dict[str, object] = {"status": "up" if up else "down"}
        if request.state.owner is not None:
            found = await asyncio.to_thread(checks.parts, runtime)
            parts = {name: {"state": c.state, "detail": c.detail, "fix": c.fix} for name, c in found.items()}
            document |= {"version": __version__, "commit": await asyncio.to_thread(commit), "parts": parts}
        return JSONResponse(plain(document), 200 if up else 503)

    @application.get("/metrics", response_class=Response, responses=TEXT)
    async def counted() -> Response:
        """Counts and times for Prometheus: requests, steps of their work, repositories by state, the process."""
        text, kind = await asyncio.to_thread(metrics.exposition)
        return Response(text, headers={"Content-Type": kind})


async def _operated(
    operation: Operation, body: OfRepository, repositories: Repositories, step: Step, progress: OnProgress
) -> dict:
    return await operation(body, replace(repositories, progress=progress), step)


async def _gone(request: Request) -> None:
    """Wait until the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
