"""Tokens, each bound to the host it was given for: which of them a remote may get. Pure.

A token belongs to a host with its port. Another host never gets it, wherever that host's address came from: a link, a
redirect, a submodule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from repopilot import i18n
from repopilot.errors import UsageError

_DEFAULT_HOST = "github.com"
_DEFAULT_PORTS = {"https": 443, "http": 80}
_ENTRY = re.compile(r"(?P<host>(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?)=(?P<secret>[^=].*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class HostToken:
    """A token and the only host that may get it, as `host_of` names it. It is held in memory and never stored."""

    host: str
    secret: str = field(repr=False)


def host_of(url: str) -> str:
    """The host of an address in lower case, without `www.`, with its port unless it is the scheme's own."""
    parts = urlsplit(url)
    name = (parts.hostname or "").removeprefix("www.").rstrip(".")
    name = f"[{name}]" if ":" in name else name
    own = parts.port is None or parts.port == _DEFAULT_PORTS.get(parts.scheme)
    return name if own else f"{name}:{parts.port}"


def token_for(url: str, setting: str, given: HostToken | None = None) -> str:
    """The token that the host of `url` may get.

    Args:
        url: the address to contact.
        setting: `settings.git_token`.
        given: a token that was typed or part of an address; it takes precedence over the settings.

    Returns:
        The token, '' for none.

    Raises:
        UsageError: the setting can't be read, or the token has control characters.
    """
    host = host_of(url)
    secret = given.secret if given is not None and given.host == host else _bound(setting).get(host, "")
    if _CONTROL.search(secret):
        raise UsageError(i18n.message("repo.token_characters"))
    return secret


def token_hosts(setting: str) -> tuple[str, ...]:
    """The hosts that `settings.git_token` has a token for. Raises UsageError."""
    return tuple(_bound(setting))


def setting_with(setting: str, given: HostToken | None) -> str:
    """`settings.git_token` with a token that was typed, which replaces any other for its host. Raises UsageError."""
    if given is None:
        return setting
    return ",".join(f"{host}={secret}" for host, secret in {**_bound(setting), given.host: given.secret}.items())


def _bound(setting: str) -> dict[str, str]:
    """The tokens of the setting by host: `host=token` entries, and a plain one, which is github.com's."""
    bound: dict[str, str] = {}
    for number, entry in enumerate(re.split(r"[\s,]+", setting.strip(" \t\r\n,")), 1):
        if not entry:
            continue
        host, secret = _entry(entry, number)
        if host in bound:
            raise UsageError(i18n.message("repo.token_twice", host=host), i18n.message("repo.token_setting_hint"))
        bound[host] = secret
    return bound


def _entry(entry: str, number: int) -> tuple[str, str]:
    """Host and token of an entry. An entry with an equals sign before its end is never taken for a plain token."""
    if match := _ENTRY.fullmatch(entry):
        return host_of(f"https://{match['host']}"), match["secret"]
    if "=" in entry.rstrip("="):
        raise UsageError(i18n.message("repo.token_setting", number=number), i18n.message("repo.token_setting_hint"))
    return _DEFAULT_HOST, entry
