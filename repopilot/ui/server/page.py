"""The HTML page itself: Chainlit's template without its links to other hosts, its inline scripts under a nonce."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from urllib.parse import parse_qs, urlencode

from repopilot.ui.server.security import Guard, content_security_policy

_REMOTE_LINK = re.compile(r"<(link|meta)\b[^>]*?(?:href|content)=[\"'](?:https?:)?//[^>]*>\s*", re.IGNORECASE)
_API_PAGES = ("/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json")
_INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)([^>]*)>", re.IGNORECASE)


def local_only(html: str, nonce: str) -> str:
    """The page without links and metadata that name another host, its inline scripts allowed by `nonce`. Pure."""
    return _INLINE_SCRIPT.sub(rf'<script nonce="{nonce}"\1>', _REMOTE_LINK.sub("", html))


def asked_from_elsewhere(headers: Mapping[str, str], query: str) -> str | None:
    """Where to send a visitor whom a link on another site brought here with `?repo=`: the same page with `?offer=`,
    which asks before it opens anything. None when nothing needs asking. Pure."""
    wanted = parse_qs(query).get("repo")
    if not wanted or headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return None
    return "/?" + urlencode({"offer": wanted[0]})


def install(server, hosts: frozenset[str]) -> None:
    """Put the guard around Chainlit's application and our page in front of its catch-all route. Once.

    `server` is the module `chainlit.server`. The pages of FastAPI's API documentation go: they load from elsewhere.
    """
    app, routes = server.app, server.router.routes
    if any(layer.cls.__name__ == Guard.__name__ for layer in app.user_middleware):
        return
    from starlette.routing import Route

    app.router.routes[:] = [route for route in app.router.routes if getattr(route, "path", "") not in _API_PAGES]
    catch_all = next(at for at, route in enumerate(routes) if route.path.endswith("/{full_path:path}"))
    routes.insert(catch_all, Route(routes[catch_all].path, _page(server.get_html_template), methods=["GET"]))
    app.add_middleware(Guard, hosts=hosts)


def _page(template: Callable[[str], str]) -> Callable:
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, RedirectResponse

    async def page(request: Request):
        elsewhere = asked_from_elsewhere(request.headers, request.url.query)
        root = request.scope.get("root_path", "")
        if elsewhere:
            return RedirectResponse(root + elsewhere, status_code=303)
        nonce = secrets.token_urlsafe(18)
        policy = content_security_policy(request.headers["host"], nonce)
        headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
        return HTMLResponse(local_only(template(root), nonce), headers=headers)

    return page
