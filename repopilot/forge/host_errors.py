"""What went wrong at a host, as our errors."""

from __future__ import annotations

from repopilot import i18n
from repopilot.errors import ForgeError
from repopilot.forge.items import ForgeItem

TIMEOUT_S = 30
"""How long a host may take to reply."""
_OWN = {("fork", 403): "fork.refused", ("fork", 404): "fork.refused", ("fork", 409): "fork.taken"}
_OWN |= {("branch", status): "fork.behind" for status in (400, 404, 409, 422)}
"""GitLab answers 404 where forking is disabled; for a commit that a fork lacks each host has a status of its own."""


def failed(item: ForgeItem, status: int, said: str, doing: str = "") -> ForgeError:
    """What a status of the API means.

    Args:
        item: what was asked for.
        status: of the reply.
        said: what the host says about it.
        doing: `fork` or `branch`, which have reasons of their own to fail.
    """
    known = {401: "401", 403: "403", 404: "404", 409: "409", 422: "422", 429: "429"}
    key = f"status.{known.get(status, '5xx' if status >= 500 else 'other')}"
    limited = status == 403 and "rate limit" in said.lower()
    key = "forge." + ("status.429" if limited else _OWN.get((doing, status), key))
    facts = {"url": item.url, "host": item.host, "status": status, "said": said[:300], "project": item.project}
    return ForgeError(i18n.message(key, **facts), i18n.message(f"{key}_hint", **facts))


def unreachable(item: ForgeItem, error: Exception) -> ForgeError:
    """No reply, or none that can be read.

    Args:
        item: what was asked for.
        error: what the client raised.
    """
    return ForgeError(
        i18n.message("forge.unreachable", host=item.host, error=str(error) or type(error).__name__),
        i18n.message("forge.unreachable_hint"),
    )
