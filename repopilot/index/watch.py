"""Watch a local folder while it is open, so that the index follows its files."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.types import Snapshot

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_log = logging.getLogger(__name__)
_DEBOUNCE_MS = 1000
_STEP_MS = 100
_WAIT_MS = 500
_POLL_MS = 300
"""The polling interval where the system reports no changes (a Windows folder under WSL)."""

OnChange = Callable[[frozenset[str]], None]


def watch(snapshot: Snapshot, on_change: OnChange) -> Watch | None:
    """Call `on_change` with the changed paths (relative to the folder) whenever files settle, until `stop`.

    Every change made after this returns is reported; the call may block for a second where there are many folders.
    `on_change` is called in a thread of its own, never twice at once; what it raises is logged. None for a bare clone,
    which nobody edits.
    """
    if snapshot.root is None:
        return None
    return Watch(snapshot.root, snapshot.subdir, on_change)


class Watch:
    """A folder being watched. `error` is a message that says why it isn't, or no longer is; '' while it is."""

    def __init__(self, root: Path, subdir: str, on_change: OnChange) -> None:
        self.error = ""
        self._root = root
        self._folder = root / subdir
        self._on_change = on_change
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._begun = threading.Event()
        self._thread.start()
        self._begun.wait()

    def stop(self) -> None:
        """Stop watching; `on_change` isn't called again after this returns."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            with self._notifier() as notifier:
                self._begun.set()
                self._follow(notifier)
        except (OSError, RuntimeError) as error:
            # Usually there are more folders than the system lets one user watch.
            self.error = i18n.message("index.not_watched", error=str(error))
            _log.warning("%s", self.error)
        finally:
            self._begun.set()

    def _notifier(self) -> RustNotify:
        """The notifier, built at once: `watchfiles.watch` builds it at its first iteration and misses the changes
        before."""
        from watchfiles._rust_notify import RustNotify
        from watchfiles.main import _default_force_polling

        return RustNotify([str(self._folder)], False, _default_force_polling(None), _POLL_MS, True, False)

    def _follow(self, notifier: RustNotify) -> None:
        from watchfiles import Change, DefaultFilter

        wanted = DefaultFilter()
        while (found := notifier.watch(_DEBOUNCE_MS, _STEP_MS, _WAIT_MS, self._stop)) not in ("stop", "signal"):
            if not isinstance(found, str):
                paths = [path for change, path in found if wanted(Change(change), path)]
                self._call_listener(frozenset(self._relative(Path(path)) for path in paths))

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.as_posix()

    def _call_listener(self, paths: frozenset[str]) -> None:
        if self._stop.is_set() or not paths:
            return
        try:
            self._on_change(paths)
        except Exception:  # the boundary of the thread: one failed run must not end the watching
            _log.exception("Indexing after a change failed")
