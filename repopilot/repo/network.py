"""Checks that an address may be contacted. Host names are resolved once and pinned, so that they can't change later."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from repopilot import i18n
from repopilot.errors import SourceError
from repopilot.repo.git_command import Remote
from repopilot.settings import Settings

_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: reaches any IPv4 address, private ones too


def check(url: str, settings: Settings, token: str = "") -> Remote:
    """Resolve the host of `url` and check that it may be cloned from.

    Args:
        url: an http or https address.
        settings: whether unencrypted http and private hosts are allowed.
        token: part of the result, sent with requests only.

    Returns:
        The remote with its pinned addresses.

    Raises:
        SourceError: unencrypted http, a host that can't be resolved, or one with any address that isn't global
            (loopback, private, link-local, …), unless the settings allow them.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if parts.scheme != "https" and not settings.allow_http:
        raise SourceError(i18n.message("repo.unencrypted", host=host), i18n.message("repo.unencrypted_hint"))
    addresses = _resolve(host, port)
    if not settings.allow_private_hosts:
        for address in addresses:
            _refuse_private(host, address)
    pins = () if _is_literal(host) else (f"{host}:{port}:{','.join(_bracketed(a) for a in addresses)}",)
    return Remote(url, pins, token)


def _resolve(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(
            i18n.message("repo.unknown_host", host=host), i18n.message("repo.check_address_and_network")
        ) from error
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


def _refuse_private(host: str, address: str) -> None:
    ip = ipaddress.ip_address(address)
    mapped = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    if ip.is_global and not ip.is_multicast and ip not in _TRANSLATED and (mapped is None or mapped.is_global):
        return
    raise SourceError(
        i18n.message("repo.private_host", host=host, address=address), i18n.message("repo.private_host_hint")
    )


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
