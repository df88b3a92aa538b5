"""Which repositories a login may see: those it opened itself, and those that somebody shares with everybody.

Where nobody logs in (the owner is ''), that is all of them. A remote repository is a login's own once its host has
given the login access; a local folder belongs to the login that opened it first.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from repopilot import i18n
from repopilot.agents.testing import demonstration
from repopilot.errors import RepoPilotError, SourceRefused
from repopilot.index.store import IndexStore
from repopilot.repo.clone import clone_dir, clone_key, fetch_limits, remote_commit
from repopilot.repo.local import folder_key
from repopilot.repo.paths.wide_folders import require_narrow
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.source import parse_source, split_token
from repopilot.settings import Settings
from repopilot.types import Source

if TYPE_CHECKING:
    from repopilot.runtime import Runtime
from repopilot.database.chat_database import Database
from repopilot.logins.recent import EVERYBODY, all_opened, remember

Admission = Literal["known", "new", "shared"]
T = TypeVar("T")
_deciding = threading.Lock()


def visible(store: IndexStore, database: Database, settings: Settings, owner: str) -> IndexStore:
    """The indexes that a login may search. Blocking.

    Args:
        store: of all indexes.
        database: records who opened what.
        settings: of the data directory.
        owner: the login's name.
    """
    if not owner:
        return store
    sources = _sources(database, lambda name: name in (owner, EVERYBODY))
    # Some hosts know a repository only by its address with `.git`, under which it is kept then.
    known = [*sources, *(replace(each, url=f"{each.url}.git") for each in sources if each.url)]
    return store.only(frozenset(next(folders_of(each, settings)).name for each in known))


def may_see(source: str, database: Database, owner: str) -> bool:
    """Whether a repository is a login's own or shared; True for all where nobody logs in. Blocking."""
    named = parsed(source)
    known = _sources(database, lambda name: name in (owner, EVERYBODY)) if owner else []
    return not owner or (named is not None and any(_is_same(named, each) for each in known))


async def opened_for(owner: str, text: str, runtime: Runtime, work: Callable[[], Awaitable[T]]) -> T:
    """Open a repository for a login, if that may have it; from then on it is the login's own.

    Args:
        owner: the login's name, '' for whoever may open everything.
        text: names the repository; it may carry a token.
        runtime: the state of the process.
        work: opens it.

    Raises:
        RepoPilotError: as `admit` and `work`.
    """
    admission = await check_reach(owner, text, runtime)
    found = await work()
    if admission == "new":
        source = parse_source(text)
        await asyncio.to_thread(remember, runtime.database, source.name, source.address, owner)
    return found


async def check_reach(owner: str, text: str, runtime: Runtime) -> Admission:
    """Check that a login may have a repository that is opened in another way. Arguments and errors as `opened_for`; the
    result as of `admit`."""
    if not owner:
        return "known"
    _, token = split_token(text)
    return await asyncio.to_thread(admit, parse_source(text), runtime.settings, token, runtime.database, owner)


def admit(source: Source, settings: Settings, token: HostToken | None, database: Database, owner: str) -> Admission:
    """Make sure that a login may open a repository. Blocking; asks the host where the login didn't open it before.

    Args:
        source: the repository.
        settings: how remotes are reached.
        token: that the login has typed.
        database: records who opened what.
        owner: the login's name, '' where nobody logs in.

    Returns:
        `known` for a repository that the login opened before, `new` for one that its host has just given access to,
        `shared` for one that somebody else shares.

    Raises:
        SourceRefused: a folder of another login or of RepoPilot itself, or a wide one such as the root.
        CredentialsNeeded, SourceError: the host doesn't let the login in.
    """
    if not owner or any(_is_same(source, each) for each in _sources(database, owner.__eq__)):
        return "known"
    if any(_is_same(source, each) for each in _sources(database, EVERYBODY.__eq__)):
        return "shared"
    if source.path is None:
        remote_commit(source, settings, token, fetch_limits(settings))
        return "new"
    folder = source.path.resolve()
    if folder == demonstration.folder_of(settings.home, owner).resolve():
        return "known"
    require_narrow(folder)  # the owner of a wide folder would lock others out of theirs below it
    with _deciding:  # of two logins at once, only one gets the folder
        others = [each.path for each in _sources(database, lambda name: name not in ("", owner)) if each.path]
        if any(_overlap(folder, each.resolve()) for each in (settings.home, *others)):
            raise SourceRefused(i18n.message("ui.known.of_another"), i18n.message("ui.known.of_another_hint"))
        remember(database, source.name, str(source.path), owner)
    return "known"


def folders_of(source: Source, settings: Settings) -> Iterator[Path]:
    """Where the data of a repository is: its index, then its clone."""
    if source.url:
        git_dir = clone_dir(source.url, settings)
        yield settings.indexes / clone_key(source, git_dir)
        yield git_dir
    elif source.path is not None:
        yield settings.indexes / folder_key(source.path)


def parsed(address: str) -> Source | None:
    """The source of a stored address; None where it is no longer one, such as a folder that is gone."""
    try:
        return parse_source(address)
    except RepoPilotError:
        return None


def _sources(database: Database, is_of: Callable[[str], bool]) -> list[Source]:
    """The repositories that the logins for which `is_of` is true have opened."""
    found = (parsed(address) for owner, address in all_opened(database) if is_of(owner))
    return [each for each in found if each is not None]


def _is_same(one: Source, other: Source) -> bool:
    return (one.url, one.path) == (other.url, other.path)


def _overlap(one: Path, other: Path) -> bool:
    return one == other or one in other.parents or other in one.parents
