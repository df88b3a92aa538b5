"""One launch of the web server: its token, the address with the token, and the file and window that show it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from repopilot import disk
from repopilot.logins.callers import server_token
from repopilot.repo.remote.network import bracketed
from repopilot.settings import Settings
from repopilot.ui.server.access import PARAMETER, AccessRule
from repopilot.ui.server.security import WILDCARDS

_LISTENING_S = 30.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """Where the server listens: host, port, scheme, and the path in front of its own."""

    host: str
    port: int
    scheme: str = "http"
    root_path: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch: where it listens, who is let in, and the file that holds the address."""

    served: Served
    rule: AccessRule
    file: Path

    @property
    def address(self) -> str:
        """The address to open, with the token if one is needed. A wildcard host is reached on loopback."""
        at = self.served
        host = "127.0.0.1" if at.host in WILDCARDS else bracketed(at.host)
        query = "" if self.rule.access == "open" else f"?{urlencode({PARAMETER: self.rule.token})}"
        return f"{at.scheme}://{host}:{at.port}{at.root_path}/{query}"


def launch(settings: Settings, served: Served) -> Launch:
    """The launch of this process.

    Logins with a password need no token.

    Args:
        settings: of the process.
        served: where it listens.

    Raises:
        UsageError: logins by header without a token of the user's choice.
    """
    access = {"": settings.access, "password": "open", "header": "token"}[settings.login]
    token = server_token(settings)
    file = settings.home / f"address-{served.port}.txt"
    return Launch(served, AccessRule(access, token, served.port, settings.language, file.name), file)


def announce(started: Launch) -> None:
    """Print the address, and write it for programs of this account to a file that only they can read."""
    print(f"RepoPilot: {started.address}", flush=True)
    try:
        disk.write_private(started.file, started.address + "\n")
    except OSError as error:
        log.warning("the address can't be written to %s: %s", started.file, error.strerror or error)


def withdraw(started: Launch) -> None:
    """Remove the file with the address: the token ends with the launch."""
    with contextlib.suppress(OSError):
        started.file.unlink(missing_ok=True)


async def open_window(started: Launch) -> None:
    """Open the address in the user's browser, if there is a graphical one, as soon as the server listens."""
    if await _listens(started.served) and await asyncio.to_thread(_has_window):
        await asyncio.to_thread(webbrowser.open, started.address)


async def _listens(served: Served) -> bool:
    host = "127.0.0.1" if served.host in WILDCARDS else served.host
    deadline = asyncio.get_running_loop().time() + _LISTENING_S
    while asyncio.get_running_loop().time() < deadline:
        try:
            _, writer = await asyncio.open_connection(host, served.port, family=socket.AF_UNSPEC)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return True
    return False


def _has_window() -> bool:
    """Whether there is a graphical browser: a text browser would take over the terminal we run in."""
    try:
        return type(webbrowser.get()) is not webbrowser.GenericBrowser
    except webbrowser.Error:
        return False
