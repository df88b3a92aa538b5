"""The guard of all requests: gives each an id, checks its token and size, and logs it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from repopilot import i18n
from repopilot.api.metrics import Metrics
from repopilot.api.work import error_document, failed, request_id
from repopilot.errors import RepoPilotError, UsageError
from repopilot.logins.callers import Callers
from repopilot.redaction.log_records import of_request

LARGEST_BODY = 1 << 20
METHODS = ("GET", "POST")
OPEN = "/health"
"""The path that needs no token."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RequestGuard:
    """ASGI middleware.

    `callers` finds the login of a request, which is stored in `scope["state"]["owner"]`: None only for `OPEN` without
    a token. `metrics` counts requests.
    """

    app: ASGIApp
    callers: Callers
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        began = time.monotonic()
        status = 0
        id = request_id(headers.get("x-request-id", ""))
        scope.setdefault("state", {})["id"] = id
        of_request.set(id)

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = id
            await send(message)

        try:
            await (await self._refusal(scope, headers, id) or self.app)(scope, receive, noted)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if status:
                raise
            await problem(500, failed(), id)(scope, receive, noted)
        finally:
            seconds = time.monotonic() - began
            log.info("%s %s %d %.3f s", scope["method"], scope["path"], status, seconds)
            self.metrics.request(
                scope["method"] if scope["method"] in METHODS else "other", _template(scope), status, seconds
            )

    async def _refusal(self, scope: Scope, headers: Headers, id: str) -> JSONResponse | None:
        length = headers.get("content-length", "0")
        given = headers.get("authorization", "")
        owner = scope["state"]["owner"] = await self.callers.owner(headers)
        if owner is None and (given or scope["path"].removeprefix(scope.get("root_path", "")) != OPEN):
            refused = UsageError(i18n.message("api.no_token"))
            return problem(401, refused, id, {"WWW-Authenticate": "Bearer"})
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return problem(413, UsageError(i18n.message("api.too_large", most=LARGEST_BODY >> 10)), id)
        if "transfer-encoding" in headers and "content-length" not in headers:
            return problem(411, UsageError(i18n.message("api.no_length")), id)
        return None


def _template(scope: Scope) -> str:
    """The path template of a request's route: values that a client put into the path must not label metrics."""
    return getattr(scope.get("route"), "path", "other")


def problem(status: int, error: RepoPilotError, id: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """The reply to a request that failed.

    Args:
        status: of the reply.
        error: what is wrong.
        id: of the request.
        headers: of the reply.
    """
    return JSONResponse(error_document(error, id), status, headers)
