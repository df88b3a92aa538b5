"""Watch a local folder while it is open, so that the index follows its files."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from repopilot import i18n
from repopilot.types import Snapshot

_log = logging.getLogger(__name__)
_DEBOUNCE_MS = 1000
_STEP_MS = 100

OnChange = Callable[[frozenset[str]], None]


def watch(snapshot: Snapshot, on_change: OnChange) -> Watch | None:
    """Call `on_change` with the changed paths (relative to the folder) whenever files settle, until `stop`.

    It is called in a thread of its own, never twice at once; what it raises is logged. None for a bare clone, which
    nobody edits.
    """
    if snapshot.root is None:
        return None
    return Watch(snapshot.root, snapshot.subdir, on_change)


class Watch:
    """A folder being watched. `error` is a message that says why it no longer is, '' while it is."""

    def __init__(self, root: Path, subdir: str, on_change: OnChange) -> None:
        self.error = ""
        self._root, self._folder, self._on_change = root, root / subdir, on_change
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; no call is begun after this returns."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        import watchfiles

        try:
            for changes in watchfiles.watch(
                self._folder,
                watch_filter=watchfiles.DefaultFilter(),
                debounce=_DEBOUNCE_MS,
                step=_STEP_MS,
                rust_timeout=500,
                stop_event=self._stop,
                raise_interrupt=False,
                recursive=True,
            ):
                self._call_listener(frozenset(self._relative(Path(path)) for _, path in changes))
        except (OSError, RuntimeError) as error:
            # Mostly: more folders than the system lets one user watch.
            self.error = i18n.message("index.not_watched", error=str(error))
            _log.warning("%s", self.error)

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.as_posix()

    def _call_listener(self, paths: frozenset[str]) -> None:
        if self._stop.is_set():
            return
        try:
            self._on_change(paths)
        except Exception:  # the boundary of the thread: one failed run must not end the watching
            _log.exception("Indexing after a change failed")
