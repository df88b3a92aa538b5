"""Which local folders a client may name: those within its roots, or within the folders that the server was started
with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mcp.server.session import ServerSession
from mcp.shared.context import RequestContext
from mcp.shared.exceptions import McpError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import ClientCapabilities, ListRootsRequest, ListRootsResult, RootsCapability, ServerRequest

from repopilot.errors import SourceRefused, UsageError
from repopilot.i18n import message
from repopilot.repo.local import is_work_tree, work_tree_top
from repopilot.repo.paths.wide_folders import is_wide, require_narrow

ROOTS_S = 10
"""How long a client may take to name its roots."""
Roots = Callable[[], Awaitable[tuple[Path, ...] | None]]
"""Asks a client for its roots; None if it doesn't tell any."""


async def no_roots() -> None:
    """The roots of a client that doesn't tell any."""


def roots_of(context: RequestContext[ServerSession, object, object]) -> Roots:
    """A function that asks the client of a request for its roots."""

    async def ask() -> tuple[Path, ...] | None:
        if not context.session.check_client_capability(ClientCapabilities(roots=RootsCapability())):
            return None
        try:
            told = await context.session.send_request(
                ServerRequest(ListRootsRequest()),
                ListRootsResult,
                timedelta(seconds=ROOTS_S),
                ServerMessageMetadata(related_request_id=context.request_id),
            )
        except McpError:  # it has the capability, but didn't answer
            return None
        addresses = (urlsplit(str(root.uri)) for root in told.roots)
        return tuple(Path(url2pathname(each.path)).resolve() for each in addresses if each.scheme == "file")

    return ask


def named_folders(names: Iterable[str]) -> tuple[Path, ...]:
    """The folders that a server is started with.

    Raises:
        UsageError: one isn't a folder, or holds a whole home folder.
    """
    folders = tuple(Path(name).expanduser().resolve() for name in names)
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(message("mcp.no_folder", folder=folder))
        try:
            require_narrow(folder)
        except SourceRefused as error:
            raise UsageError(error.message, error.hint) from error
    return folders


def check_readable(folder: Path, named: tuple[Path, ...], roots: tuple[Path, ...] | None) -> None:
    """Check that a client may name a folder: one within its roots and the named folders; if there are neither, any but
    the widest.

    Args:
        folder: resolved.
        named: the folders at the start of the server.
        roots: of the client.

    Raises:
        UsageError, SourceRefused: it may not.
    """
    require_narrow(folder)
    if named or roots is not None:
        _require_within(folder, (*named, *(roots or ())))


def check_writable(folder: Path, named: tuple[Path, ...], roots: tuple[Path, ...] | None) -> None:
    """Check that a client may write to a folder: a git work tree within its roots or the named folders. Blocking.

    Args:
        folder: resolved.
        named: the folders at the start of the server.
        roots: of the client.

    Raises:
        UsageError, SourceRefused: it may not.
    """
    require_narrow(folder)
    if not (named or roots):
        raise UsageError(message("mcp.no_folders_named"), message("mcp.no_folders_named_hint"))
    _require_within(folder, (*named, *(roots or ())))
    top = work_tree_top(folder) if is_work_tree(folder) else None
    if top is None:
        raise UsageError(message("mcp.no_work_tree", folder=folder), message("mcp.no_work_tree_hint"))
    require_narrow(top)


def _require_within(folder: Path, allowed: tuple[Path, ...]) -> None:
    areas = [each for each in allowed if not is_wide(each)]
    if not any(folder.is_relative_to(each) for each in areas):
        names = ", ".join(map(str, areas)) or "-"
        said = message("mcp.outside_folders", folder=folder, folders=names)
        raise UsageError(said, message("mcp.outside_folders_hint"))
