"""Who makes a request: the server's own account, by its token, or somebody who logs in."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import re
import secrets
from base64 import b64decode
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from starlette.datastructures import Headers

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.logins.password_file import password_line, verify_password
from repopilot.settings import Settings

TOKEN_HEADER = "x-repopilot-token"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_FORWARDED = ("forwarded", "x-forwarded-", "x-real-ip", "via")
"""The beginnings of the names of headers that proxies add; a request with one may be forwarded for somebody else."""
_AUTHORITY = re.compile(r"(?:\[(?P<literal>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")
_AFTER_FAILURE_S = 1.0
_LONGEST = 256
log = logging.getLogger(__name__)


def server_token(settings: Settings) -> str:
    """The token of the server: the one that the settings name, else a random one, the same for the whole process.

    Raises:
        UsageError: logins by header without a token in the settings. A proxy's header is believed only when the proxy
            sends the token as well, so the token has to be one that the proxy can be configured with.
    """
    if settings.login == "header" and not settings.access_token:
        raise UsageError(i18n.message("ui.errors.header_token"), i18n.message("ui.errors.header_token_hint"))
    return settings.access_token or _random_token()


@dataclass(frozen=True, slots=True)
class Callers:
    """Tells who makes a request.

    Attributes:
        settings: how people log in.
        token: of the server; '' lets everybody in.
    """

    settings: Settings
    token: str
    _turns: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _proved: dict[str, bytes] = field(default_factory=dict)

    async def owner(self, headers: Headers) -> str | None:
        """The login that makes a request, '' for the server's own account, None where access is denied.

        Args:
            headers: of the request.

        Raises:
            StorageError: the passwords can't be read.
        """
        given = headers.get("authorization", "")
        trusted = not self.token or _has_token(given, self.token)
        if self.settings.login == "header":
            return self._named_or_own(headers) if trusted or same(headers.get(TOKEN_HEADER), self.token) else None
        if trusted or self.settings.login != "password":
            return "" if trusted else None
        name, password = basic_credentials(given)
        return name if name and await self.has_password(name, password) else None

    def named(self, headers: Headers) -> str:
        """The user that a proxy names in its header; '' for none or several, as one may come from the visitor."""
        users = headers.getlist(self.settings.login_header)
        user = users[0].strip() if len(users) == 1 else ""
        return user if len(user) <= _LONGEST else ""

    async def has_password(self, name: str, password: str) -> bool:
        """Whether a password is that of a name.

        Against guessing, each name gets one try at a time, and a failure takes a second. Names without a password share
        one queue. A password that was right once is recognized by a digest, as long as it isn't changed.

        Raises:
            StorageError: the passwords can't be read.
        """
        if max(len(name), len(password)) > _LONGEST:
            return False
        line = await asyncio.to_thread(password_line, self.settings, name)
        digest = hmac.digest(self._key, f"{line}\0{password}".encode("utf-8", "replace"), "sha256")
        if line and hmac.compare_digest(self._proved.get(name, b""), digest):
            return True
        async with self._turns[name if line else ""]:
            if await asyncio.to_thread(verify_password, self.settings, name, password):
                self._proved[name] = digest
                return True
            log.warning("a login failed")
            await asyncio.sleep(_AFTER_FAILURE_S)
            return False

    def _named_or_own(self, headers: Headers) -> str | None:
        """The user that a proxy names. A request with the token and no name is the server's account, if it is direct: a
        proxy may have lost the name."""
        if user := self.named(headers):
            return user
        return "" if is_direct(headers) and self.settings.login_header not in headers else None


def basic_credentials(authorization: str) -> tuple[str, str]:
    """Name and password of HTTP Basic (RFC 7617), both '' where a request has none. Pure."""
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        name, _, password = b64decode(given, validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return name, password


def _has_token(authorization: str, token: str) -> bool:
    """Whether a request sends the token as a bearer (RFC 6750). Pure."""
    scheme, _, given = authorization.partition(" ")
    return scheme.lower() == "bearer" and same(given, token)


def same(given: str | None, expected: str) -> bool:
    """Whether two texts are equal, compared in a time that reveals nothing about `expected`. Pure."""
    return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def is_direct(headers: Mapping[str, str]) -> bool:
    """Whether a request shows no sign of a proxy: it has no proxy's header, and a loopback name as its host. Pure."""
    return host_name(headers.get("host", "")) in LOOPBACK and not any(name.startswith(_FORWARDED) for name in headers)


def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets; '' when it is malformed."""
    parts = _AUTHORITY.fullmatch(host)
    if parts is None or not 0 < int(parts["port"] or 80) < 1 << 16:
        return ""
    name = parts["literal"] or parts["name"]
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name.rstrip(".").lower()


@cache
def _random_token() -> str:
    """The same for the whole process: `chainlit run --watch` loads the application again."""
    return secrets.token_urlsafe(24)
