"""One client of a language server: JSON-RPC over the pipes of a process, questions pipelined.

A server may hang, die, send nonsense or take all memory: each question still ends in an answer, an empty answer or a
`LanguageServerError`.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from repopilot import i18n
from repopilot.code.formats.data_formats import table, tables
from repopilot.errors import LanguageServerError

_AT_ONCE = 256
"""Most questions in flight: with full pipes in both directions, both sides would block."""
_MOST_BYTES = 64 << 20
"""Most bytes of one message."""
_HEADER_BYTES = 1024
_TAKEN_S = 10.0
"""Longest time for a server to take in a message that is no question, in seconds."""
_NOTHING = object()


class LanguageClient:
    """Speaks with one server. Several threads may ask at once.

    Args:
        name: the server's name, for messages.
        launch: starts the process, with pipes. Called in the reader thread, which lives as long as the process: in some
            sandboxes a process ends with the thread that started it.
        configuration: the server's own options, by section, which it may request.

    Attributes:
        process: the server's process, None where it could not be started.
        failure: why the server can no longer be asked, None while it can.
    """

    def __init__(
        self, name: str, launch: Callable[[], subprocess.Popen[bytes]], configuration: Mapping[str, Any]
    ) -> None:
        self.name = name
        self._launch = launch
        self._configuration = configuration
        self.process: subprocess.Popen[bytes] | None = None
        self.failure: LanguageServerError | None = None
        self._answers: dict[int, Any] = {}
        self._asked: set[int] = set()
        self._number = 0
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._heard = time.monotonic()
        threading.Thread(target=self._read_all, name=f"language server {name}", daemon=True).start()
        with self._changed:
            self._changed.wait_for(lambda: self.process is not None or self.failure is not None)

    @property
    def idle(self) -> float:
        """Seconds since the last answer; 0 while a question is open."""
        with self._changed:
            return 0.0 if self._asked else time.monotonic() - self._heard

    def notify(self, method: str, params: Any) -> None:
        """Tell the server something. Raises LanguageServerError."""
        self._send({"method": method, "params": params}, _TAKEN_S)

    def ask(self, method: str, params: Any, silence: float) -> Any:
        """Ask one question; arguments and errors as `ask_all`. A server that doesn't answer is one that is silent."""
        return self.ask_all(method, [params], silence, math.inf)[0]

    def ask_all(self, method: str, questions: Sequence[Any], silence: float, seconds: float) -> list[Any]:
        """Ask many questions without waiting for each answer before sending the next question.

        Args:
            method: what is asked.
            questions: the parameters of each.
            silence: how long the server may say nothing, in seconds.
            seconds: time limit for all questions.

        Returns:
            An answer for each: the result, None where the server answers with an error, or not in time.

        Raises:
            LanguageServerError: the server is silent for too long, has ended, or sends invalid messages.
        """
        deadline = time.monotonic() + seconds
        numbers: list[int] = []
        try:
            for params in questions:
                numbers.append(self._begin(method, params, silence))
                if not self._wait(numbers[-_AT_ONCE:][:1] if len(numbers) >= _AT_ONCE else [], silence, deadline):
                    break
            self._wait(numbers, silence, deadline)
            with self._changed:
                found = [self._answers.get(number) for number in numbers]
        finally:
            with self._changed:
                self._asked.difference_update(numbers)
                late = [number for number in numbers if self._answers.pop(number, _NOTHING) is _NOTHING]
            for number in late if self.failure is None else ():
                self.notify("$/cancelRequest", {"id": number})
        return [*found, *[None] * (len(questions) - len(found))]

    def fail(self, error: LanguageServerError) -> None:
        """End the server; all open and later questions raise the error."""
        with self._changed:
            self.failure = self.failure or error
            self._changed.notify_all()
        process = self.process
        if process is not None:
            process.kill()

    def _begin(self, method: str, params: Any, silence: float) -> int:
        with self._changed:
            self._number += 1
            number = self._number
            if not self._asked:
                self._heard = time.monotonic()
            self._asked.add(number)
        self._send({"id": number, "method": method, "params": params}, silence)
        return number

    def _wait(self, numbers: Sequence[int], silence: float, deadline: float) -> bool:
        """Wait for the answers to questions. Returns whether they came in time."""
        with self._changed:
            while not all(number in self._answers for number in numbers):
                self._raise_failure()
                now = time.monotonic()
                if now >= deadline:
                    return False
                if now >= self._heard + silence:
                    break
                self._changed.wait(min(deadline, self._heard + silence) - now)
            else:
                return True
        self.fail(LanguageServerError(i18n.message("resolve.silent", name=self.name, seconds=round(silence))))
        raise self._failure_now()

    def _send(self, message: Mapping[str, Any], silence: float) -> None:
        self._raise_failure()
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        data = memoryview(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        assert self.process is not None and self.process.stdin is not None
        pipe = self.process.stdin.fileno()
        with self._writing:
            try:
                while data:
                    data = data[_written(pipe, data, silence) :]
            except (OSError, ValueError) as error:
                self.fail(LanguageServerError(i18n.message("resolve.ended", name=self.name, error=error)))
                raise self._failure_now() from error

    def _read_all(self) -> None:
        try:
            process = self._launch()
        except LanguageServerError as error:
            self.fail(error)
            return
        assert process.stdin is not None and process.stdout is not None
        os.set_blocking(process.stdin.fileno(), False)
        with self._changed:
            self.process = process
            self._changed.notify_all()
        try:
            while (message := _message(process.stdout)) is not None:
                self._take(message)
            reason = i18n.message("resolve.ended", name=self.name, error=process.wait())
            self.fail(LanguageServerError(reason))
        except LanguageServerError as error:  # the server was ended meanwhile
            self.fail(error)
        except (OSError, ValueError, RecursionError) as error:
            reason = i18n.message("resolve.nonsense", name=self.name, error=str(error)[:200])
            self.fail(LanguageServerError(reason))
        process.wait()
        with contextlib.suppress(OSError):  # unwritten data can no longer be written
            process.stdin.close()
        process.stdout.close()

    def _take(self, message: Mapping[str, Any]) -> None:
        number = message.get("id")
        if "method" in message:
            if number is not None:
                self._send({"id": number, "result": self._reply(message)}, _TAKEN_S)
            return
        with self._changed:
            self._heard = time.monotonic()
            if isinstance(number, int) and number in self._asked:
                self._answers[number] = message.get("result")
                self._changed.notify_all()

    def _reply(self, message: Mapping[str, Any]) -> Any:
        """The answer to a server's request: it gets its options, and may not change anything."""
        if message["method"] == "workspace/configuration":
            items = tables(table(message.get("params")).get("items"))
            return [self._configuration.get(str(item.get("section"))) for item in items]
        return {"applied": False} if message["method"] == "workspace/applyEdit" else None

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self._failure_now()

    def _failure_now(self) -> LanguageServerError:
        """The failure as a new exception: threads must not share one."""
        assert self.failure is not None
        return LanguageServerError(self.failure.message, self.failure.hint)


def _written(pipe: int, data: memoryview, seconds: float) -> int:
    """Write as much as a pipe takes, waiting for space; returns the number of bytes. Raises TimeoutError."""
    try:
        return os.write(pipe, data)
    except BlockingIOError:
        poll = select.poll()
        poll.register(pipe, select.POLLOUT)
        if not poll.poll(seconds * 1000):
            raise TimeoutError(i18n.message("resolve.reads_nothing")) from None
        return 0


def _message(pipe: IO[bytes]) -> Mapping[str, Any] | None:
    """The next message, None at the end. Raises ValueError for an invalid one."""
    length = None
    while (line := pipe.readline(_HEADER_BYTES)) not in (b"\r\n", b"\n"):
        if not line:
            return None
        name, colon, value = line.partition(b":")
        if not colon:
            raise ValueError(line[:80])
        if name.strip().lower() == b"content-length":
            length = int(value)
    if length is None or not 0 <= length <= _MOST_BYTES:
        raise ValueError(f"a message of {length} bytes")
    body = pipe.read(length)
    if len(body) < length:
        return None
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError(str(message)[:80])
    return message
