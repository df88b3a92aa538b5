"""A small world outside the sandbox for hostile programs to attack, and a look at what they did to it."""

from __future__ import annotations

import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

SECRET_TEXT = "do not read\n"
ENVIRONMENT_SECRET = "swordfish-" + secrets.token_hex(8)
HIDING = "fills_socket_pairs hides_in_shared_mappings hides_in_page_tables queues_for_nobody makes_empty_files".split()
"""Programs whose memory is in no process's resident set: test_limits.py measures what they take at every level."""
TEST = "from hostile import attack\n\n\ndef test_attack():\n    assert attack()\n"


@dataclass(frozen=True)
class World:
    """`target` is the text of the module that tells programs where things are."""

    outside: Path
    secret: Path
    victim: subprocess.Popen
    listeners: tuple[socket.socket, ...]
    datagrams: socket.socket
    mark: str
    target: str

    def damage(self, *, wait: bool = True) -> list[str]:
        """What has changed or been reached since the beginning, in words. With `wait`, processes have time to end."""
        found = []
        if [p.name for p in self.outside.iterdir()] != ["secret"]:
            found.append("files were added or removed")
        elif self.secret.read_text() != SECRET_TEXT:
            found.append("the secret was changed")
        elif self.secret.stat().st_mode & 0o777 != 0o600 or self.secret.stat().st_mtime == 0:
            found.append("the secret's mode or time was changed")
        if self.victim.poll() is not None:
            found.append("the victim was killed")
        for listener in self.listeners:
            found += ["a server was reached"] if _accepts(listener) else []
        found += ["a datagram arrived"] if _received(self.datagrams) else []
        found += ["a process outlived the run"] if processes_with(self.mark, wait) else []
        found += ["shared memory was left"] if Path("/dev/shm", self.mark).exists() else []
        return found


@contextmanager
def world(folder: Path) -> Iterator[World]:
    outside = folder / "home"
    outside.mkdir()
    secret = outside / "secret"
    secret.write_text(SECRET_TEXT)
    secret.chmod(0o600)
    mark = "mark" + secrets.token_hex(8)
    with ExitStack() as stack:
        victim = stack.enter_context(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(900)"]))
        stack.callback(victim.kill)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(str(folder / "s"))
        unix.listen()
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind("\0" + mark)
        abstract.listen()
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", 0))
        facts = {
            "OUTSIDE": str(outside),
            "SECRET": str(secret),
            "ENVIRONMENT_SECRET": ENVIRONMENT_SECRET,
            "PORT": tcp.getsockname()[1],
            "DATAGRAM_PORT": datagrams.getsockname()[1],
            "UNIX_SOCKET": str(folder / "s"),
            "ABSTRACT_SOCKET": mark,
            "MARK": mark,
            "APPLICATION": os.getpid(),
            "VICTIM": victim.pid,
        }
        target = "".join(f"{name} = {value!r}\n" for name, value in facts.items())
        yield World(outside, secret, victim, (tcp, unix, abstract), datagrams, mark, target)


def claims(source: str) -> tuple[str, ...]:
    """The levels a hostile program's first line says it is contained at."""
    found = re.search(r"Contained at: ([\w, ]+)\.", source)
    assert found, "a hostile program must say where it is contained"
    return tuple(found[1].split(", "))


def _accepts(listener: socket.socket) -> bool:
    listener.settimeout(0.01)
    try:
        listener.accept()[0].close()
    except TimeoutError:
        return False
    return True


def _received(datagrams: socket.socket) -> bool:
    datagrams.settimeout(0.01)
    try:
        return bool(datagrams.recv(16))
    except TimeoutError:
        return False


def processes_with(mark: str, wait: bool = True) -> set[int]:
    """Those that carry the mark in their command line, after the time that a busy kernel takes to bury the dead: none
    of the tests' programs ends by itself within it."""
    deadline = time.monotonic() + (30 if wait else 0)
    while alive := {
        int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and mark.encode() in _command_line(p)
    }:
        if time.monotonic() >= deadline:
            break
        time.sleep(0.05)
    return alive


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def end_processes_with(mark: str) -> None:
    for pid in processes_with(mark, wait=False):
        os.kill(pid, signal.SIGKILL)
