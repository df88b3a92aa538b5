"""Asks an OpenAI-compatible service which models it has, and whether it accepts a key.

A key is sent only to the address that it was given for: redirects are not followed.
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
"""Statuses for a limit that is reached or credit that is used up."""


def find_models(url: str, key: str, timeout_s: float) -> tuple[str, list[str]]:
    """The models of a service. Blocking.

    Args:
        url: of the API, with or without `/v1` at its end.
        key: for it, '' for none.
        timeout_s: of each of the two requests.

    Returns:
        The address of the API, and the names.

    Raises:
        ModelRefused: something answers, but refuses the key or isn't such a service.
        ModelError: nothing answers.
    """
    failures: list[ModelError] = []
    for base in (url, f"{url}/v1"):
        try:
            return base, _names(base, key, timeout_s)
        except ModelError as error:
            failures.append(error)
    # The most informative failure.
    raise max(failures, key=lambda each: (getattr(each, "status", 0) in _NO_KEY, isinstance(each, ModelRefused)))


def check_model(base: str, key: str, name: str, timeout_s: float) -> None:
    """Have a model write one token: some services list their models without checking the key. Blocking.

    Raises:
        ModelRefused: the service refuses the key, the model, or more calls at present.
        ModelError: nothing answers.
    """
    answer = one_token(base, key, name, timeout_s)
    if answer.status_code == 404:
        raise ModelRefused(i18n.message("llm.hosted.no_model", name=name), i18n.message("llm.check_model_name"))
    if answer.status_code != 400:  # 400: for example a model with another name for the token limit
        _check(answer, base)


def one_token(base: str, key: str, name: str, timeout_s: float, **options: Any) -> httpx.Response:
    """The answer to a call for one token; `options` are added to its body. Raises ModelError if nothing answers."""
    body = {"model": name, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, **options}
    return _asked("POST", f"{base}/chat/completions", key, timeout_s, json=body)


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
        # Not chained: some of these errors contain the header with the key.
        raise ModelError(i18n.message("llm.server_silent", url=without_credentials(url))) from None


def _check(answer: httpx.Response, base: str) -> None:
    if answer.status_code in _NO_KEY:
        raise _refused(answer, base, "key")
    if answer.status_code in SPENT:
        raise _refused(answer, base, "limit")
    if not answer.is_success:
        raise _refused(answer, base, "server" if answer.is_server_error else "other")


def _refused(answer: httpx.Response, base: str, why: str) -> ModelRefused:
    """The error for an answer, in our own words: the service's text may repeat the key."""
    facts = {"url": without_credentials(base), "status": answer.status_code}
    error = ModelRefused(i18n.message(f"llm.hosted.{why}", **facts), i18n.message(f"llm.hosted.{why}_hint"))
    error.status = answer.status_code
    return error
