"""The child process that does the heavy work: reads calls on standard input, streams their results on standard output.

Each message is one pickle. A call is `("module:function", arguments, seconds)`; the function is a generator, and each
of its values may take that long. Each value is sent at once as `("item", value)`; then comes `("end", None)`, or
`("error", exception)` with one of our errors. The first message says `("ready", None)`.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import IO, Any

from repopilot import i18n
from repopilot.errors import IndexFailed, RepoPilotError

NICENESS = 1
PARENT_POLL_S = 1.0
MOST_MEMORY = 2 << 30
"""In bytes. A malicious text makes the parser's memory grow with the square of its length before the time limit is
noticed."""
_START_LIMIT_S = 120.0
_STARVED_FACTOR = 10
_CRASHED = 3


def main(preload: str) -> None:
    """Serve calls until standard input ends. `preload` names a module to import before the first call."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _limit_time(_START_LIMIT_S, starved_factor=1)
    calls, replies = _open_streams()
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    if hasattr(os, "nice"):
        os.nice(NICENESS)  # slightly lower than the web page: the user waits for this work too
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), name="end-with-parent", daemon=True).start()
    import_module(preload)
    gc.freeze()
    send(replies, ("ready", None))
    _limit_time(0)
    while (call := receive(calls)) is not None:
        _serve(call, replies)


def send(stream: IO[bytes], message: tuple) -> None:
    """Write one message. Raises OSError when the other process has ended."""
    stream.write(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; None at the end of the stream, also when it ends within a message."""
    try:
        return pickle.load(stream)
    except (EOFError, pickle.UnpicklingError):
        return None


def has_timed_out(exit_code: int | None) -> bool:
    """Whether a process that ended with this code exceeded a limit of time."""
    if sys.platform == "win32":
        return exit_code == 1  # faulthandler's
    return exit_code in (-signal.SIGPROF, -signal.SIGALRM)


def _serve(call: tuple[str, tuple, float], replies: IO[bytes]) -> None:
    name, arguments, limit_s = call
    _limit_time(limit_s)
    try:
        for item in _function(name)(*arguments):
            send(replies, ("item", item))
            _limit_time(limit_s)
    except RepoPilotError as error:
        send(replies, ("error", error))
    except (OSError, MemoryError) as error:
        send(replies, ("error", IndexFailed(i18n.message("index.worker_failed", error=str(error)))))
    except Exception:
        traceback.print_exc()
        os._exit(_CRASHED)
    else:
        send(replies, ("end", None))
    finally:
        _limit_time(0)


def _function(name: str) -> Callable[..., Iterator[object]]:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _limit_time(seconds: float, starved_factor: int = _STARVED_FACTOR) -> None:
    """Have the system end this process when what it begins now takes too long, whatever the process is doing then.

    Where the system can limit processor time, that is limited: on a busy machine a process waits for its turn, which is
    not the fault of what it does.

    Args:
        seconds: the limit; 0 for none.
        starved_factor: how much longer it may take by the clock.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds * starved_factor)
    elif seconds:
        faulthandler.dump_traceback_later(seconds, exit=True)
    else:
        faulthandler.cancel_dump_traceback_later()


def _end_with_parent(parent: int) -> None:
    """End this process soon after its parent, even during work: nobody would read its replies."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(_CRASHED)


def _open_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output for messages only: any other output goes to standard error."""
    calls = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115  # stays open as long as the process
    return calls, replies
