"""Checks that an address may be contacted. Host names are resolved once and pinned, so that they can't change later."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from repopilot import i18n
from repopilot.errors import SourceRefused, SourceUnreachable
from repopilot.repo.git_command import Remote
from repopilot.repo.remote.credentials import HostToken, token_for
from repopilot.settings import Settings

_PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
_RESERVED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "100.64.0.0/10",  # shared by the customers of a provider
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # protocol assignments, Teredo
        "3fff::/20",  # documentation
    )
)
"""Special ranges that some Python version doesn't list. Outside of 2000::/3, IPv6 has only special ranges: loopback,
IPv4-compatible and -mapped, NAT64, local, multicast."""


def check(url: str, settings: Settings, token: HostToken | None = None) -> Remote:
    """Resolve the host of `url` and check that it may be cloned from.

    Args:
        url: an http or https address.
        settings: whether unencrypted http and private hosts are allowed, and the tokens of hosts.
        token: given for a host; it takes precedence over the settings.

    Returns:
        The remote with its pinned addresses and its host's token; no token over unencrypted http, except on loopback,
        where nobody can listen.

    Raises:
        UsageError: `settings.git_token` can't be read.
        SourceError: unencrypted http, a host that can't be resolved, or one with any address that isn't global
            (loopback, private, link-local, …), unless the settings allow them.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if parts.scheme != "https" and not settings.allow_http:
        raise SourceRefused(i18n.message("repo.unencrypted", host=host), i18n.message("repo.unencrypted_hint"))
    addresses = _resolve(host, port)
    private = [address for address in addresses if not _is_global(ipaddress.ip_address(address))]
    if private and not settings.allow_private_hosts:
        raise SourceRefused(
            i18n.message("repo.private_host", host=host, address=private[0]), i18n.message("repo.private_host_hint")
        )
    pins = () if _is_literal(host) else (f"{host}:{port}:{','.join(bracketed(a) for a in addresses)}",)
    confidential = parts.scheme == "https" or all(ipaddress.ip_address(address).is_loopback for address in addresses)
    secret = token_for(url, settings.git_token, token) if confidential else ""
    return Remote(url, pins, secret, confidential)


def _resolve(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceUnreachable(
            i18n.message("repo.unknown_host", host=host), i18n.message("repo.check_address_and_network")
        ) from error
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


def _is_global(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is on the public internet; for a 6to4 address, its embedded IPv4 address must be, too."""
    if not ip.is_global or any(ip in network for network in _RESERVED):
        return False
    if ip.version == 6 and ip not in _PUBLIC_IPV6:
        return False
    inside = getattr(ip, "sixtofour", None)
    return inside is None or _is_global(inside)


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
