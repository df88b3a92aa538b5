"""Passwords among the arguments of calls that log in, where no name stands beside them: `login("me", "…")`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.redaction.randomness import is_bare_password, is_words_and_number

ANCHORS = tuple(
    "login( connect( authenticate( basicauth( basic_auth( authentication( credentials( credential( pdo( mysqli( auth=( "
    "getconnection( auth( basic( createconnection( opendatasource( auth=[ bind( bind_s( sign( token( cipher( "
    "signin( sequelize( smtp.start( client( hmac( connector( pool( createaccount( createuser( create_user( adduser( "
    "add_user( newuser( logon( log_in( sign_in( signup( sign_up( register( setcredentials( withcredentials( "
    "real_connect( mysql_connect( pg_connect( ssh2_auth_password( ftp_login( ldap_bind( imap_open( createhmac( "
    "hmac.new( hmac_sha256( useradd( changepassword( change_password( setbasicauth( withbasicauth( "
    "basicauthentication( database( dial( odbc( open_database( connection( newclient( signer( verify(".split()
)
SOLE_ANCHORS = tuple(
    "bearer_auth( bearerauth( fernet( bot( telebot( cookieparser( secretkeyspec( symmetricsecuritykey( ssh.password( "
    "secretstr( apikey( hmac.new( signedcookie( setauthtoken( withtoken( statictoken( accesstoken( bearertoken( "
    "cookie_secret( hmacsha256( pbkdf2( aes.new( newcipher( statictokensource( tokenauthentication(".split()
)
"""Calls whose first string may be the secret."""
_STRING = re.compile(r"""["'`]([^"'`\n]*)["'`]""")
_NUMBERED_NAME = re.compile(r"[a-z]+(?:[-_][a-z]+)*[-_]?\d+")
_ARGUMENTS = re.compile(r"""(?:[^"'`\n()\[\]]|\n|["'`][^"'`\n]*["'`]|\([^()\n]*\)){0,60}""")
_NO_PASSWORD = re.compile(
    r"utf\d|[\w+-]+:|[~+%]\w+|[\w.+-]+@[\w-]+\.[\w.-]+$|\w+=[\w.-]+,|.* |[\w-]+(?:\.[\w-]+)+$|\W|.*[,;]$"
)


def passwords_in_call(text: str, at: int, anchor: str) -> Iterator[tuple[int, int, str]]:
    """The passwords among the strings of a call, without its first argument, which counts for SOLE_ANCHORS only.

    Args:
        text: any text.
        at: where one of `ANCHORS` stands in it.
        anchor: the one that stands there.

    Yields:
        Start, end and the rule's name.
    """
    arguments = _ARGUMENTS.match(text, at + len(anchor))
    assert arguments is not None
    for string in _STRING.finditer(text, *arguments.span()):
        first = anchor not in SOLE_ANCHORS and "," not in text[arguments.start() : string.start()]
        if not first and not _NO_PASSWORD.match(string[1]) and _is_secret(string[1]):
            yield *string.span(1), "password"


def _is_secret(value: str) -> bool:
    if _NUMBERED_NAME.fullmatch(value):
        return is_words_and_number(value)
    return is_bare_password(value)
