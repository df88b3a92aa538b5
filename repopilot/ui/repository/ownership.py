"""Which repositories a login may see: those it opened itself, and those that somebody shares with everybody.

Where nobody logs in (the owner is ''), all of them. A remote repository is a login's own once its host has let it in; a
local folder belongs to the login that opened it first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from repopilot import i18n
from repopilot.agents.testing import demonstration
from repopilot.errors import SourceRefused
from repopilot.index.store import IndexStore
from repopilot.repo.clone import fetch_limits, remote_commit
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.wide_folders import require_narrow
from repopilot.settings import Settings
from repopilot.types import Source
from repopilot.ui.chats.chat_database import Database
from repopilot.ui.repository.known import folders_of, parsed
from repopilot.ui.repository.recent import EVERYBODY, all_opened, remember

_deciding = threading.Lock()


def visible(store: IndexStore, database: Database, settings: Settings, owner: str) -> IndexStore:
    """The indexes that a login may search. Blocking.

    Args:
        store: of all indexes.
        database: has who opened what.
        settings: of the data directory.
        owner: the login's name.
    """
    if not owner:
        return store
    sources = _sources(database, lambda name: name in (owner, EVERYBODY))
    # Some hosts know a repository only by its address with `.git`, under which it is kept then.
    known = [*sources, *(replace(each, url=f"{each.url}.git") for each in sources if each.url)]
    return store.only(frozenset(next(folders_of(each, settings)).name for each in known))


def admit(source: Source, settings: Settings, token: HostToken | None, database: Database, owner: str) -> bool:
    """Make sure that a login may open a repository. Blocking; asks the host where the login didn't open it before.

    Args:
        source: the repository.
        settings: how remotes are reached.
        token: that the login has typed.
        database: has who opened what.
        owner: the login's name, '' where nobody logs in.

    Returns:
        Whether it is the login's own from now on; False for one that is shared with it.

    Raises:
        SourceRefused: a folder of another login or of RepoPilot itself, or one that holds everybody's.
        CredentialsNeeded, SourceError: the host doesn't let the login in.
    """
    if not owner or any(_is_same(source, each) for each in _sources(database, owner.__eq__)):
        return True
    if any(_is_same(source, each) for each in _sources(database, EVERYBODY.__eq__)):
        return False
    if source.path is None:
        remote_commit(source, settings, token, fetch_limits(settings))
        return True
    folder = source.path.resolve()
    if folder == demonstration.folder_of(settings.home, owner).resolve():
        return True
    require_narrow(folder)  # whose it is would keep everybody out of all that others have below it
    with _deciding:  # of two logins at once one is the first
        others = [each.path for each in _sources(database, lambda name: name not in ("", owner)) if each.path]
        if any(_overlap(folder, each.resolve()) for each in (settings.home, *others)):
            raise SourceRefused(i18n.message("ui.known.of_another"), i18n.message("ui.known.of_another_hint"))
        remember(database, source.name, str(source.path), owner)
    return True


def _sources(database: Database, is_of: Callable[[str], bool]) -> list[Source]:
    """What some of the logins opened."""
    found = (parsed(address) for owner, address in all_opened(database) if is_of(owner))
    return [each for each in found if each is not None]


def _is_same(one: Source, other: Source) -> bool:
    return (one.url, one.path) == (other.url, other.path)


def _overlap(one: Path, other: Path) -> bool:
    return one == other or one in other.parents or other in one.parents
