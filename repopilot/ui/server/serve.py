"""Starts the browser chat: Chainlit with our application, on loopback unless the settings say otherwise."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path

from repopilot import __version__, disk, i18n
from repopilot.errors import StorageError, UsageError
from repopilot.redaction.log_records import log_to_stderr
from repopilot.settings import Settings

PACKAGE = Path(__file__).resolve().parents[2]
APP = "chainlit_app.py"
GRACE_S = 1
"""Seconds that running requests get when the server ends, before they are cancelled."""


def serve(settings: Settings, *, headless: bool = True) -> None:
    """Serve until stopped.

    Chainlit reads its folder from the environment when it is first imported, so the variable is set before.

    Args:
        settings: of the process.
        headless: whether not to open the page in the user's browser.

    Raises:
        UsageError: the address or the login settings can't be used.
        StorageError: the application's files can't be written.
    """
    _check_address(settings.host, settings.port)
    folder = app_folder(settings)
    os.environ["CHAINLIT_APP_ROOT"] = str(folder)
    _name_login_cookie(settings.port)

    # Not through chainlit.cli: it patches asyncio (nest_asyncio), and then model streams do not close cleanly.
    import uvicorn
    from chainlit.config import config, load_module
    from chainlit.server import app

    logging.getLogger("repopilot.api").setLevel(logging.INFO)
    log_to_stderr(logging.WARNING, "%(asctime)s %(levelname)s %(name)s: %(message)s")
    config.run.host = settings.host
    config.run.port = settings.port
    config.run.headless = headless
    config.run.module_name = str(folder / APP)
    load_module(config.run.module_name)
    uvicorn.run(app, host=settings.host, port=settings.port, log_level="error", timeout_graceful_shutdown=GRACE_S)


def _name_login_cookie(port: int) -> None:
    """Put the port into the name of Chainlit's login cookie: all ports of a host share its cookies."""
    os.environ.setdefault("CHAINLIT_AUTH_COOKIE_NAME", f"repopilot_login_{port}")
    os.environ.setdefault("CHAINLIT_COOKIE_SAMESITE", "strict")


def app_folder(settings: Settings) -> Path:
    """The folder with `chainlit_app.py`, `.chainlit/` and `public/`, in which Chainlit also keeps its temporary files.

    A checkout has it at its root. An installed package carries it as data that may be read-only, so a copy of this
    version is kept in the data directory.

    Raises:
        StorageError: the copy can't be written.
    """
    if (PACKAGE.parent / APP).exists():
        return PACKAGE.parent
    target = settings.home / "app" / __version__
    try:
        copy_app(PACKAGE / "app", target)
    except OSError as error:
        why = error.strerror or error
        raise StorageError(i18n.message("ui.errors.app_files", target=target, error=why)) from error
    return target


def copy_app(source: Path, target: Path) -> None:
    """Bring a copy of a folder up to date, each file as a whole: another server may be using it. Raises OSError."""
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        copy = target / file.relative_to(source)
        content = file.read_bytes()
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            disk.replace_file(copy, content, file.stat().st_mode & 0o777 | 0o600)


def _check_address(host: str, port: int) -> None:
    """Try the address first: Chainlit would only log a port in use, in the middle of its start. Raises UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise UsageError(
            i18n.message("ui.errors.port", host=host, port=port, error=error.strerror or error),
            i18n.message("ui.errors.port_hint"),
        ) from error
