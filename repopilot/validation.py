"""Accepts whole numbers as JSON has them, and describes pydantic's validation errors in one line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BeforeValidator

WHOLE = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
"""For integers that are strict otherwise: JSON doesn't distinguish 4.0 from 4."""
MOST = 5
"""Problems listed at most."""


def problems(errors: Iterable[Mapping[str, Any]]) -> str:
    """The first problems, each with its place where it has one.

    Args:
        errors: as pydantic and FastAPI list them.
    """
    return "; ".join(": ".join(filter(None, (_place(each), _said(each)))) for each in list(errors)[:MOST])


def _place(error: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in error["loc"] if part != "body")


def _said(error: Mapping[str, Any]) -> str:
    return str(error["msg"]).removeprefix("Value error, ")
