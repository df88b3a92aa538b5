"""Resolvers for look-ups in unedited repositories: one for each repository, replaced with its index.

No server is started before a name is looked up.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from repopilot.settings import Settings
from repopilot.types import FileChange, PackagesOf, Snapshot

if TYPE_CHECKING:
    from repopilot.index.store import Index
    from repopilot.resolve.names import Resolver
    from repopilot.resolve.snapshot_tree import SnapshotTree
    from repopilot.sandbox.language_servers.session import Servers
    from repopilot.sandbox.type_checkers import TypeReport

_MOST_RUNS = 32
_Kept = tuple[Path, "Resolver", "SnapshotTree", "Servers"]


class Lookups:
    """Starts and keeps resolvers. Thread-safe. Servers end on `close`, or when nothing refers to their resolvers any
    more.

    Args:
        only: the resolver of the repository that is being edited, which is then returned for every repository; None for
            none.

    Attributes:
        type_diagnostics: results of type checker runs, by a digest of all their input.
        typed_before: repositories, each with the files that a type checker checked in it unedited, the latest last.
        type_checks: held while a type checker checks an unedited repository, so that others wait for its result.
    """

    def __init__(self, only: Resolver | None = None) -> None:
        self._only = only
        self._lock = threading.RLock()
        self._kept: dict[str, _Kept] = {}
        self._all: WeakSet[Servers] = WeakSet()
        self.type_diagnostics: dict[str, TypeReport] = {}
        self.typed_before: deque[tuple[str, tuple[FileChange, ...]]] = deque(maxlen=_MOST_RUNS)
        self.type_checks = asyncio.Lock()

    def resolver(self, snapshot: Snapshot, index: Index, settings: Settings, packages: PackagesOf) -> Resolver:
        """The resolver of a repository. Blocking.

        Args:
            snapshot: the repository.
            index: its index; each generation gets a new resolver.
            settings: exclude patterns, and the sandbox's level.
            packages: finds what it needs.

        Raises:
            SourceError: the repository can't be listed.
        """
        from repopilot.resolve.names import Resolver
        from repopilot.resolve.snapshot_tree import SnapshotTree

        if self._only is not None:
            return self._only
        with self._lock:
            kept = self._kept.get(snapshot.key)
            if kept is not None and kept[0] == index.folder:
                return kept[1]
            tree = SnapshotTree(snapshot, settings)
            if kept is not None:
                _end({snapshot.key: self._kept.pop(snapshot.key)})
            servers = self.servers(settings, packages)
            resolver = Resolver(tree, index, servers)
            self._kept[snapshot.key] = (index.folder, resolver, tree, servers)
            return resolver

    def servers(self, settings: Settings, packages: PackagesOf) -> Servers:
        """Language servers for a folder of the caller, who closes them; `running` counts them too.

        Args:
            settings: the sandbox's level.
            packages: finds what the repository needs.
        """
        from repopilot.sandbox.language_servers.session import Servers

        found = Servers(settings, packages)
        with self._lock:
            self._all.add(found)
        return found

    def running(self) -> dict[str, int]:
        """The memory of the running servers by their names, in bytes."""
        found: Counter[str] = Counter()
        with self._lock:
            for servers in self._all:
                found.update(servers.running())
        return dict(found)

    def close(self) -> None:
        """End what was started."""
        with self._lock:
            _end(self._kept)


def _end(kept: dict[str, _Kept]) -> None:
    while kept:
        _, _, tree, servers = kept.popitem()[1]
        servers.close()
        tree.close()
