"""A fair queue in front of a model: limits concurrent calls; waiting askers take turns.

Without the queue a server would get all calls at once and answer them in its own order, and a call that waits there
for long would count as hanging. The order is start-time fair queueing: an asker's next call comes after one call of
every other waiting asker.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count


@dataclass(slots=True)
class _Waiting:
    """A waiting call. `place` is called with its position in the queue, from 1, whenever the position changes."""

    turn: int
    number: int
    place: Callable[[int], None]
    loop: asyncio.AbstractEventLoop
    begins: asyncio.Future[None] = field(repr=False)
    told: int = 0


class CallQueue:
    """The calls of one model server, safe to use from several event loops.

    Args:
        at_once: how many calls run at once.
    """

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._running = 0
        self._turn = 0
        self._last_turns: dict[str, int] = {}
        self._waiting: list[_Waiting] = []
        self._numbers = count()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def turn(self, asker: str, place: Callable[[int], None]) -> AsyncIterator[None]:
        """Wait for a turn, and hold it.

        Args:
            asker: who makes the call; askers take turns.
            place: called with the position in the queue if the call has to wait, and whenever the position changes.
        """
        waiting = self._enter(asker, place)
        if waiting is not None:
            try:
                await waiting.begins
            except asyncio.CancelledError:
                self._leave(waiting)
                raise
        try:
            yield
        finally:
            self._end()

    def _enter(self, asker: str, place: Callable[[int], None]) -> _Waiting | None:
        """Join the queue. None if the call may begin at once."""
        loop = asyncio.get_running_loop()
        with self._lock:
            turn = max(self._turn, self._last_turns.get(asker, -1) + 1)
            self._last_turns[asker] = turn
            if self._running < self.at_once and not self._waiting:
                self._begin(turn)
                return None
            waiting = _Waiting(turn, next(self._numbers), place, loop, loop.create_future())
            self._waiting.append(waiting)
            self._sort()
            return waiting

    def _begin(self, turn: int) -> None:
        self._running += 1
        self._turn = max(self._turn, turn)
        if not self._waiting:
            # While nobody waits, past turns give nobody precedence: askers that are gone are forgotten.
            self._last_turns = {asker: last for asker, last in self._last_turns.items() if last >= self._turn}

    def _leave(self, waiting: _Waiting) -> None:
        """Give up a call that waits, or whose turn has just come."""
        with self._lock:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                self._sort()
                return
        self._end()

    def _end(self) -> None:
        with self._lock:
            self._running -= 1
            while self._waiting and self._running < self.at_once:
                following = self._waiting.pop(0)
                self._begin(following.turn)
                following.loop.call_soon_threadsafe(_begin, following.begins)
            self._sort()

    def _sort(self) -> None:
        self._waiting.sort(key=lambda waiting: (waiting.turn, waiting.number))
        for place, waiting in enumerate(self._waiting, 1):
            if waiting.told != place:
                waiting.told = place
                waiting.loop.call_soon_threadsafe(waiting.place, place)


def _begin(begins: asyncio.Future[None]) -> None:
    if not begins.done():
        begins.set_result(None)
