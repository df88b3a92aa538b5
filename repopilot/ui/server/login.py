"""Logins for a team, by Chainlit's hooks: with a password, or by the header of a proxy that has authenticated."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable

import chainlit as cl
from starlette.datastructures import Headers

from repopilot import i18n
from repopilot.errors import StorageError, UsageError
from repopilot.settings import Settings
from repopilot.ui.server.launch import write_private
from repopilot.ui.server.password_file import login_names, verify_password

_SECRET_VARIABLE = "CHAINLIT_AUTH_SECRET"
_AFTER_FAILURE_S = 1.0
_LONGEST = 256
log = logging.getLogger(__name__)


def install_login(settings: Settings) -> None:
    """Ask for a login where the settings say so.

    Raises:
        UsageError: logins with a password, and nobody has one.
        StorageError: the data directory can't be used.
    """
    if not settings.login:
        return
    os.environ.setdefault(_SECRET_VARIABLE, signing_secret(settings))
    if settings.login == "header":
        cl.header_auth_callback(by_header(settings.login_header))
        return
    if not login_names(settings):
        raise UsageError(i18n.message("ui.errors.no_passwords"), i18n.message("ui.errors.no_passwords_hint"))
    cl.password_auth_callback(by_password(settings))


def by_password(settings: Settings) -> Callable[[str, str], Awaitable[cl.User | None]]:
    """Chainlit's callback for a login with a password.

    One try at a time for each name, and a second after a failure: guessing gets nowhere. Names without a password share
    one queue.
    """
    turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def login(name: str, password: str) -> cl.User | None:
        if max(len(name), len(password)) > _LONGEST:
            return None
        known = await asyncio.to_thread(login_names, settings)
        async with turns[name if name in known else ""]:
            if await asyncio.to_thread(verify_password, settings, name, password):
                return cl.User(identifier=name)
            log.warning("a login failed")
            await asyncio.sleep(_AFTER_FAILURE_S)
            return None

    return login


def by_header(name: str) -> Callable[[Headers], Awaitable[cl.User | None]]:
    """Chainlit's callback for users that a proxy names in a header; `AccessCheck` knows that it is the proxy."""

    async def login(headers: Headers) -> cl.User | None:
        named = headers.getlist(name)
        # A second one may be the visitor's own, which the proxy has left in.
        user = named[0].strip() if len(named) == 1 else ""
        return cl.User(identifier=user) if user and len(user) <= _LONGEST else None

    return login


def signing_secret(settings: Settings) -> str:
    """What logins are signed with: random, made once, in a file of the data directory that only this account can read.

    Raises:
        StorageError: it can't be read or written.
    """
    file = settings.home / "login_secret"
    try:
        if not file.exists():
            write_private(file, secrets.token_hex(32))
        file.chmod(0o600)
        found = file.read_text("utf-8").strip()
    except OSError as error:
        raise StorageError(i18n.message("ui.errors.login_secret", file=file, error=error.strerror or error)) from error
    if len(found) < 32:
        raise StorageError(i18n.message("ui.errors.login_secret_short", file=file))
    return found
