"""Server addresses: as they may be shown, whether they are on this machine, and which servers are trusted."""

from __future__ import annotations

import ipaddress
import ssl
from functools import cache
from urllib.parse import urlsplit

import httpx


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


@cache
def trusted() -> ssl.SSLContext:
    """The certificates that httpx trusts. Without it each client reads them again, which takes 20 ms."""
    return httpx.create_ssl_context()
