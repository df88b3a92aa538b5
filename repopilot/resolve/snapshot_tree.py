"""The files of an unedited repository, for look-ups without a working copy: a local folder is read in place, a clone is
laid out in a temporary folder."""

from __future__ import annotations

import tempfile
import threading
import weakref
from pathlib import Path

from repopilot import disk, i18n
from repopilot.errors import StorageError
from repopilot.repo.read import read_bytes
from repopilot.repo.walk import searched_files
from repopilot.settings import Settings
from repopilot.types import Snapshot


class SnapshotTree:
    """A repository at one commit. Nothing is written to a local folder. Thread-safe.

    Args:
        snapshot: the repository.
        settings: the exclude patterns.
    """

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._snapshot = snapshot
        self._files = searched_files(snapshot, settings)
        self._searched = tuple(file.path for file in self._files)
        self._lock = threading.Lock()
        self._folder: Path | None = None

    def searched(self) -> tuple[str, ...]:
        """The files that names are looked for in: all."""
        return self._searched

    def drafts(self) -> dict[str, str | None]:
        """Nothing: there are no edits."""
        return {}

    def root(self) -> Path:
        """The folder with the files. Blocking.

        Raises:
            StorageError: there is no room for it.
            SourceError: the repository can't be read.
        """
        if self._snapshot.root is not None:
            return self._snapshot.root
        with self._lock:
            if self._folder is None:
                self._folder = self._laid_out()
                weakref.finalize(self, disk.remove_tree, self._folder)
            return self._folder

    def lies_in(self) -> Path:
        """The same folder as `root`, since there are no drafts."""
        return self.root()

    def close(self) -> None:
        """Remove the temporary folder."""
        with self._lock:
            if self._folder is not None:
                disk.remove_tree(self._folder)
                self._folder = None

    def _laid_out(self) -> Path:
        try:
            folder = Path(tempfile.mkdtemp(prefix="repopilot-tree-")).resolve()
            for file, data in read_bytes(self._snapshot, self._files):
                target = folder / file.path
                if data is not None:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(data)
        except OSError as error:
            raise StorageError(
                i18n.message("planning.no_copy", error=error), i18n.message("sandbox.free_space")
            ) from error
        return folder
