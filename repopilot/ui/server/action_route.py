"""Chainlit's route for buttons, with its requests checked: it takes their session and their form for granted."""

from __future__ import annotations

from typing import Annotated

from chainlit.action import Action
from chainlit.auth import get_current_user
from chainlit.session import WebsocketSession
from chainlit.types import CallActionRequest
from fastapi import Depends, Header, HTTPException
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.routing import BaseRoute

from repopilot import i18n


def check_actions(routes: list[BaseRoute]) -> None:
    """Refuse actions for sessions that don't exist, and malformed ones, before Chainlit fails on them.

    Args:
        routes: of the module `chainlit.server`; the one for actions is replaced.
    """
    route = next(r for r in routes if isinstance(r, APIRoute) and r.path.endswith("/project/action"))
    # Who isn't logged in is refused first, and learns nothing about sessions.
    checks = [*route.dependencies, Depends(get_current_user), Depends(_check)]
    routes[routes.index(route)] = APIRoute(route.path, route.endpoint, methods=["POST"], dependencies=checks)


def _check(payload: CallActionRequest, accept_language: Annotated[str, Header()] = "") -> None:
    """What FastAPI runs before the route, with the same body.

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
