"""Parts of the OpenAPI schema common to all requests: authentication, request ids, replies."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Header
from fastapi.security import HTTPBearer
from pydantic import BaseModel

STREAM = "text/event-stream"


class ErrorFacts(BaseModel):
    """What went wrong, and what to do about it."""

    type: str
    message: str
    hint: str


class ErrorDocument(BaseModel):
    """The reply to a request that failed."""

    error: ErrorFacts
    request: str


def _id(x_request_id: Annotated[str, Header(description="Its id; one is made where it has none.")] = "") -> None:
    """Declares the header that the guard reads."""


BEARER = Depends(HTTPBearer(auto_error=False, description="The token of the server."))
"""Declares the scheme; the guard checks the token."""
REQUEST_ID = Depends(_id)
_NAMED = {"X-Request-ID": {"description": "The id of the request.", "schema": {"type": "string"}}}
_ERRORS: dict[int | str, str] = {
    400: "The body can't be read.",
    401: "The token is missing or wrong, or the repository's host asks for credentials.",
    403: "The repository's address is refused: a private host, or a connection that isn't encrypted.",
    404: "There is no such repository, ref, tool, id or address.",
    405: "The address has no such method.",
    409: "The request was cancelled.",
    411: "The body has no length.",
    413: "The body is too large.",
    422: "The arguments don't fit, or name no repository.",
    429: "The client has too many requests under way.",
    500: "The work failed.",
    502: "The repository's host can't be reached or failed, or that of a pull request refused.",
}
REPLIES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorDocument, "description": why, "headers": _NAMED} for status, why in _ERRORS.items()
} | {200: {"description": "The document.", "headers": _NAMED}}
_EVENTS = "Events progress, step, text and evidence, then done with the document, or error."
DOCUMENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The document.",
        "headers": _NAMED,
        "content": {
            "application/json": {"schema": {"type": "object"}},
            STREAM: {"schema": {"type": "string", "description": _EVENTS}},
        },
    }
}
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "It is being opened: its id, and how far it is.",
        "headers": {**_NAMED, "Location": {"description": "Where to ask how far it is.", "schema": {"type": "string"}}},
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
DOWN: dict[int | str, dict[str, Any]] = {
    503: {
        "description": "It is down: the data directory can't be written.",
        "headers": _NAMED,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
TEXT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The metrics in Prometheus' text format.",
        "headers": _NAMED,
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
}
OPTIONAL_TOKEN: dict[str, Any] = {"security": [{}, {"HTTPBearer": []}]}
"""For a route that also replies without a token."""
