"""Who may use the chat: an ASGI middleware in front of everything it serves.

Any local account can connect to a port on loopback. A visitor therefore needs the token of this launch (in the address
printed at the start, or in a header from scripts and proxies), a cookie given in exchange for the token, or, where the
system tells whose connection it is, the account that runs the server.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Literal
from urllib.parse import parse_qsl, quote, urlencode

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse

from repopilot import i18n
from repopilot.logins.callers import TOKEN_HEADER, is_direct, same
from repopilot.ui.server.peer_account import account_of
from repopilot.ui.server.security import asked_from_elsewhere

PARAMETER = "token"
API = "/api/v1/"
"""The path of the API, which checks tokens itself and answers in JSON."""
_NOT_STORED = {"cache-control": "no-store"}


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Who is let in.

    Attributes:
        access: `account` for the token or the account of the server, `token` for the token only, `open` for everyone.
        token: of this launch.
        port: the server's, part of the cookie's name: all ports of a host share its cookies.
        language: of the interface, '' for the browser's.
        address_file: the name of the file with the address, told to those who are refused.
    """

    access: Literal["account", "token", "open"]
    token: str
    port: int
    language: str = ""
    address_file: str = ""

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"repopilot_{self.port}"

    def ticket(self, account: int | None) -> str:
        """The cookie's value for an account.

        Another local account may see it, because browsers send our cookies to its server on another port of this host.
        It can't use the cookie where the system tells whose connection it is, and never learns the token.
        """
        return hmac.new(self.token.encode(), f"account {account}".encode(), hashlib.sha256).hexdigest()


class AccessCheck:
    """ASGI middleware: lets in whom the rule allows, and tells everyone else where to find the address.

    A page opened with the token in its address gets the cookie, and is redirected to the address without it.

    Args:
        app: the application.
        rule: who is let in.
    """

    def __init__(self, app: Callable, rule: AccessRule) -> None:
        self.app = app
        self.rule = rule

    async def __call__(self, scope: Mapping, receive: Callable, send: Callable) -> None:
        own_check = scope["type"] == "http" and scope["path"].startswith(scope.get("root_path", "") + API)
        if scope["type"] not in ("http", "websocket") or self.rule.access == "open" or own_check:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)  # type: ignore[arg-type]
        account = await _account(scope, headers)
        given = _given_token(scope)
        has_token = same(given, self.rule.token)
        if not (has_token or is_known(headers, account, self.rule)):
            await self._refuse(scope, headers, receive, send)
        elif given is None:
            await self.app(scope, receive, send)
        else:
            cookie = {"set-cookie": self._cookie(scope, account)} if has_token else {}
            redirect = RedirectResponse(clean_address(scope), 303, {**_NOT_STORED, **cookie})
            await redirect(scope, receive, send)  # type: ignore[arg-type]

    def _cookie(self, scope: Mapping, account: int | None) -> str:
        attributes = ["Path=/", "HttpOnly", "SameSite=Strict", *(["Secure"] if scope.get("scheme") == "https" else [])]
        return "; ".join([f"{self.rule.cookie}={self.rule.ticket(account)}", *attributes])

    async def _refuse(self, scope: Mapping, headers: Headers, receive: Callable, send: Callable) -> None:
        if scope["type"] == "websocket":
            # Closing before accepting makes the server answer the handshake with 403.
            await send({"type": "websocket.close", "code": 1008})
            return
        language = i18n.supported(self.rule.language or headers.get("accept-language", ""))
        page = refusal_page(language, self.rule.address_file)
        refusal = HTMLResponse(page, 403, {**_NOT_STORED, **_again(scope, headers)})
        await refusal(scope, receive, send)  # type: ignore[arg-type]


def install_access(app: Starlette, rule: AccessRule) -> None:
    """Put the check around an application, once.

    Args:
        app: without the guard against other websites yet, which must wrap this check.
        rule: who is let in.
    """
    if not any(layer.cls.__name__ == AccessCheck.__name__ for layer in app.user_middleware):  # type: ignore[attr-defined]
        app.add_middleware(AccessCheck, rule=rule)


def is_known(headers: Mapping[str, str], account: int | None, rule: AccessRule) -> bool:
    """Whether a request is let in without a token in its address. Pure but for the account of this process.

    Args:
        headers: of the request, by lower-case name.
        account: whose connection it is, None if the system doesn't tell or a proxy is in between.
        rule: who is let in.
    """
    cookies = cookie_parser(headers.get("cookie", ""))
    if same(headers.get(TOKEN_HEADER), rule.token) or same(cookies.get(rule.cookie), rule.ticket(account)):
        return True
    return sys.platform != "win32" and rule.access == "account" and account is not None and account == os.geteuid()


def follows_link(scope: Mapping, headers: Mapping[str, str]) -> bool:
    """Whether a request opens a page from a link on another site. Pure."""
    crossed = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return crossed and scope["method"] == "GET" and headers.get("sec-fetch-dest") == "document"


def _again(scope: Mapping, headers: Headers) -> dict[str, str]:
    """A header that makes the browser reload a page that was opened from a link on another site.

    The browser withholds our cookie from such a link, but not from our own page. The reload no longer tells of the
    other site, so it goes to the page that such links get, which offers a repository but opens none.
    """
    if not follows_link(scope, headers):
        return {}
    offered = asked_from_elsewhere(headers, scope.get("query_string", b"").decode("latin-1"))
    return {"refresh": f"0; url={scope.get('root_path', '')}{offered}" if offered else "0"}


def refusal_page(language: str, address_file: str) -> str:
    """The page that says where to find the address.

    Args:
        language: of the page.
        address_file: the name of the file with the address.
    """
    words = {
        "title": i18n.text("ui.errors.no_access", language),
        "hint": i18n.text("ui.errors.no_access_hint", language, file=address_file),
    }
    page = Template(files(__package__).joinpath("refused.html").read_text("utf-8"))
    escaped = {name: html.escape(text) for name, text in words.items()}
    return page.substitute(escaped, language=language)


def clean_address(scope: Mapping) -> str:
    """The path and query of a request without its token, always on this host. Pure."""
    query = urlencode([(name, value) for name, value in _query(scope) if name != PARAMETER])
    # A path that begins with two slashes would name another host.
    path = "/" + quote(scope.get("path", "").lstrip("/"))
    return f"{path}?{query}" if query else path


async def _account(scope: Mapping, headers: Headers) -> int | None:
    client = scope.get("client")
    server = scope.get("server")
    if not (client and server and server[1] and is_direct(headers)):
        return None
    return await account_of((client[0], client[1]), (server[0], server[1]))


def _given_token(scope: Mapping) -> str | None:
    """The token in the address of a page; sockets and writing requests need the cookie or the header."""
    if scope.get("method") not in ("GET", "HEAD"):
        return None
    return dict(_query(scope)).get(PARAMETER)


def _query(scope: Mapping) -> list[tuple[str, str]]:
    return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
