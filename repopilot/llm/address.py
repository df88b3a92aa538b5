"""Server addresses: as they may be shown, and whether they are on this machine."""

from __future__ import annotations

import ipaddress
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
