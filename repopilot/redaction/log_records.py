"""Log records without secrets: messages of errors quote what they are about."""

from __future__ import annotations

import logging

from repopilot.redaction.redact import redacted


class RedactedFormatter(logging.Formatter):
    """A formatter whose lines, tracebacks included, hold no secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text without secrets."""
        return redacted(super().format(record))


def log_to_stderr(level: int, form: str | None = None) -> None:
    """Send the records of all loggers to standard error, unless a handler was set up before.

    Args:
        level: the lowest level that is written.
        form: of a line, as in `logging.Formatter`; the standard library's default without it.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(RedactedFormatter(form or logging.BASIC_FORMAT))
    logging.basicConfig(level=level, handlers=[handler])
