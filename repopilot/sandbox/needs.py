"""Recognises from a failure that a test needs what the sandbox doesn't have: network, display, database. Pure."""

from __future__ import annotations

import re
from typing import Literal

from repopilot.types import TestRun

Need = Literal["database", "display", "network"]
# In this order: messages about a missing database often mention a refused connection, too.
_SIGNS: dict[Need, re.Pattern[str]] = {
    "database": re.compile(
        r"(?:psycopg\d?|asyncpg|pymysql|MySQLdb|pymongo|motor|redis|sqlalchemy|django\.db|cx_Oracle)[\w.]{0,80}\."
        r"\w{0,40}(?:OperationalError|Timeout\w*|Connection\w*|InterfaceError)|Can't connect to MySQL|"
        r"ServerSelectionTimeout|connection to server at .{0,200} failed|could not connect to server|"
        r"(?:localhost|127\.0\.0\.1):(?:5432|3306|6379|27017)\b"
    ),
    "display": re.compile(
        r"no display name and no \$DISPLAY|(?:cannot|could not|can't|unable to) (?:open|connect to) (?:X )?display|"
        r"couldn't connect to display|no DISPLAY|Qt platform plugin|cannot connect to X server|"
        r"No available video device"
    ),
    "network": re.compile(
        r"Name or service not known|name resolution|getaddrinfo failed|nodename nor servname|No address associated|"
        r"Could not resolve host|Network is unreachable|No route to host|NewConnectionError|Max retries exceeded|"
        r"Cannot connect to host|ClientConnector\w*Error|\bConnect(?:ion)?Error\b|git'?,? '?clone\b.{0,200}https?://|"
        r"unable to access 'https?://|socket.{0,200}Operation not permitted|PermissionError: \[Errno 1\].*"
    ),
}


def need_of(text: str) -> Need | None:
    """What a test needed, according to the text of its failure; None where the text doesn't say."""
    return next((need for need, sign in _SIGNS.items() if sign.search(text)), None)


def unmet_needs(run: TestRun) -> dict[Need, tuple[str, ...]]:
    """The ids of failed tests by what they need."""
    found: dict[Need, list[str]] = {}
    for failure in run.failures:
        if need := need_of(failure.assertion):
            found.setdefault(need, []).append(failure.test_id)
    return {need: tuple(dict.fromkeys(ids)) for need, ids in found.items()}
