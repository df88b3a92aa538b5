"""Closes the chat to other websites: an ASGI middleware around the application.

Chainlit's socket ignores Origin and Host, so any page the user visits could drive the chat (cross-site WebSocket
hijacking) or reach it under a name of its own (DNS rebinding). Every request is therefore checked for both, and
every response tells the browser to load nothing from anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.responses import PlainTextResponse

from repopilot import i18n
from repopilot.logins.callers import LOOPBACK, host_name

WILDCARDS = ("0.0.0.0", "::", "")
CLOSED_ROUTES = ("/project/file", "/project/element", "/mcp")
"""Chainlit's routes that write: uploads, elements sent by the page, tool servers. RepoPilot uses none of them."""
_LONGEST_PATH = 2000
"""In characters; Chainlit looks up every path in the file system."""
_ELSEWHERE = ("cross-site", "same-site")


def allowed_hosts(listen_on: str, extra: Iterable[str] = ()) -> frozenset[str]:
    """The host names the chat answers to: loopback, the address it listens on, and those the user adds.

    A wildcard address adds nothing, since no browser uses it as a host: to serve a network, the user adds its name.
    """
    named = (name.strip().strip("[]").lower() for name in (*LOOPBACK, listen_on, *extra))
    return frozenset(name for name in named if name not in WILDCARDS)


def refusal(scope: Mapping, hosts: frozenset[str]) -> tuple[int, str] | None:
    """Why a request is refused. Pure.

    Args:
        scope: the request, as ASGI describes it.
        hosts: the names the chat answers to, see `allowed_hosts`.

    Returns:
        The HTTP status and a sentence for the user, in the browser's language; None when the request may pass.
    """
    headers = _headers(scope)
    language = headers.get("accept-language", "")
    if "\0" in scope.get("path", "") or len(scope.get("path", "")) > _LONGEST_PATH:
        return 404, i18n.text("ui.errors.no_page", language)
    host = headers.get("host", "")
    name = host_name(host)
    if not name or name not in hosts:
        return 421, i18n.text("ui.errors.host_name", language, name=repr(name))
    origin = headers.get("origin")
    if origin is not None and _authority(origin) != host.lower():
        return 403, i18n.text("ui.errors.other_site", language)
    if headers.get("sec-fetch-site") in _ELSEWHERE and not _opens_page(scope, headers):
        return 403, i18n.text("ui.errors.other_site", language)
    if scope.get("method") not in ("GET", "HEAD", None) and _route(scope).startswith(CLOSED_ROUTES):
        return 403, i18n.text("ui.errors.no_uploads", language)
    return None


def content_security_policy(host: str, nonce: str = "") -> str:
    """The content security policy of a response.

    Chainlit needs `unsafe-eval` to compile our elements in the page; inline scripts run only with the page's nonce.
    Images from other hosts are not loaded, so that no text of a repository can call home.
    """
    scripts = f"'nonce-{nonce}' 'unsafe-eval'" if nonce else ""
    rules = {
        "default-src": "'self'",
        "script-src": f"'self' {scripts}".strip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self' ws://{host} wss://{host}",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def asked_from_elsewhere(headers: Mapping[str, str], query: str) -> str | None:
    """Where to redirect a visitor who followed a link on another site that names a repository. Pure.

    Args:
        headers: of the request, by lower-case name.
        query: of the request's URL.

    Returns:
        The same page with `?offer=` instead of `?repo=`, which asks before it opens anything; None when nothing needs
        asking.
    """
    wanted = parse_qs(query).get("repo")
    if not wanted or headers.get("sec-fetch-site") not in _ELSEWHERE:
        return None
    return "/?" + urlencode({"offer": wanted[0]})


class Guard:
    """ASGI middleware: refuses requests by `refusal`, and adds security headers to every other response."""

    def __init__(self, app: Callable, hosts: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Mapping, receive: Callable, send: Callable) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = refusal(scope, self.hosts)
        if refused is None:
            await self.app(scope, receive, _hardened(send, _headers(scope).get("host", "")))
        elif scope["type"] == "http":
            status, why = refused
            refusal_sent = PlainTextResponse(why, status, {"x-content-type-options": "nosniff"})
            await refusal_sent(scope, receive, send)  # type: ignore[arg-type]
        else:
            # Closing before accepting makes the server answer the handshake with 403.
            await send({"type": "websocket.close", "code": 1008})


def _headers(scope: Mapping) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope.get("headers", ())}


def _authority(origin: str) -> str:
    """Host and port in an Origin header; '' when it is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _route(scope: Mapping) -> str:
    return scope.get("path", "").removeprefix(scope.get("root_path", ""))


def _opens_page(scope: Mapping, headers: Mapping[str, str]) -> bool:
    """Whether a link on another site leads here: harmless, since the page it opens acts only for the user."""
    return (
        scope.get("method") in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _hardened(send: Callable, host: str) -> Callable:
    always = {
        b"x-content-type-options": b"nosniff",
        b"x-frame-options": b"DENY",
        b"referrer-policy": b"same-origin",
        b"cross-origin-opener-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
        b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
    }

    async def hardened(message: dict) -> None:
        if message["type"] == "http.response.start":
            sent = {name.lower() for name, _ in message.get("headers", ())}
            added = dict(always)
            if b"content-security-policy" not in sent:
                added[b"content-security-policy"] = content_security_policy(host).encode()
            message = {**message, "headers": [*message.get("headers", ()), *added.items()]}
        await send(message)

    return hardened
