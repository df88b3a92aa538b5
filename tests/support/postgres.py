"""A real PostgreSQL server for tests: its own data folder, on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from support.waiting import PATIENCE_S, reserved_port, until


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
        data = f"{folder}/data"
        accounts = ["-A", "trust", "-U", "me", "-E", "UTF8", "-N"]
        subprocess.run([initdb, "-D", data, *accounts], check=True, **quiet, **user)
        options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
        with reserved_port() as port:
            running = subprocess.Popen([postgres, "-D", data, "-p", str(port), *options], **quiet, **user)
            try:
                url = f"postgresql://me@127.0.0.1:{port}/postgres"
                wait_until_ready(url)
                yield url
            finally:
                running.terminate()
                running.wait(PATIENCE_S)


def wait_until_ready(url: str) -> None:
    """Return once the server answers a query: it listens, and refuses everybody, before it has read its data."""

    def answers() -> bool:
        try:
            with psycopg.connect(url, connect_timeout=5):
                return True
        except psycopg.OperationalError:
            return False

    until(answers)
