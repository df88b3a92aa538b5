"""How a host's API is reached: timeouts, retries, and no requests to other hosts."""

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
"""The name of the check run or commit status that shows a review's outcome."""
REVIEW = "<!-- repopilot:review -->"
"""Marks the body of a review that doesn't contain the summary."""
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
    "raise_on_status": False,  # the client reports the last reply
    "allowed_methods": Retry.DEFAULT_ALLOWED_METHODS,
}


class Again(Retry):
    """Retries requests that are safe to repeat, and any request that a rate limit refused, as it had no effect."""

    LIMITS = frozenset({429})

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether a request that got this status is retried."""
        return status_code in self.LIMITS or super().is_retry(method, status_code, has_retry_after)


class OwnHost(requests.Session):
    """A session that sends nothing, such as a token, to other hosts than its API's, even after a redirect."""

    def __init__(self, api: str) -> None:
        super().__init__()
        self._own = _origin(api)
        self.auth = lambda request: request  # else requests takes it from ~/.netrc
        for scheme in ("https://", "http://"):
            self.mount(scheme, requests.adapters.HTTPAdapter(max_retries=Again(**ATTEMPTS)))

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request. Raises ForgeError for another host."""
        if _origin(str(request.url)) != self._own:
            raise ForgeError(i18n.message("repo.redirected", host=self._own[1]), i18n.message("repo.redirected_hint"))
        return super().send(request, **options)


def _origin(url: str) -> tuple[str, str]:
    return urlsplit(url).scheme, host_of(url)


# urllib3 warns of each retry; we report a failure once instead.
logging.getLogger("urllib3.connectionpool").addFilter(lambda record: record.levelno != logging.WARNING)
