"""Passwords among the arguments of calls that log in, where no name stands beside them: `login("me", "…")`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.redaction.randomness import is_bare_password

ANCHORS = tuple(
    "login( connect( authenticate( basicauth( basic_auth( authentication( credentials( credential( pdo( mysqli( auth=( "
    "getconnection( auth( basic( createconnection( opendatasource( auth=[ bind( bind_s( sign( token( cipher( "
    "signin( sequelize( smtp.start( client( hmac( connector( pool(".split()
)
_STRING = re.compile(r"""["'`]([^"'`\n]*)["'`]""")
_ARGUMENTS = re.compile(r"""(?:[^"'`\n()\[\]]|\n|["'`][^"'`\n]*["'`]|\([^()\n]*\)){0,60}""")
_NO_PASSWORD = re.compile(
    r"[\w+-]+:|[~+%]\w+|[\w.+-]+@[\w-]+\.[\w.-]+$|\w+=[\w.-]+,|.* |[\w-]+(?:\.[\w-]+)+$|\W|.*[,;]$"
)


def passwords_in_call(text: str, at: int, anchor: str) -> Iterator[tuple[int, int, str]]:
    """The passwords among the strings of a call, the first of which is another argument.

    Args:
        text: any text.
        at: where one of `ANCHORS` stands in it.
        anchor: which.

    Yields:
        Start, end and the rule's name.
    """
    arguments = _ARGUMENTS.match(text, at + len(anchor))
    assert arguments is not None
    for string in _STRING.finditer(text, *arguments.span()):
        first = "," not in text[arguments.start() : string.start()]
        if not first and not _NO_PASSWORD.match(string[1]) and is_bare_password(string[1]):
            yield *string.span(1), "password"
