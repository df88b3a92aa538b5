"""Log records without secrets: messages of errors quote what they are about."""

from __future__ import annotations

import logging
from contextvars import ContextVar

from repopilot.redaction.redact import redacted

of_request: ContextVar[str] = ContextVar("of_request", default="")
"""The id of the request that is worked on, in whose records it is."""


class RedactedFormatter(logging.Formatter):
    """A formatter whose lines, tracebacks included, hold no secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text without secrets, with the id of the request it is about."""
        id = of_request.get()
        return redacted(super().format(record)) + (f" [request {id}]" if id else "")


def log_to_stderr(level: int, form: str | None = None) -> None:
    """Send the records of all loggers to standard error, unless a handler of others was set up before.

    Args:
        level: the lowest level that is written.
        form: of a line, as in `logging.Formatter`; the standard library's default without it.
    """
    ours = (each for each in logging.root.handlers if isinstance(each.formatter, RedactedFormatter))
    handler = next(ours, None) or logging.StreamHandler()
    handler.setFormatter(RedactedFormatter(form or logging.BASIC_FORMAT))
    logging.basicConfig(level=level, handlers=[handler])
