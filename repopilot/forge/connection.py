"""How a host's API is reached: how long it may take, what is asked again, and where nothing is sent."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlsplit

import requests
from urllib3 import Retry

from repopilot import i18n
from repopilot.errors import ForgeError
from repopilot.repo.remote.credentials import host_of

CHECK = "RepoPilot"
"""The name of what says on a commit what its review came to."""
REVIEW = "<!-- repopilot:review -->"
"""Marks what a review says on the whole where that is no summary."""
PAGE = 100
PAGES = 40
"""At most 4,000 comments or files are read; GitHub itself lists 3,000 files of a pull request."""
TIMEOUT_S = (4.5, 30)
"""How long a host may take to accept a connection, and to reply."""
ATTEMPTS: dict[str, Any] = {
    **{"total": 4, "connect": 1, "read": 1, "status": 2, "other": 0},
    "status_forcelist": list(range(500, 600)),
    "backoff_factor": 1,
    "retry_after_max": 60,
    "raise_on_status": False,  # the client says what the last reply was
    "allowed_methods": Retry.DEFAULT_ALLOWED_METHODS,
}


class Again(Retry):
    """What is asked again: never what would be done twice. What a limit refuses was not done, whatever it was."""

    LIMITS = frozenset({429})

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether a status is tried again."""
        return status_code in self.LIMITS or super().is_retry(method, status_code, has_retry_after)


class OwnHost(requests.Session):
    """Sends nothing, such as a token, to another host than that of its API, wherever a redirect leads."""

    def __init__(self, api: str) -> None:
        super().__init__()
        self._own = _origin(api)
        self.auth = lambda request: request  # else that of ~/.netrc
        for scheme in ("https://", "http://"):
            self.mount(scheme, requests.adapters.HTTPAdapter(max_retries=Again(**ATTEMPTS)))

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request. Raises ForgeError for another host."""
        if _origin(str(request.url)) != self._own:
            raise ForgeError(i18n.message("repo.redirected", host=self._own[1]), i18n.message("repo.redirected_hint"))
        return super().send(request, **options)


def _origin(url: str) -> tuple[str, str]:
    return urlsplit(url).scheme, host_of(url)


# What urllib3 tries again is said once, by us, where it fails.
logging.getLogger("urllib3.connectionpool").addFilter(lambda record: record.levelno != logging.WARNING)
