"""The pause of embedding while questions are answered."""

from __future__ import annotations

import threading


class EmbeddingPause:
    """Counts the questions being answered. While there are any, no job computes vectors. Thread-safe.

    On two cores a local model answers about four times slower while vectors are computed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests = 0
        self._inactive = threading.Event()
        self._inactive.set()

    @property
    def active(self) -> bool:
        """Whether embedding is to be paused."""
        return not self._inactive.is_set()

    def request(self) -> None:
        """Count a question that is now being answered."""
        self._change(1)

    def release(self) -> None:
        """Count a question as answered. Every `request` needs one `release`."""
        self._change(-1)

    def wait(self, timeout_s: float) -> bool:
        """Wait up to `timeout_s` seconds until no question is being answered. Returns whether none is."""
        return self._inactive.wait(timeout_s)

    def _change(self, by: int) -> None:
        with self._lock:
            self._requests += by
            if self._requests:
                self._inactive.clear()
            else:
                self._inactive.set()
