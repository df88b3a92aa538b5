"""Failures of a host as our errors."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from functools import wraps
from http import HTTPStatus
from types import FunctionType
from typing import Any, TypeVar

import requests
from urllib3 import exceptions as urllib3

from repopilot import i18n
from repopilot.errors import ForgeError, ForgeUnreachable, RepoPilotError
from repopilot.forge.items import ForgeItem
from repopilot.repo.remote.credentials import host_of

_OWN = {("fork", 403): "fork.refused", ("fork", 404): "fork.refused", ("fork", 409): "fork.taken"}
_OWN |= {("token", 404): "app_not_installed"}
_OWN |= {("start_branch", status): "fork.behind" for status in (400, 404, 409, 422)}
"""GitLab answers 404 where forking is disabled; for a commit that a fork lacks each host has a status of its own."""
_UNREACHED: tuple[tuple[type[Exception], str, str], ...] = (
    (urllib3.NameResolutionError, "unknown_host", "check_address_and_network"),
    (ssl.SSLCertVerificationError, "untrusted_certificate", "untrusted_certificate_hint"),
    (urllib3.ReadTimeoutError, "stopped_answering", "check_network"),
    (requests.exceptions.ChunkedEncodingError, "stopped_answering", "check_network"),
    (requests.ConnectionError, "unreachable", "check_address_and_network"),
)
"""Kinds of failures, with the messages that cloning has for them; the first kind among the causes counts."""
Client = TypeVar("Client")


def explained(said_by: Callable[[Exception], tuple[int, object]]) -> Callable[[type[Client]], type[Client]]:
    """Decorates a client: whatever its public methods raise becomes a ForgeError, even for an unexpected reply.

    Args:
        said_by: returns the status in an error of the client's library, and the host's message; 0 for other errors.
    """

    def of_method(method: FunctionType) -> Callable:
        @wraps(method)
        def call(self: Any, *args: Any) -> Any:
            try:
                return method(self, *args)
            except RepoPilotError:
                raise
            except Exception as error:
                status, said = said_by(error)
                ours = failed(self._item, status, said, method.__name__) if status else unreachable(self._api, error)
                raise ours from error

        return call

    def of_class(client: type[Client]) -> type[Client]:
        for name, method in list(vars(client).items()):
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(client, name, of_method(method))
        return client

    return of_class


def failed(item: ForgeItem, status: int, said: object, doing: str = "") -> ForgeError:
    """The error for a status of the API.

    Args:
        item: what was asked for.
        status: of the reply.
        said: what the host says about it.
        doing: the method of the client; forking has reasons of its own to fail.
    """
    known = {401: "401", 403: "403", 404: "404", 409: "409", 422: "422", 429: "429"}
    key = f"status.{known.get(status, '5xx' if status >= 500 else 'other')}"
    limited = status == 403 and "rate limit" in str(said).lower()
    key = "forge." + ("status.429" if limited else _OWN.get((doing, status), key))
    facts = {"url": item.url, "host": item.host, "status": status, "said": _sentence(said, status)}
    facts["project"] = item.project
    kind = ForgeUnreachable if limited or status == 429 or status >= 500 else ForgeError
    return kind(i18n.message(key, **facts), i18n.message(f"{key}_hint", **facts))


def _sentence(said: object, status: int) -> str:
    """What a host says, as a sentence; the name of the status where it says nothing or sends a page."""
    text = "" if isinstance(said, bytes) or str(said).lstrip().startswith("<") else " ".join(str(said or "").split())
    named = text[:300].rstrip() or next((each.phrase for each in HTTPStatus if each == status), str(status))
    return named if named.endswith((".", "!", "?", "…")) else f"{named}."


def unreachable(api: str, error: Exception) -> ForgeUnreachable:
    """The error for no reply, or for one that can't be read.

    Args:
        api: the address that was asked.
        error: what the client raised.
    """
    causes = list(_causes(error))
    for kind, message, hint in _UNREACHED:
        if any(isinstance(cause, kind) for cause in causes):
            return ForgeUnreachable(i18n.message(f"repo.{message}", host=host_of(api)), i18n.message(f"repo.{hint}"))
    return ForgeUnreachable(
        i18n.message("forge.unreachable", host=host_of(api)), i18n.message("forge.unreachable_hint")
    )


def _causes(error: object) -> Iterator[BaseException]:
    """An error and what it wraps: requests wraps urllib3's, which wraps others."""
    while isinstance(error, BaseException):
        yield error
        error = next((each for each in (getattr(error, "reason", None), *error.args) if isinstance(each, Exception)), 0)
