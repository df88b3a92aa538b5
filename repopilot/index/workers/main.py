"""The child process that does the heavy work: reads calls on standard input, streams their results on standard output.

A message is a length (4 bytes, little-endian) and a pickle. A call is `("module:function", arguments)`; the function is
a generator. Each value it yields is sent at once as `("item", value)`; then comes `("end", None)`, or
`("error", exception)` with one of our errors. The first message says `("ready", None)`.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import IO, Any

from repopilot import i18n
from repopilot.errors import IndexFailed, RepoPilotError

WireMessage = tuple[str, Any]
"""The function and arguments of a call, or the kind and value of a reply."""

LENGTH = struct.Struct("<I")
NICENESS = 1
ORPHAN_LIMIT_S = 3600
PARENT_POLL_S = 1.0
MOST_MEMORY = 2 << 30
"""In bytes. A malicious text makes the parser's memory grow with the square of its length before the time limit is
noticed."""


def main(preload: str) -> None:
    """Serve calls until standard input ends. `preload` names a module to import before the first call."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
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
    while (call := receive(calls)) is not None:
        _serve(call, replies)


def send(stream: IO[bytes], message: WireMessage) -> None:
    """Write one message. Raises OSError when the other process has ended."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> WireMessage | None:
    """Read one message; None at the end of the stream, also when it ends within a message."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    data = stream.read(size)
    return pickle.loads(data) if len(data) == size else None


def _serve(call: WireMessage, replies: IO[bytes]) -> None:
    name, arguments = call
    _set_alarm(ORPHAN_LIMIT_S)
    try:
        for item in _function(name)(*arguments):
            _set_alarm(ORPHAN_LIMIT_S)
            send(replies, ("item", item))
    except RepoPilotError as error:
        send(replies, ("error", error))
    except (OSError, MemoryError) as error:
        send(replies, ("error", IndexFailed(i18n.message("index.worker_failed", error=str(error)))))
    else:
        send(replies, ("end", None))
    finally:
        _set_alarm(0)


def _function(name: str) -> Callable[..., Iterator[object]]:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _end_with_parent(parent: int) -> None:
    """End this process soon after its parent, even during work: nobody would read its replies."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(1)


def _set_alarm(seconds: int) -> None:
    # The parent kills a worker that hangs. If the parent has ended, this alarm kills it.
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _open_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output for messages only: any other output goes to standard error."""
    calls = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115  # stays open as long as the process
    return calls, replies
