"""The names and passwords of those who may log in: one line each, in a file that only the server's account can read.

    name:scrypt:<salt>:<hash>

`repopilot password NAME` writes it. It is read at every login, so that a change needs no restart.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from repopilot import disk, i18n
from repopilot.errors import StorageError, UsageError
from repopilot.settings import Settings

SHORTEST = 8
_SCRYPT = "scrypt"
_COST = {"n": 2**14, "r": 8, "p": 5}
"""About 16 MB and a quarter of a second for each try."""
_LINE = re.compile(rf"([^:]+):({_SCRYPT}:[0-9a-f]{{32}}:[0-9a-f]{{128}})")
_NOBODY = f"{_SCRYPT}:{'00' * 16}:{'00' * 64}"


def password_file(settings: Settings) -> Path:
    """Where the passwords are."""
    return settings.home / "passwords"


def set_password(settings: Settings, name: str, password: str) -> None:
    """Let `name` log in with `password`, which replaces any earlier one.

    Raises:
        UsageError: the name can't be written in the file, or the password is too short.
        StorageError: the file can't be read or written.
    """
    if not name or name != name.strip() or not name.isprintable() or ":" in name:
        raise UsageError(i18n.message("ui.errors.login_name", name=repr(name)))
    if len(password) < SHORTEST:
        raise UsageError(i18n.message("ui.errors.short_password", length=SHORTEST))
    salt = secrets.token_bytes(16)
    _write(settings, _read(settings) | {name: f"{_SCRYPT}:{salt.hex()}:{_hashed(password, salt)}"})


def remove_password(settings: Settings, name: str) -> bool:
    """Stop `name` from logging in. Returns whether it could before. Raises StorageError as `set_password`."""
    known = _read(settings)
    removed = known.pop(name, None) is not None
    if removed:
        _write(settings, known)
    return removed


def login_names(settings: Settings) -> frozenset[str]:
    """Who may log in. Raises StorageError: the file can't be read."""
    return frozenset(_read(settings))


def password_line(settings: Settings, name: str) -> str:
    """The entry of a name in the file, '' for none. Raises StorageError: the file can't be read."""
    return _read(settings).get(name, "")


def verify_password(settings: Settings, name: str, password: str) -> bool:
    """Whether `password` is the password of `name`. It takes the same time for a name that doesn't exist.

    Raises:
        StorageError: the file can't be read.
    """
    known = _read(settings)
    _, salt, expected = known.get(name, _NOBODY).split(":")
    right = hmac.compare_digest(_hashed(password, bytes.fromhex(salt)), expected)
    return right and name in known


def _hashed(password: str, salt: bytes) -> str:
    return hashlib.scrypt(password.encode(), salt=salt, maxmem=64 * 1024 * 1024, **_COST).hex()


def _read(settings: Settings) -> dict[str, str]:
    file = password_file(settings)
    try:
        lines = file.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise StorageError(i18n.message("ui.errors.password_file", file=file, error=error)) from error
    found = map(_LINE.fullmatch, lines)
    return {line[1]: line[2] for line in found if line}


def _write(settings: Settings, known: dict[str, str]) -> None:
    file = password_file(settings)
    try:
        disk.write_private(file, "".join(f"{name}:{value}\n" for name, value in known.items()))
    except OSError as error:
        raise StorageError(i18n.message("ui.errors.password_file", file=file, error=error.strerror or error)) from error
