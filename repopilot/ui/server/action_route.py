"""Checks the requests to Chainlit's routes for buttons and for the session's cookie, which rely on an existing session
and a well-formed body."""

from __future__ import annotations

from typing import Annotated, Any

from chainlit.action import Action
from chainlit.auth import get_current_user
from chainlit.session import WebsocketSession
from chainlit.types import CallActionRequest
from fastapi import Depends, Header, HTTPException
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, ValidationError
from starlette.routing import BaseRoute

from repopilot import i18n


def check_actions(routes: list[BaseRoute]) -> None:
    """Refuse actions for sessions that don't exist, and malformed ones, before Chainlit fails on them.

    Args:
        routes: of the module `chainlit.server`; the one for actions is replaced.
    """
    # The login is checked first, so that nobody without one learns anything about sessions.
    _check_before(routes, "/project/action", Depends(get_current_user), Depends(_check))
    _check_before(routes, "/set-session-cookie", Depends(_check_cookie))


def _check_before(routes: list[BaseRoute], path: str, *checks: Any) -> None:
    """Let checks run before a route."""
    route = next(r for r in routes if isinstance(r, APIRoute) and r.path.endswith(path))
    dependencies = [*route.dependencies, *checks]
    routes[routes.index(route)] = APIRoute(route.path, route.endpoint, methods=["POST"], dependencies=dependencies)


class SessionCookie(BaseModel):
    """What a page sends to get the cookie of its session."""

    session_id: Annotated[str, Field(pattern=r"^[\w-]{1,100}$")]


def _check_cookie(payload: SessionCookie) -> None:
    """FastAPI runs this before the route, with the same body: a malformed one gets status 422."""


def _check(payload: CallActionRequest, accept_language: Annotated[str, Header()] = "") -> None:
    """Check an action; FastAPI runs this before the route, with the same body.

    Raises:
        HTTPException: 404 when the server has no such session (it was restarted, or the page is an old one), 422 when
            the action lacks its name or payload.
    """
    if WebsocketSession.get_by_id(payload.sessionId) is None:
        raise HTTPException(404, i18n.text("ui.errors.no_session", accept_language))
    try:
        Action(**payload.action)
    except (TypeError, ValidationError) as error:
        raise HTTPException(422, i18n.text("ui.errors.no_action", accept_language)) from error
