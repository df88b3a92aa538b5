"""What an OpenAI-compatible service says of itself and of a key: which models it has, and whether it takes the key.

A key goes to the address that it was given for, and is not sent on where that redirects to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from repopilot import i18n
from repopilot.errors import ModelError, ModelRefused
from repopilot.llm.servers.address import reached, without_credentials
from repopilot.llm.servers.server_json import parsed

_NO_KEY = (401, 403)
SPENT = (402, 429)
"""Statuses of a service whose limit is reached, or the credit there used up."""


def find_models(url: str, key: str, timeout_s: float) -> tuple[str, list[str]]:
    """The models of a service. Blocking.

    Args:
        url: of the API, with or without `/v1` at its end.
        key: for it, '' for none.
        timeout_s: of each of the two requests.

    Returns:
        The address of the API, and the names.

    Raises:
        ModelRefused: something answers, but refuses the key, or is no such service.
        ModelError: nothing answers.
    """
    failures: list[ModelError] = []
    for base in (url, f"{url}/v1"):
        try:
            return base, _names(base, key, timeout_s)
        except ModelError as error:
            failures.append(error)
    # What says most of what is wrong.
    raise max(failures, key=lambda each: (getattr(each, "status", 0) in _NO_KEY, isinstance(each, ModelRefused)))


def check_model(base: str, key: str, name: str, timeout_s: float) -> None:
    """Have a model write one token: some services list their models whatever the key. Blocking.

    Raises:
        ModelRefused: the key, the model, or more calls now.
        ModelError: nothing answers.
    """
    body = {"model": name, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    answer = _asked("POST", f"{base}/chat/completions", key, timeout_s, json=body)
    if answer.status_code == 404:
        raise ModelRefused(i18n.message("llm.hosted.no_model", name=name), i18n.message("llm.check_model_name"))
    if answer.status_code != 400:  # such as a model that wants its limit under another name
        _check(answer, base)


def _names(base: str, key: str, timeout_s: float) -> list[str]:
    answer = _asked("GET", f"{base}/models", key, timeout_s)
    _check(answer, base)
    try:
        return [model["id"] for model in parsed(answer.content)["data"] if isinstance(model["id"], str)]
    except (ValueError, KeyError, TypeError) as error:
        raise _refused(answer, base, "other") from error


def _asked(verb: str, url: str, key: str, timeout_s: float, **options: Any) -> httpx.Response:
    headers: Mapping[str, str] = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        return httpx.request(verb, url, headers=headers, timeout=timeout_s, **reached(url), **options)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        # Not as the cause: the header with the key is in some of them.
        raise ModelError(i18n.message("llm.server_silent", url=without_credentials(url))) from None


def _check(answer: httpx.Response, base: str) -> None:
    if answer.status_code in _NO_KEY:
        raise _refused(answer, base, "key")
    if answer.status_code in SPENT:
        raise _refused(answer, base, "limit")
    if not answer.is_success:
        raise _refused(answer, base, "server" if answer.is_server_error else "other")


def _refused(answer: httpx.Response, base: str, why: str) -> ModelRefused:
    """What an answer means, in our own words: what the service says may repeat the key."""
    facts = {"url": without_credentials(base), "status": answer.status_code}
    error = ModelRefused(i18n.message(f"llm.hosted.{why}", **facts), i18n.message(f"llm.hosted.{why}_hint"))
    error.status = answer.status_code
    return error
