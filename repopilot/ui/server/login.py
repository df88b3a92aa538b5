"""Logins for a team, by Chainlit's hooks: with a password, or by a header from an authenticating proxy."""

from __future__ import annotations

import os
import secrets
from collections.abc import Awaitable, Callable

import chainlit as cl
from starlette.datastructures import Headers

from repopilot import disk, i18n
from repopilot.errors import StorageError, UsageError
from repopilot.logins.callers import Callers
from repopilot.logins.password_file import login_names
from repopilot.settings import Settings

_SECRET_VARIABLE = "CHAINLIT_AUTH_SECRET"


def install_login(callers: Callers) -> None:
    """Ask for a login where the settings say so.

    Args:
        callers: tell which login a request belongs to; shared with the API.

    Raises:
        UsageError: logins need a password, but none is set.
        StorageError: the data directory can't be used.
    """
    settings = callers.settings
    if not settings.login:
        return
    os.environ.setdefault(_SECRET_VARIABLE, signing_secret(settings))
    if settings.login == "header":
        cl.header_auth_callback(by_header(callers))
        return
    if not login_names(settings):
        raise UsageError(i18n.message("ui.errors.no_passwords"), i18n.message("ui.errors.no_passwords_hint"))
    cl.password_auth_callback(by_password(callers))


def by_password(callers: Callers) -> Callable[[str, str], Awaitable[cl.User | None]]:
    """Chainlit's callback for a login with a password."""

    async def login(name: str, password: str) -> cl.User | None:
        return cl.User(identifier=name) if await callers.has_password(name, password) else None

    return login


def by_header(callers: Callers) -> Callable[[Headers], Awaitable[cl.User | None]]:
    """Chainlit's callback for users named in a proxy's header; `AccessCheck` has verified that the proxy sent it."""

    async def login(headers: Headers) -> cl.User | None:
        user = callers.named(headers)
        return cl.User(identifier=user) if user else None

    return login


def signing_secret(settings: Settings) -> str:
    """The secret that signs logins: random, made once, in a file of the data directory that only this account can read.

    Raises:
        StorageError: it can't be read or written.
    """
    file = settings.home / "login_secret"
    try:
        if not file.exists():
            disk.write_private(file, secrets.token_hex(32))
        file.chmod(0o600)
        found = file.read_text("utf-8").strip()
    except OSError as error:
        raise StorageError(i18n.message("ui.errors.login_secret", file=file, error=error.strerror or error)) from error
    if len(found) < 32:
        raise StorageError(i18n.message("ui.errors.login_secret_short", file=file))
    return found
