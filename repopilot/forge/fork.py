"""A fork of the user's account, for a repository that they may not push to."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from repopilot import i18n
from repopilot.errors import ForgeError
from repopilot.forge.contents import Fork
from repopilot.forge.hosts import Forge
from repopilot.forge.items import ForgeItem

LONGEST_WAIT_S = 300  # GitHub asks to wait this long before contacting its support


def ready_fork(item: ForgeItem, forge: Forge, clone_url: str, longest_s: float) -> Fork:
    """The user's fork, created where there is none, once it can be pushed to. Blocking.

    Args:
        item: an issue of the repository.
        forge: its host.
        clone_url: of the repository.
        longest_s: how long to wait for the fork; at most `LONGEST_WAIT_S`.

    Raises:
        ForgeError: the host refuses, takes too long, or names an address on another server, which would get the code.
    """
    fork = forge.fork()
    if urlsplit(fork.clone_url)[:2] != urlsplit(clone_url)[:2]:
        raise ForgeError(i18n.message("forge.fork.elsewhere", url=fork.clone_url[:200], host=item.host))
    longest_s = min(longest_s, LONGEST_WAIT_S)
    end = time.monotonic() + longest_s
    while not forge.fork_ready(fork):
        if time.monotonic() > end:
            facts = {"host": item.host, "fork": fork.name, "seconds": round(longest_s)}
            raise ForgeError(i18n.message("forge.fork.not_ready", **facts), i18n.message("forge.fork.not_ready_hint"))
        time.sleep(1)
    return fork
