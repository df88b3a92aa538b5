"""Server addresses as they may be shown."""

from __future__ import annotations

from urllib.parse import urlsplit


def without_credentials(url: str) -> str:
    """An address without user name, password and query."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "") + parts.path
    except ValueError:  # not an address: a bad port, or brackets around nothing
        return url.rpartition("@")[2]
