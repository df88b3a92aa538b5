"""Server addresses: as they may be shown, whether they are on this machine, and how they are reached."""

from __future__ import annotations

import ipaddress
import ssl
from functools import cache
from typing import Any
from urllib.parse import urlsplit


def without_credentials(url: str) -> str:
    """An address without user name, password and query."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "") + parts.path
    except ValueError:  # not an address: a bad port, or brackets around nothing
        return url.rpartition("@")[2]


def is_loopback(url: str) -> bool:
    """Whether an address names this machine. Looks no name up."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reached(url: str) -> dict[str, Any]:
    """Options of httpx for a server: the system's certificates, and no proxy before one of this machine."""
    return {"verify": _trusted(), "trust_env": not is_loopback(url)}


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates that httpx trusts. Without it each client reads them again, which takes 20 ms."""
    import httpx

    return httpx.create_ssl_context()
