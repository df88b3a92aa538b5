"""The page itself: Chainlit's template without its links to other hosts, its inline scripts under a nonce, and its
menus in the languages we have."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, MutableMapping
from types import ModuleType
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers

from repopilot.i18n import Language, supported
from repopilot.ui.messages import from_address
from repopilot.ui.server.action_route import check_actions
from repopilot.ui.server.security import Guard, asked_from_elsewhere, content_security_policy

_REMOTE_LINK = re.compile(r"<(link|meta)\b[^>]*?(?:href|content)=[\"'](?:https?:)?//[^>]*>\s*", re.IGNORECASE)
_API_PAGES = ("/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json")
_TRANSLATED = ("/project/translations", "/project/settings")
"""Chainlit's routes that answer in the requested language."""
LOCALES: dict[Language, str] = {"en": "en-US", "fr": "fr-FR"}
"""Chainlit's names of our languages, as in its files in `.chainlit/translations` and in `chainlit_<name>.md`."""
_INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)([^>]*)>", re.IGNORECASE)


def local_only(html: str, nonce: str) -> str:
    """Remove links and metadata that name another host from the page, and allow its inline scripts by `nonce`. Pure."""
    return _INLINE_SCRIPT.sub(rf'<script nonce="{nonce}"\1>', _REMOTE_LINK.sub("", html))


class InterfaceLanguage:
    """ASGI middleware: restricts Chainlit's menus and readme page to the languages of the catalogue.

    Chainlit takes the browser's language as a parameter, and has translations for some languages that we lack.

    Args:
        app: the application.
        setting: the language set for every browser, '' for each browser's own.
    """

    def __init__(self, app: Callable, setting: str) -> None:
        self.app = app
        self.setting = setting

    async def __call__(self, scope: MutableMapping, receive: Callable, send: Callable) -> None:
        if scope["type"] == "http" and scope.get("path", "").endswith(_TRANSLATED):
            referer = Headers(scope=scope).get("referer", "")
            query = localized_query(scope.get("query_string", b"").decode("latin-1"), referer, self.setting)
            scope = {**scope, "query_string": query.encode("latin-1")}
        await self.app(scope, receive, send)


def localized_query(query: str, referer: str, setting: str) -> str:
    """The query of a request with its parameter `language` replaced by a language of ours. Pure.

    Args:
        query: as sent; without `language`, nothing is replaced.
        referer: the address of the page, which may name a language chosen in the chat (`?lang=`).
        setting: the language set for every browser, '' for none.
    """
    values = parse_qs(query, keep_blank_values=True)
    if "language" not in values:
        return query
    chosen = from_address(referer, "lang") or setting or values["language"][0]
    return urlencode({**values, "language": [LOCALES[supported(chosen)]]}, doseq=True)


def install(server: ModuleType, hosts: frozenset[str], language: str = "") -> None:
    """Wrap Chainlit's application in the guard, and put our page in front of its catch-all route, once.

    FastAPI's documentation pages are removed: they load from other hosts. The route for actions gets its checks.

    Args:
        server: the module `chainlit.server`.
        hosts: the names the page may be opened under.
        language: the language set for every browser, '' for each browser's own.
    """
    app = server.app
    routes = server.router.routes
    if any(layer.cls.__name__ == Guard.__name__ for layer in app.user_middleware):
        return
    from starlette.routing import Route

    check_actions(routes)
    app.router.routes[:] = [route for route in app.router.routes if getattr(route, "path", "") not in _API_PAGES]
    catch_all = next(at for at, route in enumerate(routes) if route.path.endswith("/{full_path:path}"))
    routes.insert(catch_all, Route(routes[catch_all].path, _page(server.get_html_template), methods=["GET"]))
    app.add_middleware(InterfaceLanguage, setting=language)
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
