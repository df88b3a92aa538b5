"""Log records without secrets: error messages may quote some."""

from __future__ import annotations

import logging
from contextvars import ContextVar

from repopilot.redaction.redact import redacted

of_request: ContextVar[str] = ContextVar("of_request", default="")
"""The id of the request that is worked on, which its log records show."""


class RedactedFormatter(logging.Formatter):
    """A formatter whose lines, tracebacks included, hold no secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text without secrets, with the id of its request."""
        id = of_request.get()
        return redacted(super().format(record)) + (f" [request {id}]" if id else "")


def log_to_stderr(level: int, form: str | None = None) -> None:
    """Send the records of all loggers to standard error, unless another handler was set up before.

    Args:
        level: the lowest level that is written.
        form: the format of a line, as in `logging.Formatter`; by default, the standard library's.
    """
    ours = (each for each in logging.root.handlers if isinstance(each.formatter, RedactedFormatter))
    handler = next(ours, None) or logging.StreamHandler()
    handler.setFormatter(RedactedFormatter(form or logging.BASIC_FORMAT))
    logging.basicConfig(level=level, handlers=[handler])
