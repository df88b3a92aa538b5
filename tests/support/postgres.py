"""A real PostgreSQL server for tests: its own data folder, on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def program(name: str) -> str | None:
    """The path of one of the server's programs, None where PostgreSQL isn't installed."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(kept[-1]) if kept else None)


@contextmanager
def server() -> Iterator[str]:
    """The URL of a running server, whose data is gone afterwards."""
    initdb, postgres = program("initdb"), program("postgres")
    assert initdb and postgres
    # The server refuses to run as root, and pytest's folders are closed to others.
    user = {"user": "nobody"} if os.geteuid() == 0 else {}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        if user:
            shutil.chown(folder, "nobody")
        data, port = f"{folder}/data", free_port()
        accounts = ["-A", "trust", "-U", "me", "-E", "UTF8", "-N"]
        subprocess.run([initdb, "-D", data, *accounts], check=True, **quiet, **user)
        options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
        running = subprocess.Popen([postgres, "-D", data, "-p", str(port), *options], **quiet, **user)
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"postgresql://me@127.0.0.1:{port}/postgres"
        finally:
            running.terminate()
            running.wait(20)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
