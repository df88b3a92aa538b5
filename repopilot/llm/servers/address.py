"""Server addresses: without credentials for display, whether they are on this machine, and httpx's options for them."""

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
    """Whether an address names this machine. Does no name lookup."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reached(url: str) -> dict[str, Any]:
    """httpx's options for a server: shared certificates, and no proxy for a server on this machine."""
    return {"verify": _trusted(), "trust_env": not is_loopback(url)}


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates that httpx trusts. Cached, since reading them takes 20 ms for each client."""
    import httpx

    return httpx.create_ssl_context()
