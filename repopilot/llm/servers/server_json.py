"""Parses JSON answers of model servers. Whatever answers at an address may not be a model server at all."""

from __future__ import annotations

import json
from typing import Any

import httpx


def json_of(answer: httpx.Response) -> Any:
    """The value of an answer. Raises httpx.HTTPStatusError for a failure, ValueError for anything but JSON."""
    return parsed(answer.raise_for_status().content)


def parsed(data: bytes | str) -> Any:
    """A value from JSON. Raises ValueError, also for one that is nested too deep."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
