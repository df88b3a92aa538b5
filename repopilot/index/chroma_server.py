"""The connection to a Chroma server that keeps vectors: its address, time limits and current fault."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from repopilot import i18n
from repopilot.llm.servers.address import reached, without_credentials

if TYPE_CHECKING:
    import httpx

_CONNECT_S = 1.0
_REQUEST_S = 3.0
_ANSWER_S = 4.0
PAUSE_S = 15.0
T = TypeVar("T")


class ChromaServer:
    """One server, shared by all indexes of a runtime. Thread-safe.

    `trouble` is a message on why the server can't be used, '' while it can or before the first request. `api` is
    Chroma's client, None while there is no connection.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        self.shown_url = without_credentials(url)
        self.trouble = ""
        self.api: Any = None
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._again_at = 0.0
        self._lock = threading.Lock()

    def ask(self, use: Callable[[], T], otherwise: T) -> T:
        """The result of `use`, which sends requests; `otherwise` if it fails, or failed some seconds ago.

        After a failure one caller at a time tries again; the others don't wait for the server.
        """
        with self._lock:
            if self.trouble and time.monotonic() < self._again_at:
                return otherwise
            self._again_at = time.monotonic() + PAUSE_S
        thread = ThreadPoolExecutor(1, "chroma")  # neither a DNS lookup nor an endless reply has a time limit
        try:
            found = thread.submit(use).result(_ANSWER_S)
        except Exception as error:  # Chroma's client raises all kinds of them if this is no Chroma server
            self.trouble = _trouble(error, self.shown_url)
            self.close()
            return otherwise
        finally:
            thread.shutdown(wait=False)
        self.trouble = ""
        return found

    def session(self) -> httpx.Client:
        """A new connection, with the token and time limits."""
        import httpx  # importing it takes longer than a search

        limits = httpx.Timeout(_REQUEST_S, connect=_CONNECT_S)
        hooks = {"response": [_check_access]}
        return httpx.Client(headers=self._headers, timeout=limits, event_hooks=hooks, **reached(self.url))

    def close(self) -> None:
        """Close the connection, which ends requests that are under way. The next use opens another."""
        api = self.api
        self.api = None
        if api is not None:
            api._session.close()


def _check_access(response: httpx.Response) -> None:
    if response.status_code in (401, 403):
        raise PermissionError(response.status_code)


def _trouble(error: Exception, url: str) -> str:
    import httpx

    if isinstance(error, PermissionError):
        return i18n.message("retrieval.vectors.server_refuses", url=url)
    if isinstance(error, (httpx.HTTPError, httpx.InvalidURL, OSError)):  # their texts may have the token or a password
        return i18n.message("retrieval.vectors.server_silent", url=url)
    said = " ".join(str(error).split())[:100] or type(error).__name__
    return i18n.message("retrieval.vectors.server_unusable", url=url, error=said)
